"""Public datasets as they are distributed read without a mapping, or say which mapping they need."""

from __future__ import annotations

from pathlib import Path

import pytest

from paceline.dataset.rows import RowFile
from paceline.errors import DatasetError

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(
    not DATA.exists(), reason="the public datasets of ../shared/data are not here"
)


@pytest.mark.parametrize(
    ("file", "n", "named", "expected"),
    [
        ("gsm8k_test.jsonl", 1319, 0, 1319),
        ("gsm8k_model_solutions.jsonl", 1319, 0, 0),
        ("humaneval.jsonl.gz", 164, 164, 0),
        ("bfcl_simple_python.jsonl", 400, 400, 0),
    ],
)
def test_a_public_dataset_is_read_as_it_is(file: str, n: int, named: int, expected: int) -> None:
    rows = RowFile(DATA / file)
    summary = rows.check()
    assert (summary.n, summary.named, summary.expected) == (n, named, expected)
    assert len({name for name, _ in rows.names()}) == n


def test_gsm8k_asks_for_the_price_of_eggs() -> None:
    case = next(iter(RowFile(DATA / "gsm8k_test.jsonl")))
    assert case.inputs.startswith("Janet")
    assert str(case.expected_output).endswith("#### 18")
    assert case.metadata is None


def test_humaneval_keeps_its_tests_as_metadata() -> None:
    case = next(iter(RowFile(DATA / "humaneval.jsonl.gz")))
    assert case.name == "HumanEval/0"
    assert case.metadata is not None
    assert set(case.metadata) == {"entry_point", "canonical_solution", "test"}


def test_bfcl_answers_need_a_mapping_and_say_so() -> None:
    path = DATA / "bfcl_simple_python_answers.jsonl"
    with pytest.raises(DatasetError, match="no field is the inputs; its fields: id, ground_truth") as caught:
        RowFile(path).check()
    assert "--map inputs=FIELD" in caught.value.hint
    mapped = RowFile(path, mapping={"inputs": "id", "expected": "ground_truth.0"})
    assert mapped.check().expected == 400


def test_what_a_model_got_right_can_be_the_expected_output() -> None:
    mapping = {"inputs": "question", "expected": "175b_verification.is_correct", "metadata": "ground_truth"}
    right = [case.expected_output for case in RowFile(DATA / "gsm8k_model_solutions.jsonl", mapping=mapping)]
    assert right.count(True) / len(right) == pytest.approx(0.5625, abs=5e-5)
