"""The facade: streams, and datasets that come from files of rows."""

from __future__ import annotations

import asyncio
import io
import pickle
import traceback
from pathlib import Path

import pytest

from paceline import Case, Dataset, rescore
from paceline.dataset.files import DatasetSpec
from paceline.delivery import Stream
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


# The name of a run --------------------------------------------------------------------------------


def test_the_name_of_a_run_is_a_label_and_not_what_a_resume_is_held_against(tmp_path: Path) -> None:
    journal = tmp_path / "run"
    first = letters("a").evaluate_sync(answer, name="exp A", journal=journal, progress=False)
    again = letters("a").evaluate_sync(answer, name="exp B", journal=journal, progress=False)
    assert (first.name, first.to_dict()["name"]) == ("exp A", "exp A")
    assert again.run is not None
    assert (again.name, again.run.suite, again.n_scored) == ("exp A", "letters", 1)


def test_a_run_directory_has_the_name_of_the_dataset_whatever_the_run_is_called(tmp_path: Path) -> None:
    report = letters("a").evaluate_sync(answer, name="exp A", runs=tmp_path, progress=False)
    assert report.path is not None
    assert report.path.parent == tmp_path / "letters"


def test_a_run_without_a_name_goes_by_that_of_its_dataset() -> None:
    assert letters("a").evaluate_sync(answer, journal=False, progress=False).name == "letters"


def test_a_rescored_run_has_a_name_of_its_own_and_the_suite_of_the_first(tmp_path: Path) -> None:
    letters("a").evaluate_sync(answer, name="exp A", journal=tmp_path / "run", progress=False)
    rescored = rescore(tmp_path / "run", name="stricter", journal=tmp_path / "again", progress=False)
    assert rescored.run is not None
    assert (rescored.name, rescored.run.suite) == ("stricter", "letters")


# What users of Pydantic Evals write ---------------------------------------------------------------


def test_a_report_is_printed_with_all_flags_that_pydantic_evals_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = letters("a").evaluate_sync(answer, journal=False, progress=False)
    report.print(
        80,
        None,
        include_input=True,
        include_metadata=True,
        include_expected_output=True,
        include_output=True,
        include_durations=False,
        include_total_duration=True,
        include_removed_cases=True,
        include_averages=True,
        include_errors=True,
        include_error_stacktrace=True,
        include_evaluator_failures=True,
        include_analyses=True,
        include_reasons=True,
        input_config={},
        metadata_config={},
        output_config={},
        score_configs={},
        label_configs={},
        metric_configs={},
        duration_config={},
    )
    assert "COMPLETE" in capsys.readouterr().out


def test_a_report_without_averages_still_names_evaluators_that_failed() -> None:
    def broken(output: str) -> bool:
        raise RuntimeError(output)

    dataset = letters("a")
    dataset.add_evaluator(broken)
    report = dataset.evaluate_sync(answer, journal=False, progress=False)
    shown = report.render(include_averages=False, include_cases=False)
    assert "% true" in report.render(include_cases=False)
    assert "% true" not in shown
    assert "could not say anything of 1 case" in shown


def test_a_report_is_printed_on_a_console_of_the_callers() -> None:
    from rich.console import Console

    console = Console(file=io.StringIO(), width=60)
    letters("[b]").evaluate_sync(answer, journal=False, progress=False).print(console=console)
    assert isinstance(console.file, io.StringIO)
    assert "[b]" in console.file.getvalue()


def test_a_baseline_is_refused_and_not_ignored() -> None:
    report = letters("a").evaluate_sync(answer, journal=False, progress=False)
    with pytest.raises(UsageError, match="compared"):
        report.print(baseline=report)  # type: ignore[arg-type]


def test_what_evaluators_said_can_be_imported_by_the_names_it_has_there() -> None:
    from paceline.evaluators import EvaluationResult, EvaluatorFailure

    def broken(output: str) -> bool:
        raise RuntimeError(output)

    dataset = letters("a")
    dataset.add_evaluator(broken)
    (row,) = dataset.evaluate_sync(answer, journal=False, progress=False).cases
    assert isinstance(row.assertions["EqualsExpected"], EvaluationResult)
    assert isinstance(row.evaluator_failures[0], EvaluatorFailure)


# Errors -------------------------------------------------------------------------------------------


def test_a_traceback_tells_what_to_do_next() -> None:
    error = UsageError("there is no task", hint="name one")
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert (str(each), each.hint) == ("there is no task", "name one")
        told = "".join(traceback.format_exception_only(each))
        assert told.endswith("UsageError: there is no task\nhint: name one\n")
    assert not hasattr(UsageError("no hint"), "__notes__")
