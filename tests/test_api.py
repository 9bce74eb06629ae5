"""The facade: streams, and datasets that come from files of rows."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from paceline import Case, Dataset
from paceline.api import Stream
from paceline.dataset.files import DatasetSpec
from paceline.errors import DatasetError, UsageError
from paceline.evaluators import EqualsExpected, Evaluator, EvaluatorContext


class Longer(Evaluator):
    """A class that only this file knows."""

    def evaluate(self, ctx: EvaluatorContext) -> bool:
        return len(ctx.output) > 1


def letters(*names: str) -> Dataset:
    return Dataset(
        name="letters",
        cases=[Case(name=name, inputs=name, expected_output=name.upper()) for name in names],
        evaluators=[EqualsExpected()],
    )


async def answer(question: str) -> str:
    return question.upper()


async def gone_through(stream: Stream) -> list[str]:
    return [done.key.case async for done in stream]


# Streams ------------------------------------------------------------------------------------------


def test_a_listener_that_raises_does_not_cut_a_stream_short(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(event: object) -> None:
        raise RuntimeError("a bug in the listener")

    stream = letters("a", "b", "c").stream(answer, journal=False, on_event=broken, progress=False)
    assert sorted(asyncio.run(gone_through(stream))) == ["a", "b", "c"]
    assert "RuntimeError" in capsys.readouterr().err


def test_a_stream_is_gone_through_once_and_paid_for_once() -> None:
    asked = []

    async def paid(question: str) -> str:
        asked.append(question)
        return question.upper()

    stream = letters("a", "b").stream(paid, journal=False, progress=False)

    async def twice() -> None:
        await gone_through(stream)
        with pytest.raises(UsageError, match="gone through already") as refused:
            await gone_through(stream)
        assert "stream.report" in refused.value.hint

    asyncio.run(twice())
    assert sorted(asked) == ["a", "b"]


# Rows that become a list --------------------------------------------------------------------------


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"id": "a", "input": "a", "evaluators": [{"Contains": "A"}, "Longer"]}\n{"id": "b", "input": "b"}\n'
    )
    return path


def test_evaluators_of_rows_are_made_when_the_rows_become_a_list(rows: Path, tmp_path: Path) -> None:
    dataset = Dataset.from_file(rows, custom_evaluator_types=[Longer])
    dataset.add_case(name="c", inputs="c")
    report = dataset.evaluate_sync(answer, journal=False, progress=False)
    results = {row.name: {name: each.value for name, each in row.assertions.items()} for row in report.cases}
    assert results == {"a": {"Contains": True, "Longer": False}, "b": {}, "c": {}}

    written = tmp_path / "whole.yaml"
    dataset.to_file(written, custom_evaluator_types=[Longer])
    again = Dataset.from_file(written, custom_evaluator_types=[Longer])
    assert [len(case.evaluators) for case in again.cases] == [2, 0, 0]


def test_an_evaluator_that_nobody_knows_is_named_when_the_rows_become_a_list(rows: Path) -> None:
    with pytest.raises(DatasetError, match="Longer"):
        Dataset.from_file(rows).add_case(inputs="c")


def test_what_is_no_spec_is_never_dropped_in_silence() -> None:
    spec = DatasetSpec(name="letters", cases=(), evaluators=(EqualsExpected(),))  # type: ignore[arg-type]
    with pytest.raises(DatasetError, match="EqualsExpected"):
        Dataset._from_spec(spec, ())
