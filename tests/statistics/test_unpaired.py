"""Two samples of different things, held against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.statistics.unpaired import fisher, unpaired

yes_or_no = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=30)


@given(yes_or_no, yes_or_no)
def test_yes_and_no_go_by_fishers_exact_test(first: list[float], second: list[float]) -> None:
    from scipy.stats import fisher_exact

    table = [[sum(each), len(each) - sum(each)] for each in (first, second)]
    assert unpaired(first, second) == pytest.approx(fisher_exact(table).pvalue)


def test_shares_go_by_welchs_test() -> None:
    from scipy.stats import ttest_ind

    dice = np.random.default_rng(0)
    first, second = list(dice.random(12)), list(0.3 + dice.random(40) / 2)
    assert unpaired(first, second) == pytest.approx(ttest_ind(first, second, equal_var=False).pvalue)


def test_units_that_agree_among_themselves_are_counted() -> None:
    """Ten cases whose repeats all passed in half of the tries, against twenty in a quarter."""
    found = unpaired([0.5] * 10, [0.25] * 20)
    assert found == pytest.approx(fisher(10, 10, 0, 20))
    assert unpaired([0.5] * 10, [0.5] * 20) == 1.0


def test_what_cannot_be_told_is_unknown() -> None:
    assert unpaired([], [1.0]) is None
    assert unpaired([0.5], [0.1, 0.9, 0.3]) is None


def test_where_nothing_differs_it_is_found_to_in_one_of_twenty() -> None:
    dice = np.random.default_rng(1)
    found = 0
    for _ in range(600):
        shares = list(dice.binomial(3, dice.beta(2, 1, size=80)) / 3)
        p = unpaired(shares[:20], shares[20:])
        assert p is not None
        found += p <= 0.05
    assert found / 600 <= 0.07
