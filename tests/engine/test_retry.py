"""Whether and when a failed attempt is tried again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.ports import Attempted
from paceline.engine.retry import (
    ERROR_CLASSES,
    HELPED_BY_RETRY,
    NO_RETRY,
    Retry,
    TenacityRetry,
    next_wait,
    retry_policy,
)
from paceline.errors import UsageError
from paceline.journal.records import AttemptLine, ErrorClass, ErrorFacts
from tests.engine.stage import cases, now, play

tenacity = pytest.importorskip("tenacity", reason="tenacity is not installed")


def failed(
    error_class: ErrorClass = "transient",
    *,
    asked: float | None = None,
    exception: BaseException | None = None,
    seconds: float = 1.0,
) -> Attempted:
    return Attempted(
        error=ErrorFacts(type="Error", message="no luck"),
        error_class=error_class,
        retry_after=asked,
        exception=exception,
        seconds=seconds,
    )


def waits(policy: Any, attempted: Attempted, *, seed: int = 0, elapsed: float = 0.0) -> list[float]:
    """The waits that a policy grants, one try after the other."""
    dice = random.Random(seed)
    granted: list[float] = []
    while (wait := next_wait(policy, attempted, len(granted) + 1, elapsed=elapsed, dice=dice)) is not None:
        granted.append(wait)
        assert len(granted) < 100
    return granted


@given(
    attempts=st.integers(1, 9),
    base=st.floats(0, 100),
    cap=st.floats(0, 100),
    asked=st.none() | st.floats(0, 1_000),
    seed=st.integers(0, 9),
)
def test_tries_are_bounded_and_waits_are_jittered_within_bounds_and_never_shorter_than_asked(
    attempts: int, base: float, cap: float, asked: float | None, seed: int
) -> None:
    policy = Retry(attempts=attempts, base=base, cap=cap)
    granted = waits(policy, failed(asked=asked), seed=seed)
    assert len(granted) == attempts - 1
    for place, wait in enumerate(granted):
        most = min(cap, base * 2**place)
        least = min(asked or 0.0, policy.longest_asked)
        assert least <= wait <= max(most, least)


def test_waits_differ_from_case_to_case() -> None:
    policy = Retry(attempts=2, base=10.0)
    assert len({waits(policy, failed(), seed=seed)[0] for seed in range(50)}) == 50


@pytest.mark.parametrize("error_class", ERROR_CLASSES)
def test_by_default_only_what_another_try_can_help_is_tried_again(error_class: ErrorClass) -> None:
    helped = error_class in {"rate_limited", "transient", "infrastructure"}
    assert bool(waits(Retry(), failed(error_class))) == helped
    assert bool(waits(Retry(on=None), failed(error_class)))
    assert bool(waits(Retry(on=frozenset({"timeout"})), failed(error_class))) == (error_class == "timeout")


def test_a_run_never_tries_again_what_it_has_cut_off_itself() -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(10)
        return number

    async def cancel(run: Any) -> None:
        await asyncio.sleep(5)
        run.cancel("enough")

    carried = play(cases(1), task, retry_task=Retry(attempts=9, on=None), during=cancel)
    assert carried.begun("case-0") == 1


def test_every_try_is_on_record_with_its_error_and_the_wait_after_it() -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(1)
        raise ConnectionError(f"at {now():g}")

    carried = play(cases(1), task, retry_task=Retry(attempts=3, base=10.0))
    lines = carried.of(AttemptLine)
    assert [line.attempt for line in lines] == [1, 2]
    assert [line.error_class for line in lines] == ["transient", "transient"]
    outcome = carried.outcomes["case-0"]
    assert (outcome.outcome, outcome.attempt) == ("infra_error", 3)
    assert outcome.waited > 0
    assert outcome.waited == pytest.approx(sum(line.retry_in for line in lines))
    assert outcome.seconds == 1.0, "the latency is that of one attempt, without any waiting"
    assert carried.seconds == pytest.approx(3 + outcome.waited)
    assert carried.gauge.retries == 2
    assert carried.gauge.waited == pytest.approx(outcome.waited)


def test_what_a_provider_asks_for_is_waited_for() -> None:
    class Limited(Exception):
        status_code = 429
        response = type("Response", (), {"headers": {"retry-after": "42"}})()

    begun: list[float] = []

    async def task(number: int) -> int:
        begun.append(now())
        if len(begun) == 1:
            raise Limited
        return number

    play(cases(1), task, retry_task=Retry(base=0.0))
    assert begun == [0.0, 42.0]


def test_an_evaluator_is_tried_again_by_the_same_rules_and_holds_no_place_meanwhile() -> None:
    tries: dict[int, int] = {}
    calls: list[tuple[int, float]] = []

    async def echo(number: int) -> int:
        return number

    async def judge(output: int) -> bool:
        calls.append((output, now()))
        await asyncio.sleep(1)
        tries[output] = tries.get(output, 0) + 1
        if output == 0 and tries[output] < 3:
            raise ConnectionError
        return True

    carried = play(
        cases(4),
        echo,
        evaluators=[judge],
        evaluator_concurrency=1,
        retry_evaluators=Retry(base=500.0, cap=500.0),
    )
    assert carried.ended == {"scored": 4}
    assert [output for output, _when in calls][:4] == [0, 1, 2, 3]
    assert tries[0] == 3


# What users write


@pytest.mark.parametrize(
    ("given_", "policy"),
    [
        (None, Retry()),
        (True, Retry()),
        (False, NO_RETRY),
        (0, NO_RETRY),
        (1, Retry(attempts=1, on=None)),
        (5, Retry(attempts=5, on=None)),
        ({"attempts": 5}, Retry(attempts=5)),
        ({}, Retry()),
        ({"base": 0.5, "cap": 3}, Retry(base=0.5, cap=3)),
        ({"attempts": 2, "on": "any"}, Retry(attempts=2, on=None)),
        ({"attempts": 2, "on": None}, Retry(attempts=2, on=None)),
        ({"on": "timeout"}, Retry(on=frozenset({"timeout"}))),
        ({"on": ["timeout", "transient"]}, Retry(on=frozenset({"timeout", "transient"}))),
        (Retry(attempts=7), Retry(attempts=7)),
    ],
)
def test_what_retry_accepts(given_: object, policy: Retry) -> None:
    assert retry_policy(given_, default=Retry()) == policy


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        (-1, "attempts >= 1"),
        (2.5, "a number or a mapping"),
        ("three", "a number or a mapping"),
        ({"attempts": 0}, "attempts >= 1"),
        ({"base": -1}, "waits >= 0"),
        ({"on": ["rate_limit"]}, "rate_limit"),
        ({"attempt": 3}, "unknown keys attempt"),
        ({"stop": None, "tries": 3}, "unknown keys tries"),
    ],
    ids=repr,
)
def test_what_retry_does_not_accept_is_said_before_anything_runs(given_: object, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        retry_policy(given_, default=Retry())
    assert caught.value.hint


def test_a_plain_number_tries_anything_again() -> None:
    tries: list[int] = []

    async def task(number: int) -> int:
        tries.append(number)
        if len(tries) < 4:
            raise [ValueError, SystemExit, asyncio.CancelledError][len(tries) - 1]
        return number

    carried = play(cases(1), task, retry_task=retry_policy(4, default=Retry()))
    assert carried.ended == {"scored": 1}


# Tenacity's words


def test_a_dictionary_of_tenacity_means_what_it_says() -> None:
    policy = retry_policy(
        {"stop": tenacity.stop_after_attempt(4), "wait": tenacity.wait_fixed(7), "reraise": True},
        default=Retry(),
    )
    assert waits(policy, failed("permanent", exception=ValueError())) == [7.0, 7.0, 7.0]
    assert waits(policy, failed("cancelled", exception=asyncio.CancelledError())) == [], "no Exception"


def test_without_stop_there_is_an_end_all_the_same() -> None:
    policy = retry_policy({"reraise": True}, default=Retry())
    assert waits(policy, failed(exception=ValueError())) == [0.0] * (TenacityRetry.longest - 1)


def test_tenacitys_rules_see_the_exception() -> None:
    policy = retry_policy(
        {"retry": tenacity.retry_if_exception_type(KeyError), "stop": tenacity.stop_after_attempt(2)},
        default=Retry(),
    )
    assert len(waits(policy, failed(exception=KeyError()))) == 1
    assert waits(policy, failed(exception=ValueError())) == []


def test_an_attempt_that_was_late_is_a_timeout_error_to_tenacitys_rules() -> None:
    policy = retry_policy(
        {"retry": tenacity.retry_if_exception_type(TimeoutError), "stop": tenacity.stop_after_attempt(2)},
        default=Retry(),
    )
    assert len(waits(policy, failed("timeout"))) == 1
    assert waits(policy, failed("infrastructure")) == []


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (tenacity.stop_after_delay(85), [0.0, 30.0, 60.0, 90.0]),
        (tenacity.stop_before_delay(85), [0.0, 30.0, 60.0]),
    ],
)
def test_a_stop_after_a_delay_counts_from_the_first_attempt(stop: Any, expected: list[float]) -> None:
    tries: list[float] = []

    async def task(number: int) -> int:
        tries.append(now())
        await asyncio.sleep(10)
        raise ValueError

    policy = retry_policy({"stop": stop, "wait": tenacity.wait_fixed(20)}, default=Retry())
    play(cases(1), task, retry_task=policy)
    assert tries == expected


@pytest.mark.parametrize("odd", [float("nan"), -5.0, float("inf")])
def test_a_wait_that_is_no_time_does_not_hold_a_run_up_for_ever(odd: float) -> None:
    policy = retry_policy(
        {"stop": tenacity.stop_after_attempt(2), "wait": lambda _state: odd}, default=Retry()
    )
    (wait,) = waits(policy, failed(exception=ValueError()))
    assert 0 <= wait < 1e6


def _raising(_state: Any) -> Any:
    raise ZeroDivisionError("my rule is broken")


@pytest.mark.parametrize("rule", ["retry", "stop", "wait"])
@pytest.mark.parametrize("where", ["task", "evaluator"])
def test_a_rule_that_raises_is_told_with_the_error_and_nothing_else_suffers(rule: str, where: str) -> None:
    async def task(number: int) -> int:
        if where == "task" and number == 1:
            raise ValueError("the real trouble")
        return number

    async def judge(output: int) -> bool:
        if where == "evaluator" and output == 1:
            raise ValueError("the real trouble")
        return True

    async def other(output: int) -> bool:
        await asyncio.sleep(1)
        return True

    policy = retry_policy({rule: _raising, "reraise": True}, default=Retry())
    carried = play(
        cases(3),
        task,
        evaluators=[judge, other],
        **{"retry_task" if where == "task" else "retry_evaluators": policy},
    )
    assert carried.ending.how == "complete"
    assert carried.ended["scored"] == 2
    outcome = carried.outcomes["case-1"]
    error = outcome.error if where == "task" else outcome.failures[0].error
    assert error is not None
    assert "the real trouble" in error.message
    assert "my rule is broken" in error.message


@pytest.mark.parametrize("rule", ["retry", "stop", "wait", "after", "before_sleep"])
def test_an_async_rule_is_refused_before_anything_runs(rule: str) -> None:
    async def rule_of_mine(state: Any) -> bool:
        return True

    with pytest.raises(UsageError, match=rule):
        retry_policy({rule: rule_of_mine}, default=Retry())


@pytest.mark.parametrize("callback", ["after", "before_sleep"])
def test_what_tenacity_would_call_between_tries_is_called(callback: str) -> None:
    seen: list[tuple[int, float | None, str]] = []

    def note(state: Any) -> None:
        seen.append((state.attempt_number, state.upcoming_sleep, str(state.outcome.exception())))

    policy = retry_policy(
        {"stop": tenacity.stop_after_attempt(3), "wait": tenacity.wait_fixed(7), callback: note},
        default=Retry(),
    )
    waits(policy, failed(exception=ValueError("no luck")))
    if callback == "after":
        assert seen == [(number, 0.0, "no luck") for number in (1, 2, 3)]
    else:
        assert seen == [(number, 7.0, "no luck") for number in (1, 2)]


def test_a_rule_about_results_asks_for_another_answer_and_every_one_of_them_counts_as_an_attempt() -> None:
    answers = {0: ["", "", "yes"], 1: ["", "", "", "never"], 2: ["at once"]}
    calls: list[int] = []

    async def task(number: int) -> str:
        calls.append(number)
        return answers[number].pop(0)

    policy = retry_policy(
        {
            "retry": tenacity.retry_if_result(lambda answer: not answer),
            "stop": tenacity.stop_after_attempt(3),
            "wait": tenacity.wait_fixed(1),
        },
        default=Retry(),
    )
    carried = play(cases(3), task, retry_task=policy)
    assert sorted(calls) == [0, 0, 0, 1, 1, 1, 2]
    assert carried.ended == {"scored": 2, "task_error": 1}
    error = carried.outcomes["case-1"].error
    assert error is not None
    assert error.message == "the retry policy has turned down the answer ''"
    assert carried.outcomes["case-0"].attempt == 3
    turned_down = [line.error.type for line in carried.lines if isinstance(line, AttemptLine)]
    assert turned_down == ["paceline.engine.retry.TurnedDown"] * 4


def test_a_rule_about_results_is_asked_of_evaluators_too() -> None:
    said = [{}, {}, {"fine": True}]

    async def judge(output: int) -> Any:
        return said.pop(0)

    policy = retry_policy(
        {"retry": tenacity.retry_if_result(lambda answer: answer == {}), "wait": tenacity.wait_fixed(1)},
        default=Retry(),
    )
    carried = play(cases(1), echo, evaluators=[judge], retry_evaluators=policy)
    (score,) = carried.outcomes["case-0"].scores
    assert (score.name, said) == ("fine", [])


def test_a_rule_that_cannot_judge_an_answer_does_not_cost_it() -> None:
    policy = retry_policy({"retry": lambda state: state.outcome.exception().status == 429}, default=Retry())
    assert play(cases(1), echo, retry_task=policy).ended == {"scored": 1}


def test_an_answer_in_the_place_of_a_failure_is_refused() -> None:
    with pytest.raises(UsageError, match="retry_error_callback"):
        retry_policy({"retry_error_callback": lambda _state: "fine"}, default=Retry())


async def echo(number: int) -> int:
    return number


def test_the_classes_that_a_policy_may_name_are_those_there_are() -> None:
    assert set(ERROR_CLASSES) >= HELPED_BY_RETRY


Policies = st.one_of(
    st.builds(Retry, attempts=st.integers(1, 5), base=st.floats(0, 5), on=st.none()),
    st.just(None).map(lambda _none: retry_policy({"stop": tenacity.stop_after_attempt(3)}, default=Retry())),
)


@given(policy=Policies, elapsed=st.floats(0, 1e6), tries=st.integers(1, 60))
def test_a_policy_answers_with_a_time_or_nothing(policy: Any, elapsed: float, tries: int) -> None:
    ask: Callable[..., float | None] = policy.wait
    wait = ask(failed(exception=ValueError()), tries, elapsed=elapsed, dice=random.Random(0))
    assert wait is None or 0 <= wait < 1e6
