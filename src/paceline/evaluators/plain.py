"""Values as plain data: whatever has named fields becomes a dict of them, all the way down."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec


def named_fields(value: object) -> dict[str, Any] | None:
    """Fields of a dataclass, a Pydantic model (known by its shape), a struct, an attrs object; else None."""
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    kind = type(value)
    if hasattr(kind, "model_fields") and callable(getattr(kind, "model_dump", None)):
        return {**vars(value), **(getattr(value, "model_extra", None) or {})}
    if hasattr(kind, "__attrs_attrs__"):
        return {field.name: getattr(value, field.name) for field in kind.__attrs_attrs__}
    return None


def plain(value: object) -> object:
    """The value with dicts in place of things that have named fields."""
    fields = named_fields(value)
    if fields is not None:
        value = fields
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, tuple):
        return tuple(plain(inner) for inner in value)
    return value
