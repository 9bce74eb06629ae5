"""What the engine's tests stand on: a source from a list, a recorder in memory, a loop whose time moves by itself."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from paceline import values
from paceline.dataset.case import Case
from paceline.engine.events import AnyEvent, Gauge
from paceline.engine.executors.local import LocalExecutor
from paceline.engine.plan import Plan
from paceline.engine.ports import Executor, Turn
from paceline.engine.run import Ending, Run
from paceline.evaluators.prepare import prepare
from paceline.journal.memory import MemoryJournal
from paceline.journal.records import Key, Line, OutcomeLine, RunLine
from paceline.tasks.callable import CallableTask

ResultT = TypeVar("ResultT")


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
        self._virtual = 0.0
        selector.leap = self._leap

    def time(self) -> float:
        return self._virtual

    def _leap(self, seconds: float) -> None:
        self._virtual += seconds


class LoopClock:
    """Reads the time of the running loop."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def epoch(self) -> float:
        return 1_800_000_000.0 + asyncio.get_running_loop().time()


def virtually(main: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
    """Run a coroutine on a virtual loop to its end."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(main())
    finally:
        for task in asyncio.all_tasks(loop):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
        loop.close()


class ListSource:
    """Turns from a list of cases, each once."""

    def __init__(self, cases: Iterable[Case[Any, Any, Any]]) -> None:
        self._turns = [turn_of(case, f"case-{number}") for number, case in enumerate(cases)]
        self.expected: int | None = len(self._turns)
        self._next = 0

    @property
    def exhausted(self) -> bool:
        return self._next >= len(self._turns)

    def take(self) -> Turn | None:
        if self.exhausted:
            return None
        self._next += 1
        return self._turns[self._next - 1]

    async def wait_for_more(self) -> None:
        raise AssertionError("a list never has more")


def turn_of(case: Case[Any, Any, Any], name: str) -> Turn:
    return Turn(
        Key(case.name or name),
        case,
        content_hash="0" * 16,
        inputs_raw=values.encode(case.inputs),
        expected_raw=b"" if case.expected_output is None else values.encode(case.expected_output),
        metadata_raw=b"",
    )


class Carried:
    """A run that was carried out: how it ended, what was recorded, what was told."""

    def __init__(self, ending: Ending, lines: list[Line], events: list[AnyEvent], gauge: Gauge) -> None:
        self.ending = ending
        self.lines = lines
        self.events = events
        self.gauge = gauge

    @property
    def outcomes(self) -> dict[str, OutcomeLine]:
        found: dict[str, OutcomeLine] = {}
        for line in self.lines:
            if isinstance(line, OutcomeLine):
                assert line.case not in found, f"{line.case} has two outcomes"
                found[line.case] = line
        return found


async def carry_out(
    cases: Sequence[Case[Any, Any, Any]],
    task: Callable[[Any], Any] | Mapping[str, Callable[[Any], Any]],
    *,
    evaluators: Iterable[object] = (),
    executor: Executor | None = None,
    clock: Any = None,
    during: Callable[[Run], Coroutine[Any, Any, None]] | None = None,
    **plan: Any,
) -> Carried:
    """One run over cases in memory."""
    plan.setdefault("concurrency", 10)
    tasks = task if isinstance(task, Mapping) else {"": task}
    journal = MemoryJournal(RunLine(run_id="r", suite="s", started=0.0, fingerprint={}))
    events: list[AnyEvent] = []
    clock = clock or LoopClock()
    run = Run(
        source=ListSource(cases),
        executor=executor
        or LocalExecutor(
            {name: CallableTask(call) for name, call in tasks.items()},
            concurrency=plan["concurrency"] or 512,
            clock=clock,
        ),
        recorder=journal,
        plan=Plan(evaluators=prepare(evaluators), **plan),
        listeners=[events.append],
        clock=clock,
    )
    meanwhile = asyncio.ensure_future(during(run)) if during else None
    ending = await run.carry_out()
    run.books.on_commit()
    if meanwhile is not None:
        await meanwhile
    lines = [entry.line for entry in journal.entries() if hasattr(entry, "line")]
    return Carried(ending, lines, events, run.gauge)
