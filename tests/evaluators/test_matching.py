"""Matches: what a regular expression matches, and that none can hang the process."""

from __future__ import annotations

import contextlib
import copy
import pickle
import re
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators import Matches, PatternTooSlow, matching
from paceline.evaluators.matching import Pattern
from paceline.evaluators.prepare import prepare
from tests.evaluators.cases import finished, passes, reason


@pytest.mark.parametrize(
    ("evaluator", "output", "answer"),
    [
        (Matches(r"\d+"), "route 66", True),
        (Matches(r"\d+"), "none", False),
        (Matches(r"\d+", full_match=True), "66", True),
        (Matches(r"\d+", full_match=True), "route 66", False),
        (Matches("paris", ignore_case=True), "PARIS", True),
        (Matches("paris"), "PARIS", False),
        (Matches(r"\w+"), "é", True),
        (Matches(r"^b$"), "a\nb", False),
        (Matches(r"(?m)^b$"), "a\nb", True),
        (Matches(r"(\w)\1"), "aabb", True),
        (Matches(r"\d"), 5, False),
        (Matches("None"), None, False),
        (Matches(""), "", True),
    ],
)
def test_text_is_matched_as_by_pythons_re(evaluator: Matches, output: object, answer: bool) -> None:
    assert passes(evaluator, output) is answer


def test_the_reason_says_what_did_not_match() -> None:
    assert reason(Matches("b"), "a") == "'a' does not match 'b'"
    assert reason(Matches("b"), None) == "the output is None, not text"
    assert len(reason(Matches("b"), "a" * 100_000)) < 300


@pytest.mark.parametrize(
    "wrong",
    [
        {"pattern": "("},
        {"pattern": "*"},
        {"pattern": 3},
        {"pattern": b"x"},
        {"pattern": "a", "timeout": 0},
        {"pattern": "a", "timeout": -1.0},
        {"pattern": "a", "timeout": float("nan")},
        {"pattern": "a", "timeout": float("inf")},
    ],
)
def test_what_cannot_be_a_pattern_is_refused_at_construction(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Matches(**wrong)


CATASTROPHES = [
    (r"(a+)+$", "a" * 40 + "!"),
    (r"^(a|a)*$", "a" * 40 + "!"),
    (r"(\w+\s?)*:", "word " * 20),
    (r"^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 40),
    (r"(x+x+)+y", "x" * 40),
    (r"(.*)*\1!", "é" * 40),
]


@pytest.mark.parametrize("with_re2", [True, False])
@pytest.mark.parametrize(("pattern", "text"), CATASTROPHES)
def test_a_catastrophic_pattern_never_passes_and_never_outlives_its_deadline(
    pattern: str, text: str, with_re2: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real time, generously: unbounded, each of these would take hours."""
    if not with_re2:
        monkeypatch.setitem(sys.modules, "re2", None)
    evaluator = Matches(pattern, timeout=0.2)
    started = time.monotonic()
    # RE2 knows the answer; without it, time is up.
    with contextlib.suppress(PatternTooSlow):
        assert evaluator.evaluate(finished(text)).value is False
    assert time.monotonic() - started < 20


def test_a_slow_pattern_is_an_error_that_says_how_long_it_was_given() -> None:
    with pytest.raises(PatternTooSlow, match=r"took longer than 0\.05 s on 41 characters"):
        Matches(r"(a+)+\1$", timeout=0.05).evaluate(finished("a" * 40 + "!"))


def test_only_patterns_that_are_linear_on_any_text_run_in_place() -> None:
    evaluators = [
        Matches("yes|no"),
        Matches(r"\d+", full_match=True),
        Matches(r"\d+ items"),
        Matches(r"(a+)+$"),
    ]
    assert [each.mode for each in prepare(evaluators)] == ["instant", "instant", "thread", "thread"]


def test_a_long_text_is_answered_like_a_short_one() -> None:
    for words in (10, 100_000):
        assert passes(Matches(r"\d+ items\b"), "word " * words + "30 items") is True
        assert passes(Matches(r"\d+ items\b"), "word " * words + "30 item") is False


def test_it_can_be_copied_and_sent_to_another_process() -> None:
    evaluator = Matches(r"(a+)+b", ignore_case=True, timeout=2)
    for again in (copy.deepcopy(evaluator), pickle.loads(pickle.dumps(evaluator))):
        assert again == evaluator
        assert passes(again, "AAB") is True


def patterns() -> st.SearchStrategy[str]:
    atoms = st.sampled_from(
        [*"ab 1", r"\d", r"\w", r"\s", r"\S", r"\b", "[^a]", "[a-b]", ".", "^", "$", r"\.", "-"]
    )
    return st.recursive(
        atoms,
        lambda inner: (
            st.lists(inner, min_size=1, max_size=3).map("".join)
            | st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})")
            | st.builds("(?:{})*".format, inner)
            | st.builds("(?:{})+".format, inner)
            | st.builds("(?:{})??".format, inner)
            | st.builds("(?:{}){{1,2}}".format, inner)
            | st.builds("(?m:{})".format, inner)
        ),
        max_leaves=5,
    )


texts = st.text("abAB1.-_ \n\t\v\x1c\r\0é٣\u2028ſK", max_size=8)


def by_re(pattern: str, text: str, *, whole: bool, ignore_case: bool) -> bool:
    compiled = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    return (compiled.fullmatch(text) if whole else compiled.search(text)) is not None


@given(patterns(), texts, st.booleans(), st.booleans())
def test_a_text_too_long_to_be_tried_in_place_gets_the_answer_of_re(
    pattern: str, text: str, whole: bool, ignore_case: bool
) -> None:
    bounded = Pattern(pattern, whole=whole, ignore_case=ignore_case)
    bounded._longest_in_place = -1
    assert bounded.matches(text) is by_re(pattern, text, whole=whole, ignore_case=ignore_case)


@settings(max_examples=500)
@given(patterns(), texts, st.booleans(), st.booleans())
def test_where_re2_is_trusted_it_reads_pattern_and_text_as_re_does(
    pattern: str, text: str, whole: bool, ignore_case: bool
) -> None:
    pytest.importorskip("re2")
    engine = matching._linear_engine(pattern, int(re.IGNORECASE) if ignore_case else 0, whole=whole)
    assert engine is not None
    if matching._reads_alike(text):
        assert (engine(text) is not None) is by_re(pattern, text, whole=whole, ignore_case=ignore_case)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a$", "a\n"),
        (r"\s", "\v"),
        (r"\w", "é"),
        (r"\d", "٣"),
        ("[x[:alpha:]]", "z"),
        ("a{,2}b", "aab"),
        (r"\B", ""),
    ],
)
def test_where_re2_would_read_otherwise_it_is_not_asked(pattern: str, text: str) -> None:
    re2 = pytest.importorskip("re2")
    engine = matching._linear_engine(pattern, 0, whole=False)
    assert engine is None or not matching._reads_alike(text)
    by_re2 = re2.compile(pattern).search(text)
    assert (by_re2 is not None) is not by_re(pattern, text, whole=False, ignore_case=False)
