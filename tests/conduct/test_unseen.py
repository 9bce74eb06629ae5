"""Attempts whose calls cannot be seen are paced by how they end, until one of them is seen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from paceline.conduct.unseen import UnseenCalls, result_of
from paceline.engine.ports import Attempted, Work
from paceline.journal.records import ErrorClass, ErrorFacts, Key
from paceline.pace.calls import Call


class Executor:
    """Answers as it is told, and knows how many it was asked for at once."""

    left_behind = 0

    def __init__(self, answer: Callable[[Work], Attempted]) -> None:
        self._answer = answer
        self.at_once = self.most = 0
        self.release = asyncio.Event()

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def attempt(self, work: Work) -> Attempted:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            await self.release.wait()
            return self._answer(work)
        finally:
            self.at_once -= 1


def work(number: int, variant: str = "") -> Work:
    return Work(Key(str(number), 0, variant), 1, None)


def make_call(work: Work) -> None:
    """As a door tells of one."""
    if work.record_call is not None:
        work.record_call(work, Call(at=0.0, pool="openai:m"))


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_no_more_attempts_are_made_at_once_than_the_pool_holds() -> None:
    async def run() -> None:
        inner = Executor(lambda work: Attempted(output=1))
        paced = UnseenCalls(inner, window=5)
        attempts = [asyncio.ensure_future(paced.attempt(work(number))) for number in range(8)]
        await settled()
        assert inner.most == 5
        assert [facts.waiting for facts in paced.facts()] == [3]
        inner.release.set()
        assert [each.output for each in await asyncio.gather(*attempts)] == [1] * 8
        await paced.stop()

    asyncio.run(run())


def test_a_variant_whose_calls_are_seen_is_not_held_back() -> None:
    def calls(work: Work) -> Attempted:
        make_call(work)
        return Attempted(output=1)

    async def run() -> None:
        inner = Executor(calls)
        inner.release.set()
        paced = UnseenCalls(inner, window=5)
        await paced.attempt(work(0))
        inner.release.clear()
        attempts = [asyncio.ensure_future(paced.attempt(work(number))) for number in range(1, 20)]
        await settled()
        assert inner.at_once == 19
        assert paced.facts() == []
        inner.release.set()
        await asyncio.gather(*attempts)
        await paced.stop()

    asyncio.run(run())


def test_from_the_first_call_on_nobody_is_held_back_though_no_attempt_has_ended() -> None:
    """An attempt of an agent may take an hour."""

    async def run() -> None:
        inner = Executor(lambda work: Attempted(output=1))
        paced = UnseenCalls(inner, window=5)
        works = [work(number) for number in range(20)]
        told: list[Call] = []
        works[0].record_call = lambda _work, call: told.append(call)
        attempts = [asyncio.ensure_future(paced.attempt(each)) for each in works]
        await settled()
        assert inner.at_once == 5
        make_call(works[0])
        await settled()
        assert inner.at_once == 20
        assert len(told) == 1
        make_call(works[1])
        inner.release.set()
        assert len(await asyncio.gather(*attempts)) == 20
        await paced.stop()

    asyncio.run(run())


def test_an_attempt_that_is_cancelled_while_it_waits_leaves_nothing_behind() -> None:
    async def run() -> None:
        inner = Executor(lambda work: Attempted(output=1))
        paced = UnseenCalls(inner, window=1)
        first = asyncio.ensure_future(paced.attempt(work(1)))
        second = asyncio.ensure_future(paced.attempt(work(2)))
        await settled()
        second.cancel()
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        assert [(facts.waiting, facts.in_flight) for facts in paced.facts()] == [(0, 0)]
        await paced.stop()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("error_class", "outcome"),
    [("rate_limited", "rate_limited"), ("transient", "transient"), ("permanent", "ok"), ("timeout", "ok")],
)
def test_what_an_attempt_raises_is_what_its_pool_learns(error_class: ErrorClass, outcome: str) -> None:
    failed = Attempted(error=ErrorFacts(type="E"), error_class=error_class, seconds=2.0, retry_after=7.0)
    result = result_of(failed)
    assert (result.outcome, result.seconds) == (outcome, 2.0)
    assert result_of(Attempted(output=1)).outcome == "ok"
