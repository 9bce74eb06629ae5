"""The providers that the pace is measured against.

`TUNING` is what the controller was chosen by: the provider's own scenarios a to i (`paceline sim --list`). `UNSEEN` was
written before the first run of the controller, and not run while it was tuned: what it does there
is what it may do for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from paceline.sim.scenario import Scenario

TUNING: Final = tuple("abcdefghi")
COUNTED: Final = tuple("abcdefhi")
"""Those of the mean: in g the ideal run takes 75 s, and nearly all of it is the start."""

UNSEEN: Final[Mapping[str, Mapping[str, Any]]] = {
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


def tuning(name: str) -> Scenario:
    """One that the controller was chosen by."""
    return Scenario.load(name)


def unseen(name: str) -> Scenario:
    """One that it was not."""
    return Scenario.of({"name": name, **UNSEEN[name]})
