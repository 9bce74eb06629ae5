"""An exception becomes facts, bounded, and the facts a class."""

from __future__ import annotations

import asyncio
import linecache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.failures import (
    FRAMES_LOOKED_AT,
    MESSAGE_LIMIT,
    TRACE_LIMIT,
    classify,
    clip,
    describe,
    retry_after,
)
from paceline.journal.encoding import encode_line, parse
from paceline.journal.records import OutcomeLine


def raised(error: BaseException) -> BaseException:
    """The exception with a traceback, as it would be caught."""
    try:
        raise error
    except BaseException as caught:
        return caught


def answered(status: int | None = None, headers: Any = None, *, name: str = "APIStatusError") -> Exception:
    """An exception as the SDKs of model providers have it."""
    kind = type(name, (Exception,), {})
    error: Exception = kind("no")
    error.status_code = status  # type: ignore[attr-defined]
    error.response = type("Response", (), {"headers": headers})()  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("a bug"), "permanent"),
        (AssertionError(), "permanent"),
        (SystemExit(1), "permanent"),
        (asyncio.CancelledError(), "permanent"),
        (OSError("no such file"), "permanent"),
        (ConnectionResetError(), "transient"),
        (TimeoutError(), "transient"),
        (asyncio.IncompleteReadError(b"", 3), "transient"),
        (answered(429), "rate_limited"),
        (answered(None, name="RateLimitError"), "rate_limited"),
        (answered(503), "transient"),
        (answered(529), "transient"),
        (answered(400), "permanent"),
        (answered(401), "permanent"),
        (answered(None, name="APIConnectionError"), "transient"),
        (answered(None, name="ReadTimeout"), "transient"),
        (type("Mine", (type("ConnectError", (Exception,), {}),), {})(), "transient"),
        (ExceptionGroup("g", [answered(429), answered(429)]), "rate_limited"),
        (ExceptionGroup("g", [TimeoutError(), ExceptionGroup("h", [ConnectionError()])]), "transient"),
        (ExceptionGroup("g", [TimeoutError(), ValueError()]), "permanent"),
    ],
    ids=repr,
)
def test_what_an_exception_says_of_itself_decides_its_class(error: BaseException, expected: str) -> None:
    assert classify(error) == expected


def test_a_status_of_the_response_counts_as_one_of_the_error() -> None:
    error = Exception()
    error.response = type("Response", (), {"status": 502})()  # type: ignore[attr-defined]
    assert classify(error) == "transient"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": 2.5}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e9"}, None),
        ({}, None),
        (None, None),
        ("text", None),
    ],
    ids=repr,
)
def test_what_the_provider_asks_for_is_read_from_its_headers(headers: Any, seconds: float | None) -> None:
    assert retry_after(answered(429, headers)) == seconds


def test_a_group_asks_for_the_longest_that_any_member_asks_for() -> None:
    members = [answered(429, {"retry-after": "3"}), ValueError(), answered(429, {"retry-after": "8"})]
    assert retry_after(ExceptionGroup("several", members)) == 8.0


def test_an_exception_whose_properties_raise_has_a_class_all_the_same() -> None:
    class Odd(Exception):
        @property
        def status_code(self) -> int:
            raise SystemExit

        @property
        def response(self) -> Any:
            raise KeyboardInterrupt

        @property  # type: ignore[misc]  # it is meant to be wrong
        def __class__(self) -> Any:
            raise KeyboardInterrupt

    assert classify(Odd()) == "permanent"
    assert retry_after(Odd()) is None
    assert describe(Odd()).type.endswith("Odd")


def test_facts_name_type_message_and_the_users_own_line() -> None:
    facts = describe(raised(KeyError("colour")), stage="setup")
    assert (facts.type, facts.message, facts.stage) == ("KeyError", "'colour'", "setup")
    assert "test_failures.py" in facts.trace
    assert "raise error" in facts.trace


def test_a_type_that_is_not_builtin_is_named_with_its_module() -> None:
    assert describe(OfOurs()).type == f"{__name__}.OfOurs"


class OfOurs(Exception):
    """Neither builtin nor nested."""


def test_causes_are_named_nearest_first_and_not_without_end() -> None:
    error: BaseException = ValueError("innermost")
    for number in range(1_000):
        outer = ValueError(f"number {number}")
        outer.__context__ = error
        error = outer
    trace = describe(error).trace
    assert trace.index("number 998") < trace.index("number 997")
    assert trace.count("caused by") < 20


def test_a_context_that_was_put_aside_is_not_told() -> None:
    def failing() -> None:
        try:
            raise KeyError("hidden")
        except KeyError:
            raise ValueError("told") from None

    with pytest.raises(ValueError, match="told") as caught:
        failing()
    assert "hidden" not in describe(caught.value).trace


def test_one_exception_raised_ten_thousand_times_is_no_dearer_the_last_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its traceback grows with each `raise`, and whoever looks all of it up each time is done never."""
    constant = ValueError("always the same")
    for _ in range(20_000):
        raised(constant)
    looked_up: list[str] = []

    def lazycache(filename: str, module_globals: object) -> bool:
        looked_up.append(filename)
        return False

    monkeypatch.setattr(linecache, "lazycache", lazycache)
    describe(constant)
    assert 0 < len(looked_up) <= FRAMES_LOOKED_AT
    assert len(describe(constant).trace) <= TRACE_LIMIT + 100


def test_a_recursion_that_has_no_end_is_told_within_bounds() -> None:
    def deeper(level: int) -> int:
        return deeper(level + 1)

    with pytest.raises(RecursionError) as caught:
        deeper(0)
    facts = describe(caught.value)
    assert facts.type == "RecursionError"
    assert facts.trace.count("deeper") <= 2 * 13


@given(text=st.text(max_size=50), times=st.integers(0, 2_000))
def test_a_message_is_bounded_can_be_written_and_says_what_was_left_out(text: str, times: int) -> None:
    facts = describe(ValueError(text * times))
    assert len(facts.message) <= 7 * MESSAGE_LIMIT, "escapes of what cannot be written take their room"
    line = OutcomeLine(case="c", at=0.0, outcome="task_error", error=facts)
    kept = parse(encode_line(line))
    assert isinstance(kept, OutcomeLine)
    assert kept.error == facts
    if len(text * times) > MESSAGE_LIMIT:
        assert "characters left out" in facts.message


@given(text=st.text(max_size=300), limit=st.integers(1, 100))
def test_clipping_keeps_head_and_tail(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    if len(text) <= limit:
        assert clipped == text
    else:
        assert clipped.startswith(text[: limit * 2 // 3])
        assert f"{len(text) - limit * 2 // 3 - limit // 4:,} characters left out" in clipped
