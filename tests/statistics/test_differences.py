"""Mean differences, held against SciPy and against cluster-robust regression."""

from __future__ import annotations

import numpy as np
import pytest

from paceline.statistics.differences import mean_interval


def test_without_clusters_it_is_the_interval_of_students_t() -> None:
    from scipy.stats import ttest_1samp

    values = list(np.random.default_rng(0).normal(size=25))
    theirs = ttest_1samp(values, 0).confidence_interval(0.9)
    ours = mean_interval(values, confidence=0.9)
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_clusters_of_the_same_size_are_worth_their_means() -> None:
    """The mean of means, with as many degrees of freedom as there are clusters, less one."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(12, 4)) + rng.normal(size=(12, 1))
    clustered = mean_interval(list(values.ravel()), clusters=list(np.repeat(np.arange(12), 4)))
    of_means = mean_interval(list(values.mean(axis=1)))
    assert clustered is not None
    assert of_means is not None
    assert (clustered.low, clustered.high) == pytest.approx((of_means.low, of_means.high))
    assert clustered.n == 12


def test_of_fewer_than_two_there_is_no_interval() -> None:
    assert mean_interval([]) is None
    assert mean_interval([1.0]) is None
    assert mean_interval([1.0, 2.0], clusters=["a", "a"]) is None
