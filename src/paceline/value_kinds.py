"""Kinds of values: what each consists of, in plainer values, and how it is put together again.

Two tables, and `values` is the only reader of either. A *leaf* is one exact type that becomes a string or a
short list. A *family* is a sort of class (dataclasses, models, enums, ...): it is taken apart into a dict, a
list or a string, whose parts may be of any kind again, and put together without running the constructor that
its author wrote. The exception is msgspec's Structs, which have no other way; their constructor sets fields.

Knows no class by importing its package: NumPy and Pydantic are looked for among the modules that are loaded.
"""

from __future__ import annotations

import sys
from binascii import a2b_base64, b2a_base64
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cached_property, partial
from math import isfinite
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

import msgspec

STATE: Final = "$state"
"""Key, beside the fields of an object, for what it carries apart from them. No field can have this name."""
MAX_PLAIN_INT_BITS: Final = 2_000
"""Longer integers are written in hexadecimal: Python refuses to parse decimal ones without end."""


MomentT = TypeVar("MomentT", datetime, time)


Defaults = Mapping[str, Callable[[], object] | None]
"""What makes the default of each field; None where it has none."""


class Incomplete(Exception):
    """Raised on taking apart: of this value only `content` can be kept."""

    def __init__(self, content: object) -> None:
        self.content = content


# --- leaves -------------------------------------------------------------------------------------------------


class Leaf(NamedTuple):
    """An exact type, written as one string or short list under a word of its own."""

    name: str
    write: Callable[[Any], object]
    read: Callable[[Any], object]
    is_plain: Callable[[Any], bool] | None = None
    """Whether a value of this type is JSON as it stands; None: never."""


def _write_bytes(value: bytes | bytearray) -> str:
    return b2a_base64(value, newline=False).decode()


def _write_moment(value: datetime | time) -> str:
    """ISO 8601; the zone in brackets as in RFC 9557, then the fold, for the hour that comes twice."""
    zone = getattr(value.tzinfo, "key", None)
    return f"{value.isoformat()}{f'[{zone}]' if zone else ''}{'[fold]' if value.fold else ''}"


def _read_datetime(written: str) -> datetime:
    return _in_zone(datetime.fromisoformat(written.partition("[")[0]), written)


def _read_time(written: str) -> time:
    return _in_zone(time.fromisoformat(written.partition("[")[0]), written)


def _in_zone(moment: MomentT, written: str) -> MomentT:
    if written.endswith("[fold]"):
        moment, written = moment.replace(fold=1), written.removesuffix("[fold]")
    zone = written.partition("[")[2].removesuffix("]")
    if not zone:
        return moment
    from zoneinfo import ZoneInfo

    return moment.replace(tzinfo=ZoneInfo(zone))


def _read_complex(written: list[str]) -> complex:
    real, imaginary = written
    return complex(float(real), float(imaginary))


def _pure_path(kind: type[PurePath]) -> Leaf:
    return Leaf(kind.__name__, str, kind)


LEAF_OF: Final[dict[type, Leaf]] = {
    int: Leaf("int", hex, lambda v: int(v, 16), lambda v: v.bit_length() <= MAX_PLAIN_INT_BITS),
    float: Leaf("float", repr, float, isfinite),
    complex: Leaf("complex", lambda v: [repr(v.real), repr(v.imag)], _read_complex),
    bytes: Leaf("bytes", _write_bytes, a2b_base64),
    bytearray: Leaf("bytearray", _write_bytes, lambda v: bytearray(a2b_base64(v))),
    datetime: Leaf("datetime", _write_moment, _read_datetime),
    date: Leaf("date", date.isoformat, date.fromisoformat),
    time: Leaf("time", _write_moment, _read_time),
    timedelta: Leaf("timedelta", lambda v: [v.days, v.seconds, v.microseconds], lambda v: timedelta(*v)),
    Decimal: Leaf("Decimal", str, Decimal),
    UUID: Leaf("UUID", str, UUID),
    # A `Path` is a PosixPath here and a WindowsPath there; it is to be usable where it is read.
    PosixPath: Leaf("Path", str, Path),
    WindowsPath: Leaf("Path", str, Path),
    PurePosixPath: _pure_path(PurePosixPath),
    PureWindowsPath: _pure_path(PureWindowsPath),
}
_NAMED = {leaf.name: leaf for leaf in LEAF_OF.values()}
READERS: Final[dict[str, Callable[[Any], object]]] = {
    **{name: leaf.read for name, leaf in _NAMED.items()},
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "str": lambda escaped: escaped.encode("ascii").decode("unicode_escape"),
}
"""By the word that stands in an envelope: what makes the value of the JSON found there."""


# --- families -----------------------------------------------------------------------------------------------


class Family(NamedTuple):
    """A sort of class: which ones belong, and how their instances come apart and together."""

    claims: Callable[[type], bool]
    apart: Callable[[Any], object]
    together: Callable[[Any, Any], object]


def family_of(kind: type) -> Family | None:
    """The first family that claims the class."""
    return next((family for family in _FAMILIES if family.claims(kind)), None)


class _Misfit(Exception):
    """The recorded content is not that of the class as it is now."""


def _fitted(content: dict[str, Any], defaults: Defaults) -> dict[str, Any]:
    """The recorded fields, and defaults for those that the class got since; one that it lost is a misfit."""
    if not content.keys() <= defaults.keys():
        raise _Misfit
    fitted = {}
    for name, default in defaults.items():
        if name in content:
            fitted[name] = content[name]
        elif default is not None:
            fitted[name] = default()
        else:
            raise _Misfit
    return fitted


def _split(content: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    return {name: part for name, part in content.items() if name != STATE}, content.get(STATE, {})


# Enums: by name. A combination of flags has none, and is written as its value in a list.


def _enum_apart(member: Enum) -> object:
    kind = type(member)
    return member._name_ if kind.__members__.get(member._name_ or "") is member else [member._value_]


def _enum_together(kind: type[Enum], content: str | list[object]) -> Enum:
    return kind[content] if isinstance(content, str) else kind(content[0])


# Named tuples: as an object, for people; by position they would say less and fit too easily.


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _named_tuple_apart(value: Any) -> object:
    return dict(zip(type(value)._fields, tuple.__iter__(value), strict=True))


def _named_tuple_together(kind: Any, content: dict[str, Any]) -> object:
    defaults = dict.fromkeys(kind._fields) | {
        name: (lambda default=default: default) for name, default in kind._field_defaults.items()
    }
    fitted = _fitted(content, defaults)
    return tuple.__new__(kind, [fitted[name] for name in kind._fields])


# Dataclasses and attrs: fields, and whatever else was set on the instance.


def _has_fields(kind: type) -> bool:
    return is_dataclass(kind) or hasattr(kind, "__attrs_attrs__")


def _fields_apart(value: object) -> object:
    kind = type(value)
    content = {name: getattr(value, name) for name in _field_defaults(kind)}
    others = {
        name: part
        for name, part in getattr(value, "__dict__", {}).items()
        if name not in content and not isinstance(getattr(kind, name, None), cached_property)
    }
    return {**content, STATE: others} if others else content


def _fields_together(kind: Any, content: dict[str, Any]) -> object:
    own, others = _split(content)
    made = kind.__new__(kind)
    for name, part in (_fitted(own, _field_defaults(kind)) | others).items():
        object.__setattr__(made, name, part)  # frozen classes included
    return made


def _field_defaults(kind: Any) -> Defaults:
    if is_dataclass(kind):
        return {spec.name: _dataclass_default(spec) for spec in fields(kind)}
    return {spec.name: _attrs_default(spec) for spec in kind.__attrs_attrs__}


def _dataclass_default(spec: Any) -> Callable[[], object] | None:
    if spec.default is not MISSING:
        return lambda: spec.default
    return None if spec.default_factory is MISSING else spec.default_factory


def _attrs_default(spec: Any) -> Callable[[], object] | None:
    attrs: Any = sys.modules.get("attr")
    if spec.default is attrs.NOTHING:
        return None
    if not isinstance(spec.default, attrs.Factory):
        return lambda: spec.default
    return None if spec.default.takes_self else spec.default.factory


# msgspec Structs.


def _struct_apart(value: msgspec.Struct) -> object:
    return {name: getattr(value, name) for name in value.__struct_fields__}


def _struct_together(kind: type[msgspec.Struct], content: dict[str, Any]) -> object:
    if not content.keys() <= set(kind.__struct_fields__):
        raise _Misfit
    made = kind(**content)
    for name, part in content.items():
        msgspec.structs.force_setattr(made, name, part)  # in case __post_init__ has changed it once more
    return made


# Pydantic models (v2): through the state that they offer to pickle, which validates nothing a second time.


def _is_model(kind: type) -> bool:
    pydantic: Any = sys.modules.get("pydantic.main")
    return pydantic is not None and issubclass(kind, pydantic.BaseModel)


def _model_apart(value: Any) -> object:
    state = value.__getstate__()
    known = type(value).__pydantic_fields__
    content = {name: part for name, part in state["__dict__"].items() if name in known}
    set_explicitly = state["__pydantic_fields_set__"]
    others = {
        "fields_set": None if set_explicitly >= content.keys() else sorted(set_explicitly),
        "extra": state["__pydantic_extra__"] or None,
        "private": state["__pydantic_private__"] or None,
    }
    others = {name: part for name, part in others.items() if part is not None}
    return {**content, STATE: others} if others else content


def _model_together(kind: Any, content: dict[str, Any]) -> object:
    own, others = _split(content)
    defaults = {
        name: None if spec.is_required() else partial(spec.get_default, call_default_factory=True)
        for name, spec in kind.__pydantic_fields__.items()
    }
    made = kind.__new__(kind)
    extra = others.get("extra") or ({} if kind.model_config.get("extra") == "allow" else None)
    set_explicitly = set(own) if others.get("fields_set") is None else set(others["fields_set"])
    made.__setstate__(
        {
            "__dict__": _fitted(own, defaults),
            "__pydantic_extra__": extra,
            "__pydantic_fields_set__": set_explicitly | set(extra or ()),
            "__pydantic_private__": others.get("private") or ({} if kind.__private_attributes__ else None),
        }
    )
    return made


# NumPy: what scoring code returns without noticing.


def _is_numpy(kind: type) -> bool:
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and (kind is numpy.ndarray or issubclass(kind, numpy.generic))


def _numpy_apart(value: Any) -> object:
    if value.dtype.kind not in "biufcSU" or value.dtype.char in "gG":
        raise TypeError(f"{value.dtype} holds more than Python's numbers and text")
    listed = value.tolist()
    return {"dtype": value.dtype.str, "shape": list(value.shape), "items": listed} if value.ndim else listed


def _numpy_together(kind: Any, content: Any) -> object:
    if not isinstance(content, dict):
        return kind(content)
    numpy: Any = sys.modules["numpy"]
    return numpy.array(content["items"], dtype=content["dtype"]).reshape(content["shape"])


# Subclasses of what Python comes with: as the plain value inside.

_BARE: dict[type, Callable[[Any], object]] = {
    str: str.__str__,
    int: int.__pos__,
    float: float.__pos__,
    bytes: lambda v: bytes(memoryview(v)),
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    dict: dict,
}


def _base_of(kind: type) -> type | None:
    return next((base for base in _BARE if issubclass(kind, base)), None)


def _subclass_apart(value: Any) -> object:
    base = _base_of(type(value))
    assert base is not None
    content = _BARE[base](value)
    if getattr(value, "__dict__", None):
        raise Incomplete(content)
    return content


def _subclass_together(kind: Any, content: Any) -> object:
    base: Any = _base_of(kind)
    if not isinstance(content, base):
        raise _Misfit
    if base not in (list, set, dict):
        return base.__new__(kind, content)
    made = kind.__new__(kind)
    if issubclass(kind, OrderedDict):
        OrderedDict.update(made, content)  # dict.update would not tell it the order
    elif base is list:
        list.extend(made, content)
    else:
        base.update(made, content)
    return made


_FAMILIES = (
    Family(lambda kind: issubclass(kind, Enum), _enum_apart, _enum_together),
    Family(_is_model, _model_apart, _model_together),
    Family(lambda kind: issubclass(kind, msgspec.Struct), _struct_apart, _struct_together),
    Family(_has_fields, _fields_apart, _fields_together),
    Family(_is_numpy, _numpy_apart, _numpy_together),
    Family(_is_named_tuple, _named_tuple_apart, _named_tuple_together),
    Family(lambda kind: _base_of(kind) is not None, _subclass_apart, _subclass_together),
)
"""In this order: an IntEnum is an int as well, a named tuple a tuple, and NumPy's float64 a float."""
