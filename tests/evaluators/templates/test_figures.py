"""Labels, numbers and probabilities against what is expected, by published values and SciPy."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators.templates.findings import Undefined
from paceline.evaluators.templates.regression import ranks
from tests.evaluators.templates.asked import found, value

TRUE = ["cat", "ant", "cat", "cat", "ant", "bird"]
GUESSED = ["ant", "ant", "cat", "cat", "ant", "cat"]
LABELS = ("accuracy", "balanced_accuracy", "precision_score", "cohen_kappa", "matthews_correlation")
NUMBERS = ("pearson_correlation", "spearman_correlation", "r2_score", "rmse")


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [  # as scikit-learn has them
        ("accuracy", {}, 4 / 6),
        ("balanced_accuracy", {}, (2 / 3 + 1 + 0) / 3),
        ("precision_score", {}, (2 / 3 + 2 / 3 + 0) / 3),
        ("precision_score", {"positive_label": "Cat"}, 2 / 3),
        ("f_beta_score", {"positive_label": "ant"}, 0.8),
        ("f_beta_score", {"positive_label": "ant", "beta": 2}, 10 / 11),
        ("f_beta_score", {"positive_label": "bird"}, 0),
        ("cohen_kappa", {}, 3 / 7),
        ("matthews_correlation", {}, 0.45226701686664544),
    ],
)
def test_labels_against_labels(name: str, more: dict[str, Any], expected: float) -> None:
    assert value(name, output=GUESSED, expected=TRUE, **more) == pytest.approx(expected)


def test_labels_are_compared_without_case_and_outer_space_and_may_stand_as_json_or_alone() -> None:
    assert value("accuracy", output=["Yes ", "NO"], expected='["yes", "no"]') == 1
    assert value("accuracy", output="yes", expected=["no"]) == 0
    assert value("accuracy", output=[True, 1], expected=["true", "1"]) == 1


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=30))
def test_nothing_beats_what_is_right_and_a_score_is_from_0_to_1(pairs: list[tuple[str, str]]) -> None:
    output, expected = (list(each) for each in zip(*pairs, strict=True))
    assume(len(set(expected)) > 1 and len(set(output)) > 1)
    for name in LABELS:
        said = found(name, output=output, expected=expected)
        assert said.score is not None
        assert 0 <= said.score <= 1
        assert said.value <= value(name, output=expected, expected=expected) + 1e-9
        assert value(name, output=expected, expected=expected) == pytest.approx(1)


def test_fleiss_kappa_of_the_published_example_is_as_published() -> None:
    # Fourteen raters, ten items, five labels: 0.210 (Fleiss 1971, as Wikipedia has it).
    counts = [
        *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
        *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
    ]
    assert value("fleiss_kappa", output=counts) == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize("counts", [[[5, 0], [7, 0]], [[5, 0], [5]], [[3, -1], [1, 1]]])
def test_ratings_that_do_not_add_up_are_refused(counts: Any) -> None:
    with pytest.raises(UsageError, match="same number of raters"):
        value("fleiss_kappa", output=counts)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("cohen_kappa", {"output": ["a", "a"], "expected": ["a", "a"]}),
        ("matthews_correlation", {"output": ["a", "a"], "expected": ["a", "b"]}),
        ("precision_score", {"output": ["a"], "expected": ["b"], "positive_label": "b"}),
        ("f_beta_score", {"output": ["a"], "expected": ["a"], "positive_label": "b"}),
        ("fleiss_kappa", {"output": [[1, 0], [0, 1]]}),
        ("fleiss_kappa", {"output": [[3, 0], [3, 0]]}),
        ("pearson_correlation", {"output": [1, 1, 1], "expected": [1, 2, 3]}),
        ("spearman_correlation", {"output": [1], "expected": [2]}),
        ("r2_score", {"output": [1, 2], "expected": [3, 3]}),
    ],
)
def test_a_figure_that_does_not_exist_is_an_error_and_never_a_0(name: str, given: dict[str, Any]) -> None:
    with pytest.raises(Undefined):
        value(name, **given)


@pytest.mark.parametrize("name", [*LABELS, *NUMBERS, "log_loss"])
def test_both_sides_have_to_speak_of_the_same_items(name: str) -> None:
    with pytest.raises(UsageError, match=r"output has 2 items, and expected has 3"):
        value(name, output=[0, 1], expected=[0, 1, 1])


@pytest.mark.parametrize("name", [*NUMBERS, "log_loss"])
@pytest.mark.parametrize("wrong", [["x"], [], [math.nan], [True], {"a": 1}])
def test_what_is_no_list_of_numbers_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises(UsageError, match="number or list of numbers"):
        value(name, output=wrong, expected=[1.0])


# Numbers ------------------------------------------------------------------------------------------

numbers = st.lists(st.tuples(*[st.integers(-100, 100).map(float)] * 2), min_size=3, max_size=20)


@given(numbers)
def test_correlations_are_those_of_scipy(pairs: list[tuple[float, float]]) -> None:
    stats = pytest.importorskip("scipy.stats")
    output, expected = (list(each) for each in zip(*pairs, strict=True))
    assume(len(set(output)) > 1 and len(set(expected)) > 1)
    pearson = value("pearson_correlation", output=output, expected=expected)
    assert pearson == pytest.approx(stats.pearsonr(output, expected).statistic)
    spearman = value("spearman_correlation", output=output, expected=expected)
    assert spearman == pytest.approx(stats.spearmanr(output, expected).statistic)


@given(numbers)
def test_ranks_are_those_of_scipy(pairs: list[tuple[float, float]]) -> None:
    stats = pytest.importorskip("scipy.stats")
    values = [first for first, _ in pairs]
    assert ranks(values) == list(stats.rankdata(values))


@pytest.mark.parametrize(
    ("name", "expected"), [("rmse", math.sqrt(1.5 / 4)), ("r2_score", 1 - 1.5 / 29.1875)]
)
def test_numbers_against_numbers(name: str, expected: float) -> None:
    # As in scikit-learn's manual: R² 0.948, mean squared error 0.375.
    found = value(name, output=[2.5, 0.0, 2, 8], expected=[3, -0.5, 2, 7])
    assert found == pytest.approx(expected)


def test_numbers_may_stand_with_commas_or_as_json() -> None:
    assert value("rmse", output="1, 2,3", expected="[1, 2, 3]") == 0


def test_a_correlation_the_wrong_way_round_scores_no_better_than_none() -> None:
    said = found("pearson_correlation", output=[1, 2, 3], expected=[3, 2, 1])
    assert (said.value, said.score) == (-1, 0)
    assert found("r2_score", output=[9, -9], expected=[1, 2]).score == 0


@pytest.mark.parametrize("name", ["rmse", "log_loss"])
def test_nothing_passes_by_a_number_whose_unit_only_the_user_knows(name: str) -> None:
    said = found(name, output=[0.5, 0.5], expected=[1, 0])
    assert said.score is not None
    assert said.passes(None) is None
    assert said.passes(0.1) is True


def test_log_loss_is_the_mean_surprise() -> None:
    said = found("log_loss", output=[0.9, 0.2], expected=[1, 0])
    assert said.value == pytest.approx(-(math.log(0.9) + math.log(0.8)) / 2)
    assert said.score == pytest.approx(1 / (1 + value("log_loss", output=[0.9, 0.2], expected=[1, 0])))
    assert math.isfinite(value("log_loss", output=[0], expected=[1])), "certain and wrong"
    with pytest.raises(UsageError, match="probabilities"):
        value("log_loss", output=[1.5], expected=[1])
