"""The run as a whole: how many at once, in which order, and that each key comes to exactly one outcome."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.events import AnyEvent, CaseFinished, CaseStarted
from paceline.engine.retry import Retry
from paceline.engine.run import BREATH, Run
from paceline.errors import JournalBroken
from paceline.evaluators.base import instant
from paceline.journal.records import AttemptLine, BeginLine, Line, OutcomeLine, OutputLine
from tests.engine.stage import (
    LoopClock,
    Meter,
    SlowDisk,
    StreamSource,
    carry_out,
    cases,
    deaf,
    now,
    play,
    really,
    virtually,
)

ANY = Retry(attempts=3, base=2.0, on=None)


async def echo(number: int) -> int:
    return number


async def slowly(number: int) -> int:
    await asyncio.sleep(1)
    return number


async def fine(output: object) -> bool:
    await asyncio.sleep(1)
    return output is not None


# How many at once

Plays = st.lists(
    st.tuples(
        st.floats(0, 5),  # how long an attempt takes
        st.integers(0, 3),  # how many attempts fail
        st.floats(0, 3),  # how long its evaluator takes
        st.sampled_from(["answers", "ignores its cancellation", "gives in late"]),
    ),
    min_size=1,
    max_size=25,
)


@given(plays=Plays, concurrency=st.integers(1, 6), evaluator_concurrency=st.none() | st.integers(1, 4))
def test_never_more_at_once_than_allowed_and_one_outcome_each(
    plays: list[tuple[float, int, float, str]], concurrency: int, evaluator_concurrency: int | None
) -> None:
    attempts, calls = Meter(), Meter()
    failed = dict.fromkeys(range(len(plays)), 0)

    async def task(number: int) -> int:
        seconds, failures, _scoring, manner = plays[number]
        if manner == "ignores its cancellation" and failed[number] == 0:
            failed[number] += 1
            await deaf(1_000)  # counts no more once it is abandoned, so it is not metered
        with attempts.around(number):
            try:
                await asyncio.sleep(seconds)
            except asyncio.CancelledError:
                if manner == "gives in late":
                    await asyncio.sleep(0.5)
                raise
        if failed[number] < failures:
            failed[number] += 1
            raise ConnectionError("try again")
        return number

    async def judge(output: int) -> bool:
        with calls.around(output):
            await asyncio.sleep(plays[output][2])
        return True

    carried = play(
        cases(len(plays)),
        task,
        evaluators=[judge],
        concurrency=concurrency,
        evaluator_concurrency=evaluator_concurrency,
        retry_task=ANY,
        timeout=4.0,
        grace=1.0,
    )
    assert carried.ending.how == "complete"
    assert len(carried.outcomes) == len(plays)
    assert attempts.most <= concurrency
    assert calls.most <= (evaluator_concurrency or concurrency)
    assert carried.gauge.in_flight == carried.gauge.scoring == carried.gauge.retrying == 0
    for number, (_seconds, failures, _scoring, manner) in enumerate(plays):
        if manner == "answers" and failures < 3 and plays[number][0] < 4:
            assert carried.outcomes[f"case-{number}"].outcome == "scored"
            assert carried.begun(f"case-{number}") == failures + 1


def test_as_many_at_once_as_allowed() -> None:
    meter = Meter()

    async def task(number: int) -> int:
        with meter.around():
            return await slowly(number)

    carried = play(cases(20), task, concurrency=4)
    assert meter.most == 4
    assert carried.seconds == 5.0


def test_none_is_all_at_once() -> None:
    meter = Meter()

    async def task(number: int) -> int:
        with meter.around():
            return await slowly(number)

    carried = play(cases(300), task, concurrency=None, evaluators=[fine])
    assert meter.most == 300
    assert carried.seconds == 2.0


def test_with_one_at_a_time_a_case_is_wholly_done_before_the_next_is_begun() -> None:
    log: list[tuple[str, int]] = []
    tries: dict[int, int] = {}

    async def task(number: int) -> int:
        log.append(("attempt", number))
        await asyncio.sleep(1)
        tries[number] = tries.get(number, 0) + 1
        if number % 2 and tries[number] < 3:
            raise ConnectionError
        return number

    async def judge(output: int) -> bool:
        await asyncio.sleep(3)
        log.append(("scored", output))
        return True

    async def second(output: int) -> bool:
        log.append(("seen", output))
        return True

    carried = play(cases(6), task, evaluators=[judge, second], concurrency=1, retry_task=ANY)
    assert carried.ended == {"scored": 6}
    assert [number for _what, number in log] == sorted(number for _what, number in log)
    lines = [line.case for line in carried.lines if isinstance(line, BeginLine | AttemptLine | OutcomeLine)]
    assert lines == sorted(lines)


def test_cases_are_begun_in_the_order_of_the_source() -> None:
    begun: list[int] = []

    async def task(number: int) -> int:
        begun.append(number)
        return await slowly(number)

    play(cases(50), task, concurrency=7)
    assert begun == list(range(50))


def test_a_case_that_waits_for_another_try_leaves_its_place_to_others() -> None:
    meter = Meter()

    async def task(number: int) -> int:
        with meter.around(number):
            await asyncio.sleep(1)
        if number == 0 and len([who for what, who in meter.log if who == 0 and what == "in"]) == 1:
            raise ConnectionError
        return number

    carried = play(cases(10), task, concurrency=1 + 1, retry_task=Retry(attempts=2, base=0, cap=0))
    assert carried.ended == {"scored": 10}
    waiting = Retry(attempts=2, base=1_000.0, cap=1_000.0)
    meter.log.clear()
    carried = play(cases(10), task, concurrency=2, retry_task=waiting)
    order = [who for what, who in meter.log if what == "in"]
    assert order[-1] == 0, "all the others went on while it waited"
    assert carried.outcomes["case-0"].waited > 0


def test_no_more_than_as_many_again_wait_for_another_try() -> None:
    taken_most = 0

    async def task(number: int) -> int:
        await asyncio.sleep(1)
        raise ConnectionError

    async def look(run: Run) -> None:
        nonlocal taken_most
        while run.gauge.done < 40:
            await asyncio.sleep(0.01)
            taken_most = max(taken_most, run.gauge.in_flight + run.gauge.retrying)

    play(cases(40), task, concurrency=4, retry_task=Retry(attempts=2, base=60.0, cap=60.0), during=look)
    assert 4 < taken_most <= 8


def test_a_case_that_is_being_scored_leaves_its_place_to_others_and_no_more_than_as_many_again() -> None:
    attempts, most = Meter(), 0

    async def task(number: int) -> int:
        with attempts.around():
            await asyncio.sleep(1)
        return number

    async def judge(output: int) -> bool:
        await asyncio.sleep(10)
        return True

    async def look(run: Run) -> None:
        nonlocal most
        while run.gauge.done < 12:
            await asyncio.sleep(0.25)
            most = max(most, run.gauge.scoring)
            assert run.gauge.in_flight + run.gauge.scoring <= 2 * 3

    carried = play(cases(12), task, evaluators=[judge], concurrency=3, during=look)
    assert most == 3
    assert attempts.most == 3
    # The first three answers come after 1 s; from then on the judge is busy all the time.
    assert carried.seconds == 1 + 12 / 3 * 10


def test_evaluator_calls_have_a_limit_of_their_own() -> None:
    calls = Meter()

    async def judge(output: int) -> bool:
        with calls.around():
            await asyncio.sleep(1)
        return True

    async def other(output: int) -> bool:
        return await judge(output)

    play(cases(20), echo, evaluators=[judge, other], concurrency=10, evaluator_concurrency=3)
    assert calls.most == 3


# Lanes that are lost


@pytest.mark.parametrize("concurrency", [1, 5])
def test_tasks_that_ignore_their_cancellation_are_left_behind_and_their_lanes_replaced(
    concurrency: int,
) -> None:
    async def task(number: int) -> int:
        if number < 5:
            await deaf(10_000)
        return await slowly(number)

    carried = play(cases(15), task, concurrency=concurrency, timeout=10, grace=2)
    assert carried.ended == {"timeout": 5, "scored": 10}
    assert carried.ending.left_behind == 5
    assert all(carried.outcomes[f"case-{number}"].abandoned == 1 for number in range(5))
    assert carried.seconds == 5 / concurrency * 12 + 10 / concurrency
    assert carried.gauge.in_flight == 0


def test_a_task_that_comes_back_after_it_was_left_behind_changes_nothing() -> None:
    async def task(number: int) -> int:
        if number == 0:
            await deaf(20)
        await asyncio.sleep(10)
        return number

    carried = play(cases(4), task, concurrency=2, timeout=11, grace=1)
    assert carried.ended == {"timeout": 1, "scored": 3}


# The source


def test_an_open_ended_source_is_waited_for_and_its_end_ends_the_run() -> None:
    async def main() -> Any:
        source = StreamSource()

        async def feed(run: Run) -> None:
            for name in "abc":
                await asyncio.sleep(10)
                source.feed(name, name * 2)
            await asyncio.sleep(5)
            source.close()

        async def task(name: str) -> str:
            await asyncio.sleep(1)
            return name

        return await carry_out(None, task, source=source, concurrency=3, during=feed)

    carried = virtually(main)
    assert sorted(carried.outcomes) == ["a", "aa", "b", "bb", "c", "cc"]
    assert carried.seconds == 35.0


def test_an_open_ended_source_is_waited_for_also_where_a_budget_is_kept() -> None:
    from paceline.engine.budget import Budget

    async def main() -> Any:
        source = StreamSource()

        async def feed(run: Run) -> None:
            await asyncio.sleep(10)
            source.feed("a", "b")
            await asyncio.sleep(10)
            source.close()

        return await carry_out(
            None, slowly, source=source, concurrency=3, during=feed, budget=Budget(usd=5.0, failures=3)
        )

    assert virtually(main).ended == {"scored": 2}


def test_a_source_that_fails_ends_the_run_as_failed_and_what_was_in_flight_is_recorded() -> None:
    class Failing(StreamSource):
        def take(self) -> Any:
            if not self._fed:
                raise SystemExit("a bad line in the file")
            return super().take()

    async def main() -> Any:
        source = Failing()
        source.feed("a", "b")
        return await carry_out(None, slowly, source=source, concurrency=4)

    carried = virtually(main)
    assert carried.ending.how == "failed"
    assert "SystemExit" in str(carried.ending.error)
    assert carried.ended == {"cancelled": 2}


def test_a_thousand_idle_lanes_cost_nothing() -> None:
    """What is due wakes one lane and not all of them, so the work does not grow with the square of them."""

    class Counted(LoopClock):
        asked = 0

        def now(self) -> float:
            self.asked += 1
            return super().now()

    lanes, retries = 1_000, 300
    clock = Counted()
    tries: dict[int, int] = {}

    async def task(number: int) -> int:
        tries[number] = tries.get(number, 0) + 1
        if number < retries and tries[number] < 3:
            raise ConnectionError
        await asyncio.sleep(0.1)
        return number

    carried = play(cases(lanes), task, concurrency=None, clock=clock, retry_task=Retry(attempts=3, base=50.0))
    assert carried.ended == {"scored": lanes}
    assert clock.asked < 40 * (lanes + 2 * retries)


def test_a_thousand_lanes_that_wait_to_have_their_answers_scored_cost_nothing() -> None:
    async def main() -> tuple[Any, int]:
        loop = asyncio.get_running_loop()
        scheduled = 0
        call_soon = loop.call_soon

        def counted(*arguments: Any, **named: Any) -> asyncio.Handle:
            nonlocal scheduled
            scheduled += 1
            return call_soon(*arguments, **named)

        loop.call_soon = counted  # type: ignore[method-assign,assignment]
        return await carry_out(cases(600), echo, evaluators=[fine], concurrency=200), scheduled

    carried, scheduled = virtually(main)
    assert carried.ended == {"scored": 600}
    assert scheduled < 600 * 40


def test_tasks_that_never_wait_leave_the_loop_time_for_everything_else() -> None:
    """However many lanes there are: a breath that each of them takes for itself would add up.

    Told in tasks, of which forty fill a breath: a busy machine gets through fewer, and never through more.
    """
    calls = 0
    between: list[int] = []

    async def task(number: int) -> int:
        nonlocal calls
        calls += 1
        until = time.perf_counter() + BREATH / 40
        while time.perf_counter() < until:
            pass
        return number

    async def look(run: Run) -> None:
        while calls < 1_000:
            before = calls
            await asyncio.sleep(0)
            between.append(calls - before)

    really(cases(1_000), task, concurrency=50, during=look)
    # A breath of forty, and then each lane finishes what it has begun.
    assert max(between) <= 2 * (40 + 50), "fifty lanes with a breath each would all be through by then"


# The recorder


def test_nothing_is_told_before_it_is_safe() -> None:
    disk = SlowDisk()

    async def commit(run: Run) -> None:
        await asyncio.sleep(100)
        assert run.gauge.done == 0
        assert finished == []
        outcomes = [place for place, line in enumerate(disk.lines, 1) if isinstance(line, OutcomeLine)]
        assert len(outcomes) == 5
        disk.commit(outcomes[2])
        await asyncio.sleep(1)
        assert len(finished) == run.gauge.done == 3
        disk.commit()

    finished: list[AnyEvent] = []

    def listen(event: AnyEvent) -> None:
        if isinstance(event, CaseFinished):
            finished.append(event)

    async def task(number: int) -> int:
        if number == 5:
            await asyncio.sleep(200)  # so that the run lasts
        return number

    play(cases(6), task, recorder=disk, listeners=[listen], during=commit, concurrency=2)
    assert len(finished) == 5, "the last one has ended and is not safe"


def test_a_recorder_that_lags_holds_fresh_cases_back_until_it_has_caught_up() -> None:
    disk = SlowDisk()
    begun: list[float] = []

    async def task(number: int) -> int:
        begun.append(now())
        if number == 1:
            disk.lagging = True
        return number

    async def catch_up(run: Run) -> None:
        await asyncio.sleep(50)
        disk.lagging = False
        disk.commit()

    play(cases(6), task, recorder=disk, during=catch_up, concurrency=2)
    assert begun == [0.0, 0.0, 50.0, 50.0, 50.0, 50.0]


@pytest.mark.parametrize("kind", [BeginLine, AttemptLine, OutputLine, OutcomeLine])
@pytest.mark.parametrize("announced", [True, False])
def test_a_recorder_that_breaks_ends_the_run_as_failed_and_keeps_what_it_had(
    kind: type[Line], announced: bool
) -> None:
    disk = SlowDisk()
    seen = 0

    def refuses(line: Line) -> bool:
        nonlocal seen
        seen += isinstance(line, kind)
        broken = seen > 4
        if broken and announced and disk.on_broken is not None:
            disk.on_broken(JournalBroken("told"))
        return broken

    disk.refuses = refuses
    tries: dict[int, int] = {}

    async def task(number: int) -> int:
        await asyncio.sleep(0.1 * (number + 1))
        tries[number] = tries.get(number, 0) + 1
        if tries[number] == 1:
            raise ConnectionError
        return number

    carried = play(cases(30), task, evaluators=[fine, fine], recorder=disk, concurrency=5, retry_task=ANY)
    assert carried.ending.how == "failed"
    assert isinstance(carried.ending.error, JournalBroken)
    assert sum(isinstance(line, kind) for line in disk.lines) == 4
    assert carried.seconds < 100


def test_a_recorder_that_breaks_while_scores_land_is_named_and_not_wrapped() -> None:
    disk = SlowDisk()
    disk.refuses = lambda line: line.__class__.__name__ == "ScoresLine"

    async def quick(output: int) -> bool:
        return True

    carried = play(cases(3), echo, evaluators=[fine, quick], recorder=disk, concurrency=3)
    assert carried.ending.how == "failed"
    assert isinstance(carried.ending.error, JournalBroken)


@pytest.mark.parametrize("raised", [ValueError, SystemExit, asyncio.CancelledError])
def test_a_listener_that_raises_is_dropped_and_the_others_are_told(
    raised: type[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[AnyEvent] = []

    def faulty(event: AnyEvent) -> None:
        heard.append(event)
        raise raised

    carried = play(cases(5), echo, listeners=[faulty])
    assert carried.ending.how == "complete"
    assert len(heard) == 1
    assert len(carried.told(CaseStarted)) == len(carried.told(CaseFinished)) == 5
    assert raised.__name__ in capsys.readouterr().err


def test_events_say_what_is_on_record() -> None:
    @instant
    def right(output: int) -> bool:
        return output != 1

    carried = play(cases(3), echo, evaluators=[right])
    passed = {event.key.case: event.passed for event in carried.told(CaseFinished)}
    assert passed == {"case-0": True, "case-1": False, "case-2": True}
    gauge = carried.gauge
    assert (gauge.done, gauge.passed, gauge.failed, gauge.errors) == (3, 2, 1, 0)


def test_nobody_is_left_in_the_loop_after_a_run() -> None:
    async def main() -> set[str]:
        await carry_out(cases(10), slowly, evaluators=[fine], concurrency=3, retry_task=ANY)
        await asyncio.sleep(0)
        return {task.get_name() for task in asyncio.all_tasks()} - {asyncio.current_task().get_name()}  # type: ignore[union-attr]

    assert virtually(main) == set()
