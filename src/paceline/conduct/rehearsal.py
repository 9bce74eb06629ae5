"""Rehearsals: the same run, with a simulated provider in place of every other one.

Nothing is paid for and nothing is learned of a model; what is learned is whether the suite holds together,
how many calls it makes, and about what they will cost and take. A rehearsal has a name and a fingerprint of
its own, so it is never gone on with as if it were the run, and its report says what it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import msgspec

from paceline.errors import UsageError
from paceline.tasks.callable import CallableTask

if TYPE_CHECKING:
    from paceline.sim.scenario import Scenario

DEFAULT: Final = "rehearsal"
"""The scenario of a rehearsal that names none."""
KEYS: Final = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
"""Where clients look for a key."""
STAND_IN: Final = "none"
"""A key for a machine that has none: clients insist on one, and the simulated provider takes any. Too short
to be taken for a secret, which would be struck out of the record wherever it stands."""


def check_rehearsal(rehearse: bool | str) -> None:
    """Refuse a scenario that cannot be played, before anything has begun."""
    if rehearse:
        _scenario(rehearse)


def check_tasks(rehearse: bool | str, tasks: Iterable[CallableTask]) -> None:
    """Refuse to rehearse what asks something else than a model: it would be asked in earnest."""
    for task in tasks if rehearse else ():
        elsewhere = getattr(task.call, "asks_elsewhere", False)
        if isinstance(elsewhere, str):
            raise UsageError(f"{task.name} cannot be rehearsed: {elsewhere}", hint="leave --rehearse out")
        if elsewhere:
            raise UsageError(
                f"{task.name} cannot be rehearsed: no simulated provider answers for an endpoint of your own",
                hint="leave --rehearse out, or point its url at a stand-in",
            )


def fingerprint_of(rehearse: bool | str) -> dict[str, Any]:
    """What a rehearsal plays, as part of what the run is, and for whoever reads its record; else nothing."""
    if not rehearse:
        return {}
    scenario = _scenario(rehearse)
    written = msgspec.json.encode(scenario.as_mapping(), order="deterministic")
    latency = scenario.latency
    return {
        "simulated": {
            "scenario": scenario.name or str(rehearse),
            "digest": blake2b(written, digest_size=4).hexdigest(),
            "time_scale": scenario.time_scale,
            "mean_s": latency.mean,
            "sigma": latency.sigma,
            "constant_s": latency.constant,
            "per_input_token_s": latency.per_input_token,
            "per_output_token_s": latency.per_output_token,
            **({"rpm": scenario.rpm} if scenario.rpm is not None else {}),
            **({"tpm": scenario.tpm} if scenario.tpm is not None else {}),
            **({"in_flight": scenario.in_flight} if scenario.in_flight is not None else {}),
        }
    }


@contextmanager
def rehearsal(rehearse: bool | str) -> Iterator[str]:
    """A simulated provider for as long as the run lasts; its base URL."""
    from paceline.sim.server import start_in_thread

    with start_in_thread(_scenario(rehearse)) as sim:
        yield sim.url


@contextmanager
def stand_in_keys(wanted: bool, more: Iterable[str] = ()) -> Iterator[None]:
    """Keys for clients that insist on one, where no provider is asked and none is found, for as long as that
    lasts."""
    put = [name for name in (*KEYS, *more) if not os.environ.get(name)] if wanted else []
    os.environ.update(dict.fromkeys(put, STAND_IN))
    try:
        yield
    finally:
        for name in put:
            os.environ.pop(name, None)


def put_keys_away() -> None:
    """Take the keys out of this process, which does nothing but rehearse.

    A client that no door stands under cannot spend anything then.
    """
    os.environ.update(dict.fromkeys(KEYS, STAND_IN))


def _scenario(rehearse: bool | str) -> Scenario:
    from paceline.sim.scenario import Scenario

    return Scenario.load(DEFAULT if rehearse is True else str(rehearse))
