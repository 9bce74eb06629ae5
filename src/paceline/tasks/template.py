"""Prompt templates: a text with places in it that the inputs of a case fill.

    Translate into French: {{ inputs.text }}
    {{ inputs }}                       all of them: a text as it is, anything else as JSON
    {{ inputs.user.name }}             a field of a field; {{ inputs["first name"] }}, {{ inputs.turns[0] }}
    \\{{ inputs.text }}                 the same signs, meant literally

That is the whole language: no code, no conditions, no filters. Single braces mean nothing, nor do double
ones around anything but words, so JSON can stand in a prompt as it is. What looks like a place and is none
(another name than `inputs`, a path with a mistake) is an error when the template is made: a model that is
asked `{{ question }}` answers, too, and is paid for it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from paceline.errors import UsageError
from paceline.settings import nearest

ROOT: Final = "inputs"
SHOWN: Final = 20
"""Fields that an error lists."""

_BRACES: Final = re.compile(r"(\\?)\{\{[ \t]*([^{}\n]*?)[ \t]*\}\}")
_NAME: Final = r"[^\W\d]\w*"
_STEP: Final = re.compile(r"\.([\w-]+)|\[(\d+)\]|\[\"([^\"]*)\"\]|\['([^']*)'\]")
_PATH: Final = re.compile(rf"({_NAME})((?:{_STEP.pattern})*)")
_MEANT: Final = re.compile(rf"{_NAME}(?:[.\[|( ].*)?", re.DOTALL)
"""What a person writes between double braces who means a place, in this language or another."""


class MissingField(LookupError):
    """A prompt wants a field that the inputs of a case do not have."""


class Place(NamedTuple):
    """A place in a text."""

    path: tuple[str | int, ...]
    written: str
    root: str = ROOT


class Template:
    """A text with places, taken apart once."""

    __slots__ = ("pieces", "roots", "source", "where")

    def __init__(self, source: str, *, where: str = "the prompt", roots: Sequence[str] = (ROOT,)) -> None:
        """`roots`: what places may begin with, where there is more than inputs to fill them from."""
        self.source = source
        self.where = where
        self.roots = tuple(roots)
        self.pieces: tuple[str | Place, ...] = tuple(_pieces(source, where, self.roots))

    def __repr__(self) -> str:
        return f"Template({self.source!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self.source, self.where, self.roots)

    @property
    def places(self) -> tuple[Place, ...]:
        """The places in it, in order."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Place))

    def fill(self, inputs: Any) -> str:
        """The text for these inputs; `MissingField` if they do not have what it wants."""
        return self.fill_from({ROOT: inputs})

    def fill_from(self, values: Mapping[str, Any]) -> str:
        """The same where places have other roots, too."""
        return "".join(
            piece if isinstance(piece, str) else as_text(found(values[piece.root], piece, self.where))
            for piece in self.pieces
        )

    def only_place(self) -> Place | None:
        """The place that is all of the text, if it is one: its value is meant then, not its text."""
        match self.pieces:
            case (Place() as place,):
                return place
        return None


def _made(source: str, where: str, roots: tuple[str, ...]) -> Template:
    return Template(source, where=where, roots=roots)


def found(inputs: Any, place: Place, where: str = "the prompt") -> Any:
    """The value at a place, in what its root stands for."""
    value, walked = inputs, place.root
    for step in place.path:
        if isinstance(step, int) and isinstance(value, Sequence) and not isinstance(value, str | bytes):
            if step >= len(value):
                raise MissingField(f"{where} wants {place.written}, and {walked} has {len(value)} items")
            value = value[step]
        else:
            fields = fields_of(value)
            if fields is None:
                kind = type(value).__name__
                raise MissingField(f"{where} wants {place.written}, and {walked} is a {kind} without fields")
            name = str(step)
            if name not in fields:
                known = [str(field) for field in fields]
                told = f"{_listed(known)}{nearest(name, known)}"
                raise MissingField(f"{where} wants {place.written}, and {walked} has {told}")
            value = fields[name]
        walked += f"[{step}]" if isinstance(step, int) else f".{step}"
    return value


def fields_of(value: Any) -> Mapping[str, Any] | None:
    """The fields of a value that has some. Nothing of the value's own is called but plain attributes."""
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names: Sequence[str] = [field.name for field in dataclasses.fields(value)]
    else:
        kind = type(value)
        # msgspec, Pydantic, named tuples: each by the attribute that lists its fields.
        listed = ("__struct_fields__", "model_fields", "_fields")
        names = list(next((given for each in listed if (given := getattr(kind, each, None))), ()))
    return {name: getattr(value, name) for name in names} if names else None


def as_text(value: Any) -> str:
    """A value as it stands in a prompt: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value, enc_hook=_with_fields).decode()


def _with_fields(value: Any) -> Any:
    fields = fields_of(value)
    if fields is None:
        raise TypeError(f"a {type(value).__name__} cannot stand in a prompt: it is neither text nor JSON")
    return dict(fields)


def _pieces(source: str, where: str, roots: tuple[str, ...]) -> list[str | Place]:
    pieces: list[str | Place] = []
    end = 0
    for match in _BRACES.finditer(source):
        escaped, inside = match.groups()
        if not _MEANT.fullmatch(inside):
            continue  # JSON, LaTeX, and whatever else has double braces
        pieces.append(source[end : match.start()])
        pieces.append(match[0][1:] if escaped else _place(inside, match[0], where, roots))
        end = match.end()
    pieces.append(source[end:])
    return [piece for piece in pieces if piece != ""]


def _place(inside: str, written: str, where: str, roots: tuple[str, ...]) -> Place:
    path = _PATH.fullmatch(inside)
    if path is None:
        raise UsageError(
            f"{where} has {written}, which is no place",
            hint='places are {{ inputs }}, {{ inputs.field }}, {{ inputs["a field"] }}, {{ inputs.all[0] }}; '
            "meant literally, it is written with a backslash in front",
        )
    if path[1] not in roots:
        others = f", {', '.join(f'`{root}`' for root in roots[1:])}" if roots[1:] else ""
        raise UsageError(
            f"{where} has {written}, and there is nothing but `{ROOT}`{others}",
            hint=f"write {{{{ inputs.{inside} }}}}; meant literally, \\{written}",
        )
    steps = tuple(
        int(number) if number else name or quoted or single
        for name, number, quoted, single in _STEP.findall(path[2])
    )
    return Place(steps, inside, path[1])


def _listed(names: list[str]) -> str:
    if not names:
        return "no fields"
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"
