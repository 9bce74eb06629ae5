"""Quantiles are exact, however they are found."""

from __future__ import annotations

import random
from array import array
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.report import quantiles as room
from paceline.report.quantiles import histogram, quantiles, spread

WANTED = (0.0, 0.25, 0.5, 0.9, 0.95, 0.99, 1.0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200))
def test_quantiles_are_those_of_numpy(values: list[float]) -> None:
    assert quantiles(array("d", values), WANTED) == pytest.approx(
        np.quantile(values, WANTED).tolist(), rel=1e-12
    )


@given(st.lists(st.sampled_from([0.0, 1.0, 2.5]) | st.floats(0, 10), min_size=40, max_size=400))
def test_parts_by_pivots_give_what_sorting_gives(values: list[float]) -> None:
    ordered = sorted(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "_FEW", 10)
        patch.setattr(room, "_SAMPLE", 20)
        patch.setattr(room, "_PIVOTS", 5)
        places = range(len(values))
        assert room.in_order_at(array("d", values), places) == dict(zip(places, ordered, strict=True))


def test_many_values_of_which_most_are_equal_are_no_special_case() -> None:
    rng = random.Random(2)
    values = [1.0 if rng.random() < 0.9 else rng.random() for _ in range(50_000)]
    assert quantiles(array("d", values), WANTED) == np.quantile(values, WANTED).tolist()


def test_of_nothing_there_are_no_quantiles() -> None:
    assert quantiles(array("d"), WANTED) is None


@given(st.lists(st.floats(-1e6, 1e6) | st.floats(1e-3, 1e3), max_size=80))
def test_a_histogram_has_each_value_in_the_range_it_lies_in(values: list[float]) -> None:
    found = histogram(values, spread(values))
    assert sum(each.count for each in found) == len(values)
    for each, after in pairwise(found):
        assert each.to == after.above
        assert each.above < each.to
    for value in values:
        assert found[0].above <= value <= found[-1].to


def test_ranges_grow_with_the_values_where_these_span_more_than_tenfold() -> None:
    found = histogram([0.01, 0.1, 1.0, 10.0, 100.0], spread([0.01, 100.0]), bins=4)
    assert [each.to for each in found] == pytest.approx([0.1, 1.0, 10.0, 100.0])
    assert sum(each.count for each in found) == 5
    narrow = histogram([1.0, 2.0, 3.0], spread([1.0, 3.0]), bins=4)
    assert [each.to for each in narrow] == pytest.approx([1.5, 2.0, 2.5, 3.0])


def test_a_single_value_is_a_range_of_its_own() -> None:
    (one,) = histogram([2.0, 2.0], spread([2.0, 2.0]))
    assert (one.above, one.to, one.count) == (2.0, 2.0, 2)
    assert histogram([], spread([])) == []
