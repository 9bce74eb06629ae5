"""What a requirement may be, and that a list of them is never empty by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators.requirements.given import Requirement, requirements_in, requirements_of


@dataclass
class Wanted:
    id: str
    text: str


class Model(pydantic.BaseModel):
    text: str


def test_texts_are_called_by_their_place_and_others_by_their_id() -> None:
    found = requirements_of(
        [
            "is polite",
            {"id": "source", "text": "names a source"},
            {"text": "is short"},
            Wanted("x", "is true"),
        ]
    )
    assert [(each.id, each.text) for each in found] == [
        ("1", "is polite"),
        ("source", "names a source"),
        ("3", "is short"),
        ("x", "is true"),
    ]


def test_what_has_named_fields_is_as_good_as_a_mapping() -> None:
    assert requirements_of([Model(text="is short")]) == requirements_of(["is short"])
    assert requirements_of({"id": 7, "text": "t"} for _ in range(1))[0].id == "7"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([], "there are no requirements"),
        ((), "there are no requirements"),
        ("is polite", "come as a list"),
        ({"text": "is polite"}, "come as a list"),
        (None, "come as a list"),
        (3, "come as a list"),
        ([""], "requirement 1 is ''"),
        (["ok", "  \n"], "requirement 2 is"),
        (["ok", 3], "requirement 2 is 3"),
        ([None], "requirement 1 is None"),
        ([["nested"]], "requirement 1 is"),
        ([{"id": "a"}], "requirement 1 is"),
        ([{"text": "a", "weight": 2}], "requirement 1 is"),
        ([{"text": 7}], "requirement 1 is 7"),
        ([{"text": "a", "id": True}], "has the id True"),
        ([{"text": "a", "id": " "}], "has the id ' '"),
        ([{"text": "a", "id": "x"}, {"text": "b", "id": "x"}], "two requirements are called 'x'"),
        (["a", {"text": "b", "id": "1"}], "two requirements are called '1'"),
    ],
)
def test_what_is_no_list_of_requirements_is_refused_with_the_remedy(wrong: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        requirements_of(wrong)
    assert refused.value.hint


def test_half_a_character_is_written_out() -> None:
    (found,) = requirements_of(["says \ud83d"])
    assert found.text == "says \\ud83d"
    assert found.part


@dataclass
class Metadata:
    wanted: list[str]


@pytest.mark.parametrize(
    ("metadata", "key"),
    [
        ({"requirements": ["a", "b"]}, "requirements"),
        ({"task": {"wanted": ["a", "b"]}}, "task.wanted"),
        (Metadata(["a", "b"]), "wanted"),
        ({"task": Metadata(["a", "b"])}, "task.wanted"),
    ],
)
def test_requirements_of_a_case_stand_in_its_metadata(metadata: object, key: str) -> None:
    assert [each.text for each in requirements_in(metadata, key)] == ["a", "b"]


@pytest.mark.parametrize("metadata", [None, {}, {"other": 1}, {"requirements": None}, "text"])
def test_a_case_without_requirements_is_an_error_and_not_a_pass(metadata: object) -> None:
    with pytest.raises(UsageError, match="no requirements under 'requirements'") as refused:
        requirements_in(metadata, "requirements")
    assert "Requirements(requirements=[...])" in refused.value.hint


def test_an_empty_list_in_the_metadata_is_an_error_too() -> None:
    with pytest.raises(UsageError, match="there are no requirements"):
        requirements_in({"requirements": []}, "requirements")


def test_a_verdict_goes_by_what_a_requirement_says_and_not_by_its_place() -> None:
    before = {each.text: each.part for each in requirements_of(["a", "b"])}
    after = {each.text: each.part for each in requirements_of(["new", "b", "a"])}
    assert before == {text: after[text] for text in before}
    assert Requirement("source", "names a source", is_named=True).part == "requirement source"


texts = st.text(min_size=1) | st.text("ab \n", min_size=1) | st.text(min_size=90)


@given(st.lists(texts.filter(str.strip), min_size=1, max_size=6))
def test_texts_come_through_as_they_are_and_in_their_order(texts: list[str]) -> None:
    assert [each.text for each in requirements_of(texts)] == texts
    assert all(len(each.part) <= 120 for each in requirements_of(texts))


@given(st.lists(texts.filter(str.strip), min_size=2, max_size=6, unique=True), st.sets(st.integers(0, 5)))
def test_each_goes_by_a_name_of_its_own(texts: list[str], named: set[int]) -> None:
    """Their calls are kept apart by it, too."""
    given_ids = [text.strip() if place in named else None for place, text in enumerate(texts)]
    if len({each for each in given_ids if each is not None}) < sum(each is not None for each in given_ids):
        return
    found = [
        Requirement(name or str(place), text, is_named=name is not None)
        for place, (name, text) in enumerate(zip(given_ids, texts, strict=True))
    ]
    assert len({each.part for each in found}) == len(found)
