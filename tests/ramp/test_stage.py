"""A level held with real cases: on the engine, on record, and no wider than it says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from paceline.api import Dataset, job_of
from paceline.conduct import Conductor
from paceline.conduct.limiting import Limiting
from paceline.conduct.unseen import UnseenCalls
from paceline.dataset.case import Case
from paceline.engine.ports import Turn
from paceline.journal.memory import MemoryJournal
from paceline.journal.records import OutcomeLine
from paceline.options import Options
from paceline.pace.ceilings import limits_for
from paceline.pace.desk import Desk
from paceline.pace.messages import Limits, PoolId, Result
from paceline.ramp.seen import Glimpse, Halt, LevelRun
from paceline.ramp.stage import Now, RunStage
from paceline.sim.provider import Admitted
from paceline.sim.provider import Provider as Simulated
from paceline.sim.scenario import Scenario

POOL = PoolId("openai", "https://example.test", "m")


def go_on(glimpse: Glimpse) -> Halt | None:  # whatever is seen
    return None


class Provider:
    """Answers when it is told to, and knows how many asked at once."""

    def __init__(self) -> None:
        self.desk: Desk
        self.at_once = self.most = self.asked = 0
        self.answers: Callable[[int], Result] = lambda number: Result(tokens=100.0)

    async def ask(self) -> Result:
        """A call of a model, as a door would make it."""
        grant = await self.desk.acquire(POOL)
        self.asked += 1
        number = self.asked
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0.002)
        self.at_once -= 1
        result = self.answers(number)
        self.desk.settle(grant, result)
        return result


class Held:
    """A stage, its cases, and the record that it writes."""

    def __init__(
        self, stage: RunStage, turns: Sequence[Turn], record: MemoryJournal, looks: list[Now]
    ) -> None:
        self.stage = stage
        self.turns = turns
        self.record = record
        self.looks = looks

    @property
    def outcomes(self) -> dict[str, str]:
        """How cases have ended, as it is on record."""
        entries = (getattr(entry, "line", None) for entry in self.record.source().entries())
        return {line.case: line.outcome for line in entries if isinstance(line, OutcomeLine)}


@asynccontextmanager
async def a_stage(
    provider: Provider, task: Callable[[int], Any], *, stated: Limits | None = None, **options: Any
) -> AsyncIterator[Held]:
    dataset = Dataset[Any, Any, Any](
        name="held",
        cases=[Case(name=f"case-{n}", inputs=n) for n in range(60)],
        evaluators=[lambda output: True],
    )
    job = job_of(dataset, task, Options(journal=False, adaptive=False, **options))
    conductor = Conductor(job)
    todo = conductor.prepare()
    record = conductor.recorder(todo)
    assert isinstance(record, MemoryJournal)
    provider.desk = Desk(adaptive=False)
    looks: list[Now] = []
    with record:
        stage = RunStage(
            executor=UnseenCalls(conductor.plain_executor(50), desk=provider.desk),
            recorder=record,
            flush=record.flush,
            plan=conductor.plan,
            desk=provider.desk,
            stated=partial(limits_for, general=stated or Limits(), per_pool={}),
            gauge=conductor.gauge,
            limiting=Limiting(time.monotonic()),
            show=looks.append,
        )
        await stage.executor.start()
        try:
            yield Held(stage, list(iter(todo.source.take, None)), record, looks)
        finally:
            await stage.executor.stop()
            provider.desk.close()


def run(what: Callable[[], Any]) -> Any:
    return asyncio.run(what())


# What a level is


@pytest.mark.parametrize("level", [1, 3, 20])
def test_so_many_cases_are_in_progress_and_so_many_calls_in_flight(level: int) -> None:
    provider = Provider()

    async def task(n: int) -> int:
        # Several calls of one case are held to the level too.
        await asyncio.gather(provider.ask(), provider.ask(), provider.ask())
        return n

    async def main() -> LevelRun:
        async with a_stage(provider, task) as held:
            return await held.stage.hold(level, held.turns[:40], go_on)

    seen = run(main)
    assert provider.most == level
    assert (seen.begun, len(seen.done), len(seen.tries), seen.unit) == (40, 40, 120, "call")
    assert {each.pool for each in seen.tries} == {"openai:m"}
    assert all(each.tokens == 100.0 for each in seen.tries)
    assert seen.started <= seen.held_until <= seen.ended


def test_calls_that_nobody_sees_are_judged_by_attempts() -> None:
    async def task(n: int) -> int:
        await asyncio.sleep(0.001)
        if n % 4 == 0:
            raise ValueError("no")
        return n

    async def main() -> LevelRun:
        async with a_stage(Provider(), task) as held:
            return await held.stage.hold(5, held.turns[:20], go_on)

    seen = run(main)
    assert seen.unit == "case"
    assert len(seen.tries) == 20
    assert sum(not each.ok for each in seen.done) == 5
    assert {each.error for each in seen.done} == {"", "ValueError: no"}


def test_levels_go_into_one_record_each_case_once() -> None:
    provider = Provider()

    async def task(n: int) -> int:
        await provider.ask()
        return n

    async def main() -> tuple[dict[str, str], Held]:
        async with a_stage(provider, task) as held:
            await held.stage.hold(2, held.turns[:10], go_on)
            assert len(held.outcomes) == 10, "on record when it returns"
            await held.stage.hold(4, held.turns[10:30], go_on)
            return held.outcomes, held

    outcomes, held = run(main)
    assert set(outcomes.values()) == {"scored"}
    assert len(outcomes) == 30
    assert provider.asked == 30
    assert held.stage.gauge.done == 30


def test_a_limit_that_somebody_has_set_holds_at_every_level() -> None:
    provider = Provider()

    async def task(n: int) -> int:
        await provider.ask()
        return n

    async def main() -> LevelRun:
        async with a_stage(provider, task, stated=Limits(window=4)) as held:
            return await held.stage.hold(20, held.turns, go_on)

    run(main)
    assert provider.most == 4


def test_a_rate_is_only_for_the_pool_that_has_rejected() -> None:
    provider = Provider()
    provider.answers = lambda number: (
        Result(outcome="rate_limited", cause="requests") if number == 3 else Result()
    )
    other = PoolId("openai", "https://example.test", "judge")

    async def task(n: int) -> int:
        await provider.ask()
        provider.desk.settle(await provider.desk.acquire(other), Result())
        return n

    async def main() -> dict[str, float | None]:
        async with a_stage(provider, task) as held:
            await held.stage.hold(2, held.turns[:10], go_on)
            await held.stage.hold(2, held.turns[10:20], go_on, rps=500.0)
            return {facts.id.model: facts.rate for facts in provider.desk.facts()}

    rates = run(main)
    assert rates["m"] == 500.0
    assert rates["judge"] is None


# How a level ends early


def test_what_was_begun_is_finished_when_a_level_has_told_enough() -> None:
    provider = Provider()

    async def task(n: int) -> int:
        await provider.ask()
        return n

    def enough(glimpse: Glimpse) -> Halt | None:
        return Halt(kind="enough", reason="so it is") if glimpse.tries else None

    async def main() -> tuple[LevelRun, dict[str, str], int]:
        async with a_stage(provider, slow, timeout=30) as held:
            seen = await held.stage.hold(5, held.turns, enough)
            return seen, held.outcomes, len(held.looks)

    async def slow(n: int) -> int:
        await provider.ask()
        await asyncio.sleep(0.1)
        return n

    seen, outcomes, looks = run(main)
    assert seen.halt is not None
    assert seen.halt.kind == "enough"
    assert 5 <= seen.begun < 60
    assert set(outcomes.values()) == {"scored"}
    assert len(outcomes) == seen.begun, "those that were not begun are open, and are not on record"
    assert seen.halted is not None
    assert looks


def test_a_level_that_has_met_its_limit_is_brought_to_its_end_at_the_pace_that_was_let_in() -> None:
    provider = Provider()
    rates: list[float | None] = []
    bucket = Simulated(Scenario.of({"rpm": 1200, "latency": 0.05}))
    began = time.monotonic()

    def answer(number: int) -> Result:  # each is as good as another
        came = bucket.arrive(time.monotonic() - began, input_tokens=50.0, output_tokens=50.0)
        if isinstance(came, Admitted):
            bucket.leave(came.id, time.monotonic() - began)
            return Result(tokens=100.0)
        return Result(outcome="rate_limited", cause="requests", retry_after=came.retry_after)

    provider.answers = answer

    async def task(n: int) -> int:
        while (await provider.ask()).outcome != "ok":
            pass
        return n

    def limited(glimpse: Glimpse) -> Halt | None:
        rejected = sum(each.outcome == "rate_limited" for each in glimpse.tries)
        return Halt(kind="limit", reason="so it is") if rejected > 8 else None

    async def main() -> LevelRun:
        async with a_stage(provider, task) as held:
            seen = await held.stage.hold(50, held.turns, limited)
            rates.extend(facts.rate for facts in provider.desk.facts() if facts.id == POOL)
            return seen

    seen = run(main)
    assert seen.halt is not None
    assert all(each.ok for each in seen.done)
    assert rates[0] is not None, "it adapts: while levels are held, no rate is kept"


def test_failures_that_end_a_level_let_nothing_more_be_tried() -> None:
    async def task(n: int) -> int:
        await asyncio.sleep(0.05)
        raise ConnectionError("refused")

    def harm(glimpse: Glimpse) -> Halt | None:
        failed = [each for each in glimpse.tries if each.outcome != "ok"]
        return Halt(kind="errors", reason="too many") if failed else None

    async def main() -> tuple[LevelRun, dict[str, str]]:
        async with a_stage(Provider(), task) as held:
            seen = await held.stage.hold(4, held.turns, harm)
            return seen, held.outcomes

    seen, outcomes = run(main)
    assert seen.begun < 60
    assert set(outcomes.values()) <= {"cancelled", "infra_error", "task_error"}
    assert len(seen.tries) < 3 * seen.begun, "what waited to be tried again was not"


def test_an_interrupt_ends_this_level_and_those_after_it() -> None:
    provider = Provider()
    stages: list[RunStage] = []

    async def task(n: int) -> int:
        if n == 6:
            stages[0].drain("SIGINT received")
        await provider.ask()
        return n

    async def main() -> tuple[LevelRun, LevelRun]:
        async with a_stage(provider, task) as held:
            stages.append(held.stage)
            first = await held.stage.hold(2, held.turns[:40], go_on)
            return first, await held.stage.hold(2, held.turns[40:], go_on)

    first, second = run(main)
    assert first.halt is not None
    assert (first.halt.kind, first.halt.reason, first.interrupts) == ("interrupt", "SIGINT received", 1)
    assert 6 < first.begun < 10
    assert (second.begun, second.tries) == (0, [])


def test_a_budget_ends_a_level_and_leaves_its_other_cases_open() -> None:
    from paceline import increment_eval_metric

    async def task(n: int) -> int:
        increment_eval_metric("cost", 0.1)
        return n

    async def main() -> tuple[LevelRun, dict[str, str], float]:
        async with a_stage(Provider(), task, budget={"usd": 1.0}) as held:
            first = await held.stage.hold(1, held.turns[:4], go_on)
            assert first.halt is None
            assert [each.cost for each in first.done] == [0.1] * 4
            return await held.stage.hold(3, held.turns[4:], go_on), held.outcomes, held.stage.spent.usd

    seen, outcomes, spent = run(main)
    assert seen.halt is not None
    assert seen.halt.kind == "budget"
    assert spent <= 1.0 + 1e-9
    assert set(outcomes.values()) == {"scored"}
    assert len(outcomes) == 10


def test_a_provider_that_closes_ends_the_level() -> None:
    provider = Provider()
    stages: list[RunStage] = []

    async def task(n: int) -> int:
        if n == 3:
            stages[0].close("the money is spent")
        await provider.ask()
        return n

    async def main() -> LevelRun:
        async with a_stage(provider, task) as held:
            stages.append(held.stage)
            return await held.stage.hold(2, held.turns, go_on)

    seen = run(main)
    assert seen.halt is not None
    assert (seen.halt.kind, seen.halt.reason) == ("closed", "the money is spent")
    assert seen.begun < 8


def test_a_defect_of_whoever_judges_is_not_passed_over() -> None:
    async def task(n: int) -> int:
        await asyncio.sleep(0.05)
        return n

    def broken(glimpse: Glimpse) -> Halt | None:
        raise ZeroDivisionError

    async def main() -> None:
        async with a_stage(Provider(), task) as held:
            await held.stage.hold(4, held.turns, broken)

    with pytest.raises(ZeroDivisionError):
        run(main)


def test_a_sweep_that_is_cancelled_leaves_what_is_done_on_record() -> None:
    provider = Provider()

    async def task(n: int) -> int:
        if n > 5:
            await asyncio.sleep(60)
        return n

    async def main() -> dict[str, str]:
        async with a_stage(provider, task) as held:
            holding = asyncio.ensure_future(held.stage.hold(2, held.turns, go_on))
            while held.stage.gauge.done < 6:  # the gauge tells nobody
                await asyncio.sleep(0.01)
            holding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await holding
            return held.outcomes

    outcomes = run(main)
    assert sorted(outcomes.values()) == ["cancelled"] * 2 + ["scored"] * 6
