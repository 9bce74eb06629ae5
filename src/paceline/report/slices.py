"""Slices: a run by what its cases say in one field of their metadata.

The field is read from the journal when someone asks for it, in one more pass: the table holds no metadata. A
dotted name goes into mappings (`origin.year`). Values are words: `3` is "3", and lists are their JSON.

Each slice is held against the other keys of its variant. Whoever looks through many slices finds one that
differs, so p-values are put right for how many there are, and what is found is a hint and no proof: it was
not asked for beforehand. Slices of few cases are marked, and not tested.

Knows journals, tables and figures. Knows nothing of rendering.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import msgspec

from paceline.errors import JournalError, UsageError, ValueLost
from paceline.journal.reading import JournalSource, Recorded
from paceline.journal.records import BeginLine, key_of
from paceline.report.figures import FieldFigures, SliceFigures
from paceline.report.findings import Labels
from paceline.report.parts import part_of
from paceline.report.passing import COUNTING, Units, tries_of, with_verdicts
from paceline.report.table import Table
from paceline.report.text import natural
from paceline.statistics.several import benjamini_hochberg
from paceline.statistics.unpaired import unpaired
from paceline.values import MARK

FEW: Final = 10
"""Different cases below which a slice is marked as small."""
NOTABLE: Final = 0.1
"""Adjusted p-value up to which a slice is said to differ: so large a share of false hints is borne."""
MAX_SLICES: Final = 50
MAX_WORD: Final = 200
"""Characters of a value; longer ones that begin alike are one slice."""
_NAMES_TOLD: Final = 12


def field_of(source: JournalSource, table: Table, field: str) -> Labels:
    """What each row says in this field; nothing where its case has none, or its content is damaged."""
    labels, names = Labels(by=""), Counter[str]()
    for entry in source.entries():
        if not isinstance(entry, Recorded) or not isinstance(entry.line, BeginLine):
            continue
        row = table.row_of(key_of(entry.line))
        if row is None or table.begin_at[row] != entry.offset or not len(entry.line.metadata):
            continue
        metadata = _metadata(source, entry.line)
        if isinstance(metadata, dict):
            names.update(metadata.keys())
        word = _word(_at(metadata, field))
        if word is not None:
            labels.put(row, word)
    if len(labels.words) == 1 and len(table):
        raise UsageError(f"no case says anything in the field {field!r}", hint=_known(names))
    return labels


def _metadata(source: JournalSource, line: BeginLine) -> Any:
    """Metadata as plain data: the same whether or not the classes it is made of are at hand."""
    try:
        plain = msgspec.json.decode(source.value(line.metadata))
    except (JournalError, ValueLost, msgspec.MsgspecError, RecursionError):
        return None
    return plain.get("value") if isinstance(plain, dict) and MARK in plain else plain


def _known(names: Counter[str]) -> str:
    if not names:
        return "the cases of this run have no metadata with fields"
    told = ", ".join(name for name, _ in names.most_common(_NAMES_TOLD))
    return f"there is {told}" + (", ..." if len(names) > _NAMES_TOLD else "")


def _at(metadata: Any, field: str) -> Any:
    """The value of a field: by its whole name, or step by step along its dots."""
    if isinstance(metadata, dict) and field in metadata:
        return metadata[field]
    found = metadata
    for step in field.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _word(value: Any) -> str | None:
    match value:
        case None:
            return None
        case bool():
            word = "true" if value else "false"
        case str() | int() | float():
            word = str(value)
        case _:
            word = msgspec.json.encode(value).decode()
    return word[:MAX_WORD]


def clusters_of(table: Table, labels: Labels) -> array[int]:
    """By row, a number that rows with the same label share; those of a case without one share another."""
    codes = labels.codes
    cases = range(len(table)) if table.groups is None else table.groups
    numbers: dict[int, int] = {}
    return array(
        "q",
        (
            code if (code := codes[row]) else -1 - numbers.setdefault(case, len(numbers))
            for row, case in enumerate(cases)
        ),
    )


def slices_of(table: Table, field: str, labels: Labels, units: Units, *, whole: bool) -> FieldFigures:
    """The run by these labels."""
    parts: dict[_Part, array[int]] = {}
    for row in range(len(table)):
        parts.setdefault(_Part(table.variant[row], labels.codes[row]), array("I")).append(row)
    kept = sorted(parts, key=lambda part: -len(parts[part]))[: MAX_SLICES * len(table.variants)]
    kept.sort(key=lambda part: (part.variant, not part.code, natural(labels.words[part.code])))
    fields = {part: part_of(table, parts[part], units, whole=whole) for part in kept}
    many = [part for part in kept if fields[part]["n_cases"] >= FEW]
    ps = _tests(table, parts, many, units) if whole else {}
    found = [
        SliceFigures(
            value=labels.words[part.code] if part.code else None,
            variant=table.variants[part.variant],
            few=part not in many,
            p=ps.get(part),
            p_adjusted=None,
            **fields[part],
        )
        for part in kept
    ]
    return FieldFigures(
        field=field,
        slices=_adjusted(found),
        n_values=len(labels.words) - 1,
        n_left_out=len(table) - sum(len(parts[part]) for part in kept),
    )


class _Part(NamedTuple):
    """One value of the field, under one variant."""

    variant: int
    code: int


def _tests(
    table: Table, parts: Mapping[_Part, Sequence[int]], many: Sequence[_Part], units: Units
) -> dict[_Part, float]:
    """Of each large part, the chance that its pass rate lies so far from that of its variant's others."""
    tries = {
        part: tries_of(table, with_verdicts(table, COUNTING, rows), units) for part, rows in parts.items()
    }
    found = {}
    for part in many:
        others = (each for other, each in tries.items() if other != part and other.variant == part.variant)
        samples = (tries[part], chain.from_iterable(others))
        p = unpaired(*([passed / size for passed, size in sample] for sample in samples))
        if p is not None:
            found[part] = p
    return found


def _adjusted(found: Sequence[SliceFigures]) -> list[SliceFigures]:
    tested = [(place, each.p) for place, each in enumerate(found) if each.p is not None]
    adjusted = benjamini_hochberg([p for _, p in tested])
    by_place = {place: p for (place, _), p in zip(tested, adjusted, strict=True)}
    return [msgspec.structs.replace(each, p_adjusted=by_place.get(place)) for place, each in enumerate(found)]


__all__ = ["FEW", "NOTABLE", "clusters_of", "field_of", "slices_of"]
