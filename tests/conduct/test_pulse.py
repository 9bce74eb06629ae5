"""The pulse of a run, on a loop whose time is the test's: what it looks at, and what it sees to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from paceline.conduct.pulse import BEAT, Pulse
from paceline.engine.events import Gauge, LoopBlocked
from paceline.engine.run import Run
from paceline.pace.pool import PoolFacts
from tests.conduct.test_limiting import pool


class VirtualLoop(asyncio.SelectorEventLoop):
    """Nobody waits: with nothing to do, its time moves on to when there is."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]  # private to asyncio
            self.now = max(self.now, self._scheduled[0].when())  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def virtually(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())


@dataclass
class Stage:
    """A run as the pulse sees it."""

    gauge: Gauge = field(default_factory=Gauge)
    places: int | None = 50
    full: bool = True
    scoring_full: bool = False
    lagging: bool = False
    source: Any = field(default_factory=lambda: SimpleNamespace(exhausted=False))
    pools: list[PoolFacts] = field(default_factory=list)
    widened: list[int] = field(default_factory=list)

    def widen(self, places: int) -> None:
        self.widened.append(places)
        self.places = places

    def pulse(self, *, widest: int | None = None) -> Pulse:
        return Pulse(cast("Run", self), lambda: self.pools, widest=widest)


def test_it_adds_up_all_of_the_time_until_it_is_stopped() -> None:
    async def main() -> None:
        stage = Stage(gauge=Gauge(in_flight=50))
        pulse = stage.pulse()
        await asyncio.sleep(10.1)
        pulse.stop()
        assert sum(pulse.limiting.seconds.values()) == pytest.approx(10.1)
        assert pulse.limiting.seconds["cases"] == pytest.approx(10.1)
        await asyncio.sleep(5)
        assert sum(pulse.limiting.seconds.values()) == pytest.approx(10.1)

    virtually(main)


def test_stopped_twice_it_tells_the_same() -> None:
    async def main() -> None:
        stage = Stage(pools=[pool(in_flight=1)])
        pulse = stage.pulse()
        first = pulse.stop()
        stage.pools = []
        assert pulse.stop() is first

    virtually(main)


def test_whoever_draws_progress_finds_how_many_calls_wait() -> None:
    async def main() -> None:
        stage = Stage(pools=[pool(waiting=3, binding="window"), pool(waiting=4, binding="requests")])
        pulse = stage.pulse()
        await asyncio.sleep(BEAT * 1.5)
        assert stage.gauge.queued == 7
        pulse.stop()

    virtually(main)


def test_a_run_grows_beat_by_beat_while_all_its_places_are_taken_and_nobody_waits_for_a_pool() -> None:
    async def main() -> None:
        stage = Stage(gauge=Gauge(in_flight=50))
        pulse = stage.pulse(widest=200)
        await asyncio.sleep(BEAT * 10.5)
        pulse.stop()
        assert stage.widened == [75, 113, 170, 200]

    virtually(main)


@pytest.mark.parametrize(
    "stage",
    [
        Stage(full=False),
        Stage(pools=[pool(waiting=6, binding="window")]),
    ],
)
def test_it_does_not_where_that_brings_nothing(stage: Stage) -> None:
    async def main() -> None:
        pulse = stage.pulse(widest=512)
        await asyncio.sleep(BEAT * 5.5)
        pulse.stop()
        assert stage.widened == []

    virtually(main)


def test_a_number_that_somebody_has_said_is_left_alone() -> None:
    async def main() -> None:
        stage = Stage()
        pulse = stage.pulse(widest=None)
        await asyncio.sleep(BEAT * 5.5)
        pulse.stop()
        assert stage.widened == []

    virtually(main)


def test_the_longest_block_of_the_loop_is_named_and_its_time_is_the_loop_s() -> None:
    async def main() -> None:
        stage = Stage(gauge=Gauge(in_flight=50))
        pulse = stage.pulse()
        for seconds, where in ((0.5, "a.py:1 in a"), (2.0, "b.py:2 in b"), (1.0, "c.py:3 in c")):
            pulse(LoopBlocked(at=0.0, seconds=seconds, where=where))
        await asyncio.sleep(10)
        pulse.stop()
        assert pulse.blocker == "b.py:2 in b"
        assert pulse.limiting.seconds["loop"] == pytest.approx(0.2)  # no more than has passed by then

    virtually(main)


def test_pools_are_told_as_they_are_left() -> None:
    async def main() -> None:
        stage = Stage(gauge=Gauge(in_flight=50), pools=[pool(waiting=40, binding="requests", in_flight=8)])
        pulse = stage.pulse()
        await asyncio.sleep(BEAT * 1.5)
        stage.pools = [pool(in_flight=1, rate=5.0)]
        (end,) = pulse.limiting.ends(pulse.stop())
        assert (end.peak, end.rate) == (8, 5.0)
        assert end.limited["requests"] == pytest.approx(BEAT)

    virtually(main)


@pytest.mark.parametrize(("widest", "part"), [(None, 0.2), (512, 1.0)])
def test_where_places_follow_the_pools_a_short_queue_is_the_whole_limit(
    widest: int | None, part: float
) -> None:
    """One call that waits while fifty run: of a number that was said, places are to blame as well."""

    async def main() -> None:
        stage = Stage(gauge=Gauge(in_flight=50), full=False, pools=[pool(waiting=1, binding="window")])
        pulse = stage.pulse(widest=widest)
        await asyncio.sleep(BEAT * 10.5)
        pulse.stop()
        whole = sum(pulse.limiting.seconds.values())
        assert pulse.limiting.seconds["window"] == pytest.approx(part * whole)

    virtually(main)
