"""What a rehearsal predicts: how long the run would take, and what it would cost.

A rehearsal plays its scenario faster than the provider would be, so its own wall time says little: starting
up and this machine's share of each call would be taken for the provider's. So the time is put together
anew: what the cases did besides calling, plus what the scenario says that so many calls of so many tokens
take, divided among the cases that may be in progress; then the longest case, which ends alone; and no faster
than the scenario's rates allow. A scenario that is played at its own speed has been measured, and its wall
time counts.

The cost is that of the calls as they were seen, at the real models' prices. Input is what it will be; output
is as long as the simulated answers.

Pure functions. A prediction is about, and rests on a scenario: it is told with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from paceline.report.figures import CallFigures, RehearsalFigures


def predicted(
    played: Any,
    calls: CallFigures | None,
    *,
    cases: int,
    work: float,
    wall: float | None,
    places: int,
) -> RehearsalFigures | None:
    """The prediction; None where the run was no rehearsal, or no call was seen in it.

    `played` is what the record says of the scenario, `work` the seconds that tasks worked, `places` how many
    cases may be in progress, 0 for all.
    """
    if not isinstance(played, Mapping) or calls is None or not cases:
        return None
    scale = _number(played, "time_scale") or 1.0
    at_once = min(places or cases, cases)
    seconds = wall if scale == 1 else _seconds(played, calls, cases=cases, work=work, at_once=at_once)
    return RehearsalFigures(
        scenario=str(played.get("scenario", "")),
        at_once=at_once,
        seconds=seconds,
        usd=calls.spending.cost.total,
    )


def _seconds(
    played: Mapping[str, Any], calls: CallFigures, *, cases: int, work: float, at_once: int
) -> float:
    spending = calls.spending
    count, tokens_in, tokens_out = spending.tries, spending.input_tokens.known, spending.output_tokens.known
    seen = calls.latency.mean * calls.latency.n if calls.latency.mean else 0.0
    calling = (
        count * (_number(played, "mean_s") + _number(played, "constant_s"))
        + tokens_in * _number(played, "per_input_token_s")
        + tokens_out * _number(played, "per_output_token_s")
    )
    # Where a case makes several calls at once, these take less of its time than they take together.
    overlap = min(1.0, work / seen) if seen else 1.0
    case = (max(0.0, work - seen) + calling * overlap) / cases
    at_once = min(at_once, int(_number(played, "in_flight")) or at_once)
    longest = case + _number(played, "mean_s") * (_slowest(_number(played, "sigma"), cases) - 1)
    bounds = [max(0, cases - at_once) / at_once * case + longest]
    if rpm := _number(played, "rpm"):
        bounds.append(count / rpm * 60)
    if tpm := _number(played, "tpm"):
        bounds.append((tokens_in + tokens_out) / tpm * 60)
    return max(bounds)


def _slowest(sigma: float, of: int) -> float:
    """How many times the mean the slowest of so many log-normal calls takes, about."""
    return max(1.0, math.exp(sigma * math.sqrt(2 * math.log(max(of, 1))) - sigma**2 / 2))


def _number(played: Mapping[str, Any], name: str) -> float:
    """A number of the record; 0 where it says none."""
    value = played.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


__all__ = ["predicted"]
