"""Rules: what a run has to keep, read from flags, a suite, or Python, and refused where it says nothing.

A rule names a figure of the report's JSON by its path (`pass_rate`, `scores.tone.mean`) or by a shorter name
(`p95`, `cost`), and a bound in the unit that the figure has: `0.9` or `90%`, `30s`, `$5`. A bound that every
run would keep, such as an error rate of at most 2, is a mistake and not a rule.

Knows names and values. Whether a run has such a figure, `figures` finds out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from paceline.errors import UsageError
from paceline.setting_kinds import duration
from paceline.settings import nearest

Side = Literal["min", "max"]
Unit = Literal["share", "seconds", "dollars", "number"]

SHORT: Final[dict[str, str]] = {
    "p50": "p50_latency_s",
    "p90": "p90_latency_s",
    "p95": "p95_latency_s",
    "p99": "p99_latency_s",
    "mean_latency": "mean_latency_s",
    "max_latency": "max_latency_s",
    "wall": "wall_s",
    "waited": "waited_s",
    "cost": "calls.cost_usd.total",
}
"""Shorter names of figures."""
SHARES: Final = (
    "pass_rate",
    "pass_rate_completed",
    "pass_rate_run",
    "coverage",
    "error_rate",
    "timeout_rate",
)
SECONDS: Final = (
    "p50_latency_s",
    "p90_latency_s",
    "p95_latency_s",
    "p99_latency_s",
    "mean_latency_s",
    "max_latency_s",
    "waited_s",
    "wall_s",
    "work_s",
)
COUNTS: Final = (
    "n",
    "n_expected",
    "n_cases",
    "n_scored",
    "n_failed",
    "n_open",
    "n_not_run",
    "n_passed",
    "n_not_passed",
    "n_unasserted",
    "attempts",
    "abandoned",
    "damaged_lines",
    "edited_lines",
    "effective_concurrency",
    "speed_up",
    "cases_per_s",
)
FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "scores": ("mean", "median", "min", "max", "n"),
    "assertions": ("rate", "n", "n_true"),
    "variants": ("pass_rate", "n", "n_scored", "n_failed"),
    "outcomes": (),
    "evaluator_failures": (),
    "pass_at_k": (),
    "pass_hat_k": (),
    "calls": (
        *("n", "n_answered", "tries", "sent_again", "waited_s", "n_replayed"),
        *("cost_usd.total", "saved_usd.total", "input_tokens.total", "output_tokens.total"),
        *("cached_tokens.total", "cache_write_tokens.total", "reasoning_tokens.total"),
        *("latency_s.mean", "latency_s.p50", "latency_s.p95", "latency_s.max"),
        *("first_token_s.mean", "first_token_s.p50", "first_token_s.p95", "first_token_s.max"),
    ),
}
"""Figures that have members: what may stand at the end of their path, where that is not free."""
_NAMED: Final = ("scores", "assertions", "variants")
"""Families whose members have names of the user's, which may have points in them."""
_EXAMPLES: Final = {
    "share": "0.9 or 90%",
    "seconds": "30s, 5m or 1.5",
    "dollars": "5 or $2.50",
    "number": "a number",
}


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A figure, and the bound that it has to keep."""

    side: Side
    figure: str
    """Its path in the report's JSON."""
    bound: float
    written: str
    """The name by which it was asked for."""

    @property
    def unit(self) -> Unit:
        return unit_of(self.figure)


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """All that a run has to keep."""

    bounds: tuple[Rule, ...] = ()
    no_regression: str = ""
    """The run, or the file with a saved baseline, that this one must not be worse than."""
    require_calibrated_judges: bool = False
    confidence: float | None = None
    """Where it is given, a rule has to hold for the bound of the interval and not only for the figure."""
    allow_simulated: bool = False
    """Whether answers of a simulated provider count: else a rehearsal is never green."""

    def __bool__(self) -> bool:
        return bool(self.bounds or self.no_regression or self.require_calibrated_judges)

    def and_then(self, more: Rules) -> Rules:
        """These rules with more of them; what is said of one figure twice, the latter says."""
        said = {(rule.side, rule.figure) for rule in more.bounds}
        kept = tuple(rule for rule in self.bounds if (rule.side, rule.figure) not in said)
        return Rules(
            bounds=(*kept, *more.bounds),
            no_regression=more.no_regression or self.no_regression,
            require_calibrated_judges=more.require_calibrated_judges or self.require_calibrated_judges,
            confidence=self.confidence if more.confidence is None else more.confidence,
            allow_simulated=more.allow_simulated or self.allow_simulated,
        )

    def written(self) -> dict[str, Any]:
        """As a suite would write them."""
        document: dict[str, Any] = {}
        for rule in self.bounds:
            document.setdefault(rule.side, {})[rule.figure] = rule.bound
        options = {name: getattr(self, name) for name in _OPTIONS}
        return document | {name: value for name, value in options.items() if value}


_OPTIONS: Final = ("no_regression", "require_calibrated_judges", "confidence", "allow_simulated")
KEYS: Final = ("min", "max", "min_coverage", *_OPTIONS)
"""What may stand below `check:` in a suite."""


def rules_from(
    *,
    min: Mapping[str, object] | None = None,  # noqa: A002  # the words that people write
    max: Mapping[str, object] | None = None,  # noqa: A002
    min_coverage: object = None,
    no_regression: object = None,
    require_calibrated_judges: bool = False,
    confidence: object = None,
    allow_simulated: bool = False,
    folder: Path | None = None,
    where: str = "",
) -> Rules:
    """Rules from what was written; `folder` is where the path of a baseline starts from."""
    said = f"{where}: " if where else ""
    least = dict(min or {})
    if min_coverage is not None:
        least["coverage"] = min_coverage
    bounds = [
        _rule(side, name, value, said)
        for side, given in (("min", least), ("max", max or {}))
        for name, value in given.items()
    ]
    _refuse_twice(bounds, said)
    return Rules(
        bounds=tuple(bounds),
        no_regression=_place(no_regression, folder, said),
        require_calibrated_judges=_truth("require_calibrated_judges", require_calibrated_judges, said),
        confidence=_confidence(confidence, said),
        allow_simulated=_truth("allow_simulated", allow_simulated, said),
    )


def rules_written(written: object, *, folder: Path | None = None, where: str = "") -> Rules:
    """The rules that a suite has below `check`."""
    said = f"{where}: " if where else ""
    if isinstance(written, Rules):
        return written
    if not isinstance(written, Mapping):
        raise UsageError(
            f"{said}check wants keys with values",
            hint="check: {min: {pass_rate: 0.9}, max: {error_rate: 2%}}",
        )
    for key in written:
        if key not in KEYS:
            raise UsageError(
                f"{said}check has no key {key!r}{nearest(str(key), KEYS)}",
                hint=f"its keys are {', '.join(KEYS)}",
            )
    for side in ("min", "max"):
        if not isinstance(written.get(side) or {}, Mapping):
            raise UsageError(
                f"{said}check: {side} wants figures with bounds", hint=f"{side}: {{pass_rate: 0.9}}"
            )
    return rules_from(**{str(key): value for key, value in written.items()}, folder=folder, where=where)


def pairs_of(written: Iterable[str], flag: str) -> dict[str, str]:
    """`pass_rate=0.9` for each of them."""
    pairs: dict[str, str] = {}
    for each in written:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not (name and equals and value):
            raise UsageError(f"{flag} {each!r} is no rule", hint=f"write {flag} pass_rate=0.9")
        if name in pairs:
            raise UsageError(f"{flag} says two things of {name}", hint="keep one of them")
        pairs[name] = value
    return pairs


def figure_named(name: str, said: str = "") -> str:
    """The path of the figure that a name stands for; wrong usage where there is none."""
    figure = SHORT.get(name, name)
    if figure in SHARES or figure in SECONDS or figure in COUNTS:
        return figure
    family, _, rest = figure.partition(".")
    if family in FAMILIES and rest:
        endings = FAMILIES[family]
        if family == "calls" and rest not in endings:
            raise _unknown(name, [f"calls.{ending}" for ending in endings], said)
        member, _, ending = rest.rpartition(".")
        if family in _NAMED and not (member and ending in endings):
            known = [f"{family}.{member or rest}.{each}" for each in endings]
            raise _unknown(name, known, said)
        if family in ("pass_at_k", "pass_hat_k") and not re.fullmatch("[1-9][0-9]*", rest):
            raise _unknown(name, [f"{family}.1"], said)
        return figure
    members = [f"{family}.NAME.{endings[0]}" for family, endings in FAMILIES.items() if family in _NAMED]
    raise _unknown(name, [*SHARES, *SHORT, *SECONDS, *COUNTS, *members], said)


def _unknown(name: str, known: list[str], said: str) -> UsageError:
    return UsageError(
        f"{said}there is no figure {name!r}{nearest(name, known)}",
        hint="figures are those of `paceline report --json`: pass_rate, error_rate, p95, cost, coverage, "
        "scores.NAME.mean, assertions.NAME.rate, ...",
    )


def unit_of(figure: str) -> Unit:
    """What a figure is counted in."""
    ending = figure.rpartition(".")[2]
    if "_usd." in figure:
        return "dollars"
    if figure.startswith(("pass_at_k.", "pass_hat_k.")) or figure in SHARES:
        return "share"
    if (figure.startswith("assertions.") and ending == "rate") or ending == "pass_rate":
        return "share"
    if figure in SECONDS or "_s." in figure or (figure.startswith("calls.") and ending.endswith("_s")):
        return "seconds"
    return "number"


def _rule(side: str, name: str, value: object, said: str) -> Rule:
    figure = figure_named(str(name), said)
    unit = unit_of(figure)
    try:
        bound = _bound(value, unit)
    except (ValueError, InvalidOperation, TypeError):
        raise UsageError(
            f"{said}{side} {name}={value!r} is no bound", hint=f"{name} wants {_EXAMPLES[unit]}"
        ) from None
    if unit == "share" and not 0 <= bound <= 1:
        raise UsageError(
            f"{said}{side} {name}={value}: a rate lies between 0 and 1", hint=f"{name} wants 0.9 or 90%"
        )
    if (side, bound) in (("min", 0.0), ("max", 1.0)) and unit == "share":
        raise UsageError(
            f"{said}{side} {name}={value} holds for every run there can be", hint="leave it out, or ask more"
        )
    return Rule(side=side, figure=figure, bound=bound, written=str(name))  # type: ignore[arg-type]  # of two


def _bound(value: object, unit: Unit) -> float:
    if unit == "seconds":
        return 0.0 if value in (0, "0") else duration(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(value)
    text = str(value).strip().replace("_", "")
    if text.endswith("%") and unit == "share":
        bound = float(Decimal(text[:-1]) / 100)
    else:
        bound = float(Decimal(text.removeprefix("$") if unit == "dollars" else text))
    if not math.isfinite(bound) or (unit == "dollars" and bound < 0):
        raise ValueError(value)
    return bound


def _refuse_twice(bounds: Iterable[Rule], said: str) -> None:
    seen: dict[tuple[str, str], str] = {}
    for rule in bounds:
        before = seen.setdefault((rule.side, rule.figure), rule.written)
        if before != rule.written:
            raise UsageError(
                f"{said}{rule.side} says two things of {rule.figure}: as {before} and as {rule.written}",
                hint="keep one of them",
            )


def _place(given: object, folder: Path | None, said: str) -> str:
    if given is None or given == "":
        return ""
    if not isinstance(given, str | Path):
        raise UsageError(
            f"{said}no_regression names a run or a saved baseline, and not a {type(given).__name__}",
            hint="no_regression: baseline.json",
        )
    return str(folder / given) if folder is not None else str(given)


def _confidence(given: object, said: str) -> float | None:
    if given is None:
        return None
    try:
        confidence = _bound(given, "share")
    except (ValueError, InvalidOperation, TypeError):
        confidence = 0.0
    if not 0.5 <= confidence < 1:
        raise UsageError(
            f"{said}confidence {given} is none that a rule can hold with",
            hint="from 0.5 up and below 1: 0.95",
        )
    return confidence


def _truth(name: str, given: object, said: str) -> bool:
    if not isinstance(given, bool):
        raise UsageError(f"{said}{name} is either true or false, and not {given!r}", hint=f"{name}: true")
    return given


__all__ = ["KEYS", "Rule", "Rules", "Side", "figure_named", "pairs_of", "rules_from", "rules_written"]
