"""A million cases from a JSONL file: memory, time, and how long a resume takes to find that nothing is left.

The file is streamed, the journal is on disk and synced, the report is read and its figures are reckoned: all
of that is in peak memory and time. Peers hold their cases in memory and cannot be asked for a million; what
they need per case is told by `bench.noop`.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

from bench.contest import Contestant, Timed, carry_out, scratch
from bench.results import Result, at_most, program

CASES = 1_000_000
RESUMES = 3
WIDTH = 50
PEAK_MB = 200
RESUME_S = 12


def write_cases(path: Path, cases: int) -> None:
    """A row per case, with the field names that people have."""
    with path.open("w") as file:
        file.writelines(
            f'{{"id":"case-{number:07}","question":"What is {number} plus one?","answer":"{number + 1}"}}\n'
            for number in range(cases)
        )


async def adds_one(question: str) -> str:
    """The task: read the number, add one."""
    return str(int(question.split(" ", 3)[2]) + 1)


def paceline() -> Timed:
    """Run what is open of the file's cases, and reckon the report."""
    yield
    from paceline import Dataset
    from paceline.evaluators import EqualsExpected

    ended: list[float] = []

    def note(event: object) -> None:
        if type(event).__name__ == "RunEnded":
            ended.append(time.perf_counter())

    began = time.perf_counter()
    dataset: Any = Dataset.from_file(Path("cases.jsonl"))
    dataset.add_evaluator(EqualsExpected())
    report = dataset.evaluate_sync(
        adds_one, max_concurrency=WIDTH, journal=Path("run"), progress=False, on_event=note
    )
    figures = report.to_dict()
    yield
    return {
        "done": figures["n_scored"],
        "pass_rate": figures["pass_rate"],
        "until_nothing_to_do_s": ended[-1] - began,
        "journal_mb": Path("run", "journal.jsonl").stat().st_size / 1e6,
    }


def measure(quick: bool) -> Result:
    """Once all cases, then resumes of the finished run."""
    cases, resumes = (2_000, 1) if quick else (CASES, RESUMES)
    with scratch("million") as folder:
        write_cases(folder / "cases.jsonl", cases)
        size = (folder / "cases.jsonl").stat().st_size / 1e6
        whole = Contestant(name="Paceline", does="bench.million:paceline")
        costs = [carry_out(whole, folder=folder) for _ in range(1 + resumes)]
    for cost in costs:
        assert cost.facts["done"] == cases, cost.facts
        assert cost.facts["pass_rate"] == 1.0, cost.facts
    rows = [
        {
            "what": f"resume {number} of the finished run" if number else "run and report",
            "cases": cases,
            "wall_s": cost.wall_s,
            "cpu_s": cost.cpu_s,
            "until_nothing_is_left_s": cost.facts["until_nothing_to_do_s"],
            "journal_mb": cost.facts["journal_mb"],
            "peak_mb": cost.peak_mb,
        }
        for number, cost in enumerate(costs)
    ]
    until_nothing = statistics.median(cost.facts["until_nothing_to_do_s"] for cost in costs[1:])
    return Result(
        title=f"{cases:,} cases streamed from JSONL",
        settings={"cases": cases, "resumes": resumes, "width": WIDTH, "file_mb": round(size, 1)},
        rows=rows,
        bars=[
            at_most("peak memory of the run, its report included", PEAK_MB, costs[0].peak_mb, "MB"),
            at_most("peak memory of a resume", PEAK_MB, max(cost.peak_mb for cost in costs[1:]), "MB"),
            at_most("resume of the finished run, until nothing is left to do", RESUME_S, until_nothing, "s"),
        ],
        notes=["`until nothing is left`: until the run has ended, and before its report is read."],
    )


if __name__ == "__main__":
    program("million", measure)
