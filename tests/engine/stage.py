"""What the engine's tests stand on: cases, a recorder in memory, a loop whose time moves by itself.

    carried = play(cases(3), task, concurrency=2)       a whole run in virtual time
    carried.outcomes["case-0"].outcome                  what is on record
    Meter().around(...)                                 how many were inside at once

Virtual time is for coroutines only, since a thread would be outrun. What needs threads or processes is
played `really`.
"""

from __future__ import annotations

import asyncio
import math
import selectors
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from paceline import values
from paceline.dataset.case import Case
from paceline.engine.clock import Clock, SystemClock
from paceline.engine.events import AnyEvent, Gauge
from paceline.engine.executors.local import LocalExecutor
from paceline.engine.plan import Plan
from paceline.engine.ports import Executor, Stored, Turn
from paceline.engine.run import Ending, Run
from paceline.errors import JournalBroken
from paceline.evaluators.prepare import prepare
from paceline.journal.bodies import NONE_BEFORE, Before, CallBodies
from paceline.journal.memory import MemoryJournal
from paceline.journal.reading import Recorded
from paceline.journal.records import BeginLine, Key, Line, OutcomeLine, RunLine
from paceline.tasks.callable import CallableTask

ResultT = TypeVar("ResultT")
LineT = TypeVar("LineT")
AnyCase = Case[Any, Any, Any]
Task = Callable[[Any], Any]

STARTED_AT = 1_000.0
"""What a virtual clock shows first: as little 0 as a real one."""


# Time


class _LeapingSelector(selectors.SelectSelector):
    """Instead of waiting, moves the loop's time forward."""

    leap: Callable[[float], None]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everything waits and nothing will happen: a deadlock")
        if not ready and timeout:
            self.leap(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop on which waiting takes no time. For coroutines only: a thread would be outrun."""

    def __init__(self) -> None:
        selector = _LeapingSelector()
        super().__init__(selector)
        self._virtual = STARTED_AT
        selector.leap = self._leap

    def time(self) -> float:
        return self._virtual

    def _leap(self, seconds: float) -> None:
        # However little it is, or a wait that rounding makes too small would be waited for without end.
        self._virtual = max(self._virtual + seconds, math.nextafter(self._virtual, math.inf))


class LoopClock:
    """Reads the time of the running loop."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def epoch(self) -> float:
        return 1_800_000_000.0 + asyncio.get_running_loop().time()


def now() -> float:
    """Seconds since a virtual loop was made."""
    return asyncio.get_running_loop().time() - STARTED_AT


def virtually(main: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
    """Run a coroutine on a virtual loop to its end."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(main())
    finally:
        left_over = asyncio.all_tasks(loop)
        for task in left_over:
            task.cancel()
        if left_over:
            loop.run_until_complete(asyncio.wait(left_over, timeout=1))
        for task in left_over:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
        loop.close()


# What a run is made of


def cases(number: int, **fields: Any) -> list[AnyCase]:
    """So many cases, with their number for inputs; they are called `case-0`, `case-1`, ..."""
    return [Case(inputs=place, **fields) for place in range(number)]


class ListSource:
    """Turns from a list of cases, each once."""

    def __init__(self, given: Iterable[AnyCase]) -> None:
        self._turns = [turn_of(case, f"case-{number}") for number, case in enumerate(given)]
        self.expected: int | None = len(self._turns)
        self.taken: list[str] = []

    @property
    def exhausted(self) -> bool:
        return len(self.taken) >= len(self._turns)

    def take(self) -> Turn | None:
        if self.exhausted:
            return None
        turn = self._turns[len(self.taken)]
        self.taken.append(turn.key.case)
        return turn

    async def wait_for_more(self) -> None:
        raise AssertionError("a list never has more")


class StreamSource:
    """An open-ended source: a service's queue, say. Turns are fed to it while the run goes on."""

    def __init__(self) -> None:
        self.expected: int | None = None
        self._fed: list[Turn] = []
        self._closed = False
        self._changed = asyncio.Event()

    def feed(self, *names: str) -> None:
        self._fed += [turn_of(Case(name=name, inputs=name), name) for name in names]
        self._changed.set()

    def close(self) -> None:
        self._closed = True
        self._changed.set()

    @property
    def exhausted(self) -> bool:
        return self._closed and not self._fed

    def take(self) -> Turn | None:
        return self._fed.pop(0) if self._fed else None

    async def wait_for_more(self) -> None:
        self._changed.clear()
        if not self._fed and not self._closed:
            await self._changed.wait()


def turn_of(case: AnyCase, name: str, *, stored: Stored | None = None) -> Turn:
    return Turn(
        Key(case.name or name),
        case,
        hash="0" * 16,
        inputs_raw=values.encode(case.inputs),
        expected_raw=b"" if case.expected_output is None else values.encode(case.expected_output),
        metadata_raw=b"",
        stored=stored,
    )


def memory_journal() -> MemoryJournal:
    return MemoryJournal(RunLine(run_id="r", suite="s", started=0.0, fingerprint={}))


class SlowDisk:
    """A recorder that commits only when it is told to, and may be told to lag or to break."""

    def __init__(self) -> None:
        self.on_commit: Callable[[int], None] | None = None
        self.on_broken: Callable[[JournalBroken], None] | None = None
        self.committed = 0
        self.lagging = False
        self.lines: list[Line] = []
        self.refuses: Callable[[Line], bool] = lambda _line: False

    def append(self, line: Line) -> int:
        if self.refuses(line):
            raise JournalBroken("the disk is full", hint="make room")
        self.lines.append(line)
        return len(self.lines)

    def keep(self, raw: bytes) -> Any:
        return memory_journal().keep(raw)

    def keep_bodies(self, bodies: CallBodies, before: Before = NONE_BEFORE) -> Before:
        return before

    def commit(self, upto: int | None = None) -> None:
        self.committed = len(self.lines) if upto is None else upto
        if self.on_commit is not None:
            self.on_commit(self.committed)


@dataclass
class Carried:
    """A run that was carried out: how it ended, what was recorded, what was told."""

    ending: Ending
    lines: list[Line]
    events: list[AnyEvent]
    gauge: Gauge
    run: Run
    seconds: float

    @property
    def outcomes(self) -> dict[str, OutcomeLine]:
        """By case; that a key has two is an error of whoever recorded them."""
        found: dict[str, OutcomeLine] = {}
        for line in self.of(OutcomeLine):
            assert line.case not in found, f"{line.case} has two outcomes"
            found[line.case] = line
        return found

    def of(self, kind: type[LineT]) -> list[LineT]:
        """The lines of a kind."""
        return [line for line in self.lines if isinstance(line, kind)]

    def told(self, kind: type[LineT]) -> list[LineT]:
        """The events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def ended(self) -> Counter[str]:
        """How many keys ended how."""
        return Counter(line.outcome for line in self.outcomes.values())

    def output(self, case: str) -> Any:
        return values.decode(self.outcomes[case].output)

    def begun(self, case: str) -> int:
        """How many attempts at a case are on record."""
        return sum(line.case == case for line in self.of(BeginLine))


During = Callable[[Run], Coroutine[Any, Any, None]]


async def carry_out(
    given: Sequence[AnyCase] | None,
    task: Task | Mapping[str, Task],
    *,
    evaluators: Iterable[object] = (),
    source: Any = None,
    recorder: Any = None,
    executor: Executor | None = None,
    clock: Clock | None = None,
    during: During | None = None,
    listeners: Sequence[Callable[[AnyEvent], None]] = (),
    spent: Any = None,
    **plan: Any,
) -> Carried:
    """One run over cases in memory; `during` goes on beside it."""
    plan.setdefault("concurrency", 10)
    tasks = task if isinstance(task, Mapping) else {"": task}
    journal = recorder if recorder is not None else memory_journal()
    events: list[AnyEvent] = []
    clock = clock or LoopClock()
    run = Run(
        source=source or ListSource(given or ()),
        executor=executor
        or LocalExecutor(
            {name: CallableTask(call) for name, call in tasks.items()},
            concurrency=plan["concurrency"] or 512,
            clock=clock,
            listens=plan.get("listens", False),
        ),
        recorder=journal,
        plan=Plan(evaluators=prepare(evaluators), **plan),
        listeners=[events.append, *listeners],
        clock=clock,
        spent=spent,
    )
    started = clock.now()
    meanwhile = asyncio.ensure_future(during(run)) if during else None
    ending = await run.carry_out()
    seconds = clock.now() - started
    run.books.on_commit()
    if meanwhile is not None:
        await meanwhile
    return Carried(ending, recorded(journal), events, run.gauge, run, seconds)


def recorded(journal: Any) -> list[Line]:
    """The lines that a recorder holds, read back."""
    if isinstance(journal, MemoryJournal):
        return [entry.line for entry in journal.entries() if isinstance(entry, Recorded)]
    return list(journal.lines)


def play(given: Sequence[AnyCase] | None, task: Task, **how: Any) -> Carried:
    """A run in virtual time."""
    return virtually(lambda: carry_out(given, task, **how))


def really(given: Sequence[AnyCase] | None, task: Task, **how: Any) -> Carried:
    """A run in real time, on a plain loop."""
    return asyncio.run(carry_out(given, task, clock=SystemClock(), **how))


# What tasks are made of


@dataclass
class Meter:
    """How many are inside at once, and in which order they came and went."""

    inside: int = 0
    most: int = 0
    log: list[tuple[str, Any]] = field(default_factory=list)

    @contextmanager
    def around(self, who: Any = None) -> Iterator[None]:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.log.append(("in", who))
        try:
            yield
        finally:
            self.inside -= 1
            self.log.append(("out", who))


async def deaf(seconds: float) -> None:
    """Sleep, and ignore every cancellation meanwhile."""
    until = asyncio.get_running_loop().time() + seconds
    while (left := until - asyncio.get_running_loop().time()) > 1e-9:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(left)
