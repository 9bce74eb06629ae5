"""Journals made by hand, for reports to be read from: no engine, no file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from paceline.journal.encoding import encode_line, seal
from paceline.journal.reading import Entry, understood
from paceline.journal.records import (
    NOTHING,
    AttemptLine,
    BeginLine,
    CallLine,
    EndedLine,
    ErrorFacts,
    EvaluatorFacts,
    EvaluatorFailure,
    Line,
    ManifestLine,
    OutcomeLine,
    OutputLine,
    ResumedLine,
    RunLine,
    Score,
    ScoresLine,
)
from paceline.values import encode

DAMAGED = b'{"kind":"outcome","case":"a","crc":"00000000"}'
"""A line whose checksum is wrong."""


class Lines:
    """A journal that is a list of lines; their offsets are their places. Bytes stand for themselves."""

    def __init__(self, *lines: Line | bytes) -> None:
        self.raw = [line if isinstance(line, bytes) else seal(encode_line(line))[:-1] for line in lines]

    def entries(self, start: int = 0) -> Iterator[Entry]:
        return map(self.entry_at, range(start, len(self.raw)))

    def entry_at(self, offset: int) -> Entry:
        return understood(self.raw[offset], offset + 1, offset)

    def value(self, raw: msgspec.Raw | bytes) -> bytes:
        return bytes(raw)


def run(*evaluators: str, **fields: Any) -> RunLine:
    written: dict[str, Any] = {
        "format": 1,
        "run_id": "r1",
        "suite": "capitals",
        "started": 1000.0,
        "fingerprint": {},
        "evaluators": [EvaluatorFacts(label=label, spec=label) for label in evaluators],
    }
    return RunLine(**{**written, **fields})


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(encode(value))


def begin(case: str, *, inputs: object = "Q", expected: object = None, **fields: Any) -> Line:
    return BeginLine(
        **{
            "case": case,
            "at": 1000.0,
            "hash": f"content of {case}",
            "inputs": raw(inputs),
            "expected_output": NOTHING if expected is None else raw(expected),
            **fields,
        }
    )


def again(case: str, attempt: int = 2) -> Line:
    """Another attempt; the content of the case is on record."""
    return BeginLine(case=case, at=1000.5, attempt=attempt, hash=f"content of {case}")


def output(case: str, value: object = "A", **fields: Any) -> Line:
    return OutputLine(**{"case": case, "at": 1001.0, "seconds": 1.0, "output": raw(value), **fields})


def told(case: str, *scores: Score, failures: tuple[EvaluatorFailure, ...] = (), **fields: Any) -> Line:
    return ScoresLine(
        **{"case": case, "at": 1002.0, "scores": list(scores), "failures": list(failures), **fields}
    )


def scored(case: str, *scores: Score, answer: object = "A", **fields: Any) -> Line:
    """The outcome of a key that was scored; `answer=None` where the output is on record already."""
    written: dict[str, Any] = {
        "case": case,
        "at": 1003.0,
        "outcome": "scored",
        "seconds": 1.0,
        "output": NOTHING if answer is None else raw(answer),
        "scores": list(scores),
    }
    return OutcomeLine(**{**written, **fields})


def failed(case: str, outcome: str = "task_error", error: ErrorFacts | None = None, **fields: Any) -> Line:
    written: dict[str, Any] = {
        "case": case,
        "at": 1003.0,
        "outcome": outcome,
        "seconds": 1.0,
        "error": error or ErrorFacts(type="ValueError", message="no such city"),
    }
    return OutcomeLine(**{**written, **fields})


def retried(case: str, attempt: int = 1, error_class: str = "transient", **fields: Any) -> Line:
    written: dict[str, Any] = {
        "case": case,
        "at": 1001.0,
        "attempt": attempt,
        "error": ErrorFacts(type="ConnectionError"),
        "error_class": error_class,
        "seconds": 1.0,
    }
    return AttemptLine(**{**written, **fields})


def called(case: str = "a", ordinal: int = 0, **fields: Any) -> CallLine:
    """A model call that was answered."""
    written: dict[str, Any] = {
        "case": case,
        "at": 1000.5 + ordinal,
        "ordinal": ordinal,
        "pool": "openai:m",
        "host": "https://api.openai.com",
        "model": "m",
        "account": "k1",
        "status": 200,
        "input_tokens": 100,
        "output_tokens": 10,
        "price": 0.001,
        "seconds": 2.0,
    }
    return CallLine(**{**written, **fields})


def yes(by: str = "Equals", **fields: Any) -> Score:
    return Score(**{"name": by, "value": True, "by": by, **fields})


def no(by: str = "Equals", **fields: Any) -> Score:
    return Score(**{"name": by, "value": False, "by": by, **fields})


def says(value: float | str, by: str = "Similarity", **fields: Any) -> Score:
    return Score(**{"name": by, "value": value, "by": by, **fields})


def mute(by: str = "Judge", message: str = "quota") -> EvaluatorFailure:
    """An evaluator that could not say anything."""
    return EvaluatorFailure(by=by, error=ErrorFacts(type="RuntimeError", message=message, stage="evaluator"))


def manifest(keys: int) -> Line:
    return ManifestLine(keys=keys, digest="")


def ended(how: str = "complete", wall: float = 10.0, **fields: Any) -> Line:
    return EndedLine(**{"at": 1010.0, "how": how, "wall": wall, **fields})


def resumed(at: float = 2000.0, **fields: Any) -> Line:
    return ResumedLine(**{"at": at, "pid": 1, **fields})


def passing(*cases: str) -> list[Line]:
    """The two lines of each case that passed at once."""
    return [line for case in cases for line in (begin(case), scored(case, yes()))]


def finished(*lines: Line | bytes, keys: int, wall: float = 10.0) -> Lines:
    """A run that came to its end."""
    return Lines(run("Equals"), *lines, manifest(keys), ended(wall=wall))
