"""Code under test changes the current directory as it likes; what a run records stays where it was begun."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, rescore, verify

BIG = "x" * 300_000
"""Too big for a line: it goes to a file of its own, which is made while the run is under way."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def elsewhere(tmp_path: Path, n: int) -> str:
    """A task that works in a directory of its own, as agents do."""
    place = tmp_path / f"workspace-{n}"
    place.mkdir(exist_ok=True)
    os.chdir(place)
    return f"{BIG}{n}"


@pytest.mark.parametrize("journal", ["out", "out.jsonl", None])
def test_a_task_that_changes_its_directory_takes_nothing_of_the_run_along(
    tmp_path: Path, folder: Path, journal: str | None
) -> None:
    calls: list[int] = []

    def task(n: int) -> str:
        calls.append(n)
        return elsewhere(tmp_path, n)

    dataset = Dataset(
        name="moving",
        cases=[Case(name=f"case-{n}", inputs=n) for n in range(4)],
        evaluators=[lambda output: len(output) > 3],
    )
    report = dataset.evaluate_sync(task, journal=journal, max_concurrency=2, progress=False)
    assert (report.n_scored, report.pass_rate) == (4, 1.0)
    assert sorted(len(case.output) for case in report.cases) == [len(BIG) + 1] * 4, "read from where it lies"
    assert {path.name for path in tmp_path.iterdir()} == {"here", *(f"workspace-{n}" for n in range(4))}
    assert [path for n in range(4) for path in (tmp_path / f"workspace-{n}").iterdir()] == []
    os.chdir(folder)
    assert report.path is not None
    assert verify(report.path).ok
    assert not list(folder.rglob("*.lock"))
    dataset.evaluate_sync(task, journal=report.path, progress=False)
    assert sorted(calls) == [0, 1, 2, 3]
    assert rescore(report.path, evaluators=[lambda output: True], journal=False, progress=False).n_scored == 4


def test_the_rows_of_a_file_are_found_again_for_the_next_repeat(tmp_path: Path, folder: Path) -> None:
    (folder / "cases.jsonl").write_text("".join(f'{{"id": "{n}", "input": {n}}}\n' for n in range(3)))
    dataset = Dataset.from_file("cases.jsonl")

    def task(n: Any) -> int:
        return len(elsewhere(tmp_path, n))

    report = dataset.evaluate_sync(task, journal="out", repeat=2, progress=False)
    assert report.n_scored == 6
    assert [case.name for case in dataset.cases] == ["0", "1", "2"]
