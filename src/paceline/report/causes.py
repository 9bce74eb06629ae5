"""Why keys failed, sorted by cause: ten thousand failures with one reason are one line of a report.

Two failures have the same cause when outcome, stage, error type and message agree, numbers, hexadecimal
identifiers and quoted parts of the message left aside: `row 17 of "a.csv"` and `row 4 of "b.csv"` are one.
How many different causes are told apart is bounded; what comes after goes to one cause of its own, and is
said to.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from paceline.journal.records import ErrorFacts

MAX_CAUSES = 2000
_READ = 500
"""Characters of a message that are looked at."""
_REMEMBERED = 1024

_QUOTED = re.compile(r"(?<!\w)(['\"`])[^\n]{0,200}?\1(?!\w)")
_IDENTIFIER = re.compile(r"\b(?:0[xX][0-9a-fA-F]+|(?=[a-fA-F-]*\d)[0-9a-fA-F]{4,}(?:-[0-9a-fA-F]{4,})*)\b")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


class Cause(NamedTuple):
    """One reason to fail."""

    outcome: str
    stage: str
    """`task`, `setup`, ..., or `evaluator LABEL`."""
    type: str
    message: str
    """The message of the first failure with this cause, shortened."""


OTHER = Cause(outcome="", stage="", type="", message="causes beyond those told apart")


def normalised(message: str) -> str:
    """A message without what differs from one failure to the next."""
    text = " ".join(message[:_READ].split())
    text = _QUOTED.sub("'…'", text)
    return _NUMBER.sub("#", _IDENTIFIER.sub("#", text))


class Causes:
    """The causes seen so far; a cause is known by its code, and 0 means none."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str, str, str], int] = {}
        self._recent: dict[Cause, int] = {}
        self.named: list[Cause] = [OTHER]

    def code(self, outcome: str, error: ErrorFacts, *, evaluator: str = "") -> int:
        """The code of what went wrong, from 1; `OTHER` is the last there can be."""
        stage = f"evaluator {evaluator}" if evaluator else error.stage
        cause = Cause(outcome, stage, error.type, error.message[:_READ])
        if (known := self._recent.get(cause)) is not None:
            return known
        code = self._look_up(cause)
        if len(self._recent) >= _REMEMBERED:
            self._recent.clear()
        self._recent[cause] = code
        return code

    def _look_up(self, cause: Cause) -> int:
        fingerprint = (cause.outcome, cause.stage, cause.type, normalised(cause.message))
        if (code := self._codes.get(fingerprint)) is not None:
            return code
        if len(self.named) > MAX_CAUSES:
            return MAX_CAUSES + 1
        code = self._codes[fingerprint] = len(self.named)
        self.named.append(cause)
        return code

    def __getitem__(self, code: int) -> Cause:
        return self.named[code] if code < len(self.named) else OTHER


__all__ = ["MAX_CAUSES", "OTHER", "Cause", "Causes", "normalised"]
