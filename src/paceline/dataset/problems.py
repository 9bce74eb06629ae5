"""Problems with a dataset, gathered so that a person can mend all of them at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from paceline.errors import DatasetError

LIMIT: Final = 20
"""More than this at once is one mistake made many times."""


class Problem(NamedTuple):
    """Where something is wrong, what it is, and how to mend it."""

    where: str
    what: str
    hint: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


class Problems:
    """What is wrong so far."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def full(self) -> bool:
        """Whether there are enough of them to stop looking."""
        return len(self._found) >= LIMIT

    def add(self, where: str, what: str, hint: str) -> None:
        """Take one more down."""
        self._found.append(Problem(where, what, hint))

    def raise_any(self) -> None:
        """Raise a DatasetError that names all of them; return where there is none."""
        match self._found:
            case []:
                return
            case [only]:
                raise DatasetError(str(only), hint=only.hint)
            case found:
                how_many = f"the first {len(found)} problems" if self.full else f"{len(found)} problems"
                lines = [f"{how_many} with the dataset:"]
                said: set[str] = set()
                for problem in found:
                    remedy = "" if problem.hint in said else f"\n      {problem.hint}"
                    lines.append(f"  {problem}{remedy}")
                    said.add(problem.hint)
                raise DatasetError("\n".join(lines), hint="mend these and start again: nothing has run")


_KINDS: Final[tuple[tuple[type, str], ...]] = (
    (type(None), "empty"),
    (str, "text"),
    (bool, "true or false"),
    (int, "a number"),
    (float, "a number"),
    (Mapping, "a mapping"),
    (Sequence, "a list"),
)


def kind_of(data: object) -> str:
    """What data is, in the words of those who write files."""
    return next((name for kind, name in _KINDS if isinstance(data, kind)), f"a {type(data).__name__}")
