"""Rescoring: the stored outputs of a run scored anew, without its task.

It is a run like any other, into a journal of its own, whose turns bring their answers along; so it is
durable, resumable and reported like any other. The run that is scored is never changed. Results that some
other harness has written can be scored the same way: a JSONL file with an `id` and an `output` in each line.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from paceline.conduct import Job
from paceline.conduct.foreign import is_foreign, read_expected, read_results
from paceline.conduct.record import verdicts_at
from paceline.dataset.case import Case
from paceline.dataset.spec import EvaluatorSpec, Spec
from paceline.engine.ports import Said, Stored, Turn
from paceline.engine.source import Named, stored_turn
from paceline.errors import DatasetError, UsageError
from paceline.evaluators.registry import build
from paceline.journal.reading import FileSource, Recorded
from paceline.journal.records import BeginLine, ErrorClass, ErrorFacts, Key, RunLine, VerdictLine, key_of
from paceline.options import Options
from paceline.report import Report
from paceline.report.passing import NOT_RUN
from paceline.report.rows import ReportCase, ReportCaseFailure
from paceline.runs import first_line

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


class Stock(NamedTuple):
    """What there is to score."""

    suite: str
    answers: Callable[[], Iterable[Answered]]
    answered: int
    expected: int
    """Keys that the run has. More than those answered where it is not finished."""
    evaluators: Sequence[object]
    named: set[str]
    """Names of its cases, as far as somebody expects something of them."""
    variants: tuple[str, ...] = ("",)
    repeat: int = 1
    simulated: bool = False
    """Whether a simulated provider has given any of the answers."""
    judge_model: str | None = None
    """The model that judged where no other was named, if the run had that as a setting."""
    check: Mapping[str, Any] = MappingProxyType({})
    """The rules that the run had: they hold for its new scores too."""


def rescoring_job(
    path: str | os.PathLike[str],
    *,
    evaluators: Sequence[object] | None,
    expected: Mapping[str, Any] | str | os.PathLike[str] | None,
    options: Options,
    command: Sequence[str] = (),
    suite: Callable[[], Iterable[Named]] | None = None,
    warn: Callable[[str], object] = warnings.warn,
) -> Job:
    """The job of scoring what is stored at `path`.

    Without `evaluators` those of the run are made again, those of single cases too. With them, and with the
    cases of its `suite`, a case's own are the ones that it has there. `expected` replaces what cases expect.
    """
    gold = expected if isinstance(expected, Mapping) else {} if expected is None else read_expected(expected)
    if is_foreign(path):
        stock = _stock_of_file(Path(path), evaluators, gold)
    else:
        stock = _stock_of_run(Path(path), evaluators, gold, suite)
    if stock.answered == 0:
        raise UsageError(f"there is nothing to score in {path}", hint="`paceline resume` it first")
    if gold:
        _hold_against(stock, gold, path, warn)
    if stock.answered < stock.expected:
        warn(
            f"{path} is not finished: {stock.expected - stock.answered} of its {stock.expected} cases have "
            f"no answer, so this is incomplete as well; `paceline resume {path}` it first"
        )
    return Job(
        suite=f"{stock.suite}-rehearsal" if options.rehearse else stock.suite,
        simulated=stock.simulated,
        label=options.name or "",
        turns=lambda: (_turn(answer, gold) for answer in stock.answers()),
        count=stock.expected,
        variants=stock.variants,
        repeat=stock.repeat,
        evaluators=tuple(stock.evaluators),
        options=replace(options, judge_model=options.judge_model or stock.judge_model),
        command=list(command),
        rescored_from=str(Path(path).absolute()),
        check=stock.check,
    )


def _hold_against(stock: Stock, gold: Mapping[str, Any], path: object, warn: Callable[[str], object]) -> None:
    unknown = [name for name in gold if name not in stock.named]
    if len(unknown) == len(gold):
        raise UsageError(
            f"nothing that is expected is about a case of {path}, not even {unknown[0]!r}",
            hint="expected answers go by the names of cases, which `paceline report` shows",
        )
    if unknown:
        more = ", ..." if len(unknown) > 3 else ""
        warn(f"{path} has no case {', '.join(map(repr, unknown[:3]))}{more}: {len(unknown)} expected in vain")


def _turn(answer: Answered, gold: Mapping[str, Any]) -> Turn:
    case = answer.case
    if answer.key.case in gold:
        case = replace(case, expected_output=gold[answer.key.case])
    return stored_turn(answer.key, case, answer.stored, tried=answer.attempts)


def _stock_of_file(path: Path, evaluators: Sequence[object] | None, gold: Mapping[str, Any]) -> Stock:
    if evaluators is None:
        raise UsageError(
            f"{path} does not say how to score it", hint="name evaluators: --evaluators EqualsExpected"
        )
    answers = [Answered(Key(name), case, stored, 1) for name, case, stored in read_results(path)]
    return Stock(
        suite=path.stem,
        answers=lambda: answers,
        answered=len(answers),
        expected=len(answers),
        evaluators=evaluators,
        named={answer.key.case for answer in answers if answer.key.case in gold},
    )


def _stock_of_run(
    path: Path,
    evaluators: Sequence[object] | None,
    gold: Mapping[str, Any],
    suite: Callable[[], Iterable[Named]] | None,
) -> Stock:
    report = Report.read(path)
    figures = report.figures
    run = first_line(path)
    if run is None:
        if evaluators is None:
            raise UsageError(
                f"the first line of {path} is damaged, so its evaluators are not known", hint=_REMEDY
            )
        run = _as_its_cases_tell(path, report)
    source = FileSource(path)
    written, named, concluded = _begun(source, gold)
    own: Mapping[Key, tuple[object, ...]] = {}
    if suite is not None:
        own = _as_in_suite(report, written, suite())
    elif evaluators is None:
        own = {key: rebuilt_own(key, specs) for key, specs in written.items()}
    return Stock(
        suite=run.suite,
        answers=lambda: _answers(report, own, lambda key: verdicts_at(source, concluded.get(key, ()))),
        answered=figures.n - sum(figures.outcomes[outcome] for outcome in NOT_RUN),
        expected=figures.n_expected,
        evaluators=rebuilt(run) if evaluators is None else evaluators,
        named=named,
        variants=run.variants,
        repeat=run.repeat,
        simulated=figures.is_simulated,
        judge_model=run.settings.get("judge_model"),
        check=run.check,
    )


def _as_its_cases_tell(path: Path, report: Report) -> RunLine:
    """What a run would say of itself whose first line is damaged, but for its evaluators."""
    keys = [row.key for row in report.rows]
    return RunLine(
        run_id="unknown",
        suite=path.stem,
        started=0.0,
        fingerprint={},
        variants=tuple(sorted({key.variant for key in keys})),
        repeat=1 + max((key.repeat for key in keys), default=0),
    )


def _begun(
    source: FileSource, gold: Mapping[str, Any]
) -> tuple[dict[Key, list[Spec | None]], set[str], dict[Key, list[int]]]:
    """How the evaluators of single cases are written, which cases somebody expects something of, and where
    the verdicts stand."""
    written: dict[Key, list[Spec | None]] = {}
    named: set[str] = set()
    concluded: dict[Key, list[int]] = {}
    for entry in source.entries():
        if isinstance(entry, Recorded) and isinstance(entry.line, VerdictLine):
            concluded.setdefault(key_of(entry.line), []).append(entry.offset)
        if not isinstance(entry, Recorded) or not isinstance(entry.line, BeginLine):
            continue
        line = entry.line
        if line.case in gold:
            named.add(line.case)
        if line.evaluators:
            written[key_of(line)] = line.evaluators
        elif len(line.inputs):
            written.pop(key_of(line), None)  # another content, and no evaluators of its own any more
    return written, named, concluded


def _as_in_suite(
    report: Report, written: Mapping[Key, list[Spec | None]], cases: Iterable[Named]
) -> dict[Key, tuple[object, ...]]:
    """The evaluators that the cases have in their suite; those on record where it has no such case."""
    recorded = {key.case for key in written}
    of_suite = {name: tuple(case.evaluators) for name, case in cases if case.evaluators or name in recorded}
    own = {key: rebuilt_own(key, specs) for key, specs in written.items() if key.case not in of_suite}
    if of_suite:
        own |= {row.key: of_suite[row.key.case] for row in report.cases if row.key.case in of_suite}
    return own


def _answers(
    report: Report,
    own: Mapping[Key, tuple[object, ...]],
    verdicts: Callable[[Key], Mapping[Said, msgspec.Raw]],
) -> Iterator[Answered]:
    for row in report.cases:
        stored = _stored_output(row)
        # A judge that is still the same, and sees the same, has said it already; any other concludes anew.
        stored.verdicts = verdicts(row.key)
        yield Answered(row.key, _case_of(row, own), stored, row.attempts)
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
        yield Answered(failure.key, _case_of(failure, own), stored, failure.attempts)


def _case_of(
    row: ReportCase[Any, Any, Any] | ReportCaseFailure[Any, Any, Any], own: Mapping[Key, tuple[object, ...]]
) -> Case[Any, Any, Any]:
    return Case(
        name=row.key.case,
        inputs=row.inputs,
        metadata=row.metadata,
        expected_output=row.expected_output,
        evaluators=own.get(row.key, ()),
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


# Evaluators on record -----------------------------------------------------------------------------

_REMEDY: Final = "name the suite they are defined in, or pass evaluators=[...]"


def rebuilt(run: RunLine) -> list[object]:
    """The evaluators of a run, made again from how they are written in its first line."""
    lost = [facts.label for facts in run.evaluators if facts.spec is None]
    if lost:
        raise UsageError(
            f"the evaluators {', '.join(lost)} are functions, which a journal cannot bring back", hint=_REMEDY
        )
    return [_rebuilt(facts.spec, f"the run's evaluator {facts.label}") for facts in run.evaluators]


def rebuilt_own(key: Key, written: Sequence[Spec | None]) -> tuple[object, ...]:
    """A case's own evaluators, made again from how they are written where it was begun."""
    where = f"case {key.case!r} has evaluators of its own"
    if any(spec is None for spec in written):
        raise UsageError(f"{where} that a journal cannot bring back, such as functions", hint=_REMEDY)
    return tuple(_rebuilt(spec, where) for spec in written)


def _rebuilt(written: Any, where: str) -> object:
    try:
        return build(EvaluatorSpec.parse(written), where=where)
    except DatasetError as error:
        raise UsageError(str(error), hint=_REMEDY) from error
