"""What it costs to run command line programs as cases: over a list schedule in time, and in processor time.

The programs sleep for 0.5 to 3 s, each attempt in a workspace of its own. One kind only prints its answer,
the other writes a file too, which is kept as a patch. Processor time is everything that the run has used,
from `evaluate_sync` to its report: ours, the processes that start and watch commands, git, and the programs
themselves. What these need alone is measured beside: the same command lines, started bare, as many at a time.
"""

from __future__ import annotations

import os
import random
import resource
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

from bench.child import cpu_seconds
from bench.contest import Contestant, Timed, in_turn
from bench.results import Result, at_most, program
from bench.shapes import list_schedule

CASES = 200
SLOTS = 50
SECONDS = (0.5, 3.0)
ROUNDS = 3
PROGRAMS = {
    "prints": "sleep {{ inputs }}; echo {{ inputs }}",
    "prints and writes": "sleep {{ inputs }}; echo {{ inputs }}; echo {{ inputs }} > answer.txt",
}


def agents(*, command: str, cases: int, slots: int, low: float, high: float, seed: int) -> Timed:
    """A run of such programs."""
    from paceline import Case, CommandTask, Dataset
    from paceline.processes.running import close

    durations = _durations(cases, low, high, seed)
    dataset: Any = Dataset(
        name="agents",
        cases=[Case(name=f"case-{number}", inputs=each) for number, each in enumerate(durations)],
    )
    os.environ["PACELINE_WORKSPACES"] = str(Path("grounds").absolute())
    task = CommandTask(command)
    yield
    cpu, started = cpu_seconds(), time.perf_counter()
    report = dataset.evaluate_sync(task, max_concurrency=slots, runs=Path("runs"), progress=False)
    took = time.perf_counter() - started
    close()  # what children have used is known once they have ended
    cpu = cpu_seconds() - cpu
    yield
    assert report.n_scored == cases
    assert not list(Path("grounds").glob("*/*"))
    return {"wall_s": took, "exact_s": list_schedule(durations, slots=slots), "cpu_ms": cpu / cases * 1e3}


def bare(*, command: str, cases: int, slots: int, low: float, high: float, seed: int) -> Timed:
    """The programs alone, without anybody who looks after them."""
    durations = _durations(cases, low, high, seed)
    Path("work").mkdir()
    yield
    cpu = _children_cpu_s()
    under_way: list[subprocess.Popen[bytes]] = []
    for each in durations:
        if len(under_way) == slots:
            under_way.pop(0).wait()
        line = command.replace("{{ inputs }}", str(each))
        under_way.append(subprocess.Popen(["/bin/sh", "-c", line], cwd="work", stdout=subprocess.DEVNULL))
    for process in under_way:
        process.wait()
    cpu = _children_cpu_s() - cpu
    yield
    return {"cpu_ms": cpu / cases * 1e3}


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _durations(cases: int, low: float, high: float, seed: int) -> list[float]:
    dice = random.Random(seed)
    return [round(dice.uniform(low, high), 3) for _ in range(cases)]


def measure(quick: bool) -> Result:
    """Both kinds, in turn, in a process of its own each time."""
    cases, slots, rounds = (10, 5, 1) if quick else (CASES, SLOTS, ROUNDS)
    low, high = (0.01, 0.05) if quick else SECONDS
    said = {"cases": cases, "slots": slots, "low": low, "high": high}
    contestants = [
        Contestant(
            name=f"{name}, {does}, round {number}",
            does=f"bench.commands:{does}",
            settings={**said, "command": command, "seed": number},
        )
        for number in range(1, rounds + 1)
        for name, command in PROGRAMS.items()
        for does in ("agents", "bare")
    ]
    costs = in_turn(contestants, rounds=1)
    rows, bars = [], []
    for name in PROGRAMS:
        facts, alone = (
            [costs[f"{name}, {does}, round {number}"][0].facts for number in range(1, rounds + 1)]
            for does in ("agents", "bare")
        )
        over = [each["wall_s"] / each["exact_s"] for each in facts]
        cpu = [each["cpu_ms"] for each in facts]
        programs = [each["cpu_ms"] for each in alone]
        rows.append(
            {
                "program": name,
                "exact_schedule_s": statistics.median(each["exact_s"] for each in facts),
                "paceline_s": statistics.median(each["wall_s"] for each in facts),
                "times_exact": statistics.median(over),
                "times_exact_at_worst": max(over),
                "processor_time_per_case_ms": statistics.median(cpu),
                "of_it_the_program_alone_ms": statistics.median(programs),
            }
        )
        bars.append(at_most(f"{name}: time, the worst round", 1.1, max(over), "× exact"))
        bars.append(at_most(f"{name}: processor time, the median", 15, statistics.median(cpu), "ms a case"))
    return Result(
        title=f"{cases} commands of {low:g} to {high:g} s, {slots} at a time, a workspace each",
        settings={"cases": cases, "slots": slots, "seconds": [low, high], "rounds": rounds},
        rows=rows,
        bars=bars,
        notes=[
            "The whole call, from `evaluate_sync` to its report. The exact schedule is computed.",
            "Processor time is that of all processes, the programs' own included.",
            "The program alone: the same command lines, as many at a time, started by a loop.",
        ],
    )


if __name__ == "__main__":
    program("commands", measure)
