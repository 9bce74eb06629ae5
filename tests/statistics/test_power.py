"""What a sample can show, held against enumeration, simulation and published numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paceline.statistics.paired import mcnemar
from paceline.statistics.power import power_of_mcnemar, smallest_mean, smallest_paired


@pytest.mark.parametrize(("difference", "disagree"), [(0.0, 0.3), (0.1, 0.3), (0.25, 0.4), (0.2, 0.2)])
def test_the_power_of_mcnemars_test_is_that_of_all_samples_there_are(
    difference: float, disagree: float
) -> None:
    n = 25
    gains, losses = (disagree + difference) / 2, (disagree - difference) / 2
    every = sum(
        math.comb(n, gained)
        * math.comb(n - gained, lost)
        * gains**gained
        * losses**lost
        * (1 - disagree) ** (n - gained - lost)
        for gained in range(n + 1)
        for lost in range(n + 1 - gained)
        if mcnemar(lost, gained) <= 0.05
    )
    assert power_of_mcnemar(n, difference, disagree) == pytest.approx(every, abs=1e-9)


def test_of_many_the_normal_distribution_says_what_the_exact_one_does() -> None:
    """On either side of the number from which on it is used."""
    for difference in (0.01, 0.02):
        exact, normal = (power_of_mcnemar(n, difference, 0.5) for n in (9_999, 10_001))
        assert normal == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize(
    ("n", "disagree", "published"), [(312, 0.1, 0.05), (626, 0.2, 0.05), (1960, 0.1, 0.02), (234, 0.3, 0.10)]
)
def test_the_smallest_difference_is_close_to_connors(n: int, disagree: float, published: float) -> None:
    """His formula (1987) is for the test without a correction, which finds more than the exact one."""
    found = smallest_paired(n, disagree)
    assert found is not None
    assert published < found < 1.05 * published


def test_what_is_told_to_be_found_is_found_four_times_in_five() -> None:
    found = smallest_paired(50, 0.2)
    assert found is not None
    assert power_of_mcnemar(50, found, 0.2) == pytest.approx(0.8, abs=0.001)


def test_fewer_than_six_pairs_show_nothing_whatever_they_say() -> None:
    assert [smallest_paired(n, 0.5) for n in (0, 1, 5)] == [None] * 3
    assert smallest_paired(6, 0.5) is not None
    assert mcnemar(0, 5) > 0.05 >= mcnemar(0, 6)


def test_no_disagreement_in_the_sample_does_not_make_everything_detectable() -> None:
    found = smallest_paired(20, 0.0)
    assert found is not None
    assert found > 6 / 20


def test_a_mean_of_the_smallest_size_is_told_from_zero_four_times_in_five() -> None:
    dice = np.random.default_rng(0)
    n = 12
    smallest = smallest_mean(1 / math.sqrt(n), n)
    assert smallest is not None
    samples = dice.normal(smallest, 1, size=(4_000, n))
    t = samples.mean(axis=1) / (samples.std(axis=1, ddof=1) / math.sqrt(n))
    assert (t > 2.201).mean() == pytest.approx(0.8, abs=0.025)


def test_without_spread_it_is_unknown() -> None:
    assert smallest_mean(0.0, 30) is None
    assert smallest_mean(0.1, 1) is None
