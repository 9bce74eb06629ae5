"""The cases of a run, made ready: named, checked, counted; as a list in memory, or streamed from a file.

A small file is read into memory, because then its cases can be put in order. A big one, or one of many
cases, is gone through as a stream, again for each repeat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final, TypeAlias

from paceline.dataset.case import Case
from paceline.dataset.identity import identify
from paceline.dataset.rows import RowFile
from paceline.dataset.spec import EvaluatorSpec
from paceline.dataset.typed import typed_case
from paceline.engine.events import AnyEvent, CaseFinished, Gauge
from paceline.engine.order import AS_GIVEN, arrange
from paceline.errors import DatasetError, UsageError
from paceline.evaluators.prepare import prepare
from paceline.evaluators.registry import build
from paceline.settings import Order

IN_MEMORY_UP_TO: Final = 64 * 1024 * 1024
"""Bytes of a row file that is read whole."""
IN_MEMORY_CASES: Final = 100_000
"""Cases of one: short rows take ten times their bytes, and a million of them is not to sit in memory."""

Named: TypeAlias = tuple[str, Case[Any, Any, Any]]
Selection: TypeAlias = Callable[[Iterable[Named]], Iterable[Named]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """Cases that can be gone through again and again."""

    named: Callable[[], Iterable[Named]]
    count: int
    order: str = AS_GIVEN
    digest: str = ""
    """Of the content of the file they are streamed from; empty for cases in memory."""
    durations: Mapping[str, float] = field(default_factory=dict)
    """Seconds that cases took in an earlier run, as far as known."""


def supply_of(
    cases: Sequence[Case[Any, Any, Any]] | RowFile,
    *,
    keep: Selection | None = None,
    custom: Sequence[type[Any]] = (),
    types: tuple[Any, ...] = (),
    order: Order = "auto",
    durations: Callable[[], Mapping[str, float]] | None = None,
    whole: bool = True,
    fair: bool = False,
    seed: int = 0,
) -> Supply:
    """Check the cases and put them in order; what is wrong with them is said before anything runs.

    `keep` narrows them down, in the order of the dataset whatever order they are run in. `custom` are the
    evaluator classes that rows may name; for `whole` and `fair` see `arrange`.
    """
    if isinstance(cases, RowFile):
        many = cases.path.stat().st_size > IN_MEMORY_UP_TO or cases.check().n > IN_MEMORY_CASES
        if many and keep is None:
            return _streamed(cases, custom, types, order)
        cases.check()
        everything: Iterable[Named] = _completed(cases.names(), custom, types)
    else:
        everything = identify(cases)
    named = list(everything if keep is None else keep(everything))
    if not named and keep is not None:
        raise UsageError("no case is left by the selection", hint="check --filter, --limit and --sample")
    if not named:
        raise DatasetError("the dataset has no cases", hint="add some: a run of nothing would prove nothing")
    for name, case in named:
        if case.evaluators:
            _check_evaluators(name, case)
    known = durations() if durations is not None and order in ("auto", "longest") else {}
    positions, called = arrange(
        [name for name, _ in named], order, durations=known, whole=whole, fair=fair, seed=seed
    )
    ordered = named if called == AS_GIVEN else [named[position] for position in positions]
    return Supply(named=lambda: ordered, count=len(ordered), order=called, durations=known)


class Forecast:
    """Keeps the work that remains up to date in the gauge, from what earlier runs took. A listener for
    events."""

    def __init__(self, gauge: Gauge, names: Iterable[str], durations: Mapping[str, float]) -> None:
        self._gauge = gauge
        self._left = Counter(names)
        typical = median(durations.values())
        self._seconds = {name: durations.get(name, typical) for name in self._left}
        self._longest_last = sorted(self._seconds, key=self._seconds.__getitem__)
        gauge.expected_work = sum(self._seconds[name] * count for name, count in self._left.items())
        self._note_longest()

    def __call__(self, event: AnyEvent) -> None:
        """Take off what has come to its end."""
        if isinstance(event, CaseFinished) and self._left[event.key.case] > 0:
            self._left[event.key.case] -= 1
            left = self._gauge.expected_work - self._seconds[event.key.case]
            self._gauge.expected_work = max(left, 0.0)
            self._note_longest()

    def _note_longest(self) -> None:
        while self._longest_last and not self._left[self._longest_last[-1]]:
            self._longest_last.pop()
        self._gauge.longest_left = self._seconds[self._longest_last[-1]] if self._longest_last else 0.0


def _streamed(rows: RowFile, custom: Sequence[type[Any]], types: tuple[Any, ...], order: str) -> Supply:
    if order in ("longest", "shuffle"):
        raise DatasetError(
            f"{rows.path} is streamed, so its cases cannot be put in another order ({order})",
            hint=f"use order 'given', or a file of up to {IN_MEMORY_CASES:,} cases "
            f"and {IN_MEMORY_UP_TO // 1_048_576} MB",
        )
    summary = rows.check()
    return Supply(
        named=lambda: _completed(rows.names(), custom, types), count=summary.n, digest=summary.digest
    )


def _completed(
    named: Iterable[Named], custom: Sequence[type[Any]], types: tuple[Any, ...]
) -> Iterator[Named]:
    """The evaluators that rows bring along are specs until here, and their parts plain data."""
    for name, case in named:
        if case.evaluators:
            case.evaluators = tuple(
                build(each, custom, where=each.where) if isinstance(each, EvaluatorSpec) else each
                for each in case.evaluators
            )
        yield name, typed_case(case, types, where=f"case {name}") if types else case


def _check_evaluators(name: str, case: Case[Any, Any, Any]) -> None:
    try:
        prepare(case.evaluators)
    except Exception as error:
        raise DatasetError(f"case {name}: {error}", hint=getattr(error, "hint", "")) from error
