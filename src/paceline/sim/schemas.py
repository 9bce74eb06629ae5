"""Values that fit a JSON schema: what a model would answer that was asked for one, the same every time.

    instance({"type": "object", "properties": {"total": {"type": "integer"}}}, Material("391", 391.0, True))
    → {"total": 391}

Text goes where text is asked for, a number where numbers are, a verdict where true and false, yes and no or
pass and fail are; what does not fit is replaced by something that does. Expressions (`pattern`) and
conditions (`if`, `not`) are not solved: a schema that needs them gets a plain value that may not fit. What is
no schema, or asks for more than `LARGEST`, is `Unusable`.

Knows JSON schemas. Knows nothing of prompts or formats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

DEEPEST: Final = 6
MANY: Final = 1000
"""So deep, or after so many values, only what has to be there is made: schemas may contain themselves."""
GIVE_UP: Final = 40
LARGEST: Final = 100_000
"""Values, and letters of a text: a schema is a caller's, and may ask for a thousand million."""

POSITIVE: Final = frozenset(
    {"yes", "y", "true", "pass", "passed", "correct", "good", "a", "1", "ok", "valid"}
)
NEGATIVE: Final = frozenset({"no", "n", "false", "fail", "failed", "incorrect", "bad", "b", "0", "wrong"})

FORMATS: Final[Mapping[str, str]] = {
    "date-time": "2026-01-02T03:04:05Z",
    "date": "2026-01-02",
    "time": "03:04:05Z",
    "duration": "PT1M",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "uri": "https://example.com/",
}
SAMPLES: Final = ("a", "A", "1", "abc", "ABC", "123", "a1", "A1", "2026-01-02", "a-b", "a_b", "")
"""Tried where a pattern is asked for."""


class Material(NamedTuple):
    """What values are made of."""

    text: str = ""
    number: float | None = None
    verdict: bool = True


class Unusable(ValueError):
    """A schema that no value can be made for."""


def instance(schema: Any, material: Material) -> Any:
    """A value that fits the schema; Unusable if it is none."""
    try:
        return _Making(schema).value(schema, material, 0)
    except Unusable:
        raise
    except (TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        # Whatever may stand where a number or a list should: foreign text, sorted here once.
        raise Unusable(f"the schema is not one: {error}") from None


class _Making:
    """A value being made for one schema."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._made = 0

    def value(self, schema: Any, material: Material, depth: int) -> Any:
        self._count()
        if not isinstance(schema, Mapping) or depth > GIVE_UP:
            return material.text if schema is True or depth <= GIVE_UP else None
        schema = _resolved(schema, self._root)
        if "const" in schema:
            return schema["const"]
        if isinstance(choices := schema.get("enum"), Sequence) and choices:
            return _choice(choices, material)
        for several in ("anyOf", "oneOf"):
            if isinstance(options := schema.get(several), Sequence) and options:
                rest = {key: value for key, value in schema.items() if key != several}
                option = _option(options, self._root, is_deep=self._is_deep(depth))
                return self.value(_merged(rest, option), material, depth + 1)
        return self._of_kind(_kind(schema), schema, material, depth)

    def _of_kind(self, kind: str, schema: Mapping[str, Any], material: Material, depth: int) -> Any:
        match kind:
            case "object":
                return self._object(schema, material, depth)
            case "array":
                return self._array(schema, material, depth)
            case "integer" | "number":
                return _number(schema, material, whole=kind == "integer")
            case "boolean":
                return material.verdict
            case "null":
                return None
            case _:
                return _text(schema, material)

    def _object(self, schema: Mapping[str, Any], material: Material, depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        required = schema.get("required") or ()
        names = [name for name in properties if name in required or not self._is_deep(depth)]
        names += [name for name in required if name not in properties]
        return {name: self.value(properties.get(name, True), material, depth + 1) for name in names}

    def _array(self, schema: Mapping[str, Any], material: Material, depth: int) -> list[Any]:
        first = schema.get("prefixItems")
        values = [self.value(each, material, depth + 1) for each in first or ()]
        least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
        wanted = max(least, min(1 if not first and not self._is_deep(depth) else 0, most))
        items = schema.get("items", True)
        unique = schema.get("uniqueItems") is True
        while len(values) < wanted:
            number = len(values)
            varied = Material(f"{material.text} {number}", float(number), number % 2 == 0)
            values.append(self.value(items, varied if unique and number else material, depth + 1))
        return values

    def _is_deep(self, depth: int) -> bool:
        """Whether only what has to be there is made from here on."""
        return depth > DEEPEST or self._made > MANY

    def _count(self) -> None:
        self._made += 1
        if self._made > LARGEST:
            raise Unusable(f"the schema asks for more than {LARGEST:,} values")


def _resolved(schema: Mapping[str, Any], root: Any) -> Mapping[str, Any]:
    """Without references at its top, and with all that it is said to be at once in one."""
    for _ in range(GIVE_UP):
        if isinstance(reference := schema.get("$ref"), str):
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            schema = _merged(rest, _target(reference, root))
        elif isinstance(parts := schema.get("allOf"), Sequence) and parts:
            whole: Mapping[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
            for part in parts:
                whole = _merged(whole, _resolved(part, root) if isinstance(part, Mapping) else {})
            schema = whole
        else:
            break
    return schema


def _target(reference: str, root: Any) -> Mapping[str, Any]:
    place = root
    for step in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
        name = step.replace("~1", "/").replace("~0", "~")
        place = place.get(name) if isinstance(place, Mapping) else None
    return place if isinstance(place, Mapping) else {}


def _merged(one: Mapping[str, Any], other: Any) -> Mapping[str, Any]:
    if not isinstance(other, Mapping):
        return one
    merged = {**other, **one}
    if "properties" in one and "properties" in other:
        merged["properties"] = {**other["properties"], **one["properties"]}
    if "required" in one and "required" in other:
        merged["required"] = [*other["required"], *one["required"]]
    return merged


def _option(options: Sequence[Any], root: Any, *, is_deep: bool) -> Any:
    """The first that says something; deep down, the one that is over soonest."""

    def weight(option: Any) -> tuple[bool, bool]:
        resolved = _resolved(option, root) if isinstance(option, Mapping) else {}
        kind = _kind(resolved)
        return (kind in {"object", "array"}, False) if is_deep else (False, kind == "null")

    return min(options, key=weight)


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        kind = next((each for each in kind if each != "null"), "null")
    if isinstance(kind, str):
        return kind
    if "properties" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    return "number" if "minimum" in schema or "maximum" in schema else "string"


def _choice(choices: Sequence[Any], material: Material) -> Any:
    """What the answer says, or the verdict, or the first."""
    wanted = POSITIVE if material.verdict else NEGATIVE
    for choice in choices:
        if isinstance(choice, str) and choice.casefold() == material.text.strip().casefold():
            return choice
    for choice in choices:
        if str(choice).casefold() in wanted:
            return choice
    return choices[0] if material.verdict else choices[-1]


def _number(schema: Mapping[str, Any], material: Material, *, whole: bool) -> float | int:
    """The number of the answer, if it may be; else the verdict as high or low as it goes."""
    low = max(schema.get("minimum", -math.inf), _beyond(schema.get("exclusiveMinimum"), whole, up=True))
    high = min(schema.get("maximum", math.inf), _beyond(schema.get("exclusiveMaximum"), whole, up=False))
    step = schema.get("multipleOf") or (1 if whole else 0)
    number = material.number
    if number is None or not low <= number <= high:
        number = high if material.verdict and high < math.inf else low
        number = (0.0 if high >= 0 else high) if number in {-math.inf, math.inf} else number
    if step:
        number = math.floor(number / step + 1e-9) * step
        number = number + step if number < low else number
    return int(number) if whole or number == int(number) else number


def _beyond(bound: Any, whole: bool, *, up: bool) -> float:
    """The number next to a bound that is excluded."""
    if not isinstance(bound, int | float) or isinstance(bound, bool):
        return -math.inf if up else math.inf
    if whole:
        return math.floor(bound) + 1 if up else math.ceil(bound) - 1
    return math.nextafter(bound, math.inf if up else -math.inf)


def _text(schema: Mapping[str, Any], material: Material) -> str:
    if (form := FORMATS.get(str(schema.get("format")))) is not None:
        return form
    text = material.text or "yes"
    if isinstance(pattern := schema.get("pattern"), str):
        text = _matching(pattern, text)
    if (least := schema.get("minLength", 0)) > LARGEST:
        raise Unusable(f"the schema asks for a text of more than {LARGEST:,} letters")
    if len(text) < least:
        text = text.ljust(int(least), ".")
    most = schema.get("maxLength")
    return text[: int(most)] if most is not None else text


def _matching(pattern: str, text: str) -> str:
    try:
        return next((each for each in (text, *SAMPLES) if re.search(pattern, each)), text)
    except re.error:
        return text
