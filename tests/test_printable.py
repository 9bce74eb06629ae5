"""Foreign text on a terminal: shown, and never acted on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.printable import harmless

anything = st.text(st.characters(), max_size=80)


@given(anything)
def test_whatever_it_holds_it_can_be_written_and_does_nothing(text: str) -> None:
    shown = harmless(text)
    shown.encode()
    assert all(one.isprintable() or one in "\n\t\u200c\u200d" for one in shown)
    assert shown.count("\n") == text.count("\n")
    assert "\n" not in harmless(text, lines=False)


@given(st.text(st.characters(categories=["L", "N", "P", "S"], include_characters=" \n\t"), max_size=80))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2Jgone", r"\x1b[2Jgone"),
        ("\x9b31mred", r"\x9b31mred"),
        ("a\rb", r"a\rb"),
        ("two\n\tlines\x07", "two\n\tlines\\x07"),
        ("safe\u202eexe.txt", r"safe\u202eexe.txt"),
        ("\udc80", r"\udc80"),
    ],
)
def test_what_a_terminal_would_act_on_is_shown_as_an_escape(hostile: str, shown: str) -> None:
    assert harmless(hostile) == shown
