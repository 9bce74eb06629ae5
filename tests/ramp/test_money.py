"""What a sweep costs: said before, known after its first level, kept to."""

from __future__ import annotations

from paceline.ramp.cost import PerCase, said_after, said_first, unaffordable
from paceline.ramp.levels import plan_levels
from paceline.ramp.rows import Row
from paceline.ramp.sightings import cost_of
from tests.ramp.rows import row

PLAN = plan_levels((1, 2, 4), per_level=20, available=500)
"""60 cases."""


def test_what_earlier_cases_have_taken_says_what_these_will() -> None:
    said = said_first(PLAN, PerCase(0.01, 2.0, "runs/x"), ceiling=None, spent=0.0, rehearsal=False)
    assert said == [
        "cost: about $0.6 for 60 cases, at $0.01 each as in runs/x; no ceiling is set (--budget-usd)",
        "time: about 1 min 10 s, if none is held up",
    ]


def test_what_nobody_knows_is_said_to_be_unknown_and_the_ceiling_with_it() -> None:
    unknown = "cost: unknown until the first level is held; at most $2.00, of which $0.5 are spent"
    assert said_first(PLAN, None, ceiling=2.0, spent=0.5, rehearsal=False) == [unknown]
    unpriced = PerCase(None, 2.0, "runs/x")
    assert said_first(PLAN, unpriced, ceiling=2.0, spent=0.5, rehearsal=False)[0] == unknown


def test_a_rehearsal_costs_nothing() -> None:
    assert said_first(PLAN, None, ceiling=2.0, spent=0.5, rehearsal=True) == [
        "cost: none, this is a rehearsal"
    ]
    assert said_after(PLAN, [row(1, case_seconds=2.0)], rehearsal=True) == [
        "time: about 1 min 10 s for all levels, if none is held up"
    ]


def test_after_the_first_level_it_is_known() -> None:
    def said(*rows: Row) -> list[str]:
        return said_after(PLAN, rows, rehearsal=False)

    assert said(row(1, cost=0.3)) == ["cost: $0.01 a case, so all levels come to about $0.6"]
    assert "still unknown" in said(row(1, cost=None))[0]
    assert "still unknown" in said(row(1, cost=0.3, unpriced=1))[0]


def test_levels_are_begun_only_as_far_as_they_can_be_paid_for() -> None:
    rows = [row(1, cost=0.3)]
    assert unaffordable(rows, 20, ceiling=0.5, spent=0.3) is None
    assert unaffordable(rows, 21, ceiling=0.5, spent=0.3) == (
        "21 cases more would cost about $0.21, and $0.2 of $0.5 are left"
    )
    assert unaffordable(rows, 10**6, ceiling=None, spent=0.3) is None
    assert unaffordable([], 10**6, ceiling=0.5, spent=0.0) is None, "nobody knows before the first"
    assert "is unknown" in str(unaffordable([row(1, cost=None)], 1, ceiling=0.5, spent=0.0))


def test_a_case_costs_what_its_calls_cost_and_is_unknown_with_one_of_them() -> None:
    assert cost_of([0.1, 0.2], [{"cost": 9.0}]) == 0.1 + 0.2
    assert cost_of([0.1, None], []) is None
    assert cost_of([], [{}]) == 0.0, "its calls were all refused"
    assert cost_of(None, [{"cost": 0.5}, {"cost": 1}]) == 1.5
    assert cost_of(None, [{}]) is None
    assert cost_of(None, []) is None
