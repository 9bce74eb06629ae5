"""What `paceline ramp` finds over real HTTP, with the `openai` client as it comes: the ceiling, and why.

Each provider has one limit that is known here, and is told to nobody. It runs in a process of its own, at
twice the speed of the world: its minute takes half of one. The levels are those that a climb takes by itself.
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, Final, NamedTuple

from bench.contest import Contestant, Cost, Timed, in_turn
from bench.pace import within
from bench.results import Bar, Result, at_most, program
from bench.unchanged import ask, provider

ROUNDS: Final = 2
CASES: Final = 1_500
SCALE: Final = 2
TWO_SECONDS: Final = {"mean": 2.0, "sigma": 0.4}


class Limit(NamedTuple):
    """A provider, and what it bears: a number, and what the verdict has to call it."""

    scenario: dict[str, Any]
    true: float | None
    """In the world's seconds, where it is a rate."""
    kind: str


LIMITS: Final = {
    "600 requests a minute": Limit({"rpm": 600}, 10.0 * SCALE, "requests"),
    "40 calls in flight": Limit({"in_flight": 40}, 40.0, "concurrency"),
    "a latency knee at 30": Limit({"knee": 30}, 30.0, "latency"),
    "120,000 tokens a minute": Limit(
        {"tpm": 120_000, "answers": {"output_tokens": 200}}, 2000.0 * SCALE, "tokens"
    ),
    "600 a minute, nothing said": Limit(
        {"rpm": 600, "retry_after": False, "told": False}, 10.0 * SCALE, "requests"
    ),
    "no limit": Limit({}, None, "none"),
}
ASKED_FOR: Final = tuple(LIMITS)[:3]
"""Those that a bar is set on."""


def climbs(*, what: str, levels: Sequence[int] | None, per_level: int) -> Timed:
    """One climb, from a cold start."""
    from openai import AsyncOpenAI

    from paceline import Case, Dataset

    os.environ["PACELINE_STATE"] = str(Path.cwd() / "state")  # nothing is known of this provider
    limit = LIMITS[what]
    dataset: Any = Dataset(
        name="ramp",
        cases=[Case(name=f"case-{number}", inputs=f"What is {number} + 1?") for number in range(CASES)],
    )
    with provider({"time_scale": SCALE, "latency": TWO_SECONDS, **limit.scenario}) as url:
        client = AsyncOpenAI(base_url=f"{url}/v1", api_key="a key of nobody")
        yield
        found = dataset.ramp_sync(
            partial(ask, client), levels=levels, per_level=per_level, journal="run", progress=False
        )
        yield
        with urllib.request.urlopen(f"{url}/stats") as answer:
            seen = json.load(answer)
    return {
        "kind": found.verdict.kind,
        "found": found.verdict.ceiling,
        "window": found.verdict.window,
        "highest": max(row.level for row in found.rows),
        "cases": sum(row.cases for row in found.rows),
        "arrived": seen["arrived"],
        "refused": sum(seen["refused"].values()),
        "answered_twice": seen["prompts"]["answered_twice"],
    }


def row(what: str, costs: Sequence[Cost]) -> dict[str, Any]:
    """What was found of one provider; the worst of the rounds where something may be wrong."""
    limit, facts = LIMITS[what], [each.facts for each in costs]
    found = [each["found"] for each in facts if each["found"] is not None]
    named = [each["kind"] for each in facts]
    return {
        "provider": what,
        "bears": limit.true,
        "found": mean(found) if found else None,
        "off_at_worst": max(map(partial(off_by, limit), facts)),
        "reason": " / ".join(sorted(set(named))),
        "right_reasons": named.count(limit.kind) / len(named),
        "cases": mean(each["cases"] for each in facts),
        "highest_level": max(each["highest"] for each in facts),
        "refused_of_100": 100 * mean(each["refused"] / max(each["arrived"], 1) for each in facts),
        "answered_twice": max(each["answered_twice"] for each in facts),
        "wall_s": mean(each.wall_s for each in costs),
    }


def off_by(limit: Limit, facts: dict[str, Any]) -> float:
    """By what part a ceiling is off; all of it where there is none and should be, or the other way round."""
    if limit.true is None or facts["found"] is None:
        return 0.0 if limit.true == facts["found"] else 1.0
    return float(abs(facts["found"] - limit.true) / limit.true)


def measure(quick: bool) -> Result:
    """Every provider, round after round."""
    settings: dict[str, Any] = (
        {"levels": [1, 4], "per_level": 5} if quick else {"levels": None, "per_level": 20}
    )
    names = ASKED_FOR[1:2] if quick else tuple(LIMITS)
    contestants = {
        what: Contestant(name=what, does="bench.ramp:climbs", settings={"what": what, **settings})
        for what in names
    }
    costs = in_turn(list(contestants.values()), rounds=1 if quick else ROUNDS)
    rows = [row(what, costs[contestant.name]) for what, contestant in contestants.items()]
    return Result(
        title="The ceiling that a climb finds, and why it is one",
        settings={"rounds": ROUNDS, "time_scale": SCALE, **settings},
        rows=rows,
        bars=bars_of(rows),
        notes=[
            f"Providers are {SCALE} times as fast as they say: 600 a minute are {10 * SCALE} a second.",
            "What is refused is refused on purpose: a limit is found by meeting it.",
        ],
    )


def bars_of(rows: Sequence[dict[str, Any]]) -> list[Bar]:
    """What has to be reached."""
    return [
        *(
            at_most(f"the ceiling is off, at worst: {each['provider']}", 0.15, each["off_at_worst"], "of it")
            for each in rows
            if each["provider"] in ASKED_FOR
        ),
        *(
            within(f"climbs with a wrong reason: {each['provider']}", 0, 1 - each["right_reasons"])
            for each in rows
            if each["provider"] in ASKED_FOR
        ),
        within("prompts answered twice", 0, max(each["answered_twice"] for each in rows)),
    ]


if __name__ == "__main__":
    program("ramp", measure)
