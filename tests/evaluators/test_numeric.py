"""The number in an answer."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators import NumericClose
from paceline.evaluators.numeric import Number, number_in
from tests.evaluators.cases import finished, passes, reason

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def rows(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", 42),
        ("It is 42.", 42),
        ("**42**", 42),
        ("first 1, then 2, in the end 3", 3),
        ("1,234,567.89", 1234567.89),
        ("costs $1,234.50.", 1234.5),
        ("$-5", -5),
        ("-$5", -5),
        ("−5", -5),
        ("€ 5", 5),
        ("\\$18", 18),
        ("5-10", 10),
        ("x=-3", -3),
        ("f(-3)", -3),
        (".5", 0.5),
        ("no.5", 5),
        ("1e3", 1000),
        ("1.5e-3 m", 0.0015),
        ("3.2 × 10^5", 320000),
        ("3.2 \\times 10^{-5}", 0.000032),
        ("3/4", 0.75),
        ("It is 3/4.", 0.75),
        ("1,2,3", 3),
        ("5kg", 5),
        ("H2O", None),
        ("no number", None),
        ("", None),
        ("5/0", None),
        ("work\n#### 18", 18),
        ("work\n#### $1,800\n", 1800),
        ("work\n####-3", -3),
        ("#### 18\n\nI used 7 steps.", 18),
        ("#### 4. Conclusion\nso it is 7", 7),
        ("\\boxed{12} and then 5 more words", 12),
        ("\\boxed{\\frac{3}{4}}", 0.75),
        ("\\boxed{x = -\\dfrac{1}{2}}", -0.5),
        ("\\boxed{1{,}234}", 1234),
        ("\\boxed{none of the 3}, not 5", 3),
        ("\\boxed{none}, not 5", None),
        ("\\boxed{7", 7),
        ("answer 1 \\boxed{2} or \\boxed{3}", 3),
        ("42\n\nHope that helps!", 42),
    ],
)
def test_where_the_number_stands_in_a_text(text: str, number: float | None) -> None:
    found = number_in(text)
    assert (found.value if found else None) == (pytest.approx(number) if number is not None else None)


@pytest.mark.parametrize("text", ["45%", "45 %", "45\\%", "45 percent", "45 per cent", "it is 45%."])
def test_a_percentage_is_known_as_one(text: str) -> None:
    assert number_in(text) == Number(45, is_percentage=True)


@pytest.mark.parametrize(
    ("output", "expected", "answer"),
    [
        ("45%", 45, True),
        ("45%", 0.45, True),
        (0.45, "45%", True),
        ("0.45%", "45%", False),
        ("45%", "45%", True),
        ("46%", 45, False),
    ],
)
def test_a_percentage_may_be_meant_either_way_unless_both_are(
    output: object, expected: object, answer: bool
) -> None:
    assert passes(NumericClose(), output, expected) is answer


def test_a_tolerance_is_in_the_unit_of_what_is_expected() -> None:
    assert passes(NumericClose("45%", abs_tol=0.5), 0.6) is False
    assert passes(NumericClose("45%", abs_tol=0.5), 0.453) is True


@pytest.mark.parametrize(
    ("evaluator", "output", "expected", "answer"),
    [
        (NumericClose(), "about 18", 18, True),
        (NumericClose(), "about 18", "She has 9 * 2 = <<9*2=18>>18\n#### 18", True),
        (NumericClose(), 18.00001, 18, True),
        (NumericClose(), 18.01, 18, False),
        (NumericClose(rel_tol=0.01), 18.01, 18, True),
        (NumericClose(abs_tol=0.5, rel_tol=0), 18.5, 18, True),
        (NumericClose(abs_tol=0.5, rel_tol=0), 18.51, 18, False),
        (NumericClose(42), "42", 17, True),
        (NumericClose("1,000"), "1000", None, True),
        (NumericClose(0), 1e-12, None, True),
        (NumericClose(), Decimal("1.5"), Fraction(3, 2), True),
        (NumericClose(), np.float64(2), np.int64(2), True),
        (NumericClose(1), True, None, False),
        (NumericClose(1), None, None, False),
        (NumericClose(1), [1], None, False),
        (NumericClose(1), math.nan, None, False),
        (NumericClose(1), math.inf, None, False),
        pytest.param(NumericClose(1), "9" * 400, None, False, id="beyond a float"),
        (NumericClose(), "18", None, None),
    ],
)
def test_close_is_within_the_tolerance(
    evaluator: NumericClose, output: object, expected: object, answer: bool | None
) -> None:
    assert passes(evaluator, output, expected) is answer


@pytest.mark.parametrize("expected", ["no number", math.nan, True, [1]])
def test_an_expected_output_without_a_number_is_an_error_and_not_an_answer(expected: object) -> None:
    with pytest.raises(ValueError, match="no number in what is expected"):
        NumericClose().evaluate(finished("1", expected))


def test_the_reason_says_which_number_was_found() -> None:
    assert reason(NumericClose(), "so 1,500 it is", "#### 18") == "1500 is not close to 18"
    assert reason(NumericClose(18), "none") == "there is no number in 'none'; 18 is expected"


@pytest.mark.parametrize(
    "wrong",
    [{"rel_tol": -1.0}, {"abs_tol": math.nan}, {"rel_tol": math.inf}, {"value": "none"}, {"value": math.nan}],
)
def test_settings_that_could_never_be_met_are_refused_at_construction(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        NumericClose(**wrong)


@given(st.integers(-(10**12), 10**12), st.sampled_from(["", "$", "€"]))
def test_a_number_is_found_however_it_is_written(number: int, currency: str) -> None:
    sign, digits = ("-" if number < 0 else ""), f"{abs(number):,}"
    for text in (
        f"{sign}{currency}{digits}",
        f"In 3 steps: {sign}{currency}{digits}.",
        f"#### {sign}{digits}",
    ):
        found = number_in(text)
        assert found is not None
        assert found.value == number


@given(st.text(max_size=200) | st.text("0123456789.,-+$%/ex#\\{} \n", max_size=200))
def test_any_text_has_a_number_or_none(text: str) -> None:
    found = number_in(text)
    assert found is None or not math.isnan(found.value)


def test_the_number_of_every_gsm8k_answer_is_found() -> None:
    answers = [row["answer"] for row in rows("gsm8k_test.jsonl")]
    missed = [
        answer
        for answer in answers
        if (found := number_in(answer)) is None
        or found.value != float(answer.rpartition("####")[2].replace(",", ""))
    ]
    assert len(answers) == 1319
    assert missed == []


def test_real_solutions_of_four_models_are_judged_as_their_authors_judged_them() -> None:
    judged = [
        (solution["is_correct"], passes(NumericClose(), solution["solution"], row["ground_truth"]))
        for row in rows("gsm8k_model_solutions.jsonl")
        for solution in row.values()
        if isinstance(solution, dict)
    ]
    assert len(judged) == 4 * 1319
    assert [pair for pair in judged if pair[0] is not pair[1]] == []
