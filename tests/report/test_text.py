"""Text for people: nothing foreign gets through to a terminal, no figure says more than is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.report.text import clean, counted, dollars, number, percent, seconds, shown_value, times

anything = st.text(st.characters(), max_size=80)  # lone surrogates and control characters included


@given(anything, st.sampled_from(["utf-8", "ascii", "latin-1", "cp1252"]))
def test_whatever_a_model_says_is_one_line_that_a_terminal_only_shows(text: str, encoding: str) -> None:
    shown = clean(text, encoding=encoding)
    assert shown.encode(encoding).decode(encoding) == shown
    assert all(character.isprintable() or character in "\u200c\u200d" for character in shown)


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        ("\x9b31mred", r"\x9b31mred"),
        ("safe\u202eexe.txt", r"safe\u202eexe.txt"),
        ("\ud800", r"\ud800"),
        ("a\r\nb\tc", "a b c"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("é, 東京 and 👩\u200d🚀", "é, 東京 and 👩\u200d🚀"),
    ],
)
def test_what_a_terminal_would_act_on_is_shown_as_an_escape(hostile: str, shown: str) -> None:
    assert clean(hostile) == shown


def test_what_a_stream_cannot_show_is_shown_as_an_escape() -> None:
    assert clean("東京 " * 200, limit=3, encoding="ascii") == r"\u6771\u4eac..."


def test_long_text_is_cut() -> None:
    assert clean("x" * 10_000_000, limit=10) == "x" * 10 + "…"
    assert clean("x" * 10, limit=10) == "x" * 10


def test_a_repr_that_raises_is_told_and_not_fatal() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert shown_value(Broken()) == "<Broken: its repr raises RuntimeError>"
    assert shown_value("text") == "text"
    assert shown_value([1]) == "[1]"


@pytest.mark.parametrize(
    ("rate", "shown"),
    [
        (None, "unknown"),
        (0.0, "0.0%"),
        (1.0, "100.0%"),
        (0.99999, ">99.9%"),
        (0.00001, "<0.1%"),
        (0.8749, "87.5%"),
        (1 / 3, "33.3%"),
    ],
)
def test_what_is_not_all_is_never_shown_as_all(rate: float | None, shown: str) -> None:
    assert percent(rate) == shown


@pytest.mark.parametrize(
    ("duration", "shown"),
    [
        (None, "unknown"),
        (0.0, "0 s"),
        (0.0000123, "0.0123 ms"),
        (0.35, "350 ms"),
        (0.99996, "1.00 s"),
        (9.5, "9.50 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 00 s"),
        (125, "2 min 05 s"),
        (3600, "1 h 00 min"),
        (90_061, "25 h 01 min"),
    ],
)
def test_a_duration_is_told_in_the_unit_that_suits_it(duration: float | None, shown: str) -> None:
    assert seconds(duration) == shown


def test_numbers_are_told_with_as_many_digits_as_mean_something() -> None:
    assert [number(1234567), number(0.123456), number(None)] == ["1,234,567", "0.1235", "unknown"]
    assert [times(2.345), times(12_345.6)] == ["2.3", "12,346"]
    assert [counted(1, "case"), counted(2, "case"), counted(0, "try", "tries")] == [
        "1 case",
        "2 cases",
        "0 tries",
    ]


@pytest.mark.parametrize(
    ("sum_", "said"),
    [
        (0.0, "$0.00"),
        (0.000000001, "$0.0000000010"),
        (0.000036, "$0.000036"),
        (0.00063, "$0.00063"),
        (0.25, "$0.25"),
        (3.5, "$3.50"),
        (12_345.6, "$12,346"),
    ],
)
def test_money_is_never_rounded_to_nothing_and_written_without_an_exponent(sum_: float, said: str) -> None:
    assert dollars(sum_) == said
