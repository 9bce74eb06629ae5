"""The providers that the pace is measured against.

`TUNING` is what the controller was chosen by: the provider's own scenarios a to i (`paceline sim --list`).

`SPENT` was unseen once: written before the controller first ran, and played when it was finished. It showed
where the controller was weak, and from then on it was tuned by as well.

`UNSEEN` was written before that second tuning began, and played after it had ended: what the controller does
there is what it may do for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from paceline.sim.scenario import Scenario

TUNING: Final = tuple("abcdefghi")
COUNTED: Final = tuple("abcdefhi")
"""Those of the mean: in g the ideal run takes 75 s, and nearly all of it is the start."""

SPENT: Final[Mapping[str, Mapping[str, Any]]] = {
    "limit halves": {
        "about": "900 requests a minute, half of it after 100 s",
        "rpm": 900,
        "latency": {"mean": 3.0, "sigma": 0.7},
        "steps": [{"at": 100, "set": {"rpm": 450}}],
    },
    "limit doubles": {
        "about": "300 requests a minute, twice as many after two minutes",
        "rpm": 300,
        "latency": {"mean": 4.0, "sigma": 0.6},
        "steps": [{"at": 120, "set": {"rpm": 600}}],
    },
    "two pools": {
        "about": "720 requests a minute for two models that know nothing of one another",
        "rpm": 720,
        "accounts": {"per_model": False},
        "latency": {"mean": 4.0, "sigma": 0.6},
    },
    "requests and tokens": {
        "about": "480 requests and 1,100,000 tokens a minute, whichever binds",
        "rpm": 480,
        "tpm": 1_100_000,
        "latency": {"mean": 6.0, "sigma": 0.6},
    },
    "bursts of faults": {
        "about": "600 requests a minute; every 80 s, for 20 s, four calls in ten go wrong",
        "rpm": 600,
        "latency": {"mean": 3.0, "sigma": 0.6},
        "steps": [
            step
            for start in range(40, 1000, 80)
            for step in (
                {"at": start, "set": {"faults": {"error": 0.25, "reset": 0.15}, "overload": {"rate": 0.05}}},
                {
                    "at": start + 20,
                    "set": {"faults": {"error": 0.0, "reset": 0.0}, "overload": {"rate": 0.0}},
                },
            )
        ],
    },
    "long outage": {
        "about": "600 requests a minute; ten minutes of 429 from the 60th second on, which say nothing",
        "rpm": 600,
        "retry_after": False,
        "told": False,
        "latency": {"mean": 4.0, "sigma": 0.6},
        "outages": [{"at": 60, "until": 660, "status": 429}],
    },
    "nothing is said": {
        "about": "500 requests a minute; refusals tell neither what they are about nor how long to wait",
        "rpm": 500,
        "retry_after": False,
        "told": False,
        "latency": {"mean": 8.0, "sigma": 0.8},
    },
    "silent cap": {
        "about": "45 calls in flight; refusals do not tell what they are about",
        "in_flight": 45,
        "retry_after": False,
        "told": False,
        "latency": {"mean": 3.0, "sigma": 0.6},
    },
    "one a second": {
        "about": "60 requests a minute, enforced one by one, refused calls count",
        "rpm": 60,
        "rejects_consume": True,
        "latency": {"mean": 10.0, "sigma": 0.6},
    },
    "moving knee": {
        "about": "a server that is best at 60 in flight, at 30 after two minutes, and gets slower beyond",
        "knee": 60,
        "knee_steepness": 1.3,
        "latency": {"mean": 4.0, "sigma": 0.5},
        "steps": [{"at": 120, "set": {"knee": 30}}],
    },
    "large": {
        "about": "1,800 requests a minute, 120 in flight to use them",
        "rpm": 1800,
        "latency": {"mean": 4.0, "sigma": 0.6},
    },
}


UNSEEN: Final[Mapping[str, Mapping[str, Any]]] = {
    "half is taken away": {
        "about": "1,200 requests a minute, half of it after a minute",
        "rpm": 1200,
        "latency": {"mean": 2.5, "sigma": 0.6},
        "steps": [{"at": 60, "set": {"rpm": 600}}],
    },
    "twice as much": {
        "about": "400 requests a minute, twice as many after 100 s; refusals do not say how long to wait",
        "rpm": 400,
        "retry_after": False,
        "latency": {"mean": 6.0, "sigma": 0.7},
        "steps": [{"at": 100, "set": {"rpm": 800}}],
    },
    "two models, one account": {
        "about": "540 requests a minute for two models that know nothing of one another; nothing is said",
        "rpm": 540,
        "retry_after": False,
        "told": False,
        "accounts": {"per_model": False},
        "latency": {"mean": 3.0, "sigma": 0.6},
    },
    "both rates": {
        "about": "420 requests and 1,000,000 tokens a minute, whichever binds",
        "rpm": 420,
        "tpm": 1_000_000,
        "latency": {"mean": 4.0, "sigma": 0.6},
    },
    "bad quarters": {
        "about": "480 requests a minute; of each minute a quarter in which four calls in ten go wrong",
        "rpm": 480,
        "latency": {"mean": 3.0, "sigma": 0.6},
        "steps": [
            step
            for start in range(30, 2000, 60)
            for step in (
                {"at": start, "set": {"faults": {"error": 0.3}, "overload": {"rate": 0.1, "status": 529}}},
                {"at": start + 15, "set": {"faults": {"error": 0.0}, "overload": {"rate": 0.0}}},
            )
        ],
    },
    "ten minutes of 429": {
        "about": "480 requests a minute; ten minutes of 429 from the 100th second on, which say nothing",
        "rpm": 480,
        "retry_after": False,
        "told": False,
        "latency": {"mean": 5.0, "sigma": 0.7},
        "outages": [{"at": 100, "until": 700, "status": 429}],
    },
    "five minutes of 503": {
        "about": "720 requests a minute; five minutes of 503 from the 80th second on",
        "rpm": 720,
        "latency": {"mean": 3.0, "sigma": 0.6},
        "outages": [{"at": 80, "until": 380, "status": 503}],
    },
    "silence": {
        "about": "350 requests a minute; refusals say nothing, and answers take very differently long",
        "rpm": 350,
        "retry_after": False,
        "told": False,
        "latency": {"mean": 12.0, "sigma": 0.9},
    },
    "the cap comes down": {
        "about": "80 calls in flight, 30 after a minute and a half",
        "in_flight": 80,
        "retry_after": False,
        "latency": {"mean": 4.0, "sigma": 0.6},
        "steps": [{"at": 90, "set": {"in_flight": 30}}],
    },
    "answers grow longer": {
        "about": "600 requests a minute; answers take 2 s, and 8 s after 100 s",
        "rpm": 600,
        "latency": {"mean": 2.0, "sigma": 0.6},
        "steps": [{"at": 100, "set": {"latency": {"mean": 8.0}}}],
    },
    "always a little overloaded": {
        "about": "600 requests a minute, and three calls in a hundred get 529 whatever the load",
        "rpm": 600,
        "overload": {"rate": 0.03, "status": 529},
        "latency": {"mean": 4.0, "sigma": 0.6},
    },
    "growth is watched": {
        "about": "900 requests a minute, of which more than 240 only for who comes to it slowly",
        "rpm": 900,
        "ramp": {"above": 240, "growth": 0.5, "over": 60},
        "latency": {"mean": 3.0, "sigma": 0.6},
    },
    "soft knee": {
        "about": "a server that is nearly at its best at 25 in flight, and gets hardly faster beyond",
        "knee": 25,
        "knee_steepness": 0.95,
        "latency": {"mean": 6.0, "sigma": 0.5},
    },
    "tiny account": {
        "about": "30 requests a minute, one by one; refused calls count",
        "rpm": 30,
        "rejects_consume": True,
        "latency": {"mean": 6.0, "sigma": 0.6},
    },
    "wide": {
        "about": "150 calls in flight; refusals do not tell what they are about",
        "in_flight": 150,
        "retry_after": False,
        "told": False,
        "latency": {"mean": 6.0, "sigma": 0.6},
    },
    "told in headers": {
        "about": "900,000 tokens and 500 requests a minute, said in headers",
        "rpm": 500,
        "tpm": 900_000,
        "headers": "anthropic",
        "latency": {"mean": 5.0, "sigma": 0.6},
    },
}
"""Of the kinds that were asked for: "half is taken away", "twice as much", "two models, one account", "both
rates", "bad quarters", "ten minutes of 429", "silence"; the others are of kinds that nobody asked for."""


def tuning(name: str) -> Scenario:
    """One that the controller was chosen by at first."""
    return Scenario.load(name)


def spent(name: str) -> Scenario:
    """One that it was judged by once, and improved by afterwards."""
    return Scenario.of({"name": name, **SPENT[name]})


def unseen(name: str) -> Scenario:
    """One that it was judged by, and not changed after."""
    return Scenario.of({"name": name, **UNSEEN[name]})
