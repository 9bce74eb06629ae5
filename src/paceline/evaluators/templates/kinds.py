"""Kinds of inputs: what a template takes, how it is read, and what to say of what cannot be.

Inputs come from code, from rows of a file and over HTTP, so a list may also stand as its JSON. What is of the
wrong kind is refused: a number where text is wanted would be scored, and the score would mean nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of input or parameter."""

    name: str
    """As listings show it."""
    read: Callable[[object], Any]
    """The value; ValueError or TypeError where it is no such thing."""


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise TypeError(given)
    return given


def _truth(given: object) -> bool:
    if not isinstance(given, bool):
        raise TypeError(given)
    return given


def _number(given: object) -> float:
    if isinstance(given, str):
        given = float(given)
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise ValueError(given)
    return float(given)


def _whole(given: object) -> int:
    number = _number(given)
    if number != int(number):
        raise ValueError(given)
    return int(number)


def _listed(given: object) -> list[Any]:
    """A list; one that is written as JSON; or a single item by itself."""
    if isinstance(given, str):
        try:
            read = json.loads(given)
        except ValueError:
            return [given]
        return read if isinstance(read, list) else [given]
    if isinstance(given, Mapping) or given is None:
        raise TypeError(given)
    return list(given) if isinstance(given, list | tuple | set | frozenset) else [given]


def _as_text(item: object) -> str:
    match item:
        case str():
            return item
        case None | float() | int():  # bool among them: as JSON writes it
            return json.dumps(item)
        case dict() | list():
            return json.dumps(item, sort_keys=True, ensure_ascii=False)
        case _:
            raise TypeError(item)


def _texts(given: object) -> tuple[str, ...]:
    return tuple(_as_text(item) for item in _listed(given))


def _keywords(given: object) -> tuple[str, ...]:
    listed = _texts(given)
    if isinstance(given, str) and listed == (given,):
        listed = tuple(given.split(","))
    found = tuple(stripped for each in listed if (stripped := each.strip()))
    if not found:
        raise ValueError(given)  # an empty keyword is in every text
    return found


def _labels(given: object) -> tuple[str, ...]:
    found = tuple(each.strip().casefold() for each in _texts(given))
    if not found:
        raise ValueError(given)
    return found


def _numbers(given: object) -> tuple[float, ...]:
    listed = _listed(given)
    if isinstance(given, str) and listed == [given]:
        listed = [part for part in given.split(",") if part.strip()]
    if not listed:
        raise ValueError(given)
    return tuple(_number(each) for each in listed)


def _table(given: object) -> tuple[tuple[float, ...], ...]:
    rows = tuple(_numbers(row) for row in _listed(given) if not isinstance(row, str))
    if not rows:
        raise ValueError(given)
    return rows


def _rankings(given: object) -> tuple[tuple[str, ...], ...]:
    """Ranked lists: of one query, or a list for each of several."""
    listed = _listed(given)
    nested = [isinstance(each, list | tuple) for each in listed]
    if any(nested):
        if not all(nested):
            raise ValueError(given)
        return tuple(tuple(_as_text(item) for item in each) for each in listed)
    return (tuple(_as_text(item) for item in listed),)


def _json(given: object) -> Any:
    return json.loads(given) if isinstance(given, str) else json.loads(json.dumps(given))


def _steps(given: object) -> tuple[str, ...]:
    """Names of steps: texts, or mappings with a `name` or an `action`."""
    listed = _listed(given)
    if isinstance(given, str) and listed == [given]:
        return tuple(stripped for part in given.split(",") if (stripped := part.strip()))
    return tuple(_step(each) for each in listed)


def _step(given: object) -> str:
    if isinstance(given, Mapping):
        function = given.get("function")
        within = function if isinstance(function, Mapping) else given
        given = within.get("name", within.get("action"))
    if not isinstance(given, str) or not given:
        raise ValueError(given)
    return given


def _calls(given: object) -> tuple[tuple[str, Any], ...]:
    """Calls of tools as (name, arguments), in OpenAI's form or plainly."""
    if isinstance(given, str):
        given = json.loads(given)
    listed = [given] if isinstance(given, Mapping) else given
    if not isinstance(listed, list | tuple):
        raise TypeError(given)
    return tuple(_call(each) for each in listed)


def _call(given: object) -> tuple[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(given)
    inner = given.get("function")
    call = inner if isinstance(inner, Mapping) else given
    arguments = call.get("arguments", call.get("args"))
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    return _step(call), arguments or {}


def _anything(given: object) -> Any:
    """What a judge is shown: any value that has a form in JSON."""
    if not isinstance(given, str):
        json.dumps(given)
    return given


TEXT: Final = Kind("text", _text)
ANYTHING: Final = Kind("text or JSON", _anything)
LIST_OF_TEXTS: Final = Kind("list of texts", _texts)

Texts: TypeAlias = Annotated[tuple[str, ...], LIST_OF_TEXTS]
Keywords: TypeAlias = Annotated[tuple[str, ...], Kind("list of texts, or text with commas", _keywords)]
Labels: TypeAlias = Annotated[tuple[str, ...], Kind("label or list of labels", _labels)]
Numbers: TypeAlias = Annotated[tuple[float, ...], Kind("number or list of numbers", _numbers)]
Table: TypeAlias = Annotated[tuple[tuple[float, ...], ...], Kind("list of lists of numbers", _table)]
Rankings: TypeAlias = Annotated[
    tuple[tuple[str, ...], ...], Kind("list of items, or one such list for each query", _rankings)
]
NumberOrText: TypeAlias = Annotated[Any, Kind("number, or text with one in it", _anything)]
Json: TypeAlias = Annotated[Any, Kind("JSON", _json)]
Steps: TypeAlias = Annotated[tuple[str, ...], Kind("list of steps", _steps)]
Calls: TypeAlias = Annotated[tuple[tuple[str, Any], ...], Kind("list of calls of tools", _calls)]

_PLAIN: Final[Mapping[object, Kind]] = {
    str: TEXT,
    bool: Kind("true or false", _truth),
    int: Kind("whole number", _whole),
    float: Kind("number", _number),
}


def kind_of_hint(hint: Any) -> Kind:
    """The kind that an annotation stands for."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        kind = inside[1]
        assert isinstance(kind, Kind)
        return kind
    if origin is Literal:
        return one_of(*inside)
    if origin is Union or origin is UnionType:
        (only,) = (each for each in inside if each is not NoneType)
        return kind_of_hint(only)
    return _PLAIN[hint]


def one_of(*words: str) -> Kind:
    """One of several words."""

    def read(given: object) -> str:
        if given not in words:
            raise ValueError(given)
        return str(given)

    return Kind(" | ".join(words), read)
