"""Yes or no against yes or no."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.statistics.confusion import Confusion
from paceline.statistics.correlation import spearman

pairs_of_verdicts = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80)


@given(pairs_of_verdicts)
def test_mcc_is_the_correlation_of_the_two_verdicts(pairs: list[tuple[bool, bool]]) -> None:
    found = Confusion.of(pairs)
    assert found.n == found.yes + found.no == len(pairs)
    if found.mcc is None:
        assert spearman(*zip(*pairs, strict=True)) is None
    else:
        assert found.mcc == pytest.approx(spearman(*zip(*pairs, strict=True)), abs=1e-9)


def test_sensitivity_and_specificity_are_shares_with_the_interval_of_wilson() -> None:
    from scipy.stats import binomtest

    found = Confusion(both_yes=27, judge_no=3, both_no=16, judge_yes=4)
    assert (found.sensitivity, found.specificity) == (0.9, 0.8)
    sensitivity, specificity = found.sensitivity_interval(), found.specificity_interval()
    assert sensitivity is not None
    assert specificity is not None
    for interval, right, of in ((sensitivity, 27, 30), (specificity, 16, 20)):
        theirs = binomtest(right, of).proportion_ci(method="wilson")
        assert (interval.low, interval.high) == pytest.approx((theirs.low, theirs.high))


def test_without_a_no_of_people_the_specificity_is_unknown() -> None:
    found = Confusion(both_yes=5, judge_no=1)
    assert found.specificity is None
    assert found.specificity_interval() is None
    assert found.mcc is None
