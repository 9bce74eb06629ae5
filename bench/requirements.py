"""Requirements checked together: how long 50 cases with 8 of them take, each a call of 100 ms.

Held against the `for` loop that people write, one call after another, against `asyncio.gather` with a
semaphore written by hand, which records nothing, and against what the calls cannot be faster than: one call
where nothing bounds them, `calls × seconds / limit` where something does. The scorer waits, counts who is
inside, and in one of the runs fails for one requirement of each case.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from typing import Any

from bench.contest import Contestant, Cost, Timed, in_turn
from bench.results import Bar, Result, at_most, program

CASES = 50
REQUIREMENTS = 8
SECONDS = 0.1
LIMITS = (None, 40, 3)
ROUNDS = 5
FAILS = "requirement 5"
HAND = "gather by hand"


class Scorer:
    """Takes its time, counts, says the same of the same, and may fail for one requirement."""

    def __init__(self, seconds: float, *, fails: str = "") -> None:
        self._seconds = seconds
        self._fails = fails
        self._inside = 0
        self.peak = 0
        self.calls = 0

    async def __call__(self, answer: str, requirement: str) -> tuple[bool, str]:
        self._inside += 1
        self.calls += 1
        self.peak = max(self.peak, self._inside)
        await asyncio.sleep(self._seconds)
        self._inside -= 1
        if requirement == self._fails:
            raise ConnectionError("the provider hung up")
        return len(answer) % 2 == 0 or requirement != "requirement 2", f"{requirement} of {answer}"


def texts(number: int) -> list[str]:
    """So many requirements."""
    return [f"requirement {place}" for place in range(1, number + 1)]


def answers(number: int) -> list[str]:
    """So many answers; those of odd length lack something."""
    return [f"answer {place}" for place in range(number)]


async def one_by_one(given: Sequence[str], requirements: Sequence[str], scorer: Scorer) -> list[Any]:
    """The loop: each answer, each requirement, one call after another."""
    found = []
    for answer in given:
        verdicts = []
        for requirement in requirements:
            try:
                fulfilled, feedback = await scorer(answer, requirement)
            except Exception as error:
                fulfilled = False
                feedback = f"could not be checked: {type(error).__name__}: {error}"
            verdicts.append([requirement, fulfilled, feedback])
        found.append(verdicts)
    return found


def for_loop(*, cases: int, requirements: int, seconds: float) -> Timed:
    """One after the other."""
    scorer = Scorer(seconds)
    yield
    asyncio.run(one_by_one(answers(cases), texts(requirements), scorer))
    yield
    return {"calls": scorer.calls, "peak": scorer.peak}


def by_hand(*, cases: int, requirements: int, seconds: float, limit: int | None) -> Timed:
    """All at once, with a semaphore around the calls where there is a limit."""
    scorer = Scorer(seconds)

    async def main() -> None:
        places = asyncio.Semaphore(limit or cases * requirements)

        async def check(answer: str, requirement: str) -> Any:
            async with places:
                return await scorer(answer, requirement)

        await asyncio.gather(*(check(each, text) for each in answers(cases) for text in texts(requirements)))

    yield
    started = time.perf_counter()
    asyncio.run(main())
    took = time.perf_counter() - started
    yield
    return {"calls": scorer.calls, "peak": scorer.peak, "wall_s": took}


def one_answer(*, requirements: int, seconds: float) -> Timed:
    """One answer, outside of a run: `score_requirements`, within a loop that runs already."""
    from paceline import score_requirements

    scorer = Scorer(seconds)

    async def main() -> float:
        await score_requirements("warm", ["up"], scorer=Scorer(0.0))
        started = time.perf_counter()
        await score_requirements("answer", texts(requirements), scorer=scorer)
        return time.perf_counter() - started

    yield
    took = asyncio.run(main())
    yield
    return {"calls": scorer.calls, "peak": scorer.peak, "wall_s": took}


def a_run(*, cases: int, requirements: int, seconds: float, limit: int | None) -> Timed:
    """A run: the answers are there at once, and each case has its requirements checked."""
    from paceline import Case, Dataset
    from paceline.evaluators import Requirements

    given = answers(cases)

    async def task(place: int) -> str:
        return given[place]

    def run(folder: str, cases: int, scorer: Scorer) -> Any:
        dataset: Any = Dataset(
            name="requirements",
            cases=[Case(name=f"case-{place}", inputs=place) for place in range(cases)],
            evaluators=[Requirements(texts(requirements), scorer=scorer, max_concurrency=limit)],
        )
        return dataset.evaluate_sync(task, max_concurrency=cases, journal=folder, progress=False)

    run("warm", 1, Scorer(0.0))
    scorer = Scorer(seconds)
    yield
    started = time.perf_counter()
    report = run("run", cases, scorer)
    took = time.perf_counter() - started
    yield
    assert report.n_scored == cases
    inside = [result.seconds for row in report.cases for result in row.assertions.values()]
    return {"calls": scorer.calls, "peak": scorer.peak, "wall_s": took, "case_s": statistics.median(inside)}


def alike(*, cases: int, requirements: int, limit: int | None, fails: str) -> Timed:
    """Whether results and calls are those of the loop. Nobody looks at the clock, so a call takes little."""
    from paceline import score_requirements

    ours, theirs = Scorer(0.001, fails=fails), Scorer(0.0, fails=fails)

    async def main() -> list[Any]:
        scored = [
            await score_requirements(answer, texts(requirements), scorer=ours, max_concurrency=limit)
            for answer in answers(cases)
        ]
        return [[[each.text, each.fulfilled, each.feedback] for each in one.results] for one in scored]

    yield
    together = asyncio.run(main())
    wanted = asyncio.run(one_by_one(answers(cases), texts(requirements), theirs))
    yield
    wrong = sum(one != other for one, other in zip(together, wanted, strict=True))
    return {"wrong": wrong, "calls": ours.calls, "calls_of_loop": theirs.calls}


# What they find ------------------------------------------------------------------------------------


def name_of(what: str, limit: int | None) -> str:
    """A contestant in words."""
    return f"{what}, no limit" if limit is None else f"{what}, {limit} at once over all cases"


def measure(quick: bool) -> Result:
    """The loop once, since it waits for most of a minute; ours in turn, round after round."""
    cases, requirements, seconds = (4, 3, 0.005) if quick else (CASES, REQUIREMENTS, SECONDS)
    rounds, limits = (1, (None, 2)) if quick else (ROUNDS, LIMITS)
    size = {"cases": cases, "requirements": requirements, "seconds": seconds}
    loop = in_turn([_contestant("for loop", "for_loop", size)], rounds=1)["for loop"]
    runs = {name_of("a run", limit): limit for limit in limits}
    alone = "one answer, score_requirements"
    costs = in_turn(
        [
            _contestant(alone, "one_answer", {"requirements": requirements, "seconds": seconds}),
            *(_contestant(name, "a_run", {**size, "limit": limit}) for name, limit in runs.items()),
            *(_contestant(name_of(HAND, limit), "by_hand", {**size, "limit": limit}) for limit in limits),
        ],
        rounds=rounds,
    )
    rows = [_row("for loop", loop, least=None), _row(alone, costs[alone], least=seconds)]
    bars = [at_most(f"{alone}: the median", 1.15, _times(costs[alone], seconds, "wall_s"), "× one call")]
    for name, limit in runs.items():
        calls = cases * requirements
        least = seconds if limit is None else calls * seconds / limit
        rows += [_row(each, costs[each], least=least) for each in (name_of(HAND, limit), name)]
        if limit is None:
            found = _times(costs[name], seconds, "case_s")
            bars.append(
                at_most("a run, no limit: the checks of one case, the median", 1.15, found, "× one call")
            )
        else:
            found = _times(costs[name], least, "wall_s")
            bars.append(
                at_most(f"{name}: the whole run, the median", 1.1, found, "× calls × seconds / limit")
            )
            peak = max(each.facts["peak"] for each in costs[name])
            bars.append(at_most(f"{name}: most calls in flight", limit, peak, "calls"))
    bars += _equal_bars(cases, requirements, limits)
    return Result(
        title=f"{cases} cases with {requirements} requirements each, a call of {seconds * 1e3:g} ms for each",
        settings={**size, "limits": list(limits), "rounds": rounds},
        rows=rows,
        bars=bars,
        notes=[
            f"Medians over rounds ({rounds}), the loop once. `least` is the time of the calls alone.",
            "A run is the whole call of `evaluate_sync`: tasks, verdicts on disk one by one, report.",
        ],
    )


def _contestant(name: str, does: str, settings: dict[str, Any]) -> Contestant:
    return Contestant(name=name, does=f"bench.requirements:{does}", settings=settings)


def _row(name: str, costs: Sequence[Cost], *, least: float | None) -> dict[str, Any]:
    wall = statistics.median(each.facts.get("wall_s", each.wall_s) for each in costs)
    return {
        "what": name,
        "calls": costs[0].facts["calls"],
        "most_in_flight": max(each.facts["peak"] for each in costs),
        "wall_s": wall,
        "least_s": least,
        "times_least": None if least is None else wall / least,
        "cpu_s": statistics.median(each.cpu_s for each in costs),
    }


def _times(costs: Sequence[Cost], least: float, fact: str) -> float:
    return float(statistics.median(each.facts[fact] for each in costs) / least)


def _equal_bars(cases: int, requirements: int, limits: Sequence[int | None]) -> list[Bar]:
    """Results and numbers of calls against the loop's, with nothing failing and with one in each case."""
    wrong = differ = 0
    for limit in limits:
        for fails in ("", FAILS):
            settings = {"cases": cases, "requirements": requirements, "limit": limit, "fails": fails}
            name = f"as the loop, limit {limit}{', one fails' if fails else ''}"
            (cost,) = in_turn([_contestant(name, "alike", settings)], rounds=1)[name]
            wrong += cost.facts["wrong"]
            differ += cost.facts["calls"] != cost.facts["calls_of_loop"]
    return [
        at_most(
            "answers whose results differ from the loop's, one call in each failing or none", 0, wrong, ""
        ),
        at_most("of these runs, those with another number of calls than the loop", 0, differ, ""),
    ]


if __name__ == "__main__":
    program("requirements", measure)
