"""HumanEval end to end, from its own file: the bar that every runner of generated code has to pass."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from paceline import Dataset
from paceline.containment import means
from paceline.evaluators import PythonTests

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "humaneval.jsonl.gz"
PROBLEMS = 164


@pytest.mark.slow
def test_canonical_solutions_pass_and_empty_bodies_fail() -> None:
    """Two tries each: the solution, then an empty body. So pass@1 is one half, and pass@2 is 1."""
    if not DATA.exists():
        pytest.skip("../shared/data/humaneval.jsonl.gz is not here")
    if means().way == "limits":
        pytest.skip(f"generated code cannot be contained here: {means().why_not}")
    dataset: Dataset[str, Any, dict[str, Any]] = Dataset.from_file(DATA)
    dataset.add_evaluator(PythonTests())
    solutions = {case.inputs: case.metadata["canonical_solution"] for case in dataset.cases if case.metadata}
    asked: Counter[str] = Counter()

    def task(prompt: str) -> str:
        asked[prompt] += 1
        return solutions[prompt] if asked[prompt] == 1 else "    pass\n"

    report = dataset.evaluate_sync(task, journal=False, repeat=2, max_concurrency=4, progress=False)
    assert report.verdict == "complete"
    told = {True: 0, False: 0}
    for group in report.case_groups() or ():
        passed = [run.assertions["PythonTests"].value for run in group.runs]
        assert sorted(passed) == [False, True], (group.name, [run.assertions for run in group.runs])
        told[True] += passed.count(True)
        told[False] += passed.count(False)
    assert told == {True: PROBLEMS, False: PROBLEMS}
    assert report.pass_at_k(1) == pytest.approx(0.5)
    assert report.pass_at_k(2) == 1.0
