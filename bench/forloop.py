"""Two hundred cases of half a minute, and what becomes of the hours that a `for` loop takes; scaled down.

The seconds are a fraction of those that such a suite takes, which is to the loop's advantage: what a harness
adds per case weighs the more, the shorter a case is.

Then the kill: at the 173rd result that is on file the process gets `kill -9`, and is started again.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.contest import ROOT, Contestant, Cost, Timed, in_turn, middle, ratio, scratch
from bench.peers import ABSENT, pydantic_evals
from bench.results import Bar, Result, at_least, program
from bench.script import lines_in, one_by_one, run_all
from bench.shapes import list_schedule, log_normal

CASES = 200
WIDTH = 50
SECONDS = 0.2
ROUNDS = 3
KILL_AT = 173
SHAPES = {"all alike": 0.0, "log-normal, σ 0.5": 0.5}


def durations_of(cases: int, seconds: float, sigma: float) -> list[float]:
    """How long each case takes."""
    return log_normal(cases, sigma=sigma, mean=seconds, seed=1) if sigma else [seconds] * cases


def model(durations: Sequence[float]) -> Callable[[int], Any]:
    """The task of everyone: wait, and answer."""

    async def answer(number: int) -> int:
        await asyncio.sleep(durations[number])
        return number

    return answer


def for_loop(*, cases: int, seconds: float, sigma: float) -> Timed:
    """One after the other."""
    answer = model(durations_of(cases, seconds, sigma))
    yield
    outputs = asyncio.run(one_by_one([{"prompt": number} for number in range(cases)], answer))
    yield
    return {"done": len(outputs)}


def script(*, cases: int, seconds: float, sigma: float) -> Timed:
    """The plain script."""
    answer = model(durations_of(cases, seconds, sigma))
    out = Path("results.jsonl")
    yield
    tasks = [{"id": str(number), "prompt": number} for number in range(cases)]
    asyncio.run(run_all(tasks, answer, out, width=WIDTH))
    yield
    return {"done": len(lines_in(out))}


def paceline(*, cases: int, seconds: float, sigma: float) -> Timed:
    """Ours."""
    from paceline import Case, Dataset
    from paceline.evaluators import EqualsExpected

    answer = model(durations_of(cases, seconds, sigma))
    yield
    dataset: Dataset[int, int, Any] = Dataset(
        name="forloop",
        cases=[Case(name=f"case-{number}", inputs=number, expected_output=number) for number in range(cases)],
        evaluators=[EqualsExpected()],
    )
    report = dataset.evaluate_sync(answer, max_concurrency=WIDTH, journal=Path("run"), progress=False)
    yield
    return {"done": report.n_scored}


def evals(*, cases: int, seconds: float, sigma: float) -> Timed:
    """Pydantic Evals."""
    warnings.simplefilter("ignore")
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import EqualsExpected

    answer = model(durations_of(cases, seconds, sigma))
    yield
    dataset = Dataset(
        name="forloop",
        cases=[Case(name=f"case-{number}", inputs=number, expected_output=number) for number in range(cases)],
        evaluators=[EqualsExpected()],
    )
    report = dataset.evaluate_sync(answer, max_concurrency=WIDTH, progress=False)
    yield
    return {"done": len(report.cases)}


# The kill -----------------------------------------------------------------------------------------


def kill_and_go_on(
    name: str,
    start: Sequence[str],
    again: Sequence[str],
    record: Path,
    results: Callable[[Path], set[str]],
    seconds: float,
) -> dict[str, Any]:
    """Start, kill at the 173rd result, start again: how many cases ran anew, and whether they had to."""
    first, second = record.with_suffix(".first"), record.with_suffix(".second")
    process = subprocess.Popen(start, cwd=ROOT, env=_environment(seconds, first), stdout=subprocess.DEVNULL)
    while len(results(record)) < KILL_AT:
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended before it could be killed")
        time.sleep(0.002)
    process.kill()
    process.wait()
    recorded = results(record)
    subprocess.run(again, cwd=ROOT, env=_environment(seconds, second), stdout=subprocess.DEVNULL, check=True)
    rerun = second.read_text().split()
    return {
        "what": name,
        "results_on_file_at_the_kill": len(recorded),
        "in_flight_at_the_kill": len(set(first.read_text().split()) - recorded),
        "run_anew": len(rerun),
        "of_them_on_file_already": len(set(rerun) & recorded),
        "results_in_the_end": len(results(record)),
    }


def _environment(seconds: float, starts: Path) -> dict[str, str]:
    return {**os.environ, "BENCH_SECONDS": str(seconds), "BENCH_STARTS": str(starts), "PYTHONPATH": str(ROOT)}


def outcomes_in(record: Path) -> set[str]:
    """The cases with an outcome in a journal."""
    journal = record / "journal.jsonl"
    if not journal.exists():
        return set()
    *whole, _torn = journal.read_bytes().split(b"\n")
    return {json.loads(line)["case"] for line in whole if line.startswith(b'{"kind":"outcome"')}


def results_in(record: Path) -> set[str]:
    """The cases with a line in the script's file."""
    if not record.exists():
        return set()
    *whole, _torn = record.read_bytes().split(b"\n")
    return {json.loads(line)["id"] for line in whole}


def kills(seconds: float) -> list[dict[str, Any]]:
    """Ours and the script's."""
    command = str(Path(sys.executable).with_name("paceline"))
    with scratch("kill") as folder:
        run, file = folder / "run", folder / "results.jsonl"
        script_again = [sys.executable, "-m", "bench.suites.script", str(file)]
        return [
            kill_and_go_on("plain script", script_again, script_again, file, results_in, seconds),
            kill_and_go_on(
                "Paceline",
                [command, "run", "bench/suites/two_hundred.py", "-j", str(WIDTH), "-o", str(run), "--quiet"],
                [command, "resume", str(run), "--quiet"],
                run,
                outcomes_in,
                seconds,
            ),
        ]


# All of it ----------------------------------------------------------------------------------------


def measure(quick: bool) -> Result:
    """Everyone in turn, for each shape; then the kill."""
    cases, seconds, rounds = (20, 0.02, 1) if quick else (CASES, SECONDS, ROUNDS)
    peer = pydantic_evals()
    rows: list[dict[str, Any]] = []
    bars: list[Bar] = []
    for shape, sigma in SHAPES.items():
        settings = {"cases": cases, "seconds": seconds, "sigma": sigma}
        names = {"for loop": "for_loop", "plain script": "script", "Paceline": "paceline"}
        contestants = [
            Contestant(name=name, does=f"bench.forloop:{does}", settings=settings)
            for name, does in names.items()
        ]
        if peer is not None:
            contestants.append(
                Contestant(name=peer.name, does="bench.forloop:evals", settings=settings, python=peer.python)
            )
        costs = in_turn(contestants, rounds=rounds)
        assert all(cost.facts["done"] == cases for each in costs.values() for cost in each)
        loop = costs["for loop"]
        rows += [_row(shape, name, each, loop) for name, each in costs.items()]
        rows.append(_ideal(shape, durations_of(cases, seconds, sigma)))
        bars.append(
            at_least(f"Paceline, of the for loop, {shape}", 25, ratio(loop, costs["Paceline"], "wall_s"))
        )
    killed = kills(seconds)
    return Result(
        title=f"{cases} cases of {seconds:g} s, {WIDTH} at a time",
        settings={"cases": cases, "seconds": seconds, "width": WIDTH, "rounds": rounds, "kill_at": KILL_AT},
        rows=rows,
        more=killed,
        bars=[*bars, _only_what_was_open(killed[-1])],
        notes=() if peer else (ABSENT,),
    )


def _row(shape: str, name: str, costs: list[Cost], loop: list[Cost]) -> dict[str, Any]:
    return {
        "cases_take": shape,
        "what": name,
        "wall_s": middle(costs, "wall_s"),
        "cpu_s": middle(costs, "cpu_s"),
        "times_for_loop": ratio(loop, costs, "wall_s"),
    }


def _ideal(shape: str, durations: list[float]) -> dict[str, Any]:
    took = list_schedule(durations, slots=WIDTH)
    return {
        "cases_take": shape,
        "what": "an exact schedule in that order, computed",
        "wall_s": took,
        "cpu_s": None,
        "times_for_loop": sum(durations) / took,
    }


def _only_what_was_open(killed: dict[str, Any]) -> Bar:
    twice = killed["of_them_on_file_already"]
    open_then = CASES - killed["results_on_file_at_the_kill"]
    return Bar(
        what="cases that a resume ran although their result was on file",
        bar="0",
        found=twice,
        met=twice == 0 and killed["run_anew"] == open_then and killed["results_in_the_end"] == CASES,
    )


if __name__ == "__main__":
    program("forloop", measure)
