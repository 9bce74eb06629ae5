"""How many cases are in progress where nobody has said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.conduct.width import MOST, next_width, widest
from paceline.engine.plan import AUTO_CONCURRENCY


def test_a_run_whose_places_are_all_taken_grows() -> None:
    assert next_width(50, full=True, waiting=0, busy=0.1, lag=0.0) == 75


@pytest.mark.parametrize(
    "why_not",
    [
        {"full": False},
        {"waiting": 6},
        {"busy": 0.9},
        {"lag": 0.2},
    ],
)
def test_it_does_not_where_that_would_bring_nothing(why_not: dict[str, float]) -> None:
    moment = {"full": True, "waiting": 0, "busy": 0.1, "lag": 0.0, **why_not}
    assert next_width(50, **moment) == 50  # type: ignore[arg-type]  # by name


@given(
    places=st.integers(1, 2 * MOST),
    full=st.booleans(),
    waiting=st.integers(0, 1000),
    busy=st.floats(0, 2),
    lag=st.floats(0, 10),
)
def test_it_never_shrinks_and_never_grows_beyond_its_most(
    places: int, full: bool, waiting: int, busy: float, lag: float
) -> None:
    after = next_width(places, full=full, waiting=waiting, busy=busy, lag=lag)
    assert places <= after <= max(places, MOST)


def test_processes_and_hooks_cost_too_much_to_grow_by_themselves() -> None:
    assert widest(isolated=False, has_hooks=False) == MOST
    assert widest(isolated=True, has_hooks=False) == AUTO_CONCURRENCY
    assert widest(isolated=False, has_hooks=True) == AUTO_CONCURRENCY
