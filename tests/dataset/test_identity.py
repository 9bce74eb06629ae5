"""Each case is known by one name, whatever its place in the dataset."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.dataset.case import Case
from paceline.dataset.identity import identify, name_of_content, objection_to
from paceline.errors import DatasetError

CONTENT = (
    st.integers(0, 3)
    | st.text("ab", max_size=1)
    | st.dictionaries(st.text("ab", max_size=1), st.integers(0, 2))
)
UNNAMED = st.builds(Case, inputs=CONTENT, expected_output=CONTENT)


def names(cases: Iterable[Case[Any, Any, Any]]) -> list[str]:
    return [name for name, _ in identify(cases)]


def test_a_case_is_known_by_its_name() -> None:
    assert names([Case(name="a", inputs=1), Case(name="b", inputs=1)]) == ["a", "b"]


@given(st.lists(UNNAMED, max_size=12))
def test_no_two_cases_are_known_by_the_same_name(cases: list[Case[Any, Any, Any]]) -> None:
    found = names(cases)
    assert len(set(found)) == len(cases)
    assert all(re.fullmatch(r"#[0-9a-f]{12}(-\d+)?", name) for name in found)


@given(st.lists(UNNAMED, max_size=12), st.integers())
def test_the_order_of_a_dataset_does_not_change_what_its_cases_are_known_by(
    cases: list[Case[Any, Any, Any]], seed: int
) -> None:
    shuffled = random.Random(seed).sample(cases, len(cases))
    known = {name: (case.inputs, case.expected_output) for name, case in identify(cases)}
    assert {name: (case.inputs, case.expected_output) for name, case in identify(shuffled)} == known


def test_cases_of_the_same_content_are_counted() -> None:
    cases = [Case(inputs="x"), Case(inputs="y"), Case(inputs="x"), Case(inputs="x")]
    first, _, *others = names(cases)
    assert others == [f"{first}-2", f"{first}-3"]


def test_inputs_expected_output_and_metadata_make_the_content_and_evaluators_do_not() -> None:
    base = Case(inputs=1, expected_output=2, metadata=3, evaluators=())
    assert name_of_content(base) == name_of_content(
        Case(inputs=1, expected_output=2, metadata=3, evaluators=["x"])
    )
    others = [Case(inputs=2, expected_output=1, metadata=3), Case(inputs=1), Case(inputs=1, metadata=2)]
    assert len({name_of_content(case) for case in [base, *others]}) == 4


def test_any_content_at_all_has_a_name() -> None:
    @dataclass
    class Local:
        x: int

    assert len(set(names([Case(inputs=object()), Case(inputs=Local(1)), Case(inputs={1, 2})]))) == 3


def test_a_name_that_stands_twice_is_refused_with_both_places() -> None:
    cases = [Case(name="a", inputs=1), Case(inputs=2), Case(name="a", inputs=3)]
    with pytest.raises(DatasetError, match="cases 1 and 3 are both named 'a'") as refusal:
        names(cases)
    assert "rename" in refusal.value.hint


def test_of_a_stream_only_the_second_place_is_known() -> None:
    with pytest.raises(DatasetError, match="case 2 is named 'a', as one before it"):
        names(iter([Case(name="a", inputs=1), Case(name="a", inputs=3)]))


def test_two_names_are_not_taken_for_one_because_their_hashes_are_the_same() -> None:
    class Same(str):
        def __hash__(self) -> int:
            return 1

    assert names([Case(name=Same("a"), inputs=1), Case(name=Same("b"), inputs=2)]) == ["a", "b"]


def test_names_come_one_at_a_time() -> None:
    def endless() -> Iterable[Case[Any, Any, Any]]:
        number = 0
        while True:
            number += 1
            yield Case(name=f"case {number}", inputs=number)

    found = identify(endless())
    assert [next(found)[0] for _ in range(3)] == ["case 1", "case 2", "case 3"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "a\nb",
        "a\0",
        "\x1b[31m",
        "a\u2028b",
        "\ud800",
        "x" * 1001,
        "#0123456789ab",
        "#0123456789ab-2",
        7,
        b"a",
    ],
)
def test_a_name_that_would_break_a_line_or_pass_for_another_is_refused(name: Any) -> None:
    with pytest.raises(DatasetError, match="case 2: its name") as refusal:
        names([Case(name="fine", inputs=1), Case(name=name, inputs=1)])
    assert refusal.value.hint
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("name", ["a", "Zürich №1", "日本", "a b/c:d", "#1", "🙂", "a\u00a0b", "x" * 1000])
def test_any_other_name_will_do(name: str) -> None:
    assert objection_to(name) is None
