"""Which tools were called, and in which order; and that none has failed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators import CalledBefore, ForbiddenTools, NoFailedTools, NoTrajectory, ToolCorrectness
from tests.evaluators.cases import finished
from tests.evaluators.trajectories.told import Call, after, holds, of, openai, said

names = st.lists(st.sampled_from("abc"), max_size=6)
FAILED = Call("a", failed=True, result="no such file")


# ToolCorrectness


@given(called=names, expected=names)
def test_tools_are_compared_as_often_as_they_were_called_and_in_any_order(
    called: list[str], expected: list[str]
) -> None:
    assert holds(ToolCorrectness(expected), *called) is (Counter(called) == Counter(expected))
    assert holds(ToolCorrectness(expected, allow_extra=True), *called) is (
        Counter(expected) <= Counter(called)
    )


def test_the_reason_says_what_is_missing_and_what_is_too_much() -> None:
    value, why = said(ToolCorrectness(["a", "a", "b"]), after("a", "c"))
    assert value is False
    assert why == "missing tools: 'a' (x1), 'b' (x1); unexpected tools: 'c' (x1)"


def test_calls_that_failed_count_only_if_they_are_to() -> None:
    assert holds(ToolCorrectness([]), FAILED)
    assert holds(ToolCorrectness(["a"], include_failed=True), FAILED)
    assert not holds(ToolCorrectness(["a"]), FAILED)


# ForbiddenTools


@given(called=names, forbidden=names.filter(bool))
def test_no_forbidden_tool_may_be_called(called: list[str], forbidden: list[str]) -> None:
    assert holds(ForbiddenTools(forbidden), *called) is not bool(set(called) & set(forbidden))


def test_a_forbidden_call_that_failed_was_made_all_the_same() -> None:
    value, why = said(ForbiddenTools(["a"]), after(FAILED, "b"))
    assert (value, why) == (False, "forbidden tools: 'a' (x1)")


# CalledBefore


@given(called=names)
def test_every_call_of_the_one_comes_after_one_of_the_other(called: list[str]) -> None:
    text = "".join(called)
    assert holds(CalledBefore("a", "b"), *called) is ("b" in text and "a" in text[: text.index("b")])


def test_where_the_later_one_was_never_called_it_fails_or_says_nothing() -> None:
    assert said(CalledBefore("a", "b"), after("a")) == (False, "'b' was never called")
    assert CalledBefore("a", "b", only_if_called=True).evaluate(after("a")) == {}
    assert not holds(CalledBefore("a", "b", only_if_called=True), "b")


def test_what_came_before_has_to_have_succeeded() -> None:
    value, why = said(CalledBefore("a", "b"), after(FAILED, "b"))
    assert (value, why) == (False, "'a' had only failed when 'b' was called")
    assert holds(CalledBefore("a", "b", include_failed=True), FAILED, "b")
    assert not holds(CalledBefore("a", "b"), Call("b", failed=True), "a"), "it was tried too early"


# NoFailedTools


def test_one_call_that_failed_is_enough() -> None:
    assert holds(NoFailedTools(), "a", "b")
    assert holds(NoFailedTools()), "there was none to fail"
    value, why = said(NoFailedTools(), after("b", FAILED))
    assert (value, why) == (False, "1 of 2 calls failed: a ('no such file')")


def test_only_the_tools_that_are_named_count() -> None:
    assert holds(NoFailedTools(["b"]), FAILED, "b")
    assert not holds(NoFailedTools(["a"]), FAILED, "b")


def test_where_nobody_says_whether_a_tool_failed_that_is_an_error_and_no_pass() -> None:
    with pytest.raises(NoTrajectory, match="whether 'a' has failed is not known"):
        NoFailedTools().evaluate(finished(openai(of("a"))))
    unanswered = finished(openai(of(Call("a", result=None))))
    assert said(NoFailedTools(), unanswered) == (True, "")


def test_a_failure_can_be_known_by_its_words() -> None:
    by_words = NoFailedTools(failed_when=["Error:", "Traceback"])
    assert said(by_words, finished(openai(of(Call("a", result="all is well"))))) == (True, "")
    assert said(by_words, finished(openai(of(Call("a", result="Error: 404")))))[0] is False
    assert not holds(by_words, Call("a", result="Error: 404")), "also where nothing is said to have failed"


@pytest.mark.parametrize(
    "make",
    [
        lambda: ToolCorrectness("search"),  # type: ignore[arg-type]
        lambda: ToolCorrectness([1]),  # type: ignore[list-item]
        lambda: ForbiddenTools([]),
        lambda: CalledBefore("a", 2),  # type: ignore[arg-type]
        lambda: NoFailedTools("a"),  # type: ignore[arg-type]
        lambda: NoFailedTools(failed_when=[""]),
        lambda: NoFailedTools(failed_when=[]),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_write(make: Any) -> None:
    with pytest.raises(UsageError) as refused:
        make()
    assert refused.value.hint
