"""pass@k: held against its definition, against published code's values, and told by reports."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import Case, Dataset
from paceline.report.repeats import all_pass_at_k, average_pass_at_k, pass_at_k


@st.composite
def tries(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(1, 9))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(tries())
def test_it_is_the_share_of_choices_in_which_one_passes(told: tuple[int, int, int]) -> None:
    n, passed, k = told
    choices = list(combinations(range(n), k))
    lucky = [choice for choice in choices if min(choice) < passed]
    assert pass_at_k(n, passed, k) == pytest.approx(len(lucky) / len(choices))


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_it_stays_a_probability_however_many_tries_there_are(told: tuple[int, int, int]) -> None:
    value = pass_at_k(*told)
    assert 0.0 <= value <= 1.0
    assert (value > 0) is (told[1] > 0)


def test_one_try_is_the_share_that_passed() -> None:
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)


def test_the_plain_share_would_make_another_number_of_it() -> None:
    assert pass_at_k(20, 4, 10) == pytest.approx(1 - math.comb(16, 10) / math.comb(20, 10))
    assert pass_at_k(20, 4, 10) > 1 - 0.8**10 + 0.05


@pytest.mark.parametrize("wrong", [(0, 0, 1), (3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0)])
def test_more_than_there_were_is_refused(wrong: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="cannot be had"):
        pass_at_k(*wrong)


def test_the_average_is_over_cases_and_says_over_how_many() -> None:
    found = average_pass_at_k([(1, 2), (0, 2), (1, 1)], 2)
    assert found is not None
    assert (found.value, found.n_cases) == (0.5, 2)
    assert average_pass_at_k([(1, 2)], 3) is None
    assert average_pass_at_k([], 1) is None


def test_without_repeats_there_is_nothing_to_tell() -> None:
    assert all_pass_at_k([(1, 1), (0, 1)]) == []
    assert [each.k for each in all_pass_at_k([(1, 12), (0, 12)])] == [1, 2, 5, 10]


# ---- as reports tell it ----


def answering(repeats: dict[str, list[str]]) -> Dataset[str, str, None]:
    dataset: Dataset[str, str, None] = Dataset(cases=[Case(name=name, inputs=name) for name in repeats])
    dataset.add_evaluator(lambda output: output == "right")
    return dataset


def report_of(repeats: dict[str, list[str]], repeat: int) -> Any:
    left = {name: list(answers) for name, answers in repeats.items()}

    def task(name: str) -> str:
        answer = left[name].pop(0)
        if answer == "breaks":
            raise RuntimeError(answer)
        return answer

    return answering(repeats).evaluate_sync(task, journal=False, repeat=repeat)


def test_a_report_tells_it_where_cases_repeat() -> None:
    report = report_of({"a": ["right", "wrong"], "b": ["wrong", "wrong"]}, 2)
    assert report.pass_at_k(1) == pytest.approx(0.25)
    assert report.pass_at_k(2) == pytest.approx(0.5)
    assert report.pass_at_k(3) is None
    assert [(each["k"], each["value"]) for each in report.to_dict()["pass_at_k"]] == [(1, 0.25), (2, 0.5)]
    assert "pass@1 25.0%, pass@2 50.0%: at least one of k tries passes, over 2 cases" in _one_line(report)


def _one_line(report: Any) -> str:
    return " ".join(report.render().split())


def test_a_try_that_broke_has_not_passed() -> None:
    report = report_of({"a": ["right", "breaks"]}, 2)
    assert report.pass_at_k(1) == pytest.approx(0.5)


def test_without_repeats_a_report_says_nothing_of_it() -> None:
    report = report_of({"a": ["right"]}, 1)
    assert report.pass_at_k(1) == 1.0
    assert report.to_dict()["pass_at_k"] == []
    assert "pass@" not in report.render()
