"""Figures by name: the value that a run has, the bounds that it is likely to lie in, or why it is not known.

The values are those of the report's JSON, found by their path. Bounds are worked out from what was observed,
at whatever confidence is asked for. A sum or a count (cost, coverage, wall time, the slowest case) is what
the run has come to, and no estimate of anything: its bound is itself.

Knows reports. Knows nothing of rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from paceline.report.report import Report
from paceline.report.text import counted, dollars
from paceline.settings import nearest
from paceline.statistics.interval import Interval
from paceline.statistics.means import fitting_interval, mean_interval
from paceline.statistics.proportions import clustered, wilson
from paceline.statistics.quantiles import Bounds, quantile_bounds

_QUANTILES: Final = {
    "p50_latency_s": 0.5,
    "p90_latency_s": 0.9,
    "p95_latency_s": 0.95,
    "p99_latency_s": 0.99,
}
_UNTOLD: Final = Bounds(None, None)


class Figure(NamedTuple):
    """A figure of a run."""

    value: float | None
    why: str = ""
    """Why it is not known, where it is not."""


class Figures:
    """The figures of a report, by name."""

    def __init__(self, report: Report[Any, Any, Any]) -> None:
        self._report = report

    @cached_property
    def _document(self) -> dict[str, Any]:
        return self._report.to_dict()

    def named(self, figure: str) -> Figure:
        """The figure, or why it is not known."""
        place: Any = self._document
        parts = figure.split(".")
        while parts:
            if place is None:
                return Figure(None, self._why_none(figure))
            inside = _inside(place)
            # Names of the user's may have points in them: the longest that there is.
            taken = next((size for size in range(len(parts), 0, -1) if ".".join(parts[:size]) in inside), 0)
            if not taken:
                return Figure(None, _absent(figure, parts[0], inside))
            place, parts = inside[".".join(parts[:taken])], parts[taken:]
        if isinstance(place, Mapping):
            place = place.get("value")  # of pass@k, and no other
        if isinstance(place, bool) or not isinstance(place, int | float):
            return Figure(None, self._why_none(figure))
        return Figure(place)

    def _why_none(self, figure: str) -> str:
        if figure.startswith("calls."):
            calls = self._document["calls"]
            if calls is None:
                return "no call of a model was seen, so what they have used is not known"
            if figure == "calls.cost_usd.total":
                cost = calls["cost_usd"]
                unknown = counted(cost["n_unknown"], "call")
                return f"of {unknown} the price is not known; it is at least {dollars(cost['at_least'])}"
            return "a part of it is not known"
        if figure.startswith(("pass_rate", "assertions.", "variants.")):
            return "nothing is asserted of any case"
        if "latency" in figure:
            return "no attempt gave an output"
        return "it is not known"

    def bounds(self, figure: str, confidence: float) -> Bounds | None:
        """The bounds of a figure that is an estimate; None of one that is no estimate, but a count.

        Where nothing tells a bound, as with a run that is not whole, both sides of it are None.
        """
        observed = self._report.observations
        if figure == "pass_rate" and self._document["pass_rate_interval"] is None:
            return _UNTOLD  # nothing was observed of what was never run
        if figure in _QUANTILES or figure == "mean_latency_s":
            return self._of_latency(figure, confidence)
        if figure.startswith(("pass_at_k.", "pass_hat_k.", "variants.")):
            return self._as_shown(figure, confidence)
        if figure.startswith("scores."):
            return self._of_score(figure, confidence)
        if figure.startswith("assertions.") and not figure.endswith(".rate"):
            return None
        tries = observed.tries(figure)
        if tries is None:
            return None
        if self._report.case_groups() is None and not self._document["variants"]:
            return _bounds_of(wilson(sum(each for each, _ in tries), len(tries), confidence))
        return _bounds_of(clustered(tries, confidence))

    def _of_latency(self, figure: str, confidence: float) -> Bounds:
        observed = self._report.observations.values("latency") or []
        values, cases = [value for value, _ in observed], [case for _, case in observed]
        if figure == "mean_latency_s":
            return _bounds_of(mean_interval(values, clusters=cases, confidence=confidence))
        return quantile_bounds(values, _QUANTILES[figure], confidence, worth=len(set(cases)))

    def _of_score(self, figure: str, confidence: float) -> Bounds | None:
        name, _, ending = figure.removeprefix("scores.").rpartition(".")
        if ending not in ("mean", "median"):
            return None
        observed = self._report.observations.values(f"scores.{name}.mean") or []
        values, cases = [value for value, _ in observed], [case for _, case in observed]
        if ending == "median":
            return quantile_bounds(values, 0.5, confidence, worth=len(set(cases)))
        return _bounds_of(fitting_interval(values, clusters=cases, confidence=confidence))

    def _as_shown(self, figure: str, confidence: float) -> Bounds | None:
        """As the report has it, which has it at one confidence only."""
        family, _, member = figure.partition(".")
        if family == "variants" and not member.endswith(".pass_rate"):
            return None
        found = _inside(self._document[family]).get(member.removesuffix(".pass_rate"))
        shown = _inside(found).get("interval") if found is not None else None
        if shown is None or shown["confidence"] != confidence:
            return _UNTOLD
        return Bounds(shown["low"], shown["high"])


def _bounds_of(interval: Interval | None) -> Bounds:
    return _UNTOLD if interval is None else Bounds(interval.low, interval.high)


def _inside(place: Any) -> Mapping[str, Any]:
    """What is in a part of the document, by name; a list by the names or the k of its elements."""
    if isinstance(place, Mapping):
        return place
    if isinstance(place, Sequence) and not isinstance(place, str):
        return {str(each.get("name", each.get("k"))): each for each in place if isinstance(each, Mapping)}
    return {}


def _absent(figure: str, part: str, inside: Mapping[str, Any]) -> str:
    known = list(inside)
    listed = f"; there is {', '.join(known[:5])}" if 0 < len(known) <= 5 else ""
    return f"the run has no {figure}{nearest(part, known) or listed}"


__all__ = ["Figure", "Figures"]
