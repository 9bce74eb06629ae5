"""How the pace starts where it knows something, and how it comes back from an outage, in virtual time.

A warm start knows what an earlier run has learned (with other calls and another seed), or what the provider
says of its limits in headers. An outage lasts ten minutes; no call may be lost to it, and a minute after it
has ended the pace has to be what it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any, Final

from bench.callers import paced
from bench.pace import CALLS, QUICK, SEEDS, Played, played, reached, within
from bench.pace_scenarios import COUNTED, tuning
from bench.results import Bar, Result, program
from bench.virtual import Outcome, calls, play
from paceline.pace.learned import Learned
from paceline.sim.scenario import Scenario

BEGINS_S: Final = 60.0
ENDS_S: Final = 660.0
RPM: Final = 600.0
BACK_AT: Final = 0.9
"""Of the limit, over ten seconds: then the pace is back."""
TEN_S: Final = 10

NOTE: Final = (
    "Shares of an oracle's throughput, means over {seeds} seeds; headers as OpenAI sends them, from a cold "
    "start. Outages: 600 requests a minute, 4 s each, only refusals from the 60th to the 660th second; "
    "the worst of all seeds."
)

OUTAGES: Final[dict[str, dict[str, Any]]] = {
    "429, no word on how long": {"status": 429},
    "429, which asks for 20 s": {"status": 429, "retry_after": 20},
    "503, no word on how long": {"status": 503},
    "500": {"status": 500},
    "529, which asks for 5 s": {"status": 529, "retry_after": 5},
}


def learned_by(scenario: Scenario, *, seed: int, count: int) -> Learned | None:
    """What a run with other calls leaves for the next."""
    work = calls(count, seed + 1_000)
    first = paced(work, seed=seed + 1_000)
    play(scenario, [first], work, seed=seed + 1_000)
    return first.pool.learned()


def started_warm(scenario: Scenario, *, seeds: Sequence[int], count: int) -> Played:
    """The scenario for whoever has learned of it."""
    start = {seed: learned_by(scenario, seed=seed, count=count) for seed in seeds}
    return played(
        scenario, lambda work, seed, _: paced(work, seed=seed, start=start[seed]), seeds=seeds, count=count
    )


def told(scenario: Scenario, *, seeds: Sequence[int], count: int) -> Played | None:
    """The scenario for whoever knows nothing but what headers say; None where they say nothing."""
    if scenario.rpm is None and scenario.tpm is None:
        return None
    speaking = scenario.changed({"headers": "openai"})
    return played(speaking, lambda work, seed, _: paced(work, seed=seed), seeds=seeds, count=count)


def row_of(name: str, *, seeds: Sequence[int], count: int) -> dict[str, Any]:
    """One scenario as a row."""
    scenario = tuning(name)
    learned, headers = (started(scenario, seeds=seeds, count=count) for started in (started_warm, told))
    assert learned is not None
    return {
        "scenario": name,
        "provider": scenario.about,
        "learned": mean(learned.shares),
        "learned_rejected_of_100": 100 * learned.rejected,
        "headers": None if headers is None else mean(headers.shares),
        "headers_rejected_of_100": None if headers is None else 100 * headers.rejected,
    }


# Outages --------------------------------------------------------------------------------------------


def outage_row(what: str, outage: dict[str, Any], *, seeds: Sequence[int], count: int) -> dict[str, Any]:
    """One kind of outage as a row; the worst of all seeds."""
    scenario = Scenario.of(
        {
            "rpm": RPM,
            "latency": {"mean": 4.0, "sigma": 0.6},
            "outages": [{"at": BEGINS_S, "until": ENDS_S, **outage}],
        }
    )
    lost, refused, back = 0, 0, 0.0
    for seed in seeds:
        work = calls(count, seed)
        outcome = play(scenario, [paced(work, seed=seed)], work, seed=seed)
        lost = max(lost, outcome.calls - outcome.answered)
        refused = max(refused, outcome.rejected + outcome.failed)
        back = max(back, back_after(outcome))
    return {"ten_minutes_of": what, "calls_lost": lost, "refused": refused, "back_after_s": back}


def back_after(outcome: Outcome) -> float:
    """Seconds from the end of the outage to the end of the first ten in which the limit was used again."""
    enough = BACK_AT * RPM / 60 * TEN_S
    answers = outcome.answers
    for second in range(int(ENDS_S), int(min(outcome.makespan, 1e6))):
        if sum(second <= at < second + TEN_S for at in answers) >= enough:
            return second + TEN_S - ENDS_S
    return outcome.makespan


def measure(quick: bool) -> Result:
    """Warm starts, then outages."""
    count, seeds = QUICK if quick else (CALLS, SEEDS)
    rows = [row_of(name, seeds=seeds, count=count) for name in COUNTED]
    outages = [outage_row(what, outage, seeds=seeds, count=count) for what, outage in OUTAGES.items()]
    return Result(
        title="Warm starts, and ten minutes of outage",
        settings={"calls": count, "seeds": list(seeds)},
        rows=rows,
        more=outages,
        bars=[*warm_bars(rows), *outage_bars(outages)],
        notes=[NOTE.format(seeds=len(seeds))],
    )


def warm_bars(rows: Sequence[dict[str, Any]]) -> list[Bar]:
    """What has to be reached by whoever knows something."""
    bars = []
    for way in ("learned", "headers"):
        known = [row for row in rows if row[way] is not None]
        bars += [
            reached(f"warm by {way}, mean", 0.93, mean(row[way] for row in known)),
            within(f"warm by {way}, rejected of 100", 2, max(row[f"{way}_rejected_of_100"] for row in known)),
        ]
    return bars


def outage_bars(rows: Sequence[dict[str, Any]]) -> list[Bar]:
    """What an outage may cost."""
    return [
        within("calls lost to ten minutes of outage", 0, max(row["calls_lost"] for row in rows)),
        within("seconds until the pace is back", 60, max(row["back_after_s"] for row in rows)),
    ]


if __name__ == "__main__":
    program("warm", measure)
