"""Templates that an evaluator of the user's asks within a run: on record, counted, and not paid for twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, aevaluate, evaluate
from tests.evaluators.judges.stage import Said, yes


def lines(journal: Path, kind: str) -> list[dict[str, Any]]:
    path = journal / "journal.jsonl"
    return [line for line in map(json.loads, path.read_text().splitlines()) if line["kind"] == kind]


@pytest.mark.parametrize("blocking", [True, False])
def test_a_verdict_is_on_record_by_itself_and_found_again_by_the_next_try(
    tmp_path: Path, blocking: bool
) -> None:
    judge = Said(yes())
    tries: list[str] = []

    def settle(output: str, passed: bool | None) -> bool:
        tries.append(output)
        if len(tries) == 1:
            raise ConnectionError("after the judge has spoken")
        return bool(passed)

    def waits(output: str) -> bool:
        return settle(output, evaluate("toxicity", output=output, model=judge).passed)

    async def awaits(output: str) -> bool:
        return settle(output, (await aevaluate("toxicity", output=output, model=judge)).passed)

    dataset = Dataset(cases=[Case(name="a", inputs="x")], evaluators=[waits if blocking else awaits])
    report = dataset.evaluate_sync(
        lambda text: text,
        journal=tmp_path / "run",
        progress=False,
        retry_evaluators={"attempts": 2, "base": 0.001},
    )
    assert report.passed
    assert len(tries) == 2
    assert len(judge.asked) == 1, "the second try has found what the first one was told"
    (verdict,) = lines(tmp_path / "run", "verdict")
    assert (verdict["part"], verdict["case"]) == ("toxicity", "a")


def test_the_calls_of_a_simulated_judge_are_on_record_as_those_of_the_evaluator(tmp_path: Path) -> None:
    def polite(output: str) -> bool | None:
        return evaluate("is_polite", output=output, model="sim").passed

    dataset = Dataset(cases=[Case(name="a", inputs="Good morning.")], evaluators=[polite])
    dataset.evaluate_sync(lambda text: text, journal=tmp_path / "run", progress=False)
    (call,) = lines(tmp_path / "run", "call")
    assert call["by"] == "polite"
