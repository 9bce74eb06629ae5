"""What a person sees of a sweep while it climbs, on stderr: what it will do, each level, what has to be said.

On a terminal a line at the bottom says how the present level stands; elsewhere such a line comes every ten
seconds. A stderr that nobody reads any more ends the view, not the sweep.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import IO, Final

from paceline.engine.events import AnyEvent
from paceline.progress import LINE_EVERY, Style, Unbreakable, clock_time, in_words
from paceline.ramp.stage import Now

ERASE: Final = "\r\x1b[2K"


class View:
    """Lines, and a line that changes."""

    def __init__(
        self,
        style: Style = "auto",
        *,
        stream: IO[str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = Unbreakable(sys.stderr if stream is None else stream)
        if style == "auto":
            style = "bar" if self._stream.isatty() else "plain"
        self._style = style
        self._clock = clock
        self._drawn = False
        self._told_at = clock()

    wants_cases = False

    def say(self, text: str) -> None:
        """A line that is part of the show."""
        if self._style != "none":
            self._write(text)

    def warn(self, text: str) -> None:
        """A line that has to be said in any case."""
        self._write(text)

    def __call__(self, event: AnyEvent) -> None:
        """Say what has to be said about an event of the engine's."""
        if text := in_words(event):
            self._write(text)

    def look(self, now: Now) -> None:
        """Show how the present level stands."""
        if self._style == "bar":
            self._stream.write(f"{ERASE}{standing(now)}"[:200])
            self._stream.flush()
            self._drawn = True
        elif self._style == "plain" and self._clock() - self._told_at >= LINE_EVERY:
            self._told_at = self._clock()
            self._write(standing(now))

    def stop(self) -> None:
        """Leave nothing half drawn."""
        self._erase()

    def _write(self, text: str) -> None:
        self._erase()
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = False
            self._stream.write(ERASE)
            self._stream.flush()


def standing(now: Now) -> str:
    """How a level stands, in one line."""
    level = f"{now.level}" if now.paced is None else f"{now.level} at {now.paced:.3g}/s"
    parts = [
        f"level {level}: {now.done:,} of {now.cases:,} cases",
        f"{now.in_flight:,} under way",
        f"{now.answers:,} answers",
        f"{now.rejected:,} rejected" if now.rejected else "",
        f"{now.failed:,} failed" if now.failed else "",
        clock_time(now.seconds),
        "finishing" if now.halt is not None else "",
    ]
    return " · ".join(part for part in parts if part)
