"""The verdict: what passes, what fails, and what it takes to tell."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.calibration.findings import Estimate, Figures, Scale
from paceline.calibration.measuring import measure
from paceline.calibration.verdict import BAR, verdict_of
from paceline.statistics.correlation import spearman_interval
from tests.calibration.scores import drawn, items

SPREAD = Scale(levels=5, lowest=1, highest=5, top=3, top_share=0.3, bits=2.2)


def figures(low: float, value: float, high: float, *, n: int = 100, **more: Any) -> Figures:
    plain = Figures(
        n_labelled=n,
        n_scored=n,
        n_clusters=None,
        confidence=0.95,
        spearman=Estimate(value=value, low=low, high=high, n=n),
        kendall=value,
        same_scale=True,
        kappa=None,
        bias=None,
        two_by_two=None,
        human=SPREAD,
        judge=SPREAD,
        people=None,
    )
    return msgspec.structs.replace(plain, **more)


@pytest.mark.parametrize(
    ("low", "value", "high", "kind"),
    [
        (0.81, 0.88, 0.93, "PASS"),
        (0.80, 0.88, 0.93, "PASS"),
        (0.79, 0.95, 0.99, "INCONCLUSIVE"),
        (0.60, 0.70, 0.79, "FAIL"),
        (0.60, 0.75, 0.80, "INCONCLUSIVE"),
    ],
)
def test_it_is_the_lower_end_of_the_interval_that_passes(
    low: float, value: float, high: float, kind: str
) -> None:
    assert verdict_of(figures(low, value, high)).kind == kind


@given(n=st.integers(4, 29), value=st.floats(0.9, 1.0))
def test_nothing_passes_on_fewer_than_thirty_items(n: int, value: float) -> None:
    found = verdict_of(figures(0.85, value, 1.0, n=n))
    assert found.kind == "INCONCLUSIVE"
    assert found.more_labels is not None
    assert n + found.more_labels >= 30


def test_it_is_clusters_that_are_counted_where_there_are_any() -> None:
    found = verdict_of(figures(0.85, 0.9, 0.95, n=300, n_clusters=20))
    assert found.kind == "INCONCLUSIVE"
    assert "20 clusters are too few" in found.why
    assert found.more_labels is not None
    assert found.more_labels >= 150, "fifteen items come with each of ten more clusters"


def test_labels_that_are_nearly_all_the_same_show_nothing_either_way() -> None:
    one_level = msgspec.structs.replace(SPREAD, top=5, top_share=0.85)
    for low, value, high in ((0.85, 0.9, 0.95), (0.1, 0.3, 0.5)):
        found = verdict_of(figures(low, value, high, human=one_level))
        assert found.kind == "INCONCLUSIVE"
        assert "people gave 85% of the items a 5" in found.why


def test_a_judge_that_gives_nearly_all_the_same_does_not_pass() -> None:
    one_level = msgspec.structs.replace(SPREAD, top=5, top_share=0.85)
    assert verdict_of(figures(0.85, 0.9, 0.95, judge=one_level)).kind == "INCONCLUSIVE"
    assert verdict_of(figures(0.1, 0.3, 0.5, judge=one_level)).kind == "FAIL"


def test_a_judge_that_says_the_same_of_everything_fails() -> None:
    found = verdict_of(measure(items([1, 2, 3] * 20, [4] * 60), np.random.default_rng(0)))
    assert found.kind == "FAIL"
    assert "gives 4 to everything" in found.why


def test_a_judge_that_could_not_be_reached_has_shown_nothing() -> None:
    found = verdict_of(measure(items([1, 2, 3], [None] * 3), np.random.default_rng(0)))
    assert (found.kind, found.why) == ("INCONCLUSIVE", "the judge has scored nothing")


def test_a_judge_that_leaves_things_out_does_not_pass() -> None:
    found = verdict_of(figures(0.85, 0.9, 0.95, n_labelled=110))
    assert found.kind == "INCONCLUSIVE"
    assert "has not scored 10 of 110 items" in found.why
    assert verdict_of(figures(0.85, 0.9, 0.95, n_labelled=104)).kind == "PASS"


def test_simulated_answers_are_no_result() -> None:
    assert verdict_of(figures(0.85, 0.9, 0.95), simulated=True).kind == "INCONCLUSIVE"


def test_how_many_more_labels_are_missing_is_said_and_falls_with_the_distance_from_the_bar() -> None:
    far = verdict_of(figures(0.79, 0.90, 0.95, n=45)).more_labels
    near = verdict_of(figures(0.75, 0.85, 0.91, n=100)).more_labels
    assert far is not None
    assert near is not None
    assert 0 < far < near
    at_the_bar = verdict_of(figures(0.70, 0.80, 0.88))
    assert at_the_bar.kind == "INCONCLUSIVE"
    assert at_the_bar.more_labels is None
    assert "any number of labels" in at_the_bar.why


def test_few_items_with_full_agreement_are_told_to_be_too_few() -> None:
    found = verdict_of(measure(items([1, 2, 3, 4, 5] * 4, [1, 2, 3, 4, 5] * 4), np.random.default_rng(0)))
    assert found.kind == "INCONCLUSIVE"
    assert found.more_labels is not None
    assert found.more_labels >= 10


def passing(rho: float, n: int, *, judges: int) -> int:
    """How many judges of this true correlation pass on n items: `bench.calibration` draws thousands."""
    rng = np.random.default_rng(n)
    passed = 0
    for _ in range(judges):
        scored = drawn(rho, n, rng)
        human = [item.human for item in scored]
        judge = [item.judge for item in scored if item.judge is not None]
        found = spearman_interval(human, judge, rng, draws=1_000)
        assert found is not None
        passed += found.low >= BAR
    return passed


@pytest.mark.parametrize("n", [50, 200])
def test_a_judge_at_the_bar_hardly_ever_passes(n: int) -> None:
    """True correlation .80 on five levels with ties: at most one in twenty."""
    assert passing(0.80, n, judges=400) <= 20


def test_a_good_judge_mostly_passes_on_fifty_items() -> None:
    """True correlation .95 on five levels with ties: four in five at least."""
    assert passing(0.95, 50, judges=200) >= 160
