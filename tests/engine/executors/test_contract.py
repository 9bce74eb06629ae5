"""What every place where attempts are carried out promises; one suite over all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paceline.engine.executors.local import LocalExecutor
from paceline.engine.executors.process import ProcessExecutor
from paceline.engine.ports import Attempted, Executor, Work
from paceline.journal.records import Key
from paceline.tasks.callable import CallableTask
from tests.engine import errands

Make = Callable[..., Executor]


@pytest.fixture(params=["local", "process"])
def make(request: pytest.FixtureRequest) -> Make:
    kind: Any = {"local": LocalExecutor, "process": ProcessExecutor}[request.param]

    def made(*tasks: Callable[..., Any], concurrency: int = 3) -> Executor:
        variants = {str(place or ""): CallableTask(task) for place, task in enumerate(tasks)}
        executor: Executor = kind(variants, concurrency=concurrency)
        return executor

    return made


def carried(executor: Executor, main: Callable[[], Any]) -> Any:
    async def whole() -> Any:
        await executor.start()
        try:
            return await main()
        finally:
            await executor.stop()

    return asyncio.run(whole())


def work(inputs: Any, variant: str = "") -> Work:
    return Work(Key("case", 0, variant), 1, inputs)


def test_it_answers_with_the_output_and_the_seconds_it_took(make: Make) -> None:
    executor = make(errands.sleep)
    attempted: Attempted = carried(executor, lambda: executor.attempt(work(0.05)))
    assert attempted.output == "slept"
    assert attempted.error is None
    assert 0.05 <= attempted.seconds < 5


def test_each_variant_has_its_task(make: Make) -> None:
    executor = make(errands.double, errands.double_later, errands.notes)

    async def main() -> list[Any]:
        return [(await executor.attempt(work(4, variant))).output for variant in ("", "1", "2")]

    assert carried(executor, main) == [8, 8, 4]


def test_it_carries_out_several_at_once(make: Make, tmp_path: Path) -> None:
    executor = make(errands.meet)

    async def main() -> list[Attempted]:
        return await asyncio.gather(*(executor.attempt(work((str(tmp_path), 3))) for _ in range(3)))

    assert [attempted.output for attempted in carried(executor, main)] == ["met"] * 3


@pytest.mark.parametrize(
    "kind", [ValueError, SystemExit, KeyboardInterrupt, asyncio.CancelledError, StopIteration]
)
def test_whatever_the_task_raises_comes_back_as_data(make: Make, kind: type[BaseException]) -> None:
    executor = make(errands.raises, errands.raises_in_child_task)

    async def main() -> list[Attempted]:
        return [await executor.attempt(work(kind, variant)) for variant in ("", "1")]

    for attempted in run_in_own_loop(executor, main):
        assert attempted.error is not None
        assert attempted.error_class == "permanent"


def run_in_own_loop(executor: Executor, main: Callable[[], Any]) -> list[Attempted]:
    """`asyncio.run` would end with a child task's `SystemExit`. On a thread, where no Ctrl-C is meant."""
    from paceline.engine.loop import run_to_end

    async def whole() -> Any:
        await executor.start()
        try:
            return await main()
        finally:
            await executor.stop()

    async def notebook() -> list[Attempted]:
        answers: list[Attempted] = run_to_end(whole)
        return answers

    return asyncio.run(notebook())


def test_what_the_task_notes_comes_back_also_where_it_fails(make: Make) -> None:
    executor = make(errands.notes, errands.notes_and_fails)

    async def main() -> list[Attempted]:
        return [await executor.attempt(work(5)), await executor.attempt(work(6, "1"))]

    fine, failed = carried(executor, main)
    assert (fine.metrics, fine.attributes["number"]) == ({"calls": 5}, 5)
    assert (failed.metrics, failed.attributes) == ({"calls": 6}, {"number": 6})


def test_an_attempt_is_given_up_by_cancelling_the_call_and_the_place_is_free_again(make: Make) -> None:
    executor = make(errands.sleep, concurrency=1)

    async def main() -> Attempted:
        given_up = asyncio.ensure_future(executor.attempt(work(2.0)))
        await asyncio.sleep(0.1)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        return await asyncio.wait_for(executor.attempt(work(0.0)), 1.9)

    assert carried(executor, main).output == "slept"


def test_more_attempts_than_places_wait_with_their_clock_standing_still(make: Make) -> None:
    class Stopwatch:
        def __init__(self) -> None:
            self.told: list[str] = []

        def hold(self) -> None:
            self.told.append("hold")

        def go(self) -> None:
            self.told.append("go")

    executor = make(errands.sleep, concurrency=2)

    async def main() -> list[tuple[Attempted, list[str]]]:
        await asyncio.gather(*(executor.attempt(work(0.0)) for _ in range(2)))  # so that all is warm

        async def one() -> tuple[Attempted, list[str]]:
            asked, watch = work(0.1), Stopwatch()
            asked.stopwatch = watch
            return await executor.attempt(asked), watch.told

        return await asyncio.gather(*(one() for _ in range(6)))

    answers = carried(executor, main)
    at_once, later = answers[:2], answers[2:]
    assert all(told == [] and attempted.waited == 0 for attempted, told in at_once)
    assert all(told == ["hold", "go"] and attempted.waited > 0 for attempted, told in later)
    assert all(attempted.seconds < 0.25 for attempted, _told in answers)


def test_what_was_waited_before_the_attempt_is_not_taken_from_its_seconds(make: Make) -> None:
    executor = make(errands.sleep)
    waited = work(0.05)
    waited.waited = 100.0
    attempted: Attempted = carried(executor, lambda: executor.attempt(waited))
    assert attempted.seconds >= 0.05
    assert attempted.waited >= 100.0
