"""The price of a case: tasks that answer at once, so that all that is left is what the harness does.

The plain script records outputs only, scores nothing and syncs nothing; it ends when the last line is
written. Ours is stopped by two clocks: when everything is scored, written and synced, which is what the
script has to show for itself, and when the report has been read back from the journal as well.
"""

from __future__ import annotations

import asyncio
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

from bench.contest import Contestant, Measure, Timed, in_turn, middle, ratio
from bench.peers import ABSENT, pydantic_evals
from bench.results import Result, at_least, program
from bench.script import lines_in, run_all, run_on

CASES = 100_000
PEER_CASES = 20_000
ROUNDS = 7
WIDTH = 50


async def no_op(prompt: str) -> str:
    """The task of everyone."""
    return prompt


def script(*, cases: int, loop: str) -> Timed:
    """The plain script."""
    tasks = [{"id": f"case-{number}", "prompt": f"question {number}"} for number in range(cases)]
    out = Path("results.jsonl")
    yield
    run_on(loop, run_all(tasks, no_op, out, width=WIDTH))
    yield
    return {"done": len(lines_in(out))}


def paceline(*, cases: int, loop: str) -> Timed:
    """Ours: journal on disk and synced, every case scored; then the report read back."""
    from paceline import Case, Dataset
    from paceline.evaluators import EqualsExpected

    given: list[Case[str, str, Any]] = [
        Case(name=f"case-{number}", inputs=f"question {number}", expected_output=f"question {number}")
        for number in range(cases)
    ]
    landed = Landed()
    yield
    started = time.perf_counter()
    dataset = Dataset(name="noop", cases=given, evaluators=[EqualsExpected()])
    options: Any = {"journal": Path("run"), "progress": False, "on_event": landed}
    if loop == "asyncio":
        report = asyncio.run(dataset.evaluate(no_op, max_concurrency=WIDTH, **options))
    else:  # what `evaluate_sync` runs on by itself
        report = dataset.evaluate_sync(no_op, max_concurrency=WIDTH, **options)
    yield
    assert report.pass_rate == 1.0
    return {"done": report.n_scored, "on_disk_s": landed.at - started}


class Landed:
    """Notes when the run has ended: everything is on disk then."""

    wants_cases = False
    at = 0.0

    def __call__(self, event: Any) -> None:
        if type(event).__name__ == "RunEnded":
            self.at = time.perf_counter()


def evals(*, cases: int) -> Timed:
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


def contestants(cases: int, peer_cases: int) -> dict[str, Contestant]:
    """Everyone, by what they are called here."""
    found = {
        f"{does}, {loop}": Contestant(
            name=f"{name}, {loop}", does=f"bench.noop:{does}", settings={"cases": cases, "loop": loop}
        )
        for does, name in (("script", "plain script"), ("paceline", "Paceline"))
        for loop in ("asyncio", "uvloop")
    }
    if peer := pydantic_evals():
        found["evals"] = Contestant(
            name=peer.name, does="bench.noop:evals", settings={"cases": peer_cases}, python=peer.python
        )
    return found


def measure(quick: bool) -> Result:
    """Everyone in turn."""
    cases, peer_cases, rounds = (500, 50, 1) if quick else (CASES, PEER_CASES, ROUNDS)
    entered = contestants(cases, peer_cases)
    costs = in_turn(list(entered.values()), rounds=rounds)
    sizes = {who: peer_cases if who == "evals" else cases for who in entered}
    taken = {who: costs[each.name] for who, each in entered.items()}
    assert all(cost.facts["done"] == sizes[who] for who in taken for cost in taken[who])

    def times(theirs: str, mine: str, by: Measure = "wall_s") -> float | None:
        """How many times as many cases per second; None where they are absent."""
        if theirs not in taken:
            return None
        return ratio(taken[theirs], taken[mine], by) * sizes[mine] / sizes[theirs]

    def times_on_disk(theirs: str, mine: str) -> float | None:
        """The same, up to the moment when all results are on disk."""
        if theirs not in taken:
            return None
        per_round = zip(taken[theirs], taken[mine], strict=True)
        times: float = statistics.median(their.wall_s / our.facts["on_disk_s"] for their, our in per_round)
        return times * sizes[mine] / sizes[theirs]

    on_disk = {
        who: statistics.median(cost.facts["on_disk_s"] for cost in taken[who]) / sizes[who] * 1e6
        for who in taken
        if who.startswith("paceline")
    }
    rows = [
        {
            "what": each.name,
            "cases": sizes[who],
            "cases_per_second": round(sizes[who] / middle(taken[who], "wall_s")),
            "on_disk_per_case_us": on_disk.get(who),
            "wall_per_case_us": middle(taken[who], "wall_s") / sizes[who] * 1e6,
            "cpu_per_case_us": middle(taken[who], "cpu_s") / sizes[who] * 1e6,
            "peak_mb": middle(taken[who], "peak_mb"),
            "times_script_on_disk": times_on_disk("script, asyncio", who) if who in on_disk else None,
            "times_script": times("script, asyncio", who),
            "times_script_by_cpu": times("script, asyncio", who, "cpu_s"),
        }
        for who, each in entered.items()
    ]
    against = (
        ("Paceline on asyncio, of the script on asyncio", 1.5, "script, asyncio", "paceline, asyncio"),
        ("Paceline on uvloop, of the script on uvloop", 2.0, "script, uvloop", "paceline, uvloop"),
        ("Paceline on uvloop, of Pydantic Evals", 10.0, "evals", "paceline, uvloop"),
    )
    return Result(
        title=f"{cases:,} cases that answer at once, {WIDTH} at a time",
        settings={"cases": cases, "peer_cases": peer_cases, "width": WIDTH, "rounds": rounds},
        rows=rows,
        bars=[
            *(
                at_least(f"{what}, results on disk", limit, times_on_disk(theirs, mine))
                for what, limit, theirs, mine in against
            ),
            *(
                at_least(f"{what}, report read back too", limit, times(theirs, mine))
                for what, limit, theirs, mine in against
            ),
        ],
        notes=(
            f"Medians over rounds ({rounds}); `times script` is the median of the ratios within a round.",
            f"Pydantic Evals has {peer_cases:,} cases, compared per case." if "evals" in taken else ABSENT,
        ),
    )


if __name__ == "__main__":
    program("noop", measure)
