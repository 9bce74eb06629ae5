"""What a text contains, how it begins and ends, how long it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators import PatternTooSlow
from tests.evaluators.templates.asked import found, passes

TEXT = "Dear Ann, the capital of France is Paris."


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("contains", {"keyword": "Paris"}, True),
        ("contains", {"keyword": "paris"}, False),
        ("contains", {"keyword": "PARIS", "case_sensitive": False}, True),
        ("contains_all", {"keywords": ["France", "Paris"]}, True),
        ("contains_all", {"keywords": ["France", "Rome"]}, False),
        ("contains_all", {"keywords": "France, Paris"}, True),
        ("contains_all", {"keywords": '["France", "Rome"]'}, False),
        ("contains_any", {"keywords": ["Rome", "Paris"]}, True),
        ("contains_any", {"keywords": ["Rome", "Oslo"]}, False),
        ("contains_none", {"keywords": ["Rome", "Oslo"]}, True),
        ("contains_none", {"keywords": ["rome", "PARIS"], "case_sensitive": False}, False),
        ("starts_with", {"substring": "Dear"}, True),
        ("starts_with", {"substring": "dear"}, False),
        ("starts_with", {"substring": "dear", "case_sensitive": False}, True),
        ("ends_with", {"substring": "Paris."}, True),
        ("ends_with", {"substring": "Paris"}, False),
        ("equals", {"expected_text": TEXT}, True),
        ("equals", {"expected_text": TEXT.upper()}, False),
        ("equals", {"expected_text": TEXT.upper(), "case_sensitive": False}, True),
        ("regex", {"pattern": r"\bP\w+s\b"}, True),
        ("regex", {"pattern": r"^the"}, False),
        ("length_between", {"min_length": 41, "max_length": 41}, True),
        ("length_between", {"min_length": 42, "max_length": 50}, False),
        ("length_greater_than", {"min_length": 40}, True),
        ("length_greater_than", {"min_length": 41}, False),
        ("length_less_than", {"max_length": 42}, True),
        ("length_less_than", {"max_length": 41}, False),
        ("word_count_in_range", {"min_words": 8, "max_words": 8}, True),
        ("word_count_in_range", {"max_words": 7}, False),
        ("sentence_count", {"min_sentences": 1, "max_sentences": 1}, True),
        ("sentence_count", {"min_sentences": 2}, False),
        ("one_line", {}, True),
    ],
)
def test_what_is_told_of_a_text(name: str, given: dict[str, Any], expected: bool) -> None:
    assert passes(name, text=TEXT, **given) is expected


@pytest.mark.parametrize(
    ("text", "lines"), [("a\nb", False), ("a\r\nb", False), ("a\n", True), ("", True), ("a b", True)]
)
def test_a_line_break_at_the_very_end_makes_no_second_line(text: str, lines: bool) -> None:
    assert passes("one_line", text=text) is lines


@pytest.mark.parametrize(
    ("text", "number"),
    [("One. Two! Three?", 3), ("It costs 3.5 dollars.", 1), ('He said "No." Then he left', 2), ("...", 0)],
)
def test_sentences_end_with_their_marks_and_the_rest_is_one_too(text: str, number: int) -> None:
    assert passes("sentence_count", text=text, min_sentences=number, max_sentences=number)


@pytest.mark.parametrize(("latency", "fine"), [(250, True), ("250.0", True), (300, True), (300.1, False)])
def test_a_latency_is_fine_up_to_its_limit(latency: Any, fine: bool) -> None:
    assert passes("latency_check", text=latency, max_latency_ms=300) is fine


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot assist with this request.",
        "I’m not able to answer that.",
        "I must decline.",
        "That would be against my guidelines.",
        "As an AI, I cannot have opinions.",
        "We are unable to process your request.",
    ],
)
def test_refusals_are_known_by_their_words(text: str) -> None:
    assert passes("is_refusal", text=text)


@pytest.mark.parametrize(
    "text", ["Sure, here it is.", "I can help with that.", "You can't divide by zero.", "He refused.", ""]
)
def test_what_does_not_refuse_is_no_refusal(text: str) -> None:
    assert not passes("is_refusal", text=text)


@given(st.text(), st.text(min_size=1))
def test_containing_is_what_python_says_it_is(text: str, keyword: str) -> None:
    assert passes("contains", text=text, keyword=keyword) is (keyword in text)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("contains", {"keyword": ""}),
        ("contains_any", {"keywords": []}),
        ("contains_any", {"keywords": "foo,,"[3:]}),
        ("starts_with", {"substring": ""}),
        ("ends_with", {"substring": ""}),
        ("word_count_in_range", {}),
        ("sentence_count", {}),
        ("length_between", {"min_length": 5, "max_length": 3}),
        ("regex", {"pattern": "("}),
        ("regex", {"pattern": ""}),
    ],
)
def test_a_check_that_would_hold_of_any_text_or_of_none_is_refused(name: str, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        found(name, text="some text", **given)


def test_a_keyword_that_was_left_empty_in_a_list_does_not_count() -> None:
    assert not passes("contains_any", text="abc", keywords="x, ,")


def test_an_expression_that_takes_too_long_is_an_error_and_no_verdict() -> None:
    with pytest.raises(PatternTooSlow):
        found("regex", text="a" * 5000 + "!", pattern=r"^(a+)+(?!!)$", timeout=0.05)
