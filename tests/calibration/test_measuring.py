"""Measuring: the figures of agreement, on real data and on data made for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paceline.calibration.front import Aside, calibration_of, scored_by_column
from paceline.calibration.labels import Columns, read_labels
from paceline.calibration.measuring import is_same_scale, measure, scale_of
from paceline.errors import UsageError
from tests.calibration.scores import items

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
# What its README says, computed with SciPy.
PUBLISHED = {
    ("topical_chat", "naturalness"): 0.5140,
    ("topical_chat", "coherence"): 0.6129,
    ("topical_chat", "engagingness"): 0.6047,
    ("topical_chat", "groundedness"): 0.5750,
    ("topical_chat", "understandability"): 0.4678,
    ("topical_chat", "overall"): 0.6626,
    ("sfres", "overall"): 0.2916,
}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize(("file", "dimension"), PUBLISHED)
def test_real_labels_give_the_published_correlation_and_fail(file: str, dimension: str) -> None:
    path = DATA / f"{file}_human_judge.json"
    if not path.exists():
        pytest.skip(f"../shared/data/{path.name} is not here")
    columns = Columns(human=(f"scores.{dimension}",), judge=f"predict_scores.{dimension}")
    labels = read_labels(path, columns)
    found = calibration_of(scored_by_column(labels, Aside(output="system_output")), labels, {"column": "x"})
    spearman = found.figures.spearman
    assert spearman is not None
    assert spearman.value == pytest.approx(PUBLISHED[file, dimension], abs=5e-5)
    assert spearman.low is not None
    assert spearman.high is not None
    assert spearman.low < spearman.value < spearman.high
    assert found.verdict.kind == "FAIL"
    assert found.probes[0].figures["per_doubling"] is not None


def test_items_of_one_conversation_are_worth_less_than_as_many_others() -> None:
    path = DATA / "topical_chat_human_judge.json"
    if not path.exists():
        pytest.skip(f"../shared/data/{path.name} is not here")
    widths = {}
    for cluster in (None, "source"):
        columns = Columns(human=("scores.overall",), judge="predict_scores.overall", cluster=cluster)
        labels = read_labels(path, columns)
        figures = measure(scored_by_column(labels), np.random.default_rng(0))
        assert figures.spearman is not None
        assert figures.spearman.high is not None
        assert figures.spearman.low is not None
        widths[cluster] = figures.spearman.high - figures.spearman.low
        assert figures.n_clusters == (None if cluster is None else 60)
    assert widths["source"] != widths[None]


def test_labels_that_are_all_the_same_have_no_order_to_agree_with(rng: np.random.Generator) -> None:
    with pytest.raises(UsageError, match="all 40 items have the label 3") as refused:
        measure(items([3] * 40, [1, 2] * 20), rng)
    assert "whole scale" in refused.value.hint


def test_what_the_judge_left_out_is_counted_and_not_taken_for_anything(rng: np.random.Generator) -> None:
    figures = measure(items([1, 2, 3, 4], [1, 2, None, None]), rng)
    assert (figures.n_labelled, figures.n_scored, figures.coverage) == (4, 2, 0.5)
    nothing = measure(items([1, 2], [None, None]), rng)
    assert (nothing.spearman, nothing.kendall, nothing.judge, nothing.bias) == (None, None, None, None)


@pytest.mark.parametrize(
    ("human", "judge", "same"),
    [
        ([1, 5], [1, 5], True),
        ([1, 5], [2, 5], True),
        ([2, 5], [1, 4], True),
        ([1, 5], [0, 1], False),
        ([1, 5], [10, 50], False),
        ([0, 1], [0, 100], False),
        ([0, 2], [0, 1], False),
        ([3, 5], [4, 4], True),
    ],
)
def test_a_difference_means_something_on_one_scale_only(
    human: list[float], judge: list[float], same: bool
) -> None:
    assert is_same_scale(human, judge) is same


def test_a_judge_that_is_a_point_too_generous_has_full_correlation_and_a_bias(
    rng: np.random.Generator,
) -> None:
    human = [1.0, 2.0, 3.0, 4.0] * 15
    figures = measure(items(human, [label + 1 for label in human]), rng)
    assert figures.spearman is not None
    assert figures.spearman.value == pytest.approx(1.0)
    assert figures.bias is not None
    assert (figures.bias.value, figures.bias.low, figures.bias.high) == (1.0, 1.0, 1.0)
    assert figures.kappa is not None
    assert figures.kappa.value < 0.8


def test_yes_and_no_have_a_table(rng: np.random.Generator) -> None:
    human = [1.0] * 30 + [0.0] * 20
    judge = [1.0] * 27 + [0.0] * 3 + [0.0] * 16 + [1.0] * 4
    table = measure(items(human, judge), rng).two_by_two
    assert table is not None
    assert (table.both_yes, table.judge_no, table.both_no, table.judge_yes) == (27, 3, 16, 4)
    assert table.sensitivity is not None
    assert table.specificity is not None
    assert (table.sensitivity.value, table.specificity.value) == (0.9, 0.8)
    assert measure(items([1.0, 2.0], [1.0, 0.0]), rng).two_by_two is None


def test_several_people_are_held_against_each_other(rng: np.random.Generator) -> None:
    scored = items([1.0, 2.0, 3.0, 4.0] * 10, [1.0, 2.0, 3.0, 4.0] * 10)
    several = [
        type(each)(
            where=each.where, human=each.human, humans=(each.human, each.human, None), judge=each.judge
        )
        for each in scored
    ]
    people = measure(several, rng).people
    assert people is not None
    assert (people.raters, people.items, people.metric) == (3, 40, "ordinal")
    assert people.alpha is not None
    assert people.alpha.value == pytest.approx(1.0)
    assert people.to_the_others == pytest.approx(1.0)
    assert measure(scored, rng).people is None


def test_the_use_of_a_scale_is_counted_in_levels_shares_and_bits() -> None:
    scale = scale_of([1, 1, 1, 2])
    assert (scale.levels, scale.top, scale.top_share) == (2, 1, 0.75)
    assert scale_of([1, 2, 3, 4]).bits == pytest.approx(2.0)
    assert scale_of([7, 7]).bits == 0.0


def test_the_same_labels_give_the_same_figures() -> None:
    scored = items([1.0, 2.0, 3.0, 4.0, 5.0] * 10, [1.0, 3.0, 2.0, 5.0, 4.0] * 10)
    assert measure(scored, np.random.default_rng(7)) == measure(scored, np.random.default_rng(7))
