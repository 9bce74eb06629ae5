"""How close to a perfect schedule a run comes, when cases take differently long.

A first run knows nothing of its cases and is held against an exact list schedule in the order of the dataset;
a second one knows how long each took and is held against an exact longest-first schedule. The tasks only
wait. The time is that of the whole call, from `evaluate_sync` to its report.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path
from typing import Any

from bench.contest import Contestant, Timed, in_turn
from bench.results import Result, at_most, program
from bench.shapes import list_schedule, log_normal, longest_first

CASES = 200
SLOTS = 50
MEAN_S = 0.6
SIGMAS = (0.5, 1.0)
SEEDS = (1, 2, 3, 4, 5)


def paceline(*, sigma: float, seed: int, cases: int, slots: int, mean: float) -> Timed:
    """A first run of a suite and a second one, which finds the durations of the first."""
    from paceline import Case, Dataset
    from paceline.evaluators import EqualsExpected

    durations = log_normal(cases, sigma=sigma, mean=mean, seed=seed)
    dataset: Any = Dataset(
        name="makespan",
        cases=[Case(name=f"case-{number}", inputs=number, expected_output=number) for number in range(cases)],
        evaluators=[EqualsExpected()],
    )

    async def waits(number: int) -> int:
        await asyncio.sleep(durations[number])
        return number

    def once() -> float:
        started = time.perf_counter()
        report = dataset.evaluate_sync(waits, max_concurrency=slots, runs=Path("runs"), progress=False)
        took = time.perf_counter() - started
        assert report.n_scored == cases
        return took

    yield
    first, second = once(), once()
    yield
    return {
        "first_s": first,
        "first_exact_s": list_schedule(durations, slots=slots),
        "second_s": second,
        "second_exact_s": longest_first(durations, slots=slots),
    }


def measure(quick: bool) -> Result:
    """Every shape and seed, in a process of its own."""
    cases, slots, mean, seeds = (20, 5, 0.02, SEEDS[:1]) if quick else (CASES, SLOTS, MEAN_S, SEEDS)
    contestants = {
        (sigma, seed): Contestant(
            name=f"σ {sigma}, seed {seed}",
            does="bench.makespan:paceline",
            settings={"sigma": sigma, "seed": seed, "cases": cases, "slots": slots, "mean": mean},
        )
        for seed in seeds
        for sigma in SIGMAS
    }
    costs = in_turn(list(contestants.values()), rounds=1)
    rows, bars = [], []
    for sigma in SIGMAS:
        facts = [costs[contestants[sigma, seed].name][0].facts for seed in seeds]
        for which, order in (("first", "as given"), ("second", "longest first")):
            shares = [each[f"{which}_s"] / each[f"{which}_exact_s"] for each in facts]
            rows.append(
                {
                    "run": f"{which}, {order}",
                    "σ": sigma,
                    "exact_schedule_s": statistics.median(each[f"{which}_exact_s"] for each in facts),
                    "paceline_s": statistics.median(each[f"{which}_s"] for each in facts),
                    "times_exact": statistics.median(shares),
                    "times_exact_at_worst": max(shares),
                }
            )
            bars.append(at_most(f"{which} run, σ {sigma}, the worst seed", 1.03, max(shares), "× exact"))
    return Result(
        title=f"Makespan of {cases} log-normal cases in {slots} slots",
        settings={"cases": cases, "slots": slots, "mean_s": mean, "seeds": list(seeds)},
        rows=rows,
        bars=bars,
        notes=[
            f"Medians over {len(seeds)} seeds. Exact schedules are computed: they have no overhead at all.",
        ],
    )


if __name__ == "__main__":
    program("makespan", measure)
