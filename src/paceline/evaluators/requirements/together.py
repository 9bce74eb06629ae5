"""Calls side by side, each in a task of its own, until each has ended or was left behind.

Not asyncio's `TaskGroup`: that waits for what does not listen, for good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from paceline.evaluators.requirements.hearing import GRACE_S, Heard, Leave

AnswerT = TypeVar("AnswerT")


async def together(
    calls: Sequence[Callable[[Leave], Coroutine[Any, Any, AnswerT]]],
) -> list[AnswerT | Heard]:
    """What each of them returns, in their order, whichever is done first; raises what the first raises.

    Whoever ends this, ends all of them.
    """
    group = _Group(calls)
    try:
        await group.over
    except BaseException:
        await group.end()
        raise
    return [group.answers[place] for place in range(len(calls))]


class _Group(Generic[AnswerT]):
    """Tasks, and what they have answered."""

    def __init__(self, calls: Sequence[Callable[[Leave], Coroutine[Any, Any, AnswerT]]]) -> None:
        loop = asyncio.get_running_loop()
        self.answers: dict[int, AnswerT | Heard] = {}
        self.over: asyncio.Future[None] = loop.create_future()
        self._number = len(calls)
        self._tasks: set[asyncio.Task[AnswerT]] = set()
        for place, call in enumerate(calls):
            task = loop.create_task(call(partial(self._answered, place)))
            self._tasks.add(task)
            task.add_done_callback(partial(self._ended, place))

    def _answered(self, place: int, answer: AnswerT | Heard) -> None:
        self.answers.setdefault(place, answer)
        if len(self.answers) == self._number and not self.over.done():
            self.over.set_result(None)

    def _ended(self, place: int, task: asyncio.Task[AnswerT]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            # Not by us, as nobody waits for answers then: a call that has cancelled its own task.
            self._answered(place, Heard(error=asyncio.CancelledError()))
        elif (error := task.exception()) is None:
            self._answered(place, task.result())
        elif not self.over.done():
            self.over.set_exception(error)

    async def end(self) -> None:
        """Cancel what goes on, and give it the time to clear away."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE_S)


__all__ = ["together"]
