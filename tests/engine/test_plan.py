"""The plan of a run, and what cannot be planned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from paceline.engine.plan import Plan
from paceline.errors import UsageError

plan: Callable[..., Plan] = Plan
"""With values that no type checker would let pass."""


@pytest.mark.parametrize("concurrency", [0, -1, True, 2.5, "many"])
@pytest.mark.parametrize("name", ["concurrency", "evaluator_concurrency"])
def test_a_concurrency_is_a_whole_number_or_none(name: str, concurrency: Any) -> None:
    with pytest.raises(UsageError, match="at least 1") as caught:
        plan(**{name: concurrency})
    assert "None for all at once" in caught.value.hint
    assert getattr(plan(**{name: None}), name) is None


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
@pytest.mark.parametrize("name", ["timeout", "case_timeout", "evaluator_timeout", "hook_timeout"])
def test_a_deadline_is_more_than_no_time(name: str, seconds: float) -> None:
    with pytest.raises(UsageError, match=name):
        plan(**{name: seconds})


def test_one_at_a_time_is_a_mode_of_its_own() -> None:
    assert Plan(concurrency=1).one_by_one
    assert not Plan(concurrency=2).one_by_one
    assert not Plan(concurrency=None).one_by_one
