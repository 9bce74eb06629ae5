"""Rescoring: the stored outputs of a run scored anew, without its task.

It is a run like any other, into a journal of its own, whose turns bring their answers along; so it is
durable, resumable and reported like any other. The run that is scored is never changed. Results that some
other harness has written can be scored the same way: a JSONL file with an `id` and an `output` in each line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from paceline.conduct import Job
from paceline.dataset.case import Case
from paceline.dataset.spec import EvaluatorSpec
from paceline.engine.ports import Stored, Turn
from paceline.engine.source import stored_turn
from paceline.errors import DatasetError, JournalForeign, UsageError
from paceline.evaluators.registry import build
from paceline.journal.journal import Journal
from paceline.journal.records import ErrorClass, ErrorFacts, Key, RunLine
from paceline.options import Options
from paceline.report import Report
from paceline.report.rows import ReportCase, ReportCaseFailure
from paceline.runs import first_line

NAMES: Final = ("id", "name", "case", "task_id")
OUTPUTS: Final = ("output", "prediction", "response", "completion", "answer")
EXPECTED: Final = ("expected", "expected_output", "target", "reference", "gold", "ideal", "answer")
INPUTS: Final = ("inputs", "input", "question", "prompt")
SECONDS: Final = ("latency_s", "seconds", "duration")

CLASS_OF_OUTCOME: Final[dict[str, ErrorClass]] = {
    "task_error": "permanent",
    "timeout": "timeout",
    "infra_error": "infrastructure",
    "cancelled": "cancelled",
    "skipped_budget": "cancelled",
}


class Answered(NamedTuple):
    """A key with the answer that is to be scored."""

    key: Key
    case: Case[Any, Any, Any]
    stored: Stored
    attempts: int


def rescoring_job(
    path: str | os.PathLike[str],
    *,
    evaluators: Sequence[object] | None,
    expected: Mapping[str, Any] | str | os.PathLike[str] | None,
    options: Options,
    command: Sequence[str] = (),
) -> Job:
    """The job of scoring what is stored at `path`.

    Without `evaluators` those of the run are made again. `expected` replaces what the cases expect.
    """
    gold = expected if isinstance(expected, Mapping) or expected is None else read_expected(expected)
    if is_foreign(path):
        if evaluators is None:
            raise UsageError(
                f"{path} does not say how to score it", hint="name evaluators: --evaluators EqualsExpected"
            )
        rows = list(read_results(path))
        suite, count, repeat = Path(path).stem, len(rows), 1
        variants: tuple[str, ...] = ("",)
        answers: Iterable[Answered] = rows
    else:
        report = Report.read(path)
        run = first_line(path)
        assert run is not None, "a report could be read"
        evaluators = rebuilt(run) if evaluators is None else evaluators
        suite, repeat, variants = run.suite, run.repeat, run.variants
        count = len(report.cases) + len(report.failures)
        answers = _of_run(report)
    if count == 0:
        raise UsageError(f"there is nothing to score in {path}", hint="`paceline resume` it first")
    return Job(
        suite=options.name or suite,
        turns=lambda: (_turn(answer, gold) for answer in answers),
        count=count,
        variants=variants,
        repeat=repeat,
        evaluators=tuple(evaluators),
        options=options,
        command=list(command),
        rescored_from=os.fspath(path),
    )


def _turn(answer: Answered, gold: Mapping[str, Any] | None) -> Turn:
    case = answer.case
    if gold is not None and answer.key.case in gold:
        case = Case(
            name=case.name,
            inputs=case.inputs,
            metadata=case.metadata,
            expected_output=gold[answer.key.case],
            evaluators=case.evaluators,
        )
    return stored_turn(answer.key, case, answer.stored, tried=answer.attempts)


def _of_run(report: Report) -> Iterator[Answered]:
    for row in report.cases:
        yield Answered(row.key, _case_of(row), _stored_output(row), row.attempts)
    for failure in report.failures:
        stored = Stored(
            error=ErrorFacts(
                type=failure.error_type or "",
                message=failure.error_message,
                trace=failure.error_stacktrace,
                stage=failure.error_stage,
            ),
            error_class=CLASS_OF_OUTCOME[failure.outcome],
            seconds=failure.duration,
            on_record=False,
        )
        yield Answered(failure.key, _case_of(failure), stored, failure.attempts)


def _case_of(row: ReportCase[Any, Any, Any] | ReportCaseFailure[Any, Any, Any]) -> Case[Any, Any, Any]:
    return Case(
        name=row.key.case, inputs=row.inputs, metadata=row.metadata, expected_output=row.expected_output
    )


def _stored_output(row: ReportCase[Any, Any, Any]) -> Stored:
    return Stored(
        output=row.output,
        seconds=row.task_duration,
        waited=row.waited,
        metrics=dict(row.metrics),
        attributes=dict(row.attributes),
        trajectory=row.trajectory,
        on_record=False,
    )


def rebuilt(run: RunLine) -> list[object]:
    """The evaluators of a run, made again from how they are written in its first line."""
    lost = [facts.label for facts in run.evaluators if facts.spec is None]
    if lost:
        raise UsageError(
            f"the evaluators {', '.join(lost)} are functions, which a journal cannot bring back",
            hint="name the suite they are defined in, or pass evaluators=[...]",
        )
    return [
        build(EvaluatorSpec.parse(facts.spec), where=f"the run's evaluator {facts.label}")
        for facts in run.evaluators
    ]


# Files of others ----------------------------------------------------------------------------------


def is_foreign(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a file of results that no Paceline wrote."""
    file = Path(path)
    if not file.is_file():
        return False
    try:
        return not Journal.exists(file)
    except JournalForeign:
        return True


def read_results(path: str | os.PathLike[str]) -> Iterator[Answered]:
    """The rows of a results file: an id, an output or an error, and how long it took."""
    for number, row in _rows(path):
        where = f"{path}:{number}"
        name = _named(row, where)
        error = row.get("error")
        output = _first(row, OUTPUTS)
        if output is None and error is None and row.get("ok") is not False:
            raise DatasetError(
                f"{where}: there is no output", hint=f"a row has one of {', '.join(OUTPUTS)}, or an error"
            )
        failed = error is not None or row.get("ok") is False
        case = Case(name=name, inputs=_first(row, INPUTS), expected_output=_first(row, EXPECTED[:-1]))
        stored = Stored(
            output=None if failed else output,
            error=ErrorFacts(type="Recorded", message=str(error or "not ok")) if failed else None,
            seconds=float(_first(row, SECONDS) or 0.0),
            on_record=False,
        )
        yield Answered(Key(name), case, stored, 1)


def read_expected(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Expected answers by case name, from JSONL rows, or from one JSON object."""
    gold: dict[str, Any] = {}
    for number, row in _rows(path):
        where = f"{path}:{number}"
        name = _named(row, where)
        if name in gold:
            raise DatasetError(f"{where}: {name!r} is expected twice", hint="keep one of the two rows")
        gold[name] = _first(row, EXPECTED)
    if not gold:
        raise DatasetError(f"{path} expects nothing", hint='its rows look like {"id": "a", "expected": "4"}')
    return gold


def _rows(path: str | os.PathLike[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with open(path, "rb") as file:
            for number, raw in enumerate(file, start=1):
                if not raw.strip():
                    continue
                try:
                    row = msgspec.json.decode(raw)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise DatasetError(
                        f"{path}:{number}: not JSON: {error}", hint="one JSON object per line"
                    ) from None
                if not isinstance(row, dict):
                    raise DatasetError(f"{path}:{number}: not an object", hint="one JSON object per line")
                yield number, row
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}", hint="check the path") from error


def _named(row: Mapping[str, Any], where: str) -> str:
    name = _first(row, NAMES)
    if name is None:
        raise DatasetError(f"{where}: there is no name", hint=f"a row has one of {', '.join(NAMES)}")
    return str(name)


def _first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)
