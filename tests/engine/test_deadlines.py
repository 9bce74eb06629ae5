"""Many deadlines, one timer."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.deadlines import NEVER, Deadlines
from tests.engine.stage import now, virtually


class Waiter:
    """Something with a deadline that notes when it was told."""

    def __init__(self, deadlines: Deadlines) -> None:
        self.deadline = NEVER
        self.told: list[float] = []
        deadlines.watch(self)

    def overdue(self) -> None:
        self.told.append(round(now(), 6))


@given(due=st.lists(st.one_of(st.integers(0, 50), st.just(None)), min_size=1, max_size=20))
def test_each_is_told_when_it_is_due_and_never_before(due: list[int | None]) -> None:
    async def main() -> list[list[float]]:
        deadlines = Deadlines(loop := asyncio.get_running_loop())
        waiters = [Waiter(deadlines) for _ in due]
        for waiter, seconds in zip(waiters, due, strict=True):
            deadlines.set(waiter, NEVER if seconds is None else loop.time() + seconds)
        await asyncio.sleep(100)
        deadlines.close()
        return [waiter.told for waiter in waiters]

    assert virtually(main) == [[] if seconds is None else [float(seconds)] for seconds in due]


def test_a_deadline_that_is_moved_or_taken_away_is_not_told_at_its_old_time() -> None:
    async def main() -> tuple[list[float], list[float], list[float]]:
        deadlines = Deadlines(loop := asyncio.get_running_loop())
        moved, freed, forgotten = (Waiter(deadlines) for _ in range(3))
        for waiter in (moved, freed, forgotten):
            deadlines.set(waiter, loop.time() + 5)
        deadlines.set(moved, loop.time() + 8)
        deadlines.set(freed, NEVER)
        deadlines.forget(forgotten)
        await asyncio.sleep(20)
        return moved.told, freed.told, forgotten.told

    assert virtually(main) == ([8.0], [], [])


def test_setting_the_same_deadline_for_thousands_takes_one_timer() -> None:
    async def main() -> int:
        loop = asyncio.get_running_loop()
        timers = 0
        call_at = loop.call_at

        def counted(*arguments: object, **named: object) -> asyncio.TimerHandle:
            nonlocal timers
            timers += 1
            return call_at(*arguments, **named)  # type: ignore[arg-type]

        loop.call_at = counted  # type: ignore[method-assign]
        deadlines = Deadlines(loop)
        for waiter in [Waiter(deadlines) for _ in range(2_000)]:
            deadlines.set(waiter, loop.time() + 60)
        return timers

    assert virtually(main) == 1


def test_what_sets_a_new_deadline_when_it_is_told_is_told_again() -> None:
    class Twice(Waiter):
        def __init__(self, deadlines: Deadlines) -> None:
            super().__init__(deadlines)
            self.deadlines = deadlines

        def overdue(self) -> None:
            super().overdue()
            if len(self.told) == 1:
                self.deadlines.set(self, asyncio.get_running_loop().time() + 3)

    async def main() -> list[float]:
        deadlines = Deadlines(loop := asyncio.get_running_loop())
        twice = Twice(deadlines)
        deadlines.set(twice, loop.time() + 2)
        await asyncio.sleep(10)
        return twice.told

    assert virtually(main) == [2.0, 5.0]
