"""An unchanged task over real HTTP: the `openai` client as it comes, against the simulated provider.

The task knows nothing of Paceline. It makes a client, asks, and returns the answer; `evaluate` paces what
goes through the client. The provider runs in a process of its own. How long it could have taken at best says
the oracle of `bench.pace`, in virtual time, for the same provider. Beside it the same run without the pace:
fifty cases at once, and the client's own retries.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, Final

from bench.callers import ideal
from bench.contest import Contestant, Cost, Timed, in_turn
from bench.pace import reached, within
from bench.results import Bar, Result, program
from bench.virtual import calls
from paceline.sim.scenario import Scenario

ROUNDS: Final = 2
PROVIDERS: Final[dict[str, dict[str, Any]]] = {
    "600 requests a minute": {"rpm": 600, "latency": {"mean": 2.0, "sigma": 0.5}},
    "40 calls in flight": {"in_flight": 40, "latency": {"mean": 1.5, "sigma": 0.5}},
}
COUNTS: Final = {"600 requests a minute": 900, "40 calls in flight": 2_000}
SERVE: Final = "import sys; from bench.unchanged import serve; serve(sys.argv[1])"


def serve(scenario: str) -> None:
    """In a process of its own: serve until nobody wants it any more."""
    from paceline.sim.server import start_in_thread

    with start_in_thread(Scenario.of(json.loads(scenario))) as sim:
        print(sim.url, flush=True)
        sys.stdin.read()


@contextmanager
def provider(scenario: dict[str, Any]) -> Iterator[str]:
    """Where one serves, for as long as it takes."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, json.dumps(scenario)],
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


async def ask(client: Any, question: str) -> str:
    """What people write."""
    answer = await client.chat.completions.create(
        model="sim-small", messages=[{"role": "user", "content": question}]
    )
    return str(answer.choices[0].message.content)


def run(*, scenario: dict[str, Any], count: int, options: dict[str, Any]) -> Timed:
    """All cases once; the report is read before the clock stops."""
    from openai import AsyncOpenAI

    from paceline import Case, Dataset

    os.environ["PACELINE_STATE"] = str(Path.cwd() / "state")  # nothing is known of this provider
    dataset: Any = Dataset(
        name="unchanged",
        cases=[Case(name=f"case-{number}", inputs=f"What is {number} + 1?") for number in range(count)],
    )
    with provider(scenario) as url:
        client = AsyncOpenAI(base_url=f"{url}/v1", api_key="a key of nobody")
        yield
        report = dataset.evaluate_sync(partial(ask, client), runs=Path("runs"), progress=False, **options)
        yield
        with urllib.request.urlopen(f"{url}/stats") as answer:
            seen = json.load(answer)
    return {
        "completed": report.n_scored,
        "arrived": seen["arrived"],
        "refused": sum(seen["refused"].values()),
        "answered_twice": seen["prompts"]["answered_twice"],
        "in_flight_peak": seen["in_flight_peak"],
    }


WAYS: Final[dict[str, dict[str, Any]]] = {
    "Paceline": {},
    "50 at once, the client's retries": {"max_concurrency": 50, "pace_http": False, "adaptive": False},
}


def row(what: str, way: str, best: float, count: int, costs: Sequence[Cost]) -> dict[str, Any]:
    """One way with one provider; the worst of the rounds where something may be wrong."""
    facts = [each.facts for each in costs]
    return {
        "provider": what,
        "way": way,
        "calls": count,
        "oracle_s": best,
        "wall_s": mean(each.wall_s for each in costs),
        "share": mean(best / each.wall_s for each in costs),
        "worst_round": min(best / each.wall_s for each in costs),
        "cases_not_completed": max(count - each["completed"] for each in facts),
        "answered_twice": max(each["answered_twice"] for each in facts),
        "refused_of_100": 100 * mean(each["refused"] for each in facts) / count,
        "in_flight_peak": max(each["in_flight_peak"] for each in facts),
    }


def measure(quick: bool) -> Result:
    """Both providers, both ways, in turn."""
    counts = dict.fromkeys(PROVIDERS, 30) if quick else COUNTS
    contestants = {
        (what, way): Contestant(
            name=f"{way}: {what}",
            does="bench.unchanged:run",
            settings={"scenario": scenario, "count": counts[what], "options": options},
        )
        for what, scenario in PROVIDERS.items()
        for way, options in WAYS.items()
    }
    costs = in_turn(list(contestants.values()), rounds=1 if quick else ROUNDS)
    best = {
        what: mean(ideal(Scenario.of(fields), calls(counts[what], seed), seed=seed) for seed in range(5))
        for what, fields in PROVIDERS.items()
    }
    rows = [
        row(what, way, best[what], counts[what], costs[contestant.name])
        for (what, way), contestant in contestants.items()
    ]
    return Result(
        title="An unchanged task over HTTP, from a cold start",
        settings={"rounds": ROUNDS, "calls": counts},
        rows=rows,
        bars=bars_of([each for each in rows if each["way"] == "Paceline"]),
        notes=[
            "The clock runs from the call of `evaluate_sync` to its report: journal and scoring included."
        ],
    )


def bars_of(rows: Sequence[dict[str, Any]]) -> list[Bar]:
    """What has to be reached."""
    return [
        *(
            reached(f"share of the oracle's throughput: {each['provider']}", 0.80, each["share"])
            for each in rows
        ),
        within("cases not completed", 0, max(each["cases_not_completed"] for each in rows)),
        within("prompts answered twice", 0, max(each["answered_twice"] for each in rows)),
    ]


if __name__ == "__main__":
    program("unchanged", measure)
