"""The price of a case: tasks that answer at once, so that all that is left is what the harness does.

The plain script keeps no cases, scores nothing and syncs nothing. Paceline records each case's content, scores it,
checksums and syncs its journal, and reads its report back from there; all of that is in its time.
"""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path
from typing import Any

from bench.contest import Contestant, Timed, in_turn, middle, ratio
from bench.peers import ABSENT, pydantic_evals
from bench.results import Result, at_least, program
from bench.script import lines_in, run_all, run_on

CASES = 100_000
PEER_CASES = 5_000
ROUNDS = 7
WIDTH = 50


async def no_op(prompt: str) -> str:
    """The task of everyone."""
    return prompt


def script(*, cases: int, loop: str, folder: str) -> Timed:
    """The plain script."""
    tasks = [{"id": f"case-{number}", "prompt": f"question {number}"} for number in range(cases)]
    out = Path(folder, "results.jsonl")
    yield
    run_on(loop, run_all(tasks, no_op, out, width=WIDTH))
    yield
    return {"done": len(lines_in(out))}


def paceline(*, cases: int, loop: str, folder: str) -> Timed:
    """Ours: journal on disk and synced, every case scored, the report read back."""
    from paceline import Case, Dataset
    from paceline.evaluators import EqualsExpected

    given: list[Case[str, str, Any]] = [
        Case(name=f"case-{number}", inputs=f"question {number}", expected_output=f"question {number}")
        for number in range(cases)
    ]
    yield
    dataset = Dataset(name="noop", cases=given, evaluators=[EqualsExpected()])
    if loop == "asyncio":
        report = asyncio.run(
            dataset.evaluate(no_op, max_concurrency=WIDTH, journal=Path(folder, "run"), progress=False)
        )
    else:  # what `evaluate_sync` runs on by itself
        report = dataset.evaluate_sync(
            no_op, max_concurrency=WIDTH, journal=Path(folder, "run"), progress=False
        )
    yield
    assert report.pass_rate == 1.0
    return {"done": report.n_scored}


def evals(*, cases: int, folder: str) -> Timed:
    """Pydantic Evals: scored, in memory only."""
    warnings.simplefilter("ignore")
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import EqualsExpected

    given = [
        Case(name=f"case-{number}", inputs=f"question {number}", expected_output=f"question {number}")
        for number in range(cases)
    ]
    yield
    dataset = Dataset(name="noop", cases=given, evaluators=[EqualsExpected()])
    report = dataset.evaluate_sync(no_op, max_concurrency=WIDTH, progress=False)
    yield
    return {"done": len(report.cases)}


def measure(quick: bool) -> Result:
    """Everyone in turn."""
    cases, peer_cases, rounds = (500, 50, 1) if quick else (CASES, PEER_CASES, ROUNDS)
    sizes: dict[str, int] = {}
    contestants = []

    def enter(name: str, does: str, cases: int, python: str = "", **settings: object) -> str:
        sizes[name] = cases
        known = {"python": python} if python else {}
        contestants.append(
            Contestant(name=name, does=f"bench.noop:{does}", settings={"cases": cases, **settings}, **known)
        )
        return name

    plain = {
        loop: enter(f"plain script, {loop}", "script", cases, loop=loop) for loop in ("asyncio", "uvloop")
    }
    ours = {loop: enter(f"Paceline, {loop}", "paceline", cases, loop=loop) for loop in ("asyncio", "uvloop")}
    peer = pydantic_evals()
    evals_name = enter(peer.name, "evals", peer_cases, peer.python) if peer else None
    costs = in_turn(contestants, rounds=rounds)
    for name, each in costs.items():
        assert all(cost.facts["done"] == sizes[name] for cost in each), f"{name} did not do all cases"

    def faster(theirs: str | None, mine: str, by: Any = "wall_s") -> float | None:
        if theirs is None:
            return None
        return ratio(costs[theirs], costs[mine], by) * sizes[mine] / sizes[theirs]

    rows = [
        {
            "what": name,
            "cases": sizes[name],
            "cases_per_second": round(sizes[name] / middle(each, "wall_s")),
            "wall_us_per_case": middle(each, "wall_s") / sizes[name] * 1e6,
            "cpu_us_per_case": middle(each, "cpu_s") / sizes[name] * 1e6,
            "peak_mb": middle(each, "peak_mb"),
            "times_script": faster(plain["asyncio"], name),
            "times_script_by_cpu": faster(plain["asyncio"], name, "cpu_s"),
        }
        for name, each in costs.items()
    ]
    return Result(
        title=f"{cases:,} cases that answer at once, {WIDTH} at a time",
        settings={"cases": cases, "peer_cases": peer_cases, "width": WIDTH, "rounds": rounds},
        rows=rows,
        bars=[
            at_least(
                "Paceline on asyncio against the script on asyncio",
                1.5,
                faster(plain["asyncio"], ours["asyncio"]),
            ),
            at_least(
                "Paceline on uvloop against the script on asyncio",
                2.0,
                faster(plain["asyncio"], ours["uvloop"]),
            ),
            at_least(
                "Paceline on uvloop against the script on uvloop",
                2.0,
                faster(plain["uvloop"], ours["uvloop"]),
            ),
            at_least(
                "Paceline on asyncio against Pydantic Evals (asyncio)",
                10.0,
                faster(evals_name, ours["asyncio"]),
            ),
        ],
        notes=[
            "`times script`: how many times as many cases per second as the plain script on asyncio, the median of "
            f"the ratios within {rounds} rounds; `by cpu` compares processor time of all threads in its place.",
            f"Pydantic Evals has {peer_cases:,} cases, compared per case: it would take minutes for more."
            if peer
            else ABSENT,
        ],
    )


if __name__ == "__main__":
    program("noop", measure)
