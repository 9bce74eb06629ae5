"""Differing: what is not the same in two runs besides their results, and may be why these are not.

A difference that nobody looked for makes a comparison answer another question than was asked. What one of the
runs does not say is told as not known, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from paceline.comparison.pairing import Both
from paceline.comparison.sides import Side
from paceline.report.text import counted

About = Literal["run", "dataset", "timeouts", "judges", "evaluators", "task", "settings", "simulated"]
TIMEOUTS: Final = ("timeout", "case_timeout", "evaluator_timeout", "hook_timeout")
SETTINGS: Final = ("max_concurrency", "repeat", "isolation")
"""Settings besides, that latency or pass rates may depend on."""
_SHOWN: Final = 160


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Something that differs, or is not known."""

    about: About
    text: str


def differing(first: Side, second: Side, shared: Sequence[Both]) -> list[Difference]:
    """All that may be behind a difference, besides what was meant to differ."""
    return [Difference(about=about, text=text) for about, text in _differing(first, second, shared)]


def _differing(first: Side, second: Side, shared: Sequence[Both]) -> Iterator[tuple[About, str]]:
    for label, side in (("A", first), ("B", second)):
        if not side.whole:
            yield "run", f"{label} is not whole: keys of it have not come to an end, and are in no figure"
        if side.simulated:
            yield "simulated", f"answers of {label} are of a simulated provider: a rehearsal is no result"
    if not shared:
        yield "dataset", "no key was run in both: cases are matched by name, repeat and variant"
    yield from _content(shared)
    if first.settings is None or second.settings is None:
        yield "timeouts", "deadlines cannot be compared: they are not known of both"
    else:
        yield from _settings("timeouts", first.settings, second.settings, TIMEOUTS)
        yield from _settings("settings", first.settings, second.settings, SETTINGS)
    yield from _tasks(first, second)
    yield from _evaluators(first.evaluators, second.evaluators)
    yield from _judges(first, second)


def _content(shared: Sequence[Both]) -> Iterator[tuple[About, str]]:
    known = [both for both in shared if _comparable(both)]
    changed = sum(both.first.content != both.second.content for both in known)
    if changed:
        what = "do not ask the same: inputs, expected output or metadata have changed"
        yield "dataset", f"{counted(changed, 'key')} of {len(shared):,} in both {what}"
    if unknown := len(shared) - len(known):
        yield "dataset", f"whether {counted(unknown, 'key')} ask the same in both is not known"


def _comparable(both: Both) -> bool:
    """Whether their digests are of one harness: they are marked with whose they are."""
    one, other = both.first.content, both.second.content
    return bool(one and other) and one.rpartition(":")[0] == other.rpartition(":")[0]


def _settings(
    about: About, first: Mapping[str, Any], second: Mapping[str, Any], names: Sequence[str]
) -> Iterator[tuple[About, str]]:
    for name in names:
        if first.get(name) != second.get(name):
            was, now = (_said(each[name]) if name in each else "the default" for each in (first, second))
            yield about, f"{name} was {was} in A and {now} in B"


def _tasks(first: Side, second: Side) -> Iterator[tuple[About, str]]:
    if first.tasks is None or second.tasks is None:
        yield "task", "what was tested, and its model settings, cannot be compared: not known of both"
    elif first.tasks != second.tasks:
        yield "task", f"the task or its model settings: {_said(first.tasks)} in A, {_said(second.tasks)} in B"


def _evaluators(
    first: Mapping[str, Any] | None, second: Mapping[str, Any] | None
) -> Iterator[tuple[About, str]]:
    if first is None or second is None:
        yield "evaluators", "evaluators cannot be compared: they are not known of both"
        return
    for label in dict.fromkeys((*first, *second)):
        if label not in first or label not in second:
            yield "evaluators", f"{label} is in {'B' if label not in first else 'A'} only"
        elif first[label] != second[label]:
            yield "evaluators", f"{label} was {_said(first[label])} in A and is {_said(second[label])} in B"


def _judges(first: Side, second: Side) -> Iterator[tuple[About, str]]:
    before, after = first.judges or {}, second.judges or {}
    for label in dict.fromkeys((*before, *after)):
        one, other = before.get(label), after.get(label)
        if one is None or other is None:
            yield "judges", f"the judge {label} is in {'B' if one is None else 'A'} only"
        elif one.fingerprint != other.fingerprint:
            yield "judges", f"the judge {label} is not the same: its prompt, model or settings have changed"
        elif one.fingerprint is None:
            yield "judges", f"whether the judge {label} is the same in both is not known"
        if one is not None and other is not None and one.state != other.state:
            yield "judges", f"the judge {label} was {one.state} in A and is {other.state} in B"


def _said(part: Any) -> str:
    text = part if isinstance(part, str) else msgspec.json.encode(part).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


__all__ = ["Difference", "differing"]
