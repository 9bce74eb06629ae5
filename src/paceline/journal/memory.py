"""A journal that is kept in memory only, for `journal=False`: the same to write to and to read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType

import msgspec

from paceline.errors import JournalBroken, JournalError
from paceline.journal.bodies import NONE_BEFORE, Before, CallBodies
from paceline.journal.encoding import encode_line, parse
from paceline.journal.reading import Entry, Recorded
from paceline.journal.records import FORMAT, Line, RunLine
from paceline.journal.redaction import Redactor


class MemoryJournal:
    """Takes the place of a `Journal`; a line is committed as soon as it is appended.

    `on_commit` is called from within `append`, before the number is returned. Offsets are positions. Secrets
    are taken out when it is read.
    """

    def __init__(self, run_line: RunLine, *, redactor: Redactor | None = None) -> None:
        self.on_commit: Callable[[int], None] | None = None
        self.on_broken: Callable[[JournalBroken], None] | None = None
        self._bodies: list[bytes] = []
        self._cleaned = 0
        self._redactor = redactor or Redactor.standard()
        self._closed = False
        self.append(msgspec.structs.replace(run_line, format=FORMAT))

    def append(self, line: Line) -> int:
        """Take one line; answers its number."""
        if self._closed:
            raise JournalError("the journal is closed")
        self._bodies.append(encode_line(line))
        number = len(self._bodies)
        if self.on_commit is not None:
            self.on_commit(number)
        return number

    def keep(self, raw: bytes) -> msgspec.Raw:
        """The value itself: memory has no other place for it."""
        return msgspec.Raw(raw)

    def keep_bodies(self, bodies: CallBodies, before: Before = NONE_BEFORE) -> Before:  # noqa: ARG002
        """Bodies are for the process after this one, and there is none that could read them."""
        return before

    @property
    def committed(self) -> int:
        return len(self._bodies)

    @property
    def lagging(self) -> bool:
        return False

    def flush(self, timeout: float | None = None) -> bool:  # noqa: ARG002  # the journal's signature
        """Nothing is ever waited for."""
        return True

    def when_safe(self, told: Callable[[], None]) -> None:
        """Tell at once: it is as safe as it will be."""
        told()

    def source(self) -> MemoryJournal:
        """This journal to read from."""
        return self

    def close(self) -> None:
        """No more lines; what there is can still be read."""
        self._closed = True

    def __enter__(self) -> MemoryJournal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def entries(self, start: int = 0) -> Iterator[Entry]:
        """Every line from this position on."""
        for position in range(start, len(self._bodies)):
            yield self.entry_at(position)

    def entry_at(self, offset: int) -> Entry:
        """The line at this position."""
        if offset >= self._cleaned:
            self._clean()
        body = self._bodies[offset]
        return Recorded(parse(body), offset + 1, offset, len(body))

    def _clean(self) -> None:
        start, end = self._cleaned, len(self._bodies)
        fresh = self._bodies[start:end]
        if (cleaned := self._redactor.clean(fresh, b"\n".join(fresh))) is not None:
            self._bodies[start:end] = cleaned
        self._cleaned = end

    def value(self, raw: msgspec.Raw | bytes) -> bytes:
        return bytes(raw)
