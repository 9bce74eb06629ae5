"""Bodies: one case in full, as the page shows it when it is opened, and searches in it.

A body is two JSON lists with a tab between them, their places named by `LAYOUT`. What people search in
stands in the first, without any name of ours, so that a search for "output" or for "17" does not find
every case by the way; numbers and names are in the second. Values stand in it as the journal has them.
What is longer than a page can show is cut, and `cut` says how much there was: nothing is left out in
silence, and `paceline report RUN --case NAME` has the whole.

Knows lines. Knows nothing of columns or pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from paceline.errors import PacelineError
from paceline.journal.blobs import blob_named_by
from paceline.journal.reading import JournalSource
from paceline.journal.records import AttemptLine, CallLine, ErrorFacts, OutcomeLine
from paceline.report.reading import Told
from paceline.values import MARK
from paceline.workspaces.inside import read

LAYOUT: Final[dict[str, tuple[str, ...]]] = {
    "texts": (
        *("inputs", "expected", "metadata", "output", "reasons", "failures", "error"),
        *("trajectory", "attributes", "patch"),
    ),
    "rest": ("results", "tries", "calls", "metrics", "cut"),
    "result": ("name", "value", "by", "seconds"),
    "failure": ("by", "type", "message", "trace", "stage"),
    "error": ("type", "message", "trace", "stage"),
    "try": ("attempt", "at", "outcome", "type", "message", "trace", "stage", "seconds", "waited", "retry_in"),
    "call": (
        *("attempt", "ordinal", "at", "pool", "status", "outcome", "cause", "input_tokens", "output_tokens"),
        *(
            "cached_tokens",
            "price",
            "seconds",
            "first_token",
            "waited",
            "tries",
            "by",
            "replayed",
            "simulated",
        ),
        "error",
    ),
}
"""What stands at which place of a list."""

SHOWN: Final = 64 * 1024
"""Bytes of one value that a page shows."""
LEAST_SHOWN: Final = 1024
MAX_PATCH: Final = 64 * 1024 * 1024
MAX_TRIES: Final = 50
MAX_CALLS: Final = 500
MAX_RESULTS: Final = 500
_NULL: Final = b"null"
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Value(NamedTuple):
    """A value as JSON, and how many bytes it has where it was cut."""

    json: bytes
    bytes: int | None = None


class Bodies:
    """Writes bodies from the lines of a journal."""

    def __init__(self, source: JournalSource, *, files: Path | None) -> None:
        self._source = source
        self._files = files
        """The run directory, where patches lie; None where there is none."""
        self.shown = SHOWN
        """Bytes of one value that are shown."""

    def body(self, told: Told, tries: Iterable[object], calls: list[CallLine]) -> bytes:
        """The body of one key."""
        begin, answer, outcome = told.begin, told.answer, told.outcome
        attributes = answer.attributes if answer is not None else msgspec.Raw()
        values = {
            "inputs": self._value(begin.inputs) if begin else Value(_NULL),
            "expected": self._value(begin.expected_output) if begin else Value(_NULL),
            "metadata": self._value(begin.metadata) if begin else Value(_NULL),
            "output": self._value(answer.output) if answer else Value(_NULL),
            "trajectory": self._value(answer.trajectory, list_of=True) if answer else Value(_NULL),
            "attributes": self._value(attributes),
            "patch": self._patch(attributes),
        }
        scores = told.results.scores[:MAX_RESULTS]
        texts = {
            **values,
            "reasons": [each.reason for each in scores],
            "failures": [(each.by, *_told_error(each.error)) for each in told.results.failures[:MAX_RESULTS]],
            "error": _told_error(outcome.error) if outcome and outcome.error else None,
        }
        rest = {
            "results": [(each.name, each.value, each.by, each.seconds) for each in scores],
            "tries": list(_tries(tries))[-MAX_TRIES:],
            "calls": [_call(each) for each in calls[:MAX_CALLS]],
            "metrics": {**answer.metrics, **outcome.metrics} if answer and outcome else {},
            "cut": {name: value.bytes for name, value in values.items() if value.bytes is not None}
            | ({"calls": len(calls)} if len(calls) > MAX_CALLS else {}),
        }
        return _list(texts, "texts") + b"\t" + _list(rest, "rest")

    def _value(self, raw: msgspec.Raw, *, list_of: bool = False) -> Value:
        """A value as it stands in the journal, or the beginning of it."""
        if not len(raw):
            return Value(_NULL)
        try:
            json = self._source.value(raw) if blob_named_by(raw) else bytes(raw)
        except (PacelineError, OSError) as error:
            return Value(_encode(f"<lost: {error}>"))
        if len(json) <= self.shown:
            return Value(json)
        return Value(_beginning(json, self.shown, list_of=list_of), len(json))

    def _patch(self, attributes: msgspec.Raw) -> Value:
        """The patch of an attempt on a workspace, which lies in a file of the run."""
        path = _patch_named(attributes) if self._files is not None else None
        if path is None:
            return Value(_NULL)
        assert self._files is not None
        try:
            # Never a file elsewhere, whatever the journal says: a run may come from somebody else.
            content = read(self._files, path, most=MAX_PATCH)
        except (OSError, PacelineError) as error:
            return Value(_encode(f"<lost: {error}>"))
        text = content[: self.shown].decode("utf-8", "backslashreplace")
        return Value(_encode(text), len(content) if len(content) > self.shown else None)


def _patch_named(attributes: msgspec.Raw) -> str | None:
    """The file that an attempt has left its patch in; an attribute of the user's may have the same name."""
    if b'"patch"' not in bytes(attributes):
        return None
    try:
        told = _decode(attributes)
    except (msgspec.DecodeError, RecursionError):
        return None
    told = told.get("value") if isinstance(told, dict) and MARK in told else told
    path = told.get("patch") if isinstance(told, dict) else None
    return path if isinstance(path, str) and path.endswith(".patch") and "\n" not in path else None


def _list(parts: Mapping[str, Any], name: str) -> bytes:
    """Parts as a JSON list, in the order of a layout."""
    written = (parts[each] for each in LAYOUT[name])
    return (
        b"[" + b",".join(each.json if isinstance(each, Value) else _encode(each) for each in written) + b"]"
    )


def _beginning(json: bytes, shown: int, *, list_of: bool) -> bytes:
    """What a page shows of a long value: the first of a list, or the beginning of its text."""
    try:
        value = _decode(json)
    except (msgspec.DecodeError, RecursionError):
        value = None
    if list_of and isinstance(value, list):
        kept, size = [], 0
        for item in value:
            size += len(_encode(item))
            if size > shown:
                break
            kept.append(item)
        return _encode(kept)
    text = value if isinstance(value, str) else json[: shown * 4].decode("utf-8", "replace")
    return _encode(text[:shown])


def _told_error(error: ErrorFacts) -> tuple[str, str, str, str]:
    return error.type, error.message, error.trace, error.stage


def _tries(lines: Iterable[object]) -> Iterator[tuple[Any, ...]]:
    """Tries that have ended otherwise than the outcome says."""
    for line in lines:
        match line:
            case AttemptLine():
                how = line.error_class
                yield (
                    line.attempt,
                    line.at,
                    how,
                    *_told_error(line.error),
                    line.seconds,
                    line.waited,
                    line.retry_in,
                )
            case OutcomeLine():
                error = line.error or ErrorFacts(type="")
                yield (
                    line.attempt,
                    line.at,
                    line.outcome,
                    *_told_error(error),
                    line.seconds,
                    line.waited,
                    None,
                )


def _call(line: CallLine) -> tuple[Any, ...]:
    return tuple(getattr(line, name) for name in LAYOUT["call"])


__all__ = ["LAYOUT", "LEAST_SHOWN", "SHOWN", "Bodies"]
