"""JSONEquals: output and expected output are the same JSON, and if not, where they differ.

Text is read as JSON: all of it, else its last block marked ```json, else its last block. Whatever is not text
is taken as it would be written. As in JSON, 1 is 1.0 and is not true, and the order of keys means nothing.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator, Verdict
from paceline.evaluators.plain import named_fields
from paceline.evaluators.wording import brief, kind_of

DIFFERENCES_TOLD = 5


class NotJSON(ValueError):
    """A text that is not JSON and holds none."""


def json_in(text: str) -> Any:
    """The value of the JSON that a text is, or holds in a block."""
    try:
        return _parsed(text)
    except ValueError as error:
        block = _last_block(text)
        if block is None:
            raise NotJSON(str(error)) from error
    try:
        return _parsed(block)
    except ValueError as error:
        raise NotJSON(f"in the block: {error}") from error


def _parsed(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _last_block(text: str) -> str | None:
    # Between fences is every second part; one that is never closed ends with the text.
    blocks = [part.strip() for part in text.split("```")[1::2]]
    marked = [block.removeprefix("json") for block in blocks if block.startswith("json")]
    return next(reversed(marked or blocks), None)


def as_json(value: object) -> Any:
    """The value as JSON has it: text is read, everything else as it would be written."""
    if isinstance(value, str):
        return json_in(value)
    return _with_lists(msgspec.to_builtins(value, str_keys=True, enc_hook=_as_builtin))


def _with_lists(value: Any) -> Any:
    """Lists in place of tuples, which are built in to Python and not to JSON."""
    if isinstance(value, dict):
        return {key: _with_lists(inner) for key, inner in value.items()}
    return [_with_lists(inner) for inner in value] if isinstance(value, list | tuple) else value


def _as_builtin(value: Any) -> object:
    if hasattr(value, "dtype") and callable(getattr(value, "tolist", None)):
        return value.tolist()
    fields = named_fields(value)
    if fields is None:
        raise TypeError(f"{kind_of(value)} has no form in JSON")
    return fields


def differences(found: Any, wanted: Any, path: str = "$") -> Iterator[str]:
    """Where two JSON values differ, a line for each place."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key, value in wanted.items():
            if key in found:
                yield from differences(found[key], value, _under(path, key))
            else:
                yield f"{_under(path, key)} is missing"
        yield from (f"{_under(path, key)} is not expected" for key in found if key not in wanted)
    elif isinstance(found, list) and isinstance(wanted, list):
        for place, (one, other) in enumerate(zip(found, wanted, strict=False)):
            yield from differences(one, other, f"{path}[{place}]")
        yield from (f"{path}[{place}] is missing" for place in range(len(found), len(wanted)))
        yield from (f"{path}[{place}] is not expected" for place in range(len(wanted), len(found)))
    elif isinstance(found, bool) is not isinstance(wanted, bool) or found != wanted:
        yield f"{path} is {brief(found)}, expected {brief(wanted)}"


def _under(path: str, key: str) -> str:
    return f"{path}.{key}" if key.isidentifier() and len(key) <= 100 else f"{path}[{brief(key)}]"


@dataclass
class JSONEquals(Evaluator[object, object, object]):
    """The output is the same JSON as `value`, or as the expected output; a reason names each difference."""

    value: Any = None
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        try:
            self._value = as_json(self.value)
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"{brief(self.value)} cannot be compared with JSON: {error}",
                hint="JSONEquals takes plain values, or JSON as text",
            ) from error

    def evaluate(self, ctx: AnyContext) -> Verdict:
        if self.value is None and ctx.expected_output is None:
            return {}
        wanted = self._value if self.value is not None else _expected(ctx.expected_output)
        try:
            found = as_json(ctx.output)
        except NotJSON as error:
            return EvaluationReason(False, f"the output is not JSON: {error}")
        told = list(itertools.islice(differences(found, wanted), DIFFERENCES_TOLD + 1))
        if not told:
            return EvaluationReason(True)
        more = ["and more"] if len(told) > DIFFERENCES_TOLD else []
        return EvaluationReason(False, "; ".join(told[:DIFFERENCES_TOLD] + more))


def _expected(expected: object) -> Any:
    try:
        return as_json(expected)
    except NotJSON as error:
        raise ValueError(f"the expected output is not JSON: {error}") from error
