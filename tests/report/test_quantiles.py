"""Quantiles are exact, however they are found."""

from __future__ import annotations

import random
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.report import quantiles as room
from paceline.report.quantiles import quantiles

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
