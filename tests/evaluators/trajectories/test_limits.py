"""How often tools and models were asked, at most."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators import MaxModelRequests, MaxToolCalls
from tests.evaluators.cases import finished
from tests.evaluators.trajectories.told import Call, after, holds, said


@given(made=st.integers(0, 6), allowed=st.integers(0, 6))
def test_at_most_is_at_most(made: int, allowed: int) -> None:
    value, why = said(MaxToolCalls(allowed), after(*["f"] * made))
    assert (value, why) == (made <= allowed, f"{made} tool call(s), at most {allowed}")
    value, why = said(MaxModelRequests(allowed), finished(metrics={"requests": made}))
    assert (value, why) == (made <= allowed, f"{made} model request(s), at most {allowed}")


def test_a_call_that_failed_was_made_unless_it_is_not_to_count() -> None:
    failed = Call("f", failed=True)
    assert not holds(MaxToolCalls(1), failed, "f")
    assert holds(MaxToolCalls(1, include_failed=False), failed, "f")


@pytest.mark.parametrize("evaluator", [MaxToolCalls, MaxModelRequests])
@pytest.mark.parametrize("limit", [-1, 1.5, True, "3"])
def test_a_limit_is_a_whole_number(evaluator: Any, limit: Any) -> None:
    with pytest.raises(UsageError):
        evaluator(limit)
