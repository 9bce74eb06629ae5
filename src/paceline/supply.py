"""The cases of a run, made ready: named, checked, counted; as a list in memory, or streamed from a file.

A small file is read into memory, because then its cases can be put in order. A big one is gone through as a stream.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from paceline.dataset.case import Case
from paceline.dataset.identity import identify
from paceline.dataset.rows import RowFile
from paceline.engine.order import arrange
from paceline.errors import DatasetError
from paceline.evaluators.prepare import prepare

IN_MEMORY_UP_TO: Final = 64 * 1024 * 1024
"""Bytes of a row file that is read whole."""

Named = tuple[str, Case[Any, Any, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """Cases that can be gone through again and again."""

    named: Callable[[], Iterable[Named]]
    count: int
    order: str = "as given"
    digest: str = ""
    """Of the file they come from; empty for cases in memory."""
    expected_seconds: float = 0.0
    longest: float = 0.0


def supply_of(
    cases: Sequence[Case[Any, Any, Any]] | RowFile,
    *,
    order: str = "auto",
    durations: Callable[[], Mapping[str, float]] | None = None,
    whole: bool = True,
    seed: int = 0,
) -> Supply:
    """Check the cases and put them in order. Whatever is wrong with them is said here, before anything runs."""
    if isinstance(cases, RowFile):
        if os.path.getsize(cases.path) > IN_MEMORY_UP_TO:
            return _streamed(cases, order)
        cases.check()
        cases = list(cases)
    named = list(identify(cases))
    if not named:
        raise DatasetError("the dataset has no cases", hint="add some: a run of nothing would prove nothing")
    for name, case in named:
        if case.evaluators:
            _check_evaluators(name, case)
    known = durations() if durations is not None and order in ("auto", "longest") else {}
    positions, called = arrange(
        [name for name, _ in named],
        order,  # type: ignore[arg-type]  # checked by Options
        durations=known,
        whole=whole,
        seed=seed,
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


def _streamed(rows: RowFile, order: str) -> Supply:
    if order in ("longest", "shuffle"):
        size = os.path.getsize(rows.path) // 1_048_576
        raise DatasetError(
            f"{rows.path} is streamed ({size} MB), so its cases cannot be put in another order ({order})",
            hint=f"use order='given', or a file of up to {IN_MEMORY_UP_TO // 1_048_576} MB",
        )
    summary = rows.check()
    return Supply(named=rows.names, count=summary.count, digest=file_digest(rows.path))


def file_digest(path: str | os.PathLike[str]) -> str:
    """A digest of a file's bytes."""
    digest = blake2b(digest_size=16)
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _check_evaluators(name: str, case: Case[Any, Any, Any]) -> None:
    try:
        prepare(case.evaluators)
    except Exception as error:
        raise DatasetError(f"case {name}: {error}", hint=getattr(error, "hint", "")) from error


def only(named: Iterable[Named], keep: Callable[[str, Case[Any, Any, Any]], bool]) -> Iterator[Named]:
    """Those cases that a selection keeps."""
    return (pair for pair in named if keep(*pair))
