"""Typed datasets: with `Dataset[Question, str, Tags].from_file(...)`, inputs are of the class `Question`.

Files hold plain data. Where the caller says what it stands for, it becomes that, or the file is refused with
the case and what is wrong with it.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, Final, TypeVar

import msgspec

from paceline.dataset.case import Case
from paceline.errors import DatasetError

PARTS: Final = ("inputs", "expected_output", "metadata")
"""What the type parameters of a dataset are about, in their order."""


def typed_case(case: Case[Any, Any, Any], kinds: tuple[Any, ...], *, where: str) -> Case[Any, Any, Any]:
    """The case with its parts as objects of these types."""
    changed = {}
    for part, kind in zip(PARTS, kinds, strict=False):
        value = getattr(case, part)
        if says_something(kind) and (part == "inputs" or value is not None):
            changed[part] = _converted(value, kind, f"{where}: its {part.replace('_', ' ')}")
    return replace(case, **changed) if changed else case


def says_something(kind: Any) -> bool:
    """Whether a type parameter says what values are."""
    return not (kind is Any or kind is object or kind is None or isinstance(kind, TypeVar))


def _converted(value: Any, kind: Any, what: str) -> Any:
    try:
        if callable(validate := getattr(kind, "model_validate", None)):
            return validate(value)  # a Pydantic model, recognised without importing Pydantic
        try:
            return msgspec.convert(value, kind)
        except TypeError:  # a type that msgspec knows nothing of, such as a list of Pydantic models
            pydantic = sys.modules.get("pydantic")
            if pydantic is None:
                raise
            return pydantic.TypeAdapter(kind).validate_python(value)
    except Exception as error:
        name = getattr(kind, "__name__", None) or str(kind)
        raise DatasetError(
            f"{what} cannot be read as {name}: {error}",
            hint=f"change it, or the type in `Dataset[{name}, ...]`",
        ) from error
