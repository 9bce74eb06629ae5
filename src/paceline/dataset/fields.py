"""Fields: which field of a row is the name, the inputs, the expected output, and which are metadata.

People have called them many things. One of these names in a row decides:

    name              id, name, task_id
    inputs            input, inputs, question, prompt
    expected_output   expected, expected_output, target, reference, answer, ideal
    metadata          metadata, and every field that is nothing else
    evaluators        evaluators

Two names for the same part in one row are never guessed about: a mapping says which, as in `inputs=question`.
It may lead into a field (`expected_output=gold.answer`), and several fields make an object
(`inputs=question,context`). A mapped field that a row lacks is an error for the inputs, and nothing for the
others; that no row at all has it is for the file to find out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, TypeAlias

from paceline.dataset.case import Case
from paceline.dataset.identity import AnyCase, objection_to
from paceline.dataset.spec import EvaluatorSpec
from paceline.errors import DatasetError
from paceline.settings import nearest

Row: TypeAlias = dict[str, Any]
Shape: TypeAlias = tuple[str, ...]
Pick: TypeAlias = Callable[[Row], Any]

ALIASES: Final[dict[str, tuple[str, ...]]] = {
    "name": ("id", "name", "task_id"),
    "inputs": ("input", "inputs", "question", "prompt"),
    "expected_output": ("expected", "expected_output", "target", "reference", "answer", "ideal"),
    "metadata": ("metadata",),
    "evaluators": ("evaluators",),
}
_PART_OF: Final = {alias: part for part, aliases in ALIASES.items() for alias in aliases}


class Refused(Exception):
    """A row cannot be made a case: what is wrong with it, and how to mend it."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what, hint)
        self.what = what
        self.hint = hint


def read_mapping(mapping: Mapping[str, object] | None) -> dict[str, str]:
    """A mapping with the parts of a case by their proper names."""
    read: dict[str, str] = {}
    for written, fields in (mapping or {}).items():
        part = _PART_OF.get(written)
        if part is None:
            raise DatasetError(
                f"a case has no part {written!r} to map a field to{nearest(written, ALIASES)}",
                hint=f"the parts of a case: {', '.join(ALIASES)}",
            )
        if part in read:
            raise DatasetError(f"{part} is mapped twice", hint="several fields are written as inputs=one,two")
        if not isinstance(fields, str) or not all(field.strip() for field in fields.split(",")):
            raise DatasetError(
                f"{fields!r} does not name a field to be the {part}", hint="write it as inputs=question"
            )
        read[part] = fields
    return read


@dataclass(frozen=True, slots=True)
class Plan:
    """How rows of one shape become cases."""

    name: Pick
    inputs: Pick
    expected_output: Pick
    metadata: Pick
    evaluators: Pick

    def case(self, row: Row) -> AnyCase:
        """The case that a row is; raises Refused where it is none."""
        name = self.name(row)
        if name is not None and (type(name) is not str or not name.isprintable() or not 0 < len(name) < 80):
            name = _name(name)
        return Case(
            name=name,
            inputs=self.inputs(row),
            metadata=self.metadata(row),
            expected_output=self.expected_output(row),
            evaluators=self.evaluators(row),
        )


def plan(shape: Shape, mapping: Mapping[str, str], *, cells: bool = False) -> Plan:
    """Decide what each field of such rows is; raises Refused where that is not clear.

    Cells of a table are always text: an empty one stands for nothing, and none can hold evaluators.
    """
    used: set[str] = set()
    inputs = _part("inputs", shape, mapping, used)
    if inputs is None:
        fields = ", ".join(shape) or "none at all"
        raise Refused(
            f"no field is the inputs; its fields: {fields:.300}",
            "say which it is: --map inputs=FIELD, or mapping={'inputs': 'FIELD'}",
        )
    name = _part("name", shape, mapping, used)
    expected_output = _part("expected_output", shape, mapping, used)
    evaluators = _part("evaluators", shape, mapping, used)
    if "metadata" in mapping:
        metadata = _part("metadata", shape, mapping, used)
    else:
        metadata = _metadata(tuple(field for field in shape if field not in used))
    if cells and evaluators is not None:
        raise Refused(
            "the cells of a table cannot hold evaluators",
            "rename the column, and give the evaluators to the dataset, or write JSONL",
        )
    return Plan(
        name=_filled(name, cells),
        inputs=inputs,
        expected_output=_filled(expected_output, cells),
        metadata=metadata or _nothing,
        evaluators=_no_evaluators if evaluators is None else _evaluators(evaluators),
    )


def _part(part: str, shape: Shape, mapping: Mapping[str, str], used: set[str]) -> Pick | None:
    if (written := mapping.get(part)) is not None:
        return _mapped(part, written, shape, used)
    fields = [field for field in shape if field in ALIASES[part]]
    if not fields:
        return None
    if len(fields) > 1:
        raise Refused(
            f"both {fields[0]!r} and {fields[1]!r} could be the {part}",
            f"say which it is: --map {part}={fields[0]}, or mapping={{{part!r}: {fields[0]!r}}}",
        )
    used.add(fields[0])
    return itemgetter(fields[0])


def _mapped(part: str, written: str, shape: Shape, used: set[str]) -> Pick | None:
    fields = [written] if written in shape else [field.strip() for field in written.split(",")]
    picks = [_reach(part, field, shape, used) for field in fields]
    if len(fields) == 1:
        return picks[0]
    return lambda row: {field: pick(row) for field, pick in zip(fields, picks, strict=True) if pick}


def _reach(part: str, field: str, shape: Shape, used: set[str]) -> Pick | None:
    if field in shape:
        used.add(field)
        return itemgetter(field)
    first, *steps = field.split(".")
    if first in shape and steps:
        return lambda row: _walk(part, field, row[first], steps)
    if part == "inputs":
        raise _lacks(field, shape)
    return None


def _walk(part: str, field: str, value: Any, steps: list[str]) -> Any:
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif part == "inputs":
            raise _lacks(field, value if isinstance(value, dict) else ())
        else:
            return None
    return value


def _lacks(field: str, there: Any) -> Refused:
    known = [str(name) for name in there]
    return Refused(
        f"there is no field {field!r} to be the inputs{nearest(field, known)}",
        "map a field that every row has: --map inputs=FIELD",
    )


def _metadata(rest: Shape) -> Pick | None:
    if not rest:
        return None
    if "metadata" not in rest:
        return lambda row: {field: row[field] for field in rest}
    others = tuple(field for field in rest if field != "metadata")

    def merged(row: Row) -> Any:
        given = row["metadata"]
        if not others:
            return given
        if given is None:
            return {field: row[field] for field in others}
        if not isinstance(given, dict):
            return {"metadata": given, **{field: row[field] for field in others}}
        if both := given.keys() & set(others):
            raise Refused(
                f"{min(both)!r} stands both in the row and in its metadata", "remove or rename one of the two"
            )
        return {**given, **{field: row[field] for field in others}}

    return merged


def _evaluators(pick: Pick) -> Pick:
    def parsed(row: Row) -> tuple[EvaluatorSpec, ...]:
        written = pick(row)
        if written is None:
            return ()
        if not isinstance(written, list):
            raise Refused(
                f"its evaluators are {written!r:.60}, not a list",
                "write a list of evaluators there, such as ['EqualsExpected'], or rename the field",
            )
        try:
            return tuple(map(EvaluatorSpec.parse, written))
        except DatasetError as error:
            raise Refused(error.message, error.hint)

    return parsed


def _filled(pick: Pick | None, cells: bool) -> Pick:
    if pick is None or not cells:
        return pick or _nothing
    return lambda row: pick(row) or None


def _nothing(_: Row) -> None:
    return None


def _no_evaluators(_: Row) -> tuple[EvaluatorSpec, ...]:
    return ()


def _name(name: object) -> str:
    """A name that needs a closer look: numbers will do, too."""
    if type(name) is int:
        return str(name)
    if objection := objection_to(name):
        raise Refused(f"its name {objection[0]}", objection[1])
    assert isinstance(name, str)
    return name
