"""Keeping what a command prints, in a file with a bound: its beginning and its end, and how much was between.

The first half of the file is filled once. The second is a ring while the command runs, and is put in order
when it has ended: however much is printed, the file is never bigger than it may be.
"""

from __future__ import annotations

import os
from typing import Final

MARK: Final = b"\n[... %d bytes left out ...]\n"


class Capture:
    """One stream on its way to a file."""

    def __init__(self, fd: int, *, kept: int) -> None:
        self._fd = fd
        self._head = kept // 2
        self._ring = kept - self._head
        self.size = 0
        """Bytes printed so far."""

    @property
    def cut(self) -> bool:
        """Whether some of it is not kept."""
        return self.size > self._head + self._ring

    def write(self, printed: bytes) -> None:
        """Take what was printed."""
        rest = memoryview(printed)
        if self.size < self._head:
            fits = min(self._head - self.size, len(rest))
            self._put(rest[:fits], self.size)
            rest = rest[fits:]
        # Of what goes round the ring more than once only the last round counts.
        skipped = max(len(rest) - self._ring, 0)
        at = self.size + len(printed) - len(rest) - self._head + skipped
        rest = rest[skipped:]
        self.size += len(printed)
        while rest:
            place = at % self._ring
            fits = min(self._ring - place, len(rest))
            self._put(rest[:fits], self._head + place)
            rest, at = rest[fits:], at + fits

    def finish(self) -> None:
        """Put the end into its order."""
        if not self.cut:
            return
        turn = (self.size - self._head) % self._ring
        ring = os.pread(self._fd, self._ring, self._head)
        mark = MARK % (self.size - self._head - self._ring)
        self._put(memoryview(mark + ring[turn:] + ring[:turn]), self._head)

    def _put(self, content: memoryview, at: int) -> None:
        while content:
            written = os.pwrite(self._fd, content, at)
            content, at = content[written:], at + written
