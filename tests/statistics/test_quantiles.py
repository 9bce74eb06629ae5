"""The bounds of a quantile hold the truth as often as they say, whatever the distribution."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, quantile_test

from paceline.statistics.quantiles import Bounds, quantile_bounds


def places(n: int, share: float, confidence: float) -> tuple[int | None, int | None]:
    """The bounds of the numbers 0, 1, ..., n - 1 are their own places."""
    low, high = quantile_bounds(list(range(n)), share, confidence)
    return (None if low is None else int(low), None if high is None else int(high))


@pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [1, 2, 5, 20, 59, 72, 73, 100, 1000])
def test_each_side_is_wrong_as_rarely_as_is_asked_for_by_exact_enumeration(n: int, share: float) -> None:
    below = binom(n, share)  # how many observations lie below the true quantile
    low, high = places(n, share, 0.95)
    if low is not None:
        assert below.cdf(low) <= 0.025 < below.cdf(low + 1)
    else:
        assert below.cdf(0) > 0.025
    if high is not None:
        assert below.cdf(high) >= 0.975
        assert high == 0 or below.cdf(high - 1) < 0.975
    else:
        assert below.cdf(n - 1) < 0.975


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_they_are_scipys(share: float) -> None:
    values = [float(each) for each in range(200)]
    theirs = quantile_test(values, p=share).confidence_interval(0.95)
    assert quantile_bounds(values, share) == pytest.approx((theirs.low, theirs.high))


def test_few_observations_tell_no_upper_bound_of_a_high_percentile() -> None:
    assert quantile_bounds([1.0] * 71, 0.95).high is None
    assert quantile_bounds([1.0] * 72, 0.95).high == 1.0
    assert quantile_bounds([], 0.5) == Bounds(None, None)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300), st.sampled_from([0.5, 0.9, 0.95]), st.data())
def test_fewer_independent_observations_never_tell_more(
    values: list[float], share: float, data: st.DataObject
) -> None:
    worth = data.draw(st.integers(1, len(values)))
    low, high = quantile_bounds(values, share, worth=worth)
    assert low is None or low in values
    assert high is None or high in values
    assert low is None or high is None or low <= high
    assert quantile_bounds(values, share, worth=len(values)) == quantile_bounds(values, share)
