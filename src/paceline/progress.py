"""Progress: what a person sees of a run while it goes on, on stderr.

A view reads the gauge that the engine keeps, a few times a second, on a thread of its own: nothing is done
for each case. Events are listened to for what has to be said in words: interrupts, a blocked loop, warnings.

    bar      a bar that redraws itself, on a terminal
    plain    a line now and then: every ten seconds and every ten percent, for logs
    none     only what has to be said

A stderr that nobody reads any more ends the view, not the run. Knows gauge and events; never the engine.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final, Literal, cast

from paceline.engine.events import (
    Abandoned,
    AnyEvent,
    CaseFinished,
    Draining,
    Gauge,
    LoopBlocked,
    RunStarted,
    Warned,
)
from paceline.printable import harmless

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from paceline.journal.records import OutcomeKind

Style = Literal["auto", "bar", "plain", "none"]

REDRAWS: Final = 4
"""A second."""
WINDOW: Final = 30.0
"""Seconds that the rate is taken over: long enough to be steady, short enough to follow a change."""
NOT_RUN: Final = ("skipped_budget", "cancelled")
"""Outcomes of cases that were kept from running, or cut off."""
LINE_EVERY: Final = 10.0
"""Seconds between plain lines, and percent."""


def progress_for(
    style: Style = "auto", *, stream: IO[str] | None = None, verbose: bool = False
) -> QuietProgress:
    """The view in this style: a bar where a person looks at a terminal, lines elsewhere."""
    stream = sys.stderr if stream is None else stream
    if style == "auto":
        style = "bar" if Unbreakable(stream).isatty() else "plain"
    views = {"bar": TerminalProgress, "plain": PlainProgress, "none": QuietProgress}
    return views[style](stream, verbose=verbose)


# What can be worked out from a gauge --------------------------------------------------------------


class Pace:
    """How fast cases come to an end, over the last while."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, now: float, done: int) -> None:
        """Remember how many were done at this moment."""
        self._seen.append((now, done))
        while len(self._seen) > 2 and self._seen[1][0] <= now - WINDOW:
            self._seen.popleft()

    @property
    def per_second(self) -> float:
        """Cases a second; 0 as long as that cannot be told."""
        if not self._seen:
            return 0.0
        (before, first), (now, last) = self._seen[0], self._seen[-1]
        return (last - first) / (now - before) if now > before else 0.0


def seconds_left(gauge: Gauge, *, slots: int, rate: float) -> float | None:
    """How long the run will still take, or None while nobody can tell.

    Where durations are known, it is the work that remains, shared by the slots, and never less than the
    longest case that remains. Where calls wait for limits, slots say too little: it is never less than the
    rate so far says, either. Where durations are not known that rate has to do, as long as cases wait for
    their turn: it says nothing about how long those will take that are the last.
    """
    if gauge.expected is None:
        return None
    left = gauge.expected - gauge.done
    if left <= 0:
        return 0.0
    if gauge.expected_work > 0:
        shared = gauge.expected_work / max(1, min(slots, left))
        at_this_rate = left / rate if gauge.queued and rate > 0 else 0.0
        return max(shared, min(gauge.longest_left, gauge.expected_work), at_this_rate)
    waiting = left - gauge.in_flight - gauge.scoring - gauge.retrying
    return left / rate if rate > 0 and waiting > 0 else None


def counts(gauge: Gauge) -> list[tuple[int, str]]:
    """The numbers worth showing, with their words; zeros are left out, but for what has passed."""
    shown = [
        (gauge.passed, "passed"),
        (gauge.failed, "failed"),
        (gauge.errors, "error" if gauge.errors == 1 else "errors"),
        (gauge.unasserted, "without assertion"),
    ]
    return [(number, word) for number, word in shown if number or word == "passed"]


def activity(gauge: Gauge) -> str:
    """What is going on right now."""
    parts = [(gauge.in_flight, "running"), (gauge.scoring, "scoring"), (gauge.retrying, "waiting to retry")]
    now = [f"{number:,} {word}" for number, word in parts if number]
    if gauge.queued:
        now.append(f"{gauge.queued:,} {'call' if gauge.queued == 1 else 'calls'} waiting for limits")
    if gauge.retries:
        now.append(f"{gauge.retries:,} {'retry' if gauge.retries == 1 else 'retries'}")
    if gauge.waited >= 1:
        now.append(f"waited {clock_time(gauge.waited)}")
    return " · ".join(now)


def clock_time(seconds: float) -> str:
    """`0:07`, `12:30`, `1:02:03`."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def share(gauge: Gauge) -> str:
    """`40/200 (20%)`; for an open-ended source, only how many are done."""
    if gauge.expected is None:
        return f"{gauge.done:,}"
    percent = 100 * gauge.done // gauge.expected if gauge.expected else 100
    return f"{gauge.done:,}/{gauge.expected:,} ({percent}%)"


# What has to be said in words ---------------------------------------------------------------------


def in_words(event: AnyEvent, *, verbose: bool = False) -> str | None:
    """What a person has to be told about an event; None for the many that the numbers tell."""
    match event:
        case RunStarted():
            return _started(event)
        case CaseFinished():
            return _finished(event) if verbose else None
        case Draining(reason=reason, in_flight=in_flight):
            again = "; Ctrl-C again to cancel" if reason.startswith("SIG") else ""
            return f"{reason}: finishing {in_flight:,} in flight{again}"
        case LoopBlocked(seconds=seconds, where=where):
            return (
                f"warning: the event loop was blocked for {seconds:.1f} s by {where}; "
                "use `await`, or a plain function, which runs in a thread"
            )
        case Abandoned(key=key, what=what):
            return f"warning: {key}: {what} ignored its deadline and was left behind"
        case Warned(message=message, hint=hint):
            return f"warning: {message}; {hint}" if hint else f"warning: {message}"
        case _:
            return None


def _started(event: RunStarted) -> str:
    cases = "an open-ended source" if event.expected is None else _plural(event.expected, "case")
    parts = [f"{event.suite}: {cases}"]
    if event.done_before or event.open_reasons.keys() - {"new"}:
        to_run = sum(event.open_reasons.values()) or max((event.expected or 0) - event.done_before, 0)
        left = "" if event.expected is None else f", {to_run:,} to run"
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in sorted(event.open_reasons.items()))
        parts.append(f"{event.done_before:,} done before{left}" + (f" ({reasons})" if reasons else ""))
    parts.append(f"{event.concurrency:,} at a time, {event.order}")
    where = f"\nrecord: {event.path}" if event.path else ""
    return "; ".join(parts) + where


def _finished(event: CaseFinished) -> str:
    why = f"  {event.error.type}: {event.error.message}" if event.error is not None else ""
    why = " ".join(why[:300].split())
    told = f"{ending(event.outcome, event.passed)}  {event.key}  {event.seconds:.2f} s"
    return f"{told}  {why}" if why else told


def ending(outcome: OutcomeKind, passed: bool | None) -> str:
    """How a case has ended, in the words that are used of many: passed, failed, error, not run.

    Only an assertion that is false makes a case fail.
    """
    if outcome == "scored":
        return {True: "passed", False: "failed", None: "without assertion"}[passed]
    return f"{'not run' if outcome in NOT_RUN else 'error'} ({outcome})"


def _plural(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


# The views ----------------------------------------------------------------------------------------


class Unbreakable:
    """A stream for people: that it is closed, gone, or knows no such letter, is not an error."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.encoding = getattr(stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """Write what can be written."""
        with suppress(OSError, ValueError):
            self._stream.write(text.encode(self.encoding, "replace").decode(self.encoding))
        return len(text)

    def flush(self) -> None:
        """Flush what is there."""
        with suppress(OSError, ValueError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether a person may be looking."""
        with suppress(OSError, ValueError):
            return self._stream.isatty()
        return False

    def fileno(self) -> int:
        """As the stream has it."""
        return self._stream.fileno()


class QuietProgress:
    """Says what has to be said, and shows nothing else. The other views add to it."""

    interval: float | None = None
    """Seconds between two looks at the gauge; None for none."""
    announces: bool = False
    """Whether it says how the run starts."""

    @property
    def wants_cases(self) -> bool:
        """Whether it has to be told of each case; else those events need not even be made."""
        return self._verbose

    def __init__(
        self,
        stream: IO[str] | None = None,
        *,
        verbose: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = Unbreakable(sys.stderr if stream is None else stream)
        self._verbose = verbose
        self._clock = clock
        self._over = threading.Event()
        self._ticker: threading.Thread | None = None
        self._gauge: Gauge | None = None
        self._pace = Pace()
        self._slots = 1
        self._began = 0.0

    def start(self, gauge: Gauge) -> None:
        """Look at this gauge from now on."""
        self._gauge, self._began = gauge, self._clock()
        if self.interval is not None:
            self._ticker = threading.Thread(target=self._tick, name="paceline-progress", daemon=True)
            self._ticker.start()

    def __call__(self, event: AnyEvent) -> None:
        """Say what has to be said about an event. Called on the thread of the event loop."""
        if isinstance(event, RunStarted):
            self._slots = event.concurrency
            if not self.announces:
                return
        if text := in_words(event, verbose=self._verbose):
            self.write(harmless(text))

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        if self._ticker is not None:
            self._ticker.join(timeout=1.0)

    def write(self, text: str) -> None:
        """A line, wherever this view puts its lines."""
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def look(self) -> None:
        """Read the gauge and show it."""

    def _tick(self) -> None:
        while not self._over.wait(self.interval):
            self.look()

    def _note(self, gauge: Gauge) -> float | None:
        """Remember this moment; seconds that the run will still take, if that can be told."""
        self._pace.note(self._clock(), gauge.done)
        return seconds_left(gauge, slots=self._slots, rate=self._pace.per_second)


class PlainProgress(QuietProgress):
    """A line every ten seconds, and every ten percent."""

    interval: float | None = 0.5
    announces = True

    def __init__(
        self,
        stream: IO[str] | None = None,
        *,
        verbose: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream, verbose=verbose, clock=clock)
        self._told_at: float | None = None
        self._told_tenth = 0

    def look(self) -> None:
        """Show a line if it is time for one."""
        gauge = self._gauge
        if gauge is None:
            return
        left = self._note(gauge)
        now = self._clock()
        tenth = 10 * gauge.done // gauge.expected if gauge.expected else 0
        if self._told_at is None:
            self._told_at, self._told_tenth = self._began, tenth
        if now - self._told_at >= LINE_EVERY or tenth > self._told_tenth:
            self._told_at, self._told_tenth = now, tenth
            self.write(self._line(gauge, now, left))

    def _line(self, gauge: Gauge, now: float, left: float | None) -> str:
        parts = [
            f"[{clock_time(now - self._began)}] {share(gauge)}",
            ", ".join(f"{number:,} {word}" for number, word in counts(gauge)),
            f"{self._pace.per_second:.1f}/s",
            f"{clock_time(left)} left" if left is not None else "",
            activity(gauge),
        ]
        return " · ".join(part for part in parts if part)


class TerminalProgress(QuietProgress):
    """A bar that redraws itself a few times a second."""

    announces = True

    def __init__(
        self,
        stream: IO[str] | None = None,
        *,
        verbose: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream, verbose=verbose, clock=clock)
        from rich.console import Console
        from rich.live import Live

        self._console = Console(file=cast("IO[str]", self._stream))
        # A process that is killed cannot bring its cursor back, so it is never hidden.
        self._console.show_cursor = lambda *_, **__: False  # type: ignore[method-assign]
        self._live = Live(
            console=self._console,
            get_renderable=self._drawn,
            refresh_per_second=REDRAWS,
            # What the user's code prints goes above the bar, unless it goes somewhere else anyway.
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=True,
            # The report that follows says it better, and counts what was committed last.
            transient=True,
        )

    def start(self, gauge: Gauge) -> None:
        """Draw this gauge from now on."""
        super().start(gauge)
        self._live.start(refresh=True)

    def stop(self) -> None:
        """Draw it a last time."""
        self._live.stop()
        super().stop()

    def write(self, text: str) -> None:
        """A line above the bar."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _drawn(self) -> RenderableType:
        """The bar as it is now. Called on rich's own thread."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        gauge = self._gauge
        if gauge is None:
            return ""
        left = self._note(gauge)
        head = Table.grid(padding=(0, 2))
        total = None if gauge.expected is None else max(gauge.expected, 1)
        head.add_row(
            ProgressBar(total=total, completed=gauge.done if gauge.expected != 0 else 1, width=30),
            Text(share(gauge)),
            Text(f"{self._pace.per_second:.1f}/s"),
            Text(f"{clock_time(left)} left" if left is not None else "", style="dim"),
            _coloured(gauge),
        )
        return Group(head, Text(activity(gauge), style="dim"))


_COLOURS: Final = {"passed": "green", "failed": "red", "error": "magenta", "errors": "magenta"}


def _coloured(gauge: Gauge) -> Text:
    from rich.text import Text

    parts = [Text(f"{number:,} {word}", style=_COLOURS.get(word, "")) for number, word in counts(gauge)]
    return Text("  ").join(parts)
