"""Asking a judge about labelled items: a run like any other, whose cases bring their outputs along.

So it is paced, within its budget, and durable: every score is on record as soon as it is there. The run of a
judge on a file of labels has a place of its own, which follows from what the judge is. The same command goes
on with it; more labels in the file are judged in addition, and nothing is paid for twice. Another prompt,
model or setting is another judge, and another run.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from pathlib import Path
from typing import Any, Final

import msgspec

from paceline.calibration.columns import NOTHING, as_number, reach, without
from paceline.calibration.front import length_of
from paceline.calibration.labels import Item, Labels
from paceline.calibration.measuring import Scored
from paceline.conduct import Job
from paceline.dataset.case import Case
from paceline.dataset.fields import ALIASES, Refused, plan, read_mapping
from paceline.dataset.identity import name_of_content, with_ordinal
from paceline.engine.ports import Stored, Turn
from paceline.engine.source import stored_turn
from paceline.errors import DatasetError, UsageError
from paceline.evaluators.base import Evaluator
from paceline.evaluators.judges.asking import Judgement
from paceline.evaluators.judges.choosing import judging_with
from paceline.evaluators.judges.pairwise import IN_ORDER, NEITHER
from paceline.evaluators.judges.standing import fingerprint_of_judge, without_certificate
from paceline.evaluators.prepare import prepare
from paceline.evaluators.results import EvaluationResult
from paceline.evaluators.verdicts import digest_of
from paceline.journal.reading import FileSource, Recorded
from paceline.journal.records import Key, VerdictLine
from paceline.options import Options
from paceline.report import Report
from paceline.runs import directory_name, runs_root
from paceline.settings import nearest

OUTPUTS: Final = ("output", "prediction", "response", "completion")
"""Columns that hold what is judged, where no other is named."""
RETESTED: Final = 30
"""Items that a judge is asked about again: enough to tell whether it is steady."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """An evaluator that is to be calibrated, as a value."""

    written: str
    """As it was named: `SUITE:NAME`."""
    evaluator: object
    name: str
    fingerprint: str | None
    """None where it does not say what it is: then no certificate can name it."""
    model: str | None
    source: str = ""
    """A digest of the file that it comes from, where nothing else tells one version of it from another."""

    def facts(self, result: str | None) -> dict[str, Any]:
        """What a certificate says of it."""
        return {
            "written": self.written,
            "name": self.name,
            "result": result,
            "model": self.model,
            "fingerprint": self.fingerprint,
        }


def judge_of(written: str, evaluator: object, *, file: Path, judge_model: str | None) -> Judge:
    """The judge that an evaluator is. What a certificate says of it has no part in what it is, and a verdict
    from a cache would be no answer to being asked again."""
    evaluator = _without_cache(without_certificate(evaluator))
    with judging_with(judge_model):
        (prepared,) = prepare([evaluator])
        model, fingerprint = _model_of(evaluator), fingerprint_of_judge(evaluator)
    return Judge(
        written=written,
        evaluator=evaluator,
        name=prepared.label,
        fingerprint=fingerprint,
        model=model,
        source="" if fingerprint is not None or not file.is_file() else digest_of(file.read_text("utf-8")),
    )


def _without_cache(evaluator: Any) -> Any:
    if not getattr(evaluator, "cache", False) or not dataclasses.is_dataclass(evaluator):
        return evaluator
    return dataclasses.replace(evaluator, cache=False)  # type: ignore[type-var]  # an instance, no class


def _model_of(evaluator: object) -> str | None:
    asked = evaluator.asks() if isinstance(evaluator, Evaluator) else ()
    return ", ".join(dict.fromkeys(each.model.version for each in asked)) or None


# What is judged -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ToJudge:
    """An item, as the judge gets to see it: without the scores that people gave it."""

    name: str
    case: Case[Any, Any, Any]
    output: Any
    item: Item


def to_judge(labels: Labels, mapping: Mapping[str, str]) -> list[ToJudge]:
    """The items of a file of labels as cases with outputs.

    Each is known by what the judge gets to see of it: a column that is added to the file, or a label that is
    changed, makes no other item of it, and an output that is changed does.
    """
    given = dict(mapping)
    output = given.pop("output", None)
    rest = read_mapping(given)
    taken: Counter[str] = Counter()
    judged = []
    for item in labels.items:
        row = without(item.row, labels.columns.scores)
        column = output if output is not None else _output_column(row, item.where)
        found = reach(row, column)
        if found is NOTHING or found is None:
            raise DatasetError(
                f"{item.where}: there is nothing to judge in {column!r}",
                hint="name the column of what is judged: --map output=COLUMN",
            )
        case = _case(without(row, [column]), rest, item.where)
        name = _name(case, found)
        taken[name] += 1
        judged.append(ToJudge(name=with_ordinal(name, taken[name]), case=case, output=found, item=item))
    return judged


def _output_column(row: Mapping[str, Any], where: str) -> str:
    found = [name for name in OUTPUTS if name in row]
    if len(found) == 1:
        return found[0]
    what = f"both {found[0]!r} and {found[1]!r} could be" if found else "no column is"
    raise DatasetError(
        f"{where}: {what} the output that is judged", hint="say which it is: --map output=COLUMN"
    )


def _case(row: dict[str, Any], mapping: Mapping[str, str], where: str) -> Case[Any, Any, Any]:
    """What belongs to the item besides its output. Other columns are nobody's business."""
    parts = ("name", "inputs", "expected_output", "metadata")
    columns = {field.strip() for written in mapping.values() for field in written.split(",")}
    wanted = {column.partition(".")[0] for column in columns} | columns
    wanted |= {alias for part in parts if part not in mapping for alias in ALIASES[part]}
    kept = {name: value for name, value in row.items() if name in wanted}
    if "inputs" not in mapping and not kept.keys() & set(ALIASES["inputs"]):
        kept["inputs"] = None
    try:
        return plan(tuple(kept), mapping).case(kept)
    except Refused as refused:
        raise DatasetError(f"{where}: {refused.what}", hint=refused.hint)


def _name(case: Case[Any, Any, Any], output: object) -> str:
    seen = Case(inputs=[case.inputs, output], expected_output=case.expected_output, metadata=case.metadata)
    content = name_of_content(seen)
    return content if case.name is None else f"{case.name} {content}"


# The run ------------------------------------------------------------------------------------------


def judging_job(
    judge: Judge,
    items: Sequence[ToJudge],
    labels: Labels,
    options: Options,
    *,
    retest: int,
    command: Sequence[str],
) -> Job:
    """The job of asking a judge about all items, and `retest` times more about some of them."""
    suite = f"calibrate-{labels.path.name.split('.')[0]}-{judge.name}"
    if options.rehearse:
        suite = f"{suite}-rehearsal"
    if options.journal is None:
        options = replace(options, journal=_place(suite, judge, options))
    # Which they are depends on their names only, so that labels that are added change little about it.
    again = nsmallest(RETESTED, items, key=lambda item: digest_of(item.name))

    def turns() -> Iterator[Turn]:
        for repeat in range(1 + retest):
            for item in items if repeat == 0 else again:
                stored = Stored(output=item.output, on_record=False)
                yield stored_turn(Key(item.name, repeat), item.case, stored, tried=1)

    return Job(
        suite=suite,
        turns=turns,
        count=len(items) + retest * len(again),
        repeat=1 + retest,
        evaluators=(judge.evaluator,),
        options=options,
        command=list(command),
        rescored_from=str(labels.path.absolute()),
    )


def _place(suite: str, judge: Judge, options: Options) -> Path:
    """Where the run of this very judge is: the same for the same one."""
    what = digest_of(judge.name, judge.fingerprint, judge.source)
    return runs_root(options.runs) / (directory_name(suite) or "calibrate") / what[:12]


# What came of it ----------------------------------------------------------------------------------


def scored_by_judge(
    report: Report[Any, Any, Any],
    items: Sequence[ToJudge],
    judge: Judge,
    *,
    levels: Mapping[str, float],
    result: str | None = None,
) -> tuple[list[Scored], str | None]:
    """The items with what the judge said of each, and the name of the result that is meant."""
    said: dict[tuple[str, int], dict[str, EvaluationResult]] = {}
    errors: dict[str, str] = {}
    for row in report.cases:
        said[row.key.case, row.key.repeat] = {**row.labels, **row.assertions, **row.scores}
        for failure in row.evaluator_failures if row.key.repeat == 0 else ():
            errors[row.key.case] = f"{failure.error_type}: {failure.error_message}"[:120]
    named = _result_meant(said.values(), judge.name, result)
    orders = _orders(report.path)
    repeats = range(1, 1 + max((repeat for _, repeat in said), default=0))

    def number(name: str, repeat: int) -> float | None:
        found = said.get((name, repeat), {}).get(named or "")
        try:
            return None if found is None else as_number(found.value, levels)
        except Refused as refused:
            raise UsageError(f"{judge.name} said of {name}: {named} {refused.what}", hint=refused.hint)

    scored = []
    for each in items:
        again = (number(each.name, repeat) for repeat in repeats)
        scored.append(
            Scored(
                where=each.item.where,
                human=each.item.human,
                humans=each.item.humans,
                judge=number(each.name, 0),
                why=errors.get(each.name, ""),
                cluster=each.item.cluster,
                length=length_of(each.output),
                again=tuple(score for score in again if score is not None),
                orders=orders.get(each.name),
            )
        )
    return scored, named


def _orders(path: Path | None) -> dict[str, tuple[float, float]]:
    """What a judge of pairs has said of each item in either order, for the answer that is judged."""
    chosen: dict[str, dict[str, float]] = {}
    source = FileSource(path) if path is not None else None
    for entry in () if source is None else source.entries():
        line = entry.line if isinstance(entry, Recorded) else None
        if source is None or not isinstance(line, VerdictLine) or line.repeat or line.part not in IN_ORDER:
            continue
        choice = msgspec.json.decode(source.value(line.value), type=Judgement).choice
        won = 1.0 if choice == IN_ORDER[line.part] else 0.5 if choice == NEITHER else 0.0
        chosen.setdefault(line.case, {})[line.part] = won
    ahead, behind = IN_ORDER
    return {name: (each[ahead], each[behind]) for name, each in chosen.items() if len(each) == 2}


def _result_meant(said: Iterable[Mapping[str, object]], judge: str, wanted: str | None) -> str | None:
    """Which of the results of a judge is held against people: the one that is named, or the obvious one."""
    names = dict.fromkeys(name for results in said for name in results)
    if not names:
        return None
    if wanted is not None:
        if wanted not in names:
            raise UsageError(
                f"{judge} has no result {wanted!r}{nearest(wanted, names)}",
                hint=f"--result: {', '.join(names)}",
            )
        return wanted
    if len(names) == 1:
        return next(iter(names))
    for likely in (judge, f"{judge}_score"):
        if likely in names:
            return likely
    raise UsageError(
        f"{judge} says several things of each item: {', '.join(names)}",
        hint="choose one of them: --result NAME",
    )


__all__ = ["Judge", "ToJudge", "judge_of", "judging_job", "scored_by_judge", "to_judge"]
