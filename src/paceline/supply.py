"""The cases of a run, made ready: named, checked, counted; as a list in memory, or streamed from a file.

A small file is read into memory, because then its cases can be put in order. A big one is gone through as a
stream, again for each repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from paceline.dataset.case import Case
from paceline.dataset.identity import identify
from paceline.dataset.rows import RowFile
from paceline.dataset.spec import EvaluatorSpec
from paceline.engine.order import Order, arrange
from paceline.errors import DatasetError
from paceline.evaluators.prepare import prepare
from paceline.evaluators.registry import build

IN_MEMORY_UP_TO: Final = 64 * 1024 * 1024
"""Bytes of a row file that is read whole."""

Named: TypeAlias = tuple[str, Case[Any, Any, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """Cases that can be gone through again and again."""

    named: Callable[[], Iterable[Named]]
    count: int
    order: str = "as given"
    digest: str = ""
    """Of the content of the file they are streamed from; empty for cases in memory."""
    expected_seconds: float = 0.0
    """What all of them together will probably take; 0 where nothing is known."""
    longest: float = 0.0


def supply_of(
    cases: Sequence[Case[Any, Any, Any]] | RowFile,
    *,
    custom: Sequence[type[Any]] = (),
    order: Order = "auto",
    durations: Callable[[], Mapping[str, float]] | None = None,
    whole: bool = True,
    seed: int = 0,
) -> Supply:
    """Check the cases and put them in order; what is wrong with them is said before anything runs.

    `custom` are the evaluator classes that rows may name, `whole` says that nothing will stop the run early.
    """
    if isinstance(cases, RowFile):
        if cases.path.stat().st_size > IN_MEMORY_UP_TO:
            return _streamed(cases, custom, order)
        cases.check()
        named = list(_with_evaluators(cases.names(), custom))
    else:
        named = list(identify(cases))
    if not named:
        raise DatasetError("the dataset has no cases", hint="add some: a run of nothing would prove nothing")
    for name, case in named:
        if case.evaluators:
            _check_evaluators(name, case)
    known = durations() if durations is not None and order in ("auto", "longest") else {}
    positions, called = arrange(
        [name for name, _ in named], order, durations=known, whole=whole, seed=seed
    )
    ordered = [named[position] for position in positions]
    seconds = [known.get(name, 0.0) for name, _ in named] if known else [0.0]
    return Supply(
        named=lambda: ordered,
        count=len(ordered),
        order=called,
        expected_seconds=sum(seconds),
        longest=max(seconds),
    )


def _streamed(rows: RowFile, custom: Sequence[type[Any]], order: str) -> Supply:
    if order in ("longest", "shuffle"):
        raise DatasetError(
            f"{rows.path} is streamed, so its cases cannot be put in another order ({order})",
            hint=f"use order 'given', or a file of up to {IN_MEMORY_UP_TO // 1_048_576} MB",
        )
    summary = rows.check()
    return Supply(
        named=lambda: _with_evaluators(rows.names(), custom), count=summary.n, digest=summary.digest
    )


def _with_evaluators(named: Iterable[Named], custom: Sequence[type[Any]]) -> Iterator[Named]:
    """The evaluators that rows bring along are specs until here."""
    for name, case in named:
        if case.evaluators:
            case.evaluators = tuple(
                build(each, custom, where=each.where) if isinstance(each, EvaluatorSpec) else each
                for each in case.evaluators
            )
        yield name, case


def _check_evaluators(name: str, case: Case[Any, Any, Any]) -> None:
    try:
        prepare(case.evaluators)
    except Exception as error:
        raise DatasetError(f"case {name}: {error}", hint=getattr(error, "hint", "")) from error
