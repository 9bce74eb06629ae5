"""Scenarios that have names: providers as people meet them, and those that the pace was chosen by.

`a` to `i` isolate one difficulty each. They are short on purpose, and a controller that does well in them has
only been tuned; `docs/design/pace.md` tells which others it was judged by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

FIVE_SECONDS: Final = {"mean": 5.0, "sigma": 0.6}

SCENARIOS: Final[Mapping[str, Mapping[str, Any]]] = {
    "gentle": {
        "about": "no limits, quick answers, no faults",
        "latency": {"mean": 0.2, "sigma": 0.3},
    },
    "openai-tier1": {
        "about": "a small account: 500 requests and 200,000 tokens a minute, all headers",
        "rpm": 500,
        "tpm": 200_000,
        "charge": "reserved",
        "rejects_consume": True,
        "headers": "openai",
        "latency": {"mean": 1.5, "sigma": 0.5, "per_output_token": 0.01, "constant": 0.1},
    },
    "openai-tier4": {
        "about": "a large account: 10,000 requests and 2,000,000 tokens a minute, growth is watched",
        "rpm": 10_000,
        "tpm": 2_000_000,
        "charge": "reserved",
        "rejects_consume": True,
        "headers": "openai",
        "ramp": {"above": 3_000, "growth": 0.5, "over": 60},
        "latency": {"mean": 1.5, "sigma": 0.5, "per_output_token": 0.01, "constant": 0.1},
    },
    "anthropic": {
        "about": "1,000 requests and 450,000 tokens a minute, headers, now and then overloaded (529)",
        "rpm": 1_000,
        "tpm": 450_000,
        "charge": "corrected",
        "headers": "anthropic",
        "overload": {"rate": 0.005, "status": 529},
        "latency": {"mean": 2.0, "sigma": 0.5, "per_output_token": 0.012, "constant": 0.1},
    },
    "self-hosted": {
        "about": "one server without limits or headers: above 40 in flight everybody waits longer",
        "knee": 40,
        "latency": {"mean": 2.0, "sigma": 0.4},
    },
    "storm": {
        "about": "300 requests a minute, refusals count too, and one call in eight goes wrong",
        "rpm": 300,
        "rejects_consume": True,
        "retry_after": False,
        "overload": {"rate": 0.03, "status": 529},
        "faults": {
            "error": 0.03,
            "reset": 0.02,
            "truncate": 0.01,
            "slow": 0.02,
            "stream_error": 0.01,
            "slow_seconds": 5,
        },
        "latency": {"mean": 1.0, "sigma": 0.8},
    },
    "outage": {
        "about": "600 requests a minute; from the 30th second on, ten minutes of 429",
        "rpm": 600,
        "latency": {"mean": 1.0, "sigma": 0.4},
        "outages": [{"at": 30, "until": 630, "status": 429}],
    },
    "rehearsal": {
        "about": "no limits; a usual model's speed, twenty times as fast: what `--rehearse` plays",
        "time_scale": 20,
        "latency": {"mean": 1.5, "sigma": 0.5, "per_output_token": 0.01, "constant": 0.1},
    },
    "spent": {
        "about": "the money is gone after 100 requests",
        "quota": {"requests": 100},
        "headers": "openai",
        "latency": {"mean": 0.2, "sigma": 0.3},
    },
    "gullible": {
        "about": "a judge that says what anything outside of its fence tells it to: for tests of fences",
        "latency": {"mean": 0.2, "sigma": 0.3},
        "answers": {"judge": "gullible"},
    },
    "a": {"about": "600 requests a minute", "rpm": 600, "latency": FIVE_SECONDS},
    "b": {
        "about": "as a, and refusals do not say how long to wait",
        "rpm": 600,
        "retry_after": False,
        "latency": FIVE_SECONDS,
    },
    "c": {"about": "60 calls in flight", "in_flight": 60, "latency": FIVE_SECONDS},
    "d": {"about": "a latency knee at 40, and no errors", "knee": 40, "latency": FIVE_SECONDS},
    "e": {"about": "1,200,000 tokens a minute", "tpm": 1_200_000, "latency": FIVE_SECONDS},
    "f": {
        "about": "120 requests a minute, 20 s each",
        "rpm": 120,
        "latency": {"mean": 20.0, "sigma": 0.6},
    },
    "g": {"about": "2,400 requests a minute: over in 75 s", "rpm": 2_400, "latency": FIVE_SECONDS},
    "h": {
        "about": "as a, and refused calls count too",
        "rpm": 600,
        "rejects_consume": True,
        "latency": FIVE_SECONDS,
    },
    "i": {
        "about": "600 requests a minute and 35 in flight; refusals do not say how long to wait",
        "rpm": 600,
        "in_flight": 35,
        "retry_after": False,
        "latency": FIVE_SECONDS,
    },
}
