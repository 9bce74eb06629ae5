"""Verdicts on levels, and what bound each, where it is not rejections that say it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.messages import Advertised
from paceline.ramp.bounds import bounds_of
from paceline.ramp.rows import Row
from paceline.ramp.seen import Halt, Machine
from paceline.ramp.verdict import judge
from paceline.ramp.words import say
from tests.ramp.rows import row


def flat(above: int = 8, **more: object) -> list[Row]:
    """Throughput that grows up to a level, and not beyond; the others have `more`."""
    return [row(level) if level <= above else row(level, above / 2, **more) for level in (1, 2, 4, 8, 16, 32)]


def test_answers_that_only_take_longer_are_a_knee() -> None:
    verdict = judge(flat())
    assert (verdict.kind, verdict.window) == ("latency", 8)
    assert bounds_of(flat()) == ["level"] * 4 + ["latency"] * 2


@pytest.mark.parametrize(
    ("advertised", "kind", "ceiling"),
    [
        (Advertised(requests=240, requests_left=0), "requests", 4.0),
        (Advertised(requests=6000, tokens=120_000, tokens_left=0), "tokens", 2000.0),
        (Advertised(requests=6000, tokens=600_000), "tokens", 2000.0),
    ],
)
def test_limits_that_answers_tell_are_named_where_calls_wait_for_them(
    advertised: Advertised, kind: str, ceiling: float
) -> None:
    rows = flat(busy=8.0, latency=2.0, p50=2.0, p95=3.0, waits={"blocked": 0.8}, advertised=advertised)
    verdict = judge(rows)
    assert (verdict.kind, verdict.ceiling) == (kind, ceiling)
    assert verdict.window == 8
    assert "its answers say" in say(verdict, rows).why
    assert bounds_of(rows)[-1] == "headers"


def test_headers_that_nobody_waits_for_explain_nothing() -> None:
    rows = flat(advertised=Advertised(requests=240))
    assert judge(rows).kind == "latency"


@pytest.mark.parametrize("binding", ["window", "requests", "tokens"])
def test_limits_of_ones_own_are_named_as_such(binding: str) -> None:
    rows = flat(busy=8.0, latency=2.0, p50=2.0, waits={binding: 0.9})
    assert judge(rows).kind == "limits"
    assert bounds_of(rows)[-1] == "limits"
    assert "you have set" in say(judge(rows), rows).why


def test_a_task_that_holds_its_calls_back_is_not_a_knee() -> None:
    rows = flat(busy=8.0, latency=2.0, p50=2.0)
    assert judge(rows).kind == "task"
    assert bounds_of(rows)[-1] == "task"


@pytest.mark.parametrize(
    ("machine", "kind"),
    [
        (Machine(cpu=0.95), "cpu"),
        (Machine(late=0.5, where="bot.py:9 in ask"), "loop"),
        (Machine(), "latency"),
    ],
)
def test_a_busy_machine_comes_before_whatever_the_provider_does(machine: Machine, kind: str) -> None:
    rows = flat(machine=machine)
    assert judge(rows).kind == kind
    assert bounds_of(rows)[-1] == kind
    assert "bot.py" in say(judge(rows), rows).why or kind != "loop"


def test_a_level_at_a_rate_is_bound_by_that_rate() -> None:
    assert bounds_of([row(1), row(2), row(4, 1.8, paced=1.8)])[-1] == "rate"


def test_levels_that_were_cut_short_say_so() -> None:
    closed = row(4, halt=Halt(kind="closed", reason="spent"))
    failing = row(4, errors=9, error_share=0.3)
    assert bounds_of([row(1), closed])[-1] == "refused"
    assert bounds_of([row(1), failing])[-1] == "errors"


@given(
    st.lists(
        st.tuples(
            st.integers(1, 200), st.floats(0, 500), st.floats(0, 1), st.floats(0, 1), st.integers(0, 50)
        ),
        max_size=8,
    )
)
def test_whatever_the_rows_there_is_a_verdict_and_it_can_be_said(
    levels: list[tuple[int, float, float, float, int]],
) -> None:
    rows = [
        row(
            level,
            rate or 0.1,
            error_share=errors,
            errors=count,
            rejected=count,
            rejected_share=rejected,
            machine=Machine(cpu=errors),
        )
        for level, rate, errors, rejected, count in sorted(levels)
    ]
    verdict = judge(rows)
    said = say(verdict, rows)
    assert said.ceiling
    assert said.why
    assert len(bounds_of(rows)) == len(rows)
