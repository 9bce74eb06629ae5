"""Words: figures of a comparison as people read them, the same on every page."""

from __future__ import annotations

from typing import Final

from paceline.comparison.metrics import PASS_RATE, Metric, Unit
from paceline.comparison.pairing import Change
from paceline.report.text import UNKNOWN, counted, dollars, number, percent, seconds
from paceline.statistics.paired import PairedDifference, Test

TESTS: Final[dict[Test, str]] = {
    "mcnemar": "exact McNemar test",
    "sign flips": "sign-flip test",
    "sampled sign flips": "sign-flip test, sampled",
}
_BECOME: Final[dict[Change, tuple[str, str]]] = {
    "better": ("passes now", "pass now"),
    "worse": ("does not pass any more", "do not pass any more"),
    "crashed": ("crashes now", "crash now"),
    "recovered": ("crashes no more", "crash no more"),
    "new": ("is new", "are new"),
    "gone": ("is gone", "are gone"),
    "not_run": ("was not run in one of them", "were not run in one of them"),
}
_TITLES: Final = {PASS_RATE: "pass rate", "latency_s": "latency", "cost_usd": "cost"}
_WAYS: Final = {
    ("latency_s", "better"): ": it is faster",
    ("latency_s", "worse"): ": it is slower",
    ("cost_usd", "better"): ": it is cheaper",
    ("cost_usd", "worse"): ": it is dearer",
}


def title(metric: Metric) -> str:
    """What a metric is called."""
    return _TITLES.get(metric.name) or metric.name.partition(".")[2]


def value(unit: Unit, figure: float) -> str:
    """A figure in its unit."""
    match unit:
        case "share":
            return percent(figure)
        case "seconds":
            return seconds(figure)
        case "dollars":
            return dollars(figure)
        case "number":
            return number(float(figure))


def difference(unit: Unit, figure: float) -> str:
    """How far one figure lies from another one, with its sign."""
    if unit == "share":
        points = round(100 * figure, 1) + 0.0  # a zero has no sign
        return f"{points:+.1f} points"
    return f"{'-' if figure < 0 else '+'}{value(unit, abs(figure))}"


def interval(unit: Unit, found: PairedDifference) -> str:
    """Where the difference is likely to lie."""
    if found.interval is None:
        return UNKNOWN
    ends = (found.interval.low, found.interval.high)
    low, high = (difference(unit, end).removesuffix(" points") for end in ends)
    return f"{low} to {high}"


def become(change: Change, keys: int) -> str:
    """What so many keys have become."""
    return f"{counted(keys, 'key')} {_BECOME[change][keys != 1]}"


def chance(p: float) -> str:
    """A p-value, never rounded to nothing."""
    return f"p = {p:.3g}" if p >= 1e-6 else "p < 0.000001"


def sentence(metric: Metric, first: str, second: str) -> str:
    """What is to be said of a metric: better, worse, or that it cannot be told."""
    found = metric.found
    if found is None:
        return f"cannot tell: nothing is asserted of any key that {first} and {second} have run"
    if metric.turned_by_failures:
        failed = " and ".join(
            f"{counted(count, 'key')} failed in {letter}"
            for letter, count in ((first, metric.failed_first), (second, metric.failed_second))
            if count
        )
        return f"cannot tell: {failed} and may hide the contrary"
    if metric.verdict != "cannot tell":
        return f"{second} is {metric.verdict}{_WAYS.get((metric.name, metric.verdict), '')}"
    pairs = counted(found.n, "key")
    if found.detectable is None:
        return f"cannot tell: {pairs} show no difference of any size"
    shown = difference(metric.unit, found.detectable).removeprefix("+")
    if shown == "0.0 points":
        shown = "less than 0.1 points"
    return f"cannot tell: {pairs} show differences of {shown} and more"


def left_out(metric: Metric, first: str, second: str) -> str:
    """Which keys are not in a figure, and why; empty where all are."""
    told = [
        f"{counted(count, 'key')} that failed in {letter}"
        for letter, count in ((first, metric.failed_first), (second, metric.failed_second))
        if count
    ]
    if metric.unknown:
        told.append(f"{counted(metric.unknown, 'key')} of which one run does not say")
    return f"left out: {', '.join(told)}" if told else ""


def adjusted(metric: Metric) -> str:
    """The p-value after all that were looked at, where it is another one."""
    found = metric.found
    if found is None or metric.p_adjusted is None or metric.p_adjusted == found.p:
        return ""
    return f"{chance(metric.p_adjusted)} by Holm"


__all__ = [
    "TESTS",
    "adjusted",
    "become",
    "chance",
    "difference",
    "interval",
    "left_out",
    "sentence",
    "title",
    "value",
]
