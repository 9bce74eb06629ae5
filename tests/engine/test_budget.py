"""Budgets: when a run stops for want of one, and that many at once do not jointly overshoot."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.budget import Budget, Purse, Spent
from paceline.engine.lifecycle import CaseLifecycle
from paceline.engine.retry import Retry
from paceline.errors import UsageError
from paceline.evaluators.base import instant
from paceline.journal.records import Key
from paceline.tasks.notes import increment_eval_metric
from tests.engine.stage import Carried, cases, deaf, now, play, turn_of
from tests.engine.test_seen_calls import through_a_door


def costing(cost: float, *, seconds: float = 1.0) -> Any:
    async def task(number: int) -> int:
        await asyncio.sleep(seconds)
        increment_eval_metric("cost", cost)
        return number

    return task


def spent(carried: Carried) -> float:
    return carried.run.purse.spent.usd


def test_without_a_budget_nothing_is_counted() -> None:
    carried = play(cases(3), costing(1.0))
    assert carried.run.purse.unlimited
    assert spent(carried) == 0.0


def test_the_rest_is_skipped_when_the_money_is_spent_and_says_so() -> None:
    carried = play(cases(10), costing(0.3), budget=Budget(usd=1.0), concurrency=1)
    assert carried.ending.how == "budget"
    assert carried.ended == {"scored": 3, "skipped_budget": 7}
    error = carried.outcomes["case-9"].error
    assert error is not None
    assert "budget of 1 $" in error.message
    assert carried.outcomes["case-9"].attempt == 0


def test_a_budget_pays_for_as_many_as_it_says_to_the_cent() -> None:
    carried = play(cases(20), costing(0.1), budget=Budget(usd=1.0), concurrency=1)
    assert carried.ended["scored"] == 10


@given(
    cost=st.sampled_from([0.07, 0.25, 1.0]),
    ceiling=st.sampled_from([1.0, 2.5, 7.0]),
    concurrency=st.integers(1, 12),
    failures=st.integers(0, 2),
    lifecycle=st.booleans(),
    judged=st.booleans(),
)
def test_attempts_of_one_price_never_overshoot_however_many_are_at_once(
    cost: float, ceiling: float, concurrency: int, failures: int, lifecycle: bool, judged: bool
) -> None:
    """Retries, setups that take their time and evaluators that wait are no way around it."""
    tries: dict[int, int] = {}

    class Slow(CaseLifecycle[int, int, Any]):
        async def setup(self) -> None:
            await asyncio.sleep(1 + self.case.inputs % 3)

    async def task(number: int) -> int:
        await asyncio.sleep(1 + number % 2)
        increment_eval_metric("cost", cost)
        tries[number] = tries.get(number, 0) + 1
        if number % 2 and tries[number] <= failures:
            raise ConnectionError
        return number

    async def judge(output: int) -> bool:
        await asyncio.sleep(2)
        return True

    carried = play(
        cases(30),
        task,
        evaluators=[judge] if judged else [],
        budget=Budget(usd=ceiling),
        concurrency=concurrency,
        retry_task=Retry(attempts=3, base=1.0),
        lifecycle=Slow if lifecycle else None,
    )
    assert len(carried.outcomes) == 30
    assert spent(carried) <= ceiling + 1e-6
    assert spent(carried) == pytest.approx(cost * sum(tries.values()))
    if sum(tries.values()) * cost < ceiling - cost - 1e-6:
        assert carried.ended["scored"] == 30, "it stops for want of money only"


@given(costs=st.lists(st.floats(0.1, 1.0), min_size=40, max_size=40), concurrency=st.integers(1, 8))
def test_prices_that_vary_overshoot_by_no_more_than_those_in_flight_differ_from_the_mean(
    costs: list[float], concurrency: int
) -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(1)
        increment_eval_metric("cost", costs[number])
        return number

    carried = play(cases(40), task, budget=Budget(usd=5.0), concurrency=concurrency)
    assert spent(carried) <= 5.0 + concurrency * (max(costs) - min(costs)) + 1e-6


def test_until_the_first_price_is_known_one_case_runs_alone_and_then_all_places_are_used() -> None:
    begun: list[float] = []

    async def task(number: int) -> int:
        begun.append(now())
        await asyncio.sleep(5)
        increment_eval_metric("cost", 0.01)
        return number

    carried = play(cases(9), task, budget=Budget(usd=100.0), concurrency=8)
    assert begun == [0.0] + [5.0] * 8
    assert carried.ended == {"scored": 9}


def test_tokens_are_counted_by_any_of_their_names() -> None:
    async def task(number: int) -> int:
        if number % 2:
            increment_eval_metric("input_tokens", 60)
            increment_eval_metric("output_tokens", 40)
        else:
            increment_eval_metric("total_tokens", 100)
        return number

    carried = play(cases(20), task, budget=Budget(tokens=550), concurrency=4)
    assert carried.ended == {"scored": 5, "skipped_budget": 15}


def test_what_failed_attempts_and_late_ones_have_cost_counts_too() -> None:
    async def task(number: int) -> int:
        increment_eval_metric("cost", 1.0)
        if number == 0:
            raise ValueError
        if number == 1:
            await asyncio.sleep(1_000)
        if number == 2:
            await deaf(1_000)
        return number

    carried = play(cases(9), task, budget=Budget(usd=5.0), concurrency=1, timeout=10, grace=1)
    assert spent(carried) == 5.0
    assert carried.ended == {"task_error": 1, "timeout": 2, "scored": 2, "skipped_budget": 4}
    assert carried.outcomes["case-1"].metrics == {"cost": 1.0}
    assert carried.outcomes["case-2"].metrics == {"cost": 1.0}


def test_no_try_is_made_that_the_budget_does_not_pay_for() -> None:
    async def task(number: int) -> int:
        increment_eval_metric("cost", 1.0)
        raise ConnectionError

    retry = Retry(attempts=50, base=0.1, cap=0.1)
    carried = play(cases(4), task, budget=Budget(usd=6.0), concurrency=2, retry_task=retry)
    assert spent(carried) == 6.0
    assert len(carried.outcomes) == 4
    assert set(carried.ended) <= {"infra_error", "skipped_budget"}
    in_its_lane = play(
        cases(4), task, budget=Budget(usd=6.0), concurrency=2, retry_task=retry, lifecycle=CaseLifecycle
    )
    assert spent(in_its_lane) == 6.0
    assert len(in_its_lane.outcomes) == 4


def test_time_is_spent_over_all_processes_together() -> None:
    carried = play(
        cases(20), costing(0, seconds=10), budget=Budget(wall_s=50), concurrency=2, spent=Spent(wall_s=25)
    )
    assert carried.ended == {"scored": 6, "skipped_budget": 14}
    assert "time budget of 50 s" in carried.ending.reason


@pytest.mark.parametrize("how", ["error", "assertion", "landed assertion", "evaluator error"])
def test_failures_are_counted_whatever_they_are(how: str) -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(1)
        if how == "error":
            raise ValueError
        return number

    @instant
    def wrong(output: int) -> bool:
        return how != "assertion"

    async def early(output: int) -> bool:
        if how == "evaluator error":
            raise ValueError
        return how != "landed assertion"

    async def late(output: int) -> bool:
        await asyncio.sleep(5)
        return True

    carried = play(cases(9), task, evaluators=[wrong, early, late], budget=Budget(failures=2), concurrency=1)
    assert carried.ending.how == "budget"
    assert carried.ended["skipped_budget"] == 7


def test_with_fail_fast_what_is_in_flight_still_finishes() -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(1 + number)
        if number == 0:
            raise ValueError
        return number

    carried = play(cases(9), task, budget=Budget(failures=1), concurrency=3)
    assert carried.ended == {"task_error": 1, "scored": 2, "skipped_budget": 6}


def test_stored_answers_cost_nothing_and_are_scored_side_by_side() -> None:
    from paceline.engine.ports import Stored

    async def never(number: int) -> int:
        raise AssertionError("asked again")

    async def judge(output: int) -> bool:
        await asyncio.sleep(10)
        return True

    class Stack:
        expected = 6
        exhausted = False

        def __init__(self) -> None:
            stored = [turn_of(case, f"case-{case.inputs}", stored=Stored(output=1)) for case in cases(6)]
            self._turns = stored

        def take(self) -> Any:
            self.exhausted = not self._turns
            return self._turns.pop() if self._turns else None

        async def wait_for_more(self) -> None:
            raise AssertionError

    carried = play(None, never, source=Stack(), evaluators=[judge], budget=Budget(usd=1.0), concurrency=6)
    assert carried.ended == {"scored": 6}
    assert carried.seconds == 10.0


@pytest.mark.parametrize(("noted", "counted"), [(float("nan"), 0), (Decimal("0.5"), 1), (float("inf"), 0)])
def test_a_price_that_is_no_number_is_a_price_not_seen(noted: Any, counted: int) -> None:
    async def task(number: int) -> int:
        increment_eval_metric("cost", noted)
        return number

    carried = play(cases(3), task, budget=Budget(usd=100.0), concurrency=1)
    assert carried.ended == {"scored": 3}
    assert carried.run.purse.spent.priced == 3 * counted
    assert (carried.run.purse.unknown is None) == bool(counted)


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        ({"cost": 0.1, "tokens": 5}, None),
        ({"cost": 0.1}, "1 attempts did not say their tokens (metric `tokens`)"),
        ({"tokens": 1}, "1 attempts did not say what they cost (metric `cost`)"),
    ],
)
def test_what_could_not_be_seen_is_said(metrics: dict[str, float], told: str | None) -> None:
    purse = Purse(Budget(usd=1.0, tokens=10), Spent(), now=0.0)
    purse.settle(Key("a"), metrics)
    assert purse.unknown == told


@pytest.mark.parametrize("name", ["usd", "tokens", "wall_s", "failures"])
@pytest.mark.parametrize("ceiling", [0, -1, float("nan")])
def test_a_ceiling_is_above_nothing(name: str, ceiling: float) -> None:
    with pytest.raises(UsageError, match=name):
        Budget.of({name: ceiling})


def test_what_budget_accepts() -> None:
    assert Budget.of(None) == Budget()
    assert Budget.of({"usd": 2.0}) == Budget(usd=2.0)
    assert Budget.of(Budget(failures=1)).failures == 1
    with pytest.raises(UsageError, match="dollars") as caught:
        Budget.of({"dollars": 2.0})
    assert "usd" in caught.value.hint


# Judges


def judged_at(price: float | None, *, by_task: float | None = 0.0) -> Any:
    """A run of ten cases, one at a time, whose judge costs so much a case."""

    async def task(number: int) -> int:
        if by_task is not None:
            increment_eval_metric("cost", by_task)
        return number

    async def judge(output: int) -> bool:
        await through_a_door(waits=0, works=1, price=price)
        return True

    return play(cases(10), task, evaluators=[judge], budget=Budget(usd=1.0), concurrency=1, listens=True)


def test_what_judges_cost_counts_too() -> None:
    carried = judged_at(0.25)
    assert carried.ended["scored"] <= 5
    assert carried.run.purse.spent.usd == 0.25 * carried.ended["scored"]
    assert carried.ended["skipped_budget"] == 10 - carried.ended["scored"]


def test_what_they_cost_is_added_to_what_the_task_has_cost() -> None:
    assert judged_at(0.1, by_task=0.1).ended["scored"] in (5, 6)


def test_a_judge_of_unknown_price_is_not_taken_to_cost_nothing() -> None:
    carried = judged_at(None)
    assert carried.run.purse.unknown == "nobody knows what 10 calls of evaluators cost (`prices`)"


def test_the_tokens_of_judges_count_too() -> None:
    async def task(number: int) -> int:
        increment_eval_metric("tokens", 5)
        return number

    async def judge(output: int) -> bool:
        await through_a_door(waits=0, works=1)
        return True

    carried = play(
        cases(10), task, evaluators=[judge], budget=Budget(tokens=100), concurrency=1, listens=True
    )
    assert carried.run.purse.spent.tokens == 20 * carried.ended["scored"]
    assert carried.ended["scored"] <= 6
