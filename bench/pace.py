"""How fast the pace is, in virtual time: against an oracle, fixed widths, and an AIMD like that of a known
harness.

A cold start and the same calls for all. What counts is the share of the oracle's throughput: the oracle knows
every limit, and sends each call at the moment at which it is taken. Given are the scenarios that the
controller was tuned by, and those that were written for judging it alone; nothing was changed after these had
been played. The seeds are none of those it was tuned with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Any, Final

from bench.callers import Aimd, Fixed, ideal, paced
from bench.pace_scenarios import COUNTED, TUNING, UNSEEN, tuning, unseen
from bench.results import Bar, Result, program
from bench.virtual import Call, Caller, Outcome, calls, play
from paceline.sim.scenario import Scenario

CALLS: Final = 3_000
SEEDS: Final = (11, 12, 13, 14, 15)
QUICK: Final = (60, SEEDS[:1])
WIDTHS: Final = (10, 50, 200)

NOTE: Final = (
    "Means over {seeds} seeds. The first table is of scenarios that the controller was tuned by, the second "
    "of those that it was only judged by. `g` is no part of the means: its ideal run is nearly all start. "
    "Rejections and losses are per hundred calls. Who has not come to an end within 400,000 events has a "
    "share of 0."
)

Maker = Callable[[Sequence[Call], int, str], Caller]
"""A caller for some calls, a seed and a name of a model."""


def ours(work: Sequence[Call], seed: int, model: str) -> Caller:
    """A pool of the library, with its door."""
    return paced(work, seed=seed, model=model)


def fixed(width: int) -> Maker:
    """Callers of one width."""
    return lambda _work, seed, _model: Fixed(width, seed=seed)


def aimd(work: Sequence[Call], seed: int, model: str) -> Caller:  # noqa: ARG001
    """Like a known harness."""
    return Aimd(seed=seed)


WHO: Final[Mapping[str, Maker]] = {
    "paceline": ours,
    "aimd": aimd,
    **{f"fixed_{width}": fixed(width) for width in WIDTHS},
}


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one scenario, over all seeds."""

    ideal_s: float
    shares: tuple[float, ...]
    """Of the oracle's throughput."""
    lost: float
    """Calls that were never answered, per call."""
    rejected: float
    """Rejections per call."""


def played(scenario: Scenario, who: Maker, *, seeds: Sequence[int], count: int) -> Played:
    """One scenario with one kind of caller; where an account has several models, two callers of a kind."""
    models = ("m",) if scenario.accounts.per_model else ("m", "n")
    ideals, outcomes = [], []
    for seed in seeds:
        work = calls(count, seed, charge=scenario.charge)
        callers = [who(work, seed, model) for model in models]
        outcomes.append(play(scenario, callers, work, seed=seed, models=len(models) > 1))
        ideals.append(ideal(scenario, work, seed=seed))
    return Played(
        ideal_s=mean(ideals),
        shares=tuple(map(share_of, ideals, outcomes)),
        lost=mean(1 - outcome.answered / count for outcome in outcomes),
        rejected=mean(outcome.rejected / count for outcome in outcomes),
    )


def share_of(best: float, outcome: Outcome) -> float:
    """The share of the oracle's throughput; what was not answered is no throughput."""
    if best == float("inf"):
        raise AssertionError("the oracle did not come to an end, so that there is nothing to compare with")
    return best / outcome.makespan * outcome.answered / outcome.calls


def row_of(name: str, scenario: Scenario, *, seeds: Sequence[int], count: int) -> dict[str, Any]:
    """One scenario as a row."""
    found = {who: played(scenario, maker, seeds=seeds, count=count) for who, maker in WHO.items()}
    own = found["paceline"]
    return {
        "scenario": name,
        "provider": scenario.about,
        "oracle_s": own.ideal_s,
        "paceline": mean(own.shares),
        "worst_seed": min(own.shares),
        "rejected_of_100": 100 * own.rejected,
        "lost_of_100": 100 * own.lost,
        **{who: mean(found[who].shares) for who in WHO if who != "paceline"},
        "aimd_rejected_of_100": 100 * found["aimd"].rejected,
    }


def measure(quick: bool) -> Result:
    """Every scenario, every caller, every seed."""
    count, seeds = QUICK if quick else (CALLS, SEEDS)
    a_row = partial(row_of, seeds=seeds, count=count)
    tuned = [a_row(name, tuning(name)) for name in TUNING]
    judged = [a_row(name, unseen(name)) for name in UNSEEN]
    return Result(
        title=f"Share of an oracle's throughput, {count:,} calls from a cold start",
        settings={"calls": count, "seeds": list(seeds)},
        rows=tuned,
        more=judged,
        bars=bars_of(tuned, judged),
        notes=[NOTE.format(seeds=len(seeds))],
    )


def bars_of(tuned: Sequence[Mapping[str, Any]], judged: Sequence[Mapping[str, Any]]) -> list[Bar]:
    """What has to be reached."""
    counted = [row for row in tuned if row["scenario"] in COUNTED]
    own = mean(row["paceline"] for row in counted)
    return [
        reached("tuned by, mean of a–f, h, i", 0.85, own),
        within(
            "tuned by, rejected of 100, c aside", 5, most_rejected(row for row in counted if not is_c(row))
        ),
        within("tuned by, rejected of 100, c", 20, most_rejected(row for row in counted if is_c(row))),
        reached("ahead of AIMD in each, the least", 1, min(row["paceline"] / row["aimd"] for row in counted)),
        *(
            reached(
                f"ahead of fixed {width} on average", 1, own / mean(row[f"fixed_{width}"] for row in counted)
            )
            for width in WIDTHS
        ),
        reached("judged by, mean", 0.80, mean(row["paceline"] for row in judged)),
    ]


def is_c(row: Mapping[str, Any]) -> bool:
    """Whether it is the scenario in which every probe of the window is a rejection."""
    return bool(row["scenario"] == "c")


def most_rejected(rows: Any) -> float:
    """Of a hundred calls, in the worst of these."""
    return max((float(row["rejected_of_100"]) for row in rows), default=0.0)


def reached(what: str, least: float, found: float) -> Bar:
    """A share or a ratio that has to be reached."""
    return Bar(what=what, bar=f"≥ {least:g}", found=found, met=found >= least)


def within(what: str, most: float, found: float) -> Bar:
    """What must not be exceeded."""
    return Bar(what=what, bar=f"≤ {most:g}", found=found, met=found <= most)


if __name__ == "__main__":
    program("pace", measure)
