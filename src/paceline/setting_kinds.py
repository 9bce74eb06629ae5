"""How the values of settings are written: what a duration, a count or a path looks like, read and told.

Knows text and native values. Knows nothing of which settings there are, or of where they are written.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to write values: how one is read, what to say when it cannot be, and its JSON schema."""

    metavar: str
    wants: str
    read: Callable[[object], Any]
    """Raises ValueError for what it cannot read; text and native values are both fine."""
    schema: Mapping[str, Any]


UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "": 1.0}
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d)\s*)+|\d+(?:\.\d+)?")
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|)")
_COUNT: Final = re.compile(r"(\d[\d_,]*(?:\.\d+)?)([kKmMgG]?)")
_TIMES: Final = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_NOTHING: Final = frozenset({"none", "off", "unlimited"})
_TRUE: Final = frozenset({"true", "yes", "on", "1"})
_FALSE: Final = frozenset({"false", "no", "off", "0"})


def duration(given: object) -> float:
    """Seconds from `30`, `"30s"`, `"5m"`, `"1h30m"`, `"500ms"` or a timedelta; more than none."""
    match given:
        case timedelta():
            seconds = given.total_seconds()
        case bool():
            raise ValueError(given)
        case int() | float():
            seconds = float(given)
        case str() if _DURATION.fullmatch(text := given.strip().lower()):
            seconds = sum(float(number) * UNITS[unit] for number, unit in _PART.findall(text))
        case _:
            raise ValueError(given)
    if not 0 < seconds < math.inf:
        raise ValueError(given)
    return seconds


def count(given: object) -> int:
    """A whole number, not negative, from `20`, `"20"`, `"1_000"`, `"500k"` or `"2M"`."""
    if isinstance(given, str) and (written := _COUNT.fullmatch(given.strip())):
        digits, unit = written.groups()
        given = float(digits.replace("_", "").replace(",", "")) * _TIMES[unit.lower()]
    if isinstance(given, bool) or not isinstance(given, int | float) or given != int(given) or given < 0:
        raise ValueError(given)
    return int(given)


def positive(given: object) -> int:
    """A whole number from 1 up."""
    if (number := count(given)) < 1:
        raise ValueError(given)
    return number


def money(given: object) -> float:
    """US dollars from `5`, `"2.50"` or `"$2.50"`."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise ValueError(given)
    dollars = float(given.strip().removeprefix("$")) if isinstance(given, str) else float(given)
    if not 0 < dollars < math.inf:
        raise ValueError(given)
    return dollars


def rate(given: object) -> float:
    """A number above 0 from `0.5`, `"20"`, `"500k"` or `"2M"`."""
    if isinstance(given, str) and (written := _COUNT.fullmatch(given.strip())):
        digits, unit = written.groups()
        given = float(digits.replace("_", "").replace(",", "")) * _TIMES[unit.lower()]
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < math.inf:
        raise ValueError(given)
    return float(given)


LIMIT_NAMES: Final = ("window", "rps", "rpm", "tpm")
"""What may be limited: calls in flight, requests per second and per minute, tokens per minute."""


def limits(given: object) -> dict[str, Any]:
    """Limits for all pools, and for single ones by name; `{"rpm": 600, "openai:gpt-5": {"rpm": 60}}`."""
    if isinstance(given, str):
        given = json.loads(given)
    if not isinstance(given, Mapping):
        raise ValueError(given)
    return {
        str(name): _one_limit(str(name), value)
        if name in LIMIT_NAMES
        else {str(inner): _one_limit(str(inner), each) for inner, each in _mapping(value).items()}
        for name, value in given.items()
    }


def _one_limit(name: str, given: object) -> float | int | None:
    if name not in LIMIT_NAMES:
        raise ValueError(name)
    read: Callable[[object], Any] = positive if name == "window" else rate
    limit: float | int | None = or_nothing(read)(given)
    return limit


PRICE_NAMES: Final = ("input", "output", "cached", "cache_write")
"""What has a price, in US dollars for a million tokens."""


def prices(given: object) -> dict[str, dict[str, float]]:
    """Prices of models; `{"my-model": {"input": 0.5, "output": 1.5}}`."""
    if isinstance(given, str):
        given = json.loads(given)
    read = {str(model): _price(each) for model, each in _mapping(given).items()}
    if not all({"input", "output"} <= price.keys() for price in read.values()):
        raise ValueError(given)
    return read


def _price(given: object) -> dict[str, float]:
    price = {str(name): _dollars(each) for name, each in _mapping(given).items()}
    if unknown := set(price) - set(PRICE_NAMES):
        raise ValueError(unknown)
    return price


def _dollars(given: object) -> float:
    """An amount that may be 0: some models cost nothing."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < math.inf:
        raise ValueError(given)
    return float(given)


def _mapping(given: object) -> Mapping[object, object]:
    if not isinstance(given, Mapping):
        raise ValueError(given)
    return given


def truth(given: object) -> bool:
    """True or false, in the words that people use for them."""
    word = str(given).strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(given)
    return word in _TRUE


def concurrency(given: object) -> int | str | None:
    """`"auto"`, a whole number from 1 up, or nothing for all at once."""
    if isinstance(given, str) and given.strip().lower() == "auto":
        return "auto"
    number: int | None = or_nothing(positive)(given)
    return number


def names(given: object) -> tuple[str, ...]:
    """Names from a list, or from text with commas between them."""
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError(given)
    return tuple(stripped for part in parts if (stripped := part.strip()))


def patterns(given: object) -> tuple[str, ...]:
    """Regular expressions; a single one may stand alone."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list | tuple):
        raise TypeError(given)
    for each in listed:
        if not isinstance(each, str):
            raise TypeError(each)
        try:
            re.compile(each.encode())
        except re.error:
            raise ValueError(each) from None
    return tuple(each for each in listed if each)


def or_nothing(read: Callable[[object], Any]) -> Callable[[object], Any]:
    def optional(given: object) -> Any:
        if given is None or (isinstance(given, str) and given.strip().lower() in _NOTHING):
            return None
        return read(given)

    return optional


def _path(given: object) -> str:
    if not isinstance(given, str | os.PathLike) or not str(given).strip():
        raise ValueError(given)
    return os.fspath(given) if isinstance(given, os.PathLike) else given.strip()


def _named(given: object) -> str:
    # Whether there is such a model, the room of models knows, which says so before anything runs.
    if not isinstance(given, str) or not given.strip():
        raise ValueError(given)
    return given.strip()


def aliases(given: object) -> dict[str, str]:
    """Other names for models; `{"turing_small": "openai:gpt-5.4-mini"}`. None has a colon, as models have."""
    if isinstance(given, str):
        given = json.loads(given)
    read = {str(name).strip(): _named(each) for name, each in _mapping(given).items()}
    if any(not name or ":" in name for name in read):
        raise ValueError(given)
    return read


def one_of(*words: str) -> Kind:
    def read(given: object) -> str:
        if (word := str(given).strip().lower()) not in words:
            raise ValueError(given)
        return word

    return Kind("|".join(words), f"one of {', '.join(words)}", read, {"enum": list(words)})


_DURATION_TEXT: Final = "a duration above 0 such as 30, 30s, 5m or 1h"
_DURATION_SCHEMA: Final = {"type": ["number", "string"], "examples": ["30s", "5m", "1h"]}
_COUNT_SCHEMA: Final = {"type": ["integer", "string"], "minimum": 1, "examples": [20, "500k", "2M"]}

DURATION: Final = Kind("DURATION", _DURATION_TEXT, duration, _DURATION_SCHEMA)
DEADLINE: Final = Kind(
    "DURATION",
    f"{_DURATION_TEXT}, or none",
    or_nothing(duration),
    {**_DURATION_SCHEMA, "type": ["number", "string", "null"]},
)
COUNT: Final = Kind("N", "a whole number from 1 up", positive, _COUNT_SCHEMA)
NUMBER: Final = Kind("N", "a whole number from 0 up", count, {"type": ["integer", "string"], "minimum": 0})
LIMIT: Final = Kind(
    "N",
    "a whole number from 1 up such as 20, 500k or 2M, or none",
    or_nothing(positive),
    {**_COUNT_SCHEMA, "type": ["integer", "string", "null"]},
)
WIDTH: Final = Kind(
    "N|auto|none",
    "a whole number from 1 up, auto, or none for all at once",
    concurrency,
    {**_COUNT_SCHEMA, "type": ["integer", "string", "null"], "examples": ["auto", 50]},
)
DOLLARS: Final = Kind(
    "USD",
    "an amount above 0 such as 2.50, or none",
    or_nothing(money),
    {"type": ["number", "string", "null"]},
)
TRUTH: Final = Kind("true|false", "true or false", truth, {"type": "boolean"})
NAMES: Final = Kind(
    "NAME,...", "a list of names", names, {"type": ["array", "string"], "items": {"type": "string"}}
)
PATTERNS: Final = Kind(
    "REGEX",
    "a regular expression, or a list of them",
    patterns,
    {"type": ["array", "string"], "items": {"type": "string"}},
)
MODEL: Final = Kind(
    "MODEL",
    "the name of a model such as openai:gpt-5.4-mini, or none",
    or_nothing(_named),
    {"type": ["string", "null"], "examples": ["openai:gpt-5.4-mini", "sim"]},
)
ALIASES: Final = Kind(
    "JSON",
    "a mapping of names to models, such as turing_small to openai:gpt-5.4-mini",
    aliases,
    {"type": "object", "additionalProperties": {"type": "string"}},
)
PATH: Final = Kind("DIRECTORY", "a path", _path, {"type": "string"})
RATE: Final = Kind(
    "N",
    "a number above 0 such as 20, 0.5, 500k or 2M, or none",
    or_nothing(rate),
    {"type": ["number", "string", "null"], "examples": [600, "500k", "2M"]},
)
_LIMIT_SCHEMA: Final = {name: {"type": ["number", "string", "null"]} for name in LIMIT_NAMES}
LIMITS: Final = Kind(
    "JSON",
    "a mapping of window, rps, rpm, tpm, and of pools such as openai:gpt-5 to such mappings",
    limits,
    {
        "type": "object",
        "properties": _LIMIT_SCHEMA,
        "additionalProperties": {
            "type": "object",
            "properties": _LIMIT_SCHEMA,
            "additionalProperties": False,
        },
    },
)
_PRICE_SCHEMA: Final = {name: {"type": "number", "minimum": 0} for name in PRICE_NAMES}
PRICES: Final = Kind(
    "JSON",
    "a mapping of models to input, output, cached and cache_write in dollars for a million tokens",
    prices,
    {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": _PRICE_SCHEMA,
            "required": ["input", "output"],
            "additionalProperties": False,
        },
    },
)
