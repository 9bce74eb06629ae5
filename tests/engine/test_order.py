"""In which order cases are begun."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.order import arrange
from paceline.settings import Order

names = [f"case-{place}" for place in range(10)]
lengths = {name: float(place) for place, name in enumerate(names)}


def order(
    wanted: Order, *, whole: bool = True, fair: bool = False, seed: int = 0, known: int = 10
) -> list[int]:
    durations = dict(list(lengths.items())[:known])
    return list(arrange(names, wanted, durations=durations, whole=whole, seed=seed, fair=fair)[0])


@given(
    wanted=st.sampled_from(get_args(Order)),
    whole=st.booleans(),
    fair=st.booleans(),
    seed=st.integers(),
    known=st.integers(0, 10),
)
def test_every_case_is_begun_once_whatever_the_order(
    wanted: Order, whole: bool, fair: bool, seed: int, known: int
) -> None:
    assert sorted(order(wanted, whole=whole, fair=fair, seed=seed, known=known)) == list(range(10))


def test_as_given_is_as_given() -> None:
    assert order("given", known=10) == list(range(10))


def test_longest_first_takes_the_unknown_ones_for_typical() -> None:
    assert order("longest") == list(reversed(range(10)))
    # Known are 0 to 4 s, typical is 2 s: those come after 3 s, in the order they have.
    assert order("longest", known=5) == [4, 3, 2, 5, 6, 7, 8, 9, 1, 0]
    assert order("longest", known=0) == list(range(10))


def test_a_shuffle_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    assert order("shuffle", seed=1) == order("shuffle", seed=1)
    assert order("shuffle", seed=1) != order("shuffle", seed=2)
    assert order("shuffle", seed=1) != list(range(10))


def test_left_to_itself_it_takes_the_longest_first_where_that_is_known_and_all_will_run() -> None:
    assert order("auto", known=10)[0] == 9
    assert order("auto", known=5)[0] == 4, "half of them known is enough"
    assert order("auto", known=4) == list(range(10))
    assert order("auto", whole=False) == list(range(10))


def test_left_to_itself_it_shuffles_where_the_run_may_end_before_its_last_case() -> None:
    assert order("auto", whole=False, fair=True, seed=3) == order("shuffle", seed=3)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [("given", "as given"), ("shuffle", "shuffled, seed 7"), ("longest", "longest expected first")],
)
def test_the_order_has_a_name_to_tell(wanted: Order, said: str) -> None:
    assert arrange(names, wanted, durations=lengths, whole=True, seed=7)[1] == said
