"""Whether a call is one of those accepted, by the rules of the Berkeley Function-Calling Leaderboard (BFCL).

An accepted call says of each argument which values are, in a list; `""` in it says that the argument may be
left out. What the tool declares decides types:

    integer, boolean, string, array, dict     the same type: 5.0 is no integer, and true is none
    float                                     an integer will do; within a list it will not
    array, tuple                              each item is of the declared type of items
    accepted values of another type           stand for a variable: then they have to be the same, exactly

Texts are compared without spaces, `,./-_*^` and case, and with ' as "; also those directly in a list or a
mapping. A mapping says of each key which values are accepted, as a call does of arguments. Without a
declaration the type is that of the first accepted value.

`why_not` says what is wrong with a call. Knows calls and schemas. Knows nothing of cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from paceline.evaluators.trajectories.calls import Called
from paceline.evaluators.wording import brief, kind_of

OPTIONAL: Final = ""
"""Among accepted values: the argument may be left out."""
TYPES: Final[Mapping[str, type]] = {
    "string": str,
    "any": str,
    "integer": int,
    "float": float,
    "number": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "object": dict,
}
"""Types as tools declare them, in the words of BFCL and of JSON schema."""
_PASSED_OVER: Final = str.maketrans({**dict.fromkeys(" ,./-_*^"), "'": '"'})

Accepted = Mapping[str, Sequence[Any]]
"""For each argument, the values that are accepted."""


def same_name(called: str, accepted: str) -> bool:
    """Whether a tool is the one that was meant. Most providers take no dots in names: _ stands for them."""
    return called in (accepted, accepted.replace(".", "_"))


def why_not(call: Called, name: str, accepted: Accepted, schema: Mapping[str, Any] | None) -> str | None:
    """What is wrong with a call; None where it is accepted. `schema`: what the tool declares of arguments."""
    if not same_name(call.name, name):
        return f"{brief(call.name)} was called, not {name}"
    given = call.arguments
    if not isinstance(given, dict):
        return f"the arguments of {name} are no JSON object: {brief(given)}"
    declared = _properties(schema)
    for argument in (schema or {}).get("required") or ():
        if argument not in given:
            return f"{name} lacks its argument {argument}, which is required"
    for argument, value in given.items():
        if argument not in accepted or (declared is not None and argument not in declared):
            return f"{name} has no argument {brief(argument)}"
        wrong = _wrong_value(value, accepted[argument], (declared or {}).get(argument))
        if wrong is not None:
            return f"{argument} of {name} {wrong}"
    for argument, values in accepted.items():
        if argument not in given and OPTIONAL not in values:
            return f"{name} lacks its argument {argument}"
    return None


def _properties(schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    declared = (schema or {}).get("properties")
    return declared if isinstance(declared, Mapping) and declared else None


def _wrong_value(value: Any, accepted: Sequence[Any], declared: Any) -> str | None:
    """What is wrong with the value of an argument."""
    meant = _type_of_first(accepted)
    kind = _declared_type(declared) or meant
    if kind is float and type(value) is int:
        value = float(value)
    items = _declared_type(declared.get("items")) if kind is list and isinstance(declared, Mapping) else None
    if type(value) is kind:
        if items is not None and isinstance(value, list) and not _items_fit(value, accepted, items):
            return f"is {brief(value)}, and not all of that is of the type that is declared"
        is_variable = meant is not None and meant is not kind
    elif meant is not None and type(value) is meant:
        is_variable = True
    else:
        return f"is {brief(value)}, {kind_of(value)}" + (f" and not {_named(kind)}" if kind else "")
    fits = value in accepted if is_variable else _is_among(value, accepted, items)
    return None if fits else f"is {brief(value)}, which is none of {brief(list(accepted))}"


def _declared_type(declared: Any) -> type | None:
    """None where a tool declares none, or one of several."""
    kind = declared.get("type") if isinstance(declared, Mapping) else None
    return TYPES.get(kind) if isinstance(kind, str) else None


def _type_of_first(accepted: Sequence[Any]) -> type | None:
    return next((type(value) for value in accepted if value != OPTIONAL), None)


def _named(kind: type) -> str:
    return f"{'an' if kind is int else 'a'} {kind.__name__}"


def _items_fit(value: list[Any], accepted: Sequence[Any], kind: type) -> bool:
    """Whether all items are of a type, or of that of the first item of an accepted list."""
    lists = [each if isinstance(each, list) else [] for each in accepted if isinstance(each, list | str)]
    return any(all(type(item) in (kind, _type_of_first(each)) for item in value) for each in lists)


def _is_among(value: Any, accepted: Sequence[Any], items: type | None) -> bool:
    match value:
        case str():
            return normal(value) in [normal(each) for each in accepted if isinstance(each, str)]
        case dict():
            return any(_is_mapping(value, each) for each in accepted if isinstance(each, Mapping))
        case list() if not value and OPTIONAL in accepted:
            return True
        case list() if items is dict:
            return any(_are_mappings(value, each) for each in accepted if isinstance(each, list))
        case list():
            return _normal_items(value) in [
                _normal_items(each) for each in accepted if isinstance(each, list)
            ]
    return value in accepted


def _are_mappings(values: Sequence[Any], accepted: Sequence[Any]) -> bool:
    return len(values) == len(accepted) and all(
        isinstance(value, dict) and isinstance(each, Mapping) and _is_mapping(value, each)
        for value, each in zip(values, accepted, strict=True)
    )


def _is_mapping(value: Mapping[str, Any], accepted: Mapping[str, Any]) -> bool:
    """Whether each key has a value that is accepted, and none is missing."""
    for key, each in value.items():
        if key not in accepted or _normal_text(each) not in _normal_items(_values(accepted[key])):
            return False
    return all(key in value or OPTIONAL in _values(values) for key, values in accepted.items())


def _values(accepted: Any) -> Sequence[Any]:
    return accepted if isinstance(accepted, list | tuple) else [accepted]


def normal(text: str) -> str:
    """A text as it is compared."""
    return text.translate(_PASSED_OVER).lower()


def _normal_text(value: Any) -> Any:
    return normal(value) if isinstance(value, str) else value


def _normal_items(values: Sequence[Any]) -> list[Any]:
    return [_normal_text(value) for value in values]
