"""What a pattern may cost, told from its structure: too high at times, never too low."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.evaluators.patterns import IN_PLACE_STEPS, bound

HARMLESS = [
    "yes|no",
    "",
    "[A-D]",
    r"total: \d+",
    r"answer is (\d+)",
    r"\d+$".removesuffix("$"),
    r"^\d+$",
    r"\A\s*yes",
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    r"\d{4}-\d{2}-\d{2}",
    r"(?i)paris|rome",
    r"\bword\b",
]
COSTLY = [
    r"(a+)+$",
    r"(a|aa)+$",
    r"(\w+\s*)+:",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(x+x+)+y",
    r"(a*)*b",
    r"(?:a?){1000}b",
    r"(?=(a+)+$)b",
    r"(a+)+\1",
]
POLYNOMIAL = [
    (r"\d+ items", False, 2),
    (r"\d+ items", True, 1),
    (r"^\d+ items", False, 1),
    (r"(?m)^\d+ items", False, 2),
    (r".*foo.*bar", False, 3),
    (r"(.)\1", False, 2),
    (r"a+b+$", True, 2),
]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_pattern_that_is_one_look_through_the_text_is_known_as_such(pattern: str) -> None:
    assert bound(pattern, 0, whole=False).is_linear


@pytest.mark.parametrize("pattern", COSTLY)
def test_a_pattern_that_may_take_for_ever_is_never_tried_in_place(pattern: str) -> None:
    assert bound(pattern, 0, whole=False).longest_in_place < 1
    assert bound(pattern, 0, whole=True).longest_in_place < 1


@pytest.mark.parametrize(("pattern", "whole", "degree"), POLYNOMIAL)
def test_repeats_that_share_characters_multiply(pattern: str, whole: bool, degree: int) -> None:
    cost = bound(pattern, 0, whole=whole)
    assert cost.degree == degree
    assert cost.is_linear is (degree <= 1)
    if degree > 1:
        assert 1 < cost.longest_in_place < 1000


def test_without_the_parser_nothing_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re._parser", None)
    assert not bound("yes|no", 0, whole=False).is_finite


def patterns() -> st.SearchStrategy[str]:
    """Patterns over two letters, most of which can be divided in many ways."""
    atoms = st.sampled_from(["a", "b", ".", "[ab]", "^", "$", "a{2,5}", r"\b", "(?=a)"])
    return st.recursive(
        atoms,
        lambda inner: (
            st.lists(inner, min_size=1, max_size=4).map("".join)
            | st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})")
            | st.builds("(?:{})*".format, inner)
            | st.builds("(?:{})+?".format, inner)
            | st.builds("(?:{}){{0,3}}".format, inner)
            | st.builds("({})?".format, inner)
        ),
        max_leaves=6,
    )


@settings(max_examples=150)
@given(patterns(), st.booleans(), st.text("ab", min_size=1, max_size=3), st.sampled_from(["", "c"]))
def test_what_is_tried_in_place_is_quick_on_any_text(pattern: str, whole: bool, unit: str, end: str) -> None:
    cost = bound(pattern, 0, whole=whole)
    length = min(cost.longest_in_place, 20_000)
    if length < 1:
        return
    text = (unit * math.ceil(length / len(unit)))[: max(int(length) - len(end), 0)] + end
    compiled = re.compile(pattern)
    started = time.thread_time()
    compiled.fullmatch(text) if whole else compiled.search(text)
    # A step takes some nanoseconds; a bound that is too low would be missed by orders of magnitude.
    steps = max(IN_PLACE_STEPS, cost.factor * len(text))
    assert time.thread_time() - started < 1e-6 * steps


@pytest.mark.slow
def test_the_costly_ones_are_really_costly() -> None:
    """Otherwise the tests above would prove nothing."""
    program = f"import re; re.search({COSTLY[0]!r}, 'a' * 40 + 'b')"
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", program], timeout=1, check=True)
