"""Quantiles, held against SciPy."""

from __future__ import annotations

import pytest

from paceline.statistics.interval import normal_quantile, student_quantile


@pytest.mark.parametrize("confidence", [0.5, 0.6, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_students_quantile_is_what_scipy_says(confidence: float) -> None:
    from scipy.special import stdtrit

    for freedom in (*range(1, 130), 999, 10**6):
        theirs = stdtrit(freedom, 0.5 + confidence / 2)
        assert student_quantile(freedom, confidence) == pytest.approx(theirs, rel=1e-7)


def test_with_many_degrees_of_freedom_it_is_the_normal_one() -> None:
    assert student_quantile(10**9, 0.95) == pytest.approx(normal_quantile(0.95))
