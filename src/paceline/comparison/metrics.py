"""Metrics: what two runs are compared by, each with both values, the paired difference, and what it says.

    pass_rate          whether a key passed; failures have not
    assertions.NAME    whether this was true; false of what failed
    scores.NAME        higher is better, unless told otherwise; 0 of what failed where no score is below 0
    latency_s          working time, lower is better; of keys that gave an output in both runs
    cost_usd           of the task's calls, lower is better; of keys of which it is known in both runs

Where a failure cannot stand as a number (latency, cost, scores that may be negative), its key is left out and
counted, and no verdict rests on that: a side is called better only if it still were, had each of its failures
lain as far on the wrong side as any two values that were seen lie apart.

The pass rate is what a comparison is made for, and its own p decides. All other metrics are looked through
together, and Holm's p decides; of more than two runs, all pairs are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from paceline.comparison.pairing import Both
from paceline.report.sightings import Sighting
from paceline.statistics.paired import PairedDifference, paired_difference
from paceline.statistics.several import holm

if TYPE_CHECKING:
    import numpy as np

Verdict = Literal["better", "worse", "cannot tell"]
Unit = Literal["share", "number", "seconds", "dollars"]
PASS_RATE: Final = "pass_rate"
SEED: Final = 0
"""Signs are drawn only where there are too many patterns: the same two runs always get the same figures."""


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of two runs."""

    name: str
    unit: Unit
    lower_is_better: bool
    found: PairedDifference | None
    """None where no pair has it."""
    failed_first: int = 0
    """Keys left out because they failed in A, and have a value in B."""
    failed_second: int = 0
    unknown: int = 0
    """Keys left out because one of the runs says nothing of it."""
    p_adjusted: float | None = None
    """Put right for how many were looked at together."""
    verdict: Verdict = "cannot tell"
    """Of B, against A."""
    turned_by_failures: bool = False
    """Whether it would have been better or worse, but for keys that have failed and are left out."""


class Line(NamedTuple):
    """A metric of one key; None where there is no value."""

    case: str
    first: float | None
    second: float | None
    failed_first: bool
    failed_second: bool


class Measured(NamedTuple):
    """A metric, and what it was worked out from."""

    metric: Metric
    lines: Sequence[Line]


def measured(shared: Sequence[Both], *, lower: Iterable[str], confidence: float) -> list[Measured]:
    """Every metric that both runs have; none of them decided yet."""
    lower = frozenset(lower)
    found = [_measured(PASS_RATE, "share", (_pass(both) for both in shared), False, confidence)]
    for name in _names(shared, lambda seen: seen.assertions):
        lines = _assertion(shared, name)
        found.append(_measured(f"assertions.{name}", "share", lines, False, confidence))
    for name in _names(shared, lambda seen: seen.scores):
        downward = name in lower or f"scores.{name}" in lower
        lines = _score(shared, name, downward=downward)
        found.append(_measured(f"scores.{name}", "number", lines, downward, confidence))
    for name, unit, value in _SPENT:
        found.append(_measured(name, unit, (_spent(both, value) for both in shared), True, confidence))
    return [each for each in found if each.metric.found is not None or each.metric.name == PASS_RATE]


def decided(families: Sequence[Sequence[Measured]], *, confidence: float) -> list[list[Metric]]:
    """What is to be said of each metric of each pair of runs, after all were looked at."""
    adjusted: dict[tuple[int, int], float] = {}
    for headline in (True, False):
        places = [
            (pair, place)
            for pair, family in enumerate(families)
            for place, each in enumerate(family)
            if each.metric.found is not None and (each.metric.name == PASS_RATE) is headline
        ]
        ps = [found.p for pair, place in places if (found := families[pair][place].metric.found)]
        adjusted.update(zip(places, holm(ps), strict=True))
    return [
        [_decided(each, adjusted.get((pair, place)), confidence) for place, each in enumerate(family)]
        for pair, family in enumerate(families)
    ]


def _decided(measure: Measured, p: float | None, confidence: float) -> Metric:
    metric, found = measure.metric, measure.metric.found
    if found is None or p is None:
        return metric
    verdict = _verdict(found.difference, p, metric, confidence)
    turned = verdict != "cannot tell" and not _stands(measure, verdict, confidence)
    return msgspec.structs.replace(
        metric,
        p_adjusted=p,
        verdict="cannot tell" if turned else verdict,
        turned_by_failures=turned,
    )


def _verdict(difference: float, p: float, metric: Metric, confidence: float) -> Verdict:
    if p > 1 - confidence + 1e-12 or not difference:
        return "cannot tell"
    return "better" if (difference < 0) is metric.lower_is_better else "worse"


def _stands(measure: Measured, verdict: Verdict, confidence: float) -> bool:
    """Whether it holds if what failed on the side that it favours had come out as badly as anything did."""
    metric, lines = measure.metric, measure.lines
    second_favoured = verdict == "better"
    if not (metric.failed_second if second_favoured else metric.failed_first):
        return True
    largest = max(
        abs(line.second - line.first) for line in lines if line.first is not None and line.second is not None
    )
    against = largest if metric.lower_is_better else -largest
    filled = [_filled_in(line, against, second=second_favoured) for line in lines]
    found = _difference(filled, confidence)
    return found is not None and _verdict(found.difference, found.p, metric, confidence) == verdict


def _filled_in(line: Line, against: float, *, second: bool) -> Line:
    """A line with a value for the side that has failed, so far from the other one's."""
    if second and line.failed_second and line.second is None and line.first is not None:
        return line._replace(second=line.first + against)
    if not second and line.failed_first and line.first is None and line.second is not None:
        return line._replace(first=line.second + against)
    return line


# From keys to columns ------------------------------------------------------------------------------


def _measured(
    name: str, unit: Unit, lines: Iterable[Line | None], lower: bool, confidence: float
) -> Measured:
    kept = [line for line in lines if line is not None]
    metric = Metric(
        name=name,
        unit=unit,
        lower_is_better=lower,
        found=_difference(kept, confidence),
        failed_first=sum(each.first is None and each.failed_first for each in kept),
        failed_second=sum(each.second is None and each.failed_second for each in kept),
        unknown=sum(
            (each.first is None and not each.failed_first) or (each.second is None and not each.failed_second)
            for each in kept
        ),
    )
    return Measured(metric, kept)


def _difference(lines: Sequence[Line], confidence: float) -> PairedDifference | None:
    pairs = [
        (line.case, line.first, line.second)
        for line in lines
        if line.first is not None and line.second is not None
    ]
    cases = [case for case, _, _ in pairs]
    return paired_difference(
        [first for _, first, _ in pairs],
        [second for _, _, second in pairs],
        _rng(),
        clusters=cases if len(set(cases)) < len(cases) else None,
        confidence=confidence,
    )


def _rng() -> np.random.Generator:
    import numpy as np

    return np.random.default_rng(SEED)


def _names(shared: Sequence[Both], of: Callable[[Sighting], Iterable[str]]) -> list[str]:
    """Names that both runs have; where one was never scored, those of the other, of which all has failed."""
    of_first, of_second = ({name for each in seen for name in of(each)} for seen in _columns(shared))
    for ours, theirs, seen in zip(
        (of_first, of_second), (of_second, of_first), _columns(shared), strict=True
    ):
        if not any(each.outcome == "scored" for each in seen):
            ours |= theirs
    return sorted(of_first & of_second)


def _columns(shared: Sequence[Both]) -> tuple[list[Sighting], list[Sighting]]:
    return [each.first for each in shared], [each.second for each in shared]


def _line(both: Both, first: float | None, second: float | None) -> Line | None:
    """None where neither has a value: nothing says that it is asked of this key."""
    if first is None and second is None:
        return None
    return Line(both.case, first, second, both.first.outcome != "scored", both.second.outcome != "scored")


def _pass(both: Both) -> Line | None:
    passes = both.passes
    return None if passes is None else _line(both, float(passes[0]), float(passes[1]))


def _assertion(shared: Sequence[Both], name: str) -> list[Line | None]:
    of_all = _is_of_all(shared, lambda seen: name in seen.assertions)

    def value(seen: Sighting) -> float | None:
        if name in seen.assertions:
            return float(seen.assertions[name])
        return None if seen.outcome == "scored" else 0.0

    return [
        _filled(both, value, name in both.first.assertions or name in both.second.assertions or of_all)
        for both in shared
    ]


def _score(shared: Sequence[Both], name: str, *, downward: bool) -> list[Line | None]:
    of_all = _is_of_all(shared, lambda seen: name in seen.scores)
    least = min(each.scores[name] for both in shared for each in both if name in each.scores)
    failed = None if downward or least < 0 else 0.0

    def value(seen: Sighting) -> float | None:
        return seen.scores.get(name, None if seen.outcome == "scored" else failed)

    return [
        _filled(both, value, name in both.first.scores or name in both.second.scores or of_all)
        for both in shared
    ]


def _filled(both: Both, value: Callable[[Sighting], float | None], asked: bool) -> Line | None:
    return _line(both, value(both.first), value(both.second)) if asked else None


def _is_of_all(shared: Sequence[Both], has: Callable[[Sighting], bool]) -> bool:
    """Whether it is asked of every key: of those that were scored on either side, none is without it."""
    return all(has(seen) for both in shared for seen in both if seen.outcome == "scored")


def _spent(both: Both, value: Callable[[Sighting], float | None]) -> Line | None:
    return _line(both, value(both.first), value(both.second))


_SPENT: Final[tuple[tuple[str, Unit, Callable[[Sighting], float | None]], ...]] = (
    ("latency_s", "seconds", lambda seen: seen.seconds),
    ("cost_usd", "dollars", lambda seen: seen.cost),
)

__all__ = ["PASS_RATE", "Measured", "Metric", "Unit", "Verdict", "decided", "measured"]
