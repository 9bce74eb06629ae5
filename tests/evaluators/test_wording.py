"""Values in reasons: short, whatever they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.evaluators.wording import brief, kind_of


class Wordless:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10_000_000,
        b"x" * 10_000_000,
        10**100_000,
        list(range(1_000_000)),
        [[[[[["x" * 1000]]]]]],
        {str(i): "x" * 1000 for i in range(1000)},
        Wordless(),
        [Wordless()],
    ],
    ids=["text", "bytes", "int", "list", "nested", "dict", "wordless", "list of wordless"],
)
def test_a_value_is_shown_in_a_few_words(value: object) -> None:
    assert 0 < len(brief(value)) < 2500


@given(st.recursive(st.text() | st.integers() | st.floats() | st.none(), st.lists))
def test_a_small_value_is_shown_as_it_is_and_a_large_one_shortened(value: object) -> None:
    assert brief(value) == repr(value) or "..." in brief(value)


def test_both_ends_of_a_long_text_are_shown() -> None:
    assert brief("start" + "x" * 1000 + "end").startswith("'start")
    assert brief("start" + "x" * 1000 + "end").endswith("end'")


@pytest.mark.parametrize(("value", "words"), [(None, "None"), (1, "an int"), ({}, "a dict")])
def test_a_kind_is_named_as_in_a_sentence(value: object, words: str) -> None:
    assert kind_of(value) == words
