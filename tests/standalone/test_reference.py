"""The examples of the page on asynchronous evaluations: only where `evaluate` comes from is changed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from paceline import evaluate

PAGE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "3-async-evaluations.txt"
absent = pytest.mark.skipif(not PAGE.exists(), reason="../shared/reference is not here")


@pytest.fixture(autouse=True)
def _the_alias_stands_for_the_simulated_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACELINE_JUDGE_ALIASES", '{"turing_small": "sim"}')


@absent
def test_the_baseline_of_the_page_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(
        r"^from fi\.evals import evaluate\n.*?^print\(f\"Reason[^\n]*\n",
        PAGE.read_text(),
        re.DOTALL | re.MULTILINE,
    )
    assert found is not None
    exec(compile(found.group().replace("from fi.evals", "from paceline"), "the page", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Score: 1.0  Passed: True"
    assert printed[1].startswith("Reason: Simulated: ")


def inputs_on_the_page() -> list[dict[str, Any]]:
    """The first item of each list of test cases."""
    text = PAGE.read_text() if PAGE.exists() else ""
    lists = re.findall(r"^test_cases = \[\n    \{\n(.*?)\n    \}\n", text, re.DOTALL | re.MULTILINE)
    pairs = (re.findall(r'"(\w+)": f?"([^"]*)"', each) for each in lists)
    return [{name: value.replace("{i}", "7") for name, value in each} for each in pairs]


@absent
def test_all_items_of_the_page_are_supported_by_their_context() -> None:
    found = inputs_on_the_page()
    assert len(found) == 2
    for given in found:
        result = evaluate("groundedness", model="turing_small", **given)
        assert (result.passed, result.score, result.simulated) == (True, 1.0, True), given


@absent
@pytest.mark.parametrize("other", ["London", "1887", "not"])
def test_the_same_items_with_one_word_changed_are_not(other: str) -> None:
    for given in inputs_on_the_page():
        words = given["output"].rstrip(".").split(" is ")
        changed = f"{words[0]} is not {words[1]}." if other == "not" else f"{words[0]} is {other}."
        given = {"output": changed, "context": given["context"]}
        assert evaluate("groundedness", model="turing_small", **given).passed is False, changed
