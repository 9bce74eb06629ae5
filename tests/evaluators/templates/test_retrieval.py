"""What was found and in which order, against what is relevant."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators.templates.findings import Undefined
from tests.evaluators.templates.asked import found, value

NAMES = (
    *("hit_rate", "mrr", "precision_at_k", "recall_at_k", "recall_score", "ndcg_at_k"),
    "mean_average_precision",
)
FOUND = ["d", "a", "x", "b", "y"]
RELEVANT = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        ("hit_rate", {}, 1),
        ("hit_rate", {"k": 1}, 0),
        ("mrr", {}, 1 / 2),
        ("precision_at_k", {"k": 2}, 1 / 2),
        ("precision_at_k", {}, 2 / 5),
        ("precision_at_k", {"k": 10}, 2 / 10),
        ("recall_at_k", {"k": 2}, 1 / 3),
        ("recall_at_k", {}, 2 / 3),
        ("recall_score", {}, 2 / 3),
        ("mean_average_precision", {}, (1 / 2 + 2 / 4) / 3),
        (
            "ndcg_at_k",
            {"k": 5},
            (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / math.log2(4)),
        ),
        ("ndcg_at_k", {"k": 2}, (1 / math.log2(3)) / (1 + 1 / math.log2(3))),
    ],
)
def test_values_worked_out_by_hand(name: str, more: dict[str, int], expected: float) -> None:
    said = value(name, reference=RELEVANT, hypothesis=FOUND, **more)
    assert said == pytest.approx(expected)


def test_the_mean_reciprocal_rank_of_the_usual_example() -> None:
    # Wikipedia's: catten, cats*, cattis; torii*, tori; viruses*, virii: (1/3 + 1/2 + 1) / 3.
    found = [["catten", "cati", "cats"], ["torii", "tori", "toruses"], ["viruses", "virii", "viri"]]
    assert value("mrr", reference=[["cats"], ["tori"], ["viruses"]], hypothesis=found) == pytest.approx(
        11 / 18
    )


items = st.sampled_from("abcdef")


@given(st.lists(items, min_size=1, max_size=4), st.lists(items, max_size=8), st.sampled_from(NAMES))
def test_each_is_from_0_to_1_and_1_for_a_perfect_ranking(
    relevant: list[str], ranking: list[str], name: str
) -> None:
    assert 0 <= value(name, reference=relevant, hypothesis=ranking) <= 1 + 1e-9
    assert value(name, reference=relevant, hypothesis=list(dict.fromkeys(relevant))) == pytest.approx(1)


@given(st.lists(items, min_size=1, max_size=4), st.lists(items, max_size=6), st.sampled_from(NAMES))
def test_finding_an_item_again_is_no_second_hit(relevant: list[str], ranking: list[str], name: str) -> None:
    again = [*ranking, *ranking]
    assert (
        value(name, reference=relevant, hypothesis=again)
        <= value(name, reference=relevant, hypothesis=ranking) + 1e-9
    )


def test_items_may_be_anything_that_json_has() -> None:
    assert value("recall_score", reference=[1, {"id": 2}], hypothesis='[{"id": 2}, 1]') == 1


@pytest.mark.parametrize("name", NAMES)
def test_with_nothing_relevant_there_is_nothing_to_find(name: str) -> None:
    with pytest.raises(Undefined):
        value(name, reference=[], hypothesis=["a"])


@pytest.mark.parametrize("name", NAMES)
def test_finding_nothing_is_a_0(name: str) -> None:
    assert found(name, reference=["a"], hypothesis=[]).value == 0


def test_rankings_of_several_queries_want_relevant_items_for_each() -> None:
    with pytest.raises(UsageError, match="2 rankings, and relevant items for 1 queries"):
        value("mrr", reference=["a"], hypothesis=[["a"], ["b"]])
    with pytest.raises(UsageError):
        value("mrr", reference=["a", ["b"]], hypothesis=["a"])
    with pytest.raises(UsageError):
        value("recall_at_k", reference=["a"], hypothesis=["a"], k=0)


# Passages -----------------------------------------------------------------------------------------

TOWER = "The Eiffel Tower is in Paris and 330 metres tall."
NEARLY = "The Eiffel tower is in Paris, and 330 meters tall"
OTHER = "Penguins live at the South Pole in the cold."


def test_passages_are_found_that_are_close_by_their_letters() -> None:
    assert value("non_llm_context_recall", output=[NEARLY], expected=[TOWER, OTHER]) == pytest.approx(1 / 2)
    assert value("non_llm_context_recall", output=[NEARLY], expected=[TOWER], similarity_threshold=0.99) == 0


def test_useful_passages_count_more_the_earlier_they_stand() -> None:
    def precision(*output: str) -> Any:
        return value("non_llm_context_precision", output=list(output), expected=[TOWER])

    assert precision(NEARLY, OTHER) == 1
    assert precision(OTHER, NEARLY) == pytest.approx(1 / 2)
    assert precision(OTHER) == 0
    assert precision(NEARLY, OTHER, TOWER) == pytest.approx((1 + 2 / 3) / 2)
