"""Outputs that no file can hold: they are recorded as far as they can be, scored, reported, and gone on from.

What cannot be had back as what it was is marked as such, and never silently something else.
"""

from __future__ import annotations

import asyncio
import json
import math
import resource
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, Report, rescore, verify


@dataclass
class Point:
    x: float
    label: str


class NoRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class ExitsWhenShown:
    def __repr__(self) -> str:
        raise SystemExit("not to be shown")


class Hostile:
    """Whatever is asked of it raises."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Hostile
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__
    __hash__ = None  # type: ignore[assignment]  # not even that


def circle() -> list[Any]:
    ring: list[Any] = [1]
    ring.append(ring)
    return ring


def deep() -> list[Any]:
    nest: list[Any] = []
    for _ in range(100_000):
        nest = [nest]
    return nest


def growing() -> dict[str, Any]:
    value: dict[str, Any] = {"n": 0}
    kept.append(value)
    return value


kept: list[Any] = []

STRANGE: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "nan": lambda: math.nan,
    "infinities": lambda: [math.inf, -math.inf, {"nan": math.nan}],
    "a lone surrogate": lambda: "\ud800",
    "surrogates as keys": lambda: {"\udfff": ["\ud800"], "plain": 1},
    "control characters": lambda: "".join(map(chr, range(0x20))) + "\x7f\u2028\u2029\ufeff",
    "bytes": lambda: b"\x00\xff\n",
    "a huge integer": lambda: 10**400,
    "keys of all kinds": lambda: {1: "a", None: "b", (1, 2): "c", False: "d", "1": "e"},
    "a tuple": lambda: (1, (2, 3)),
    "a set": lambda: {1, 2},
    "a dataclass": lambda: Point(math.nan, "\ud800"),
    "a lock": threading.Lock,
    "a generator": lambda: (n for n in range(3)),
    "a coroutine's function": lambda: asyncio.sleep,
    "a module": lambda: sys,
    "a class": lambda: Point,
    "a circle": circle,
    "deep": deep,
    "an exception": lambda: ValueError("as a value"),
    "no repr": NoRepr,
    "exits when shown": ExitsWhenShown,
    "hostile": Hostile,
    "changed afterwards": growing,
    "our own envelope": lambda: {"$paceline": {"blob": "0" * 64, "bytes": 3}},
    "a line of a journal": lambda: '{"kind":"outcome","case":"nothing"}\n\x00\n',
    "text with newlines": lambda: "a\nb\r\nc\u0085d",
}
"""By name of the case."""


@pytest.mark.parametrize("apart", [False, True], ids=["instant scores", "scores that wait"])
def test_whatever_a_task_returns_is_recorded_scored_and_reported(tmp_path: Path, apart: bool) -> None:
    scored: list[str] = []
    calls: list[str] = []

    async def task(name: str) -> Any:
        calls.append(name)
        return STRANGE[name]()

    def sees_the_object_itself(ctx: Any) -> bool:
        scored.append(ctx.name)
        for value in kept:
            value["n"] += 1  # what it is changed to after it was returned is not what was returned
        return ctx.name != "hostile" or type(ctx.output) is Hostile

    async def waits(ctx: Any) -> bool:
        await asyncio.sleep(0)
        return sees_the_object_itself(ctx)

    sees_the_object_itself.instant = True  # type: ignore[attr-defined]  # as `instant` marks it
    dataset = Dataset(
        name="strange",
        cases=[Case(name=name, inputs=name) for name in STRANGE],
        evaluators=[waits if apart else sees_the_object_itself],
    )
    path = tmp_path / "run"
    report = dataset.evaluate_sync(task, journal=path, progress=False)
    assert (report.n_scored, report.n_failed) == (len(STRANGE), 0)
    assert report.exit_code() == 0
    assert sorted(scored) == sorted(STRANGE)
    assert verify(path).ok
    is_readable(report)
    back = {case.name: case.output for case in report.cases}
    assert math.isnan(back["nan"])
    assert back["a tuple"] == (1, (2, 3))
    assert back["bytes"] == b"\x00\xff\n"
    assert back["a huge integer"] == 10**400
    assert back["text with newlines"] == "a\nb\r\nc\u0085d"
    assert back["our own envelope"] == {"$paceline": {"blob": "0" * 64, "bytes": 3}}
    assert back["a line of a journal"] == '{"kind":"outcome","case":"nothing"}\n\x00\n'
    assert back["changed afterwards"] == {"n": 0}
    dataset.evaluate_sync(task, journal=path, progress=False)
    assert sorted(calls) == sorted(STRANGE), "nothing is left to do"
    again = rescore(path, evaluators=[lambda output: True], journal=tmp_path / "again", progress=False)
    assert len(again.rows) == len(STRANGE)
    assert sorted(calls) == sorted(STRANGE)


def is_readable(report: Report[Any, Any, Any]) -> None:
    """By people and by machines."""
    shown = report.render(400, include_output=True, include_input=True)
    shown.encode()
    assert [name for name in STRANGE if name not in shown] == []
    json.loads(report.to_json(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    for case in report.cases:
        repr(case)


@pytest.mark.slow
def test_an_output_of_a_hundred_megabytes_is_stored_once_and_gone_on_from(tmp_path: Path) -> None:
    size = 100_000_000
    calls: list[int] = []

    async def task(n: int) -> str:
        calls.append(n)
        return chr(97 + n) * size

    def length(output: str) -> int:
        return len(output)

    dataset = Dataset(
        name="big", cases=[Case(name=f"case-{n}", inputs=n) for n in range(2)], evaluators=[length]
    )
    path = tmp_path / "run"
    report = dataset.evaluate_sync(task, journal=path, progress=False, max_concurrency=1)
    assert report.n_scored == 2
    assert [case.scores["length"].value for case in report.cases] == [size, size]
    assert (path / "journal.jsonl").stat().st_size < 10_000
    assert sum(blob.stat().st_size for blob in (path / "blobs").iterdir()) < 2.1 * size
    assert len(report.render(include_output=True)) < 100_000
    assert verify(path).ok
    assert report.cases[0].output == "a" * size
    dataset.evaluate_sync(task, journal=path, progress=False)
    assert calls == [0, 1]
    mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10))
    assert mb < 3000, "a few copies at a time, and not one for each step"


def test_strange_inputs_and_names_are_no_reason_to_fail(tmp_path: Path) -> None:
    calls: list[str] = []

    async def task(inputs: Any) -> int:
        calls.append("called")
        return 1

    names = ["../../up", "a/b", "-o", "[red]x[/red]", "é", "🙂", "x" * 200, "{}", "%s", '"', "\\ud800", "_2"]
    dataset = Dataset(
        name="strange/../../name",
        cases=[Case(name=name, inputs=STRANGE[key]()) for name, key in zip(names, STRANGE, strict=False)],
        evaluators=[lambda output: True],
    )
    report = dataset.evaluate_sync(task, runs=tmp_path / "runs", progress=False)
    assert report.path is not None
    assert report.path.is_relative_to(tmp_path / "runs")
    assert report.n_scored == len(names)
    assert verify(report.path).ok
    report.render().encode()
    dataset.evaluate_sync(task, journal=report.path, progress=False)
    assert len(calls) == len(names), "each is found again under the name that it has on record"


@pytest.mark.parametrize(
    "returned",
    [
        math.nan,
        math.inf,
        None,
        [],
        object(),
        {"a": None},
        {1: True},
        {"": True},
        b"x",
        1j,
        10**400,
        Hostile(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_score_is_that_evaluators_failure(tmp_path: Path, returned: Any) -> None:
    dataset: Dataset[int, int, None] = Dataset(
        name="wrong",
        cases=[Case(name="case", inputs=1)],
        evaluators=[lambda output: returned, lambda output: True],
    )
    report = dataset.evaluate_sync(lambda n: n, journal=tmp_path / "run", progress=False)
    (case,) = report.cases
    assert case.outcome == "evaluator_error"
    assert len(case.evaluator_failures) == 1
    assert not report.passed
    assert report.pass_rate == 0.0
    assert verify(tmp_path / "run").ok
