"""Several tests at once, held against SciPy, published values and the definitions."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.statistics.several import benjamini_hochberg, holm

p_values = st.lists(st.floats(0, 1), max_size=7)


@given(p_values)
def test_benjamini_and_hochberg_is_what_scipy_says(ps: list[float]) -> None:
    from scipy.stats import false_discovery_control

    assert benjamini_hochberg(ps) == pytest.approx(list(false_discovery_control(ps)) if ps else [])


@given(p_values)
def test_holm_is_bonferroni_over_every_group_of_tests_that_one_is_in(ps: list[float]) -> None:
    """The closed testing procedure (Marcus, Peritz, Gabriel 1976), of which it is the short cut."""
    tests = range(len(ps))
    groups = [group for size in range(1, len(ps) + 1) for group in combinations(tests, size)]
    closed = [
        max(min(1.0, len(group) * min(ps[each] for each in group)) for group in groups if test in group)
        for test in tests
    ]
    assert holm(ps) == pytest.approx(closed)


def test_both_have_the_values_of_p_adjust_of_r() -> None:
    ps = [0.01, 0.04, 0.03, 0.005]
    assert holm(ps) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert benjamini_hochberg(ps) == pytest.approx([0.02, 0.04, 0.04, 0.02])


def test_what_is_no_p_value_is_refused() -> None:
    for adjust in (holm, benjamini_hochberg):
        with pytest.raises(ValueError, match="between 0 and 1"):
            adjust([0.5, float("nan")])
