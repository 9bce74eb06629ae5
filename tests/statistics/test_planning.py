"""Planning, held against the values of Bonett and Wright (2000) and against simulation."""

from __future__ import annotations

import numpy as np
import pytest

from paceline.statistics.correlation import spearman, spearman_interval
from paceline.statistics.planning import bonett_wright, needed_for, shown_spread


@pytest.mark.parametrize(
    ("r", "n", "low", "high"),
    [
        (0.85, 30, 0.673, 0.935),
        (0.90, 30, 0.772, 0.958),
        (0.95, 50, 0.903, 0.975),
        (0.90, 100, 0.844, 0.936),
        (0.85, 200, 0.798, 0.889),
    ],
)
def test_the_closed_form_has_its_known_values(r: float, n: int, low: float, high: float) -> None:
    found = bonett_wright(r, n)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.0011)


def test_three_observations_have_no_interval() -> None:
    assert bonett_wright(0.5, 3) is None


@pytest.mark.parametrize(("r", "n"), [(0.85, 434), (0.90, 83), (0.95, 25)])
def test_the_number_of_labels_has_its_known_values(r: float, n: int) -> None:
    assert needed_for(r, 0.80) == n


def test_a_correlation_at_the_bar_is_told_from_it_by_no_number_of_labels() -> None:
    assert needed_for(0.8, 0.8) is None
    assert needed_for(0.8001, 0.8) is None


def test_below_the_bar_it_is_the_number_that_shows_it_to_be_below() -> None:
    assert needed_for(0.5, 0.8) is not None
    assert needed_for(0.5, 0.8) < needed_for(0.7, 0.8) < needed_for(0.75, 0.8)  # type: ignore[operator]


def test_as_many_as_are_planned_for_are_enough_in_about_four_of_five_samples() -> None:
    rng = np.random.default_rng(0)
    rho = 0.9
    latent = 2 * np.sin(np.pi * rho / 6)  # Pearson's of normal scores whose Spearman's is rho
    n = needed_for(rho, 0.8)
    assert n is not None
    enough = 0
    for _ in range(200):
        x = rng.normal(size=n)
        y = latent * x + np.sqrt(1 - latent**2) * rng.normal(size=n)
        found = spearman_interval(x, y, rng, draws=1_000)
        enough += found is not None and found.low >= 0.8
    assert 0.68 * 200 <= enough <= 0.92 * 200


def test_a_sample_that_is_spread_wider_plans_for_more() -> None:
    """Skewed scores, seven of ten at the top."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=80)
    y = 0.97 * x + 0.24 * rng.normal(size=80)
    cuts = [-1.75, -1.28, -0.92, -0.52]
    human, judge = np.digitize(x, cuts), np.digitize(y, cuts)
    r = spearman(human, judge)
    interval = spearman_interval(human, judge, rng)
    assert r is not None
    assert interval is not None
    wider = needed_for(r, 0.8, spread=shown_spread(r, interval))
    plain = needed_for(r, 0.8)
    assert wider is not None
    assert plain is not None
    assert wider > plain
