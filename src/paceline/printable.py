"""Printable: foreign text that a terminal only shows, and never acts on.

What a model answers, and what an exception of its client quotes, may hold anything: escape sequences that
rename a window or clear the screen, direction marks that show a word backwards, half a surrogate that no
stream takes. Whatever is printed for people and was not written by us goes through here.
"""

from __future__ import annotations

import re
from typing import Final

_JOINERS: Final = "\u200c\u200d"
"""Not printable on their own; scripts and emoji are written with them."""
_SUSPECTS: Final = re.compile("[^ -~]")
_SUSPECTS_BUT_LINES: Final = re.compile("[^ -~\n\t]")


def harmless(text: str, *, lines: bool = True) -> str:
    """The text with what a terminal would act on shown as an escape. Ends of lines and tabs stay as they are,
    unless it is to be one line."""
    return (_SUSPECTS_BUT_LINES if lines else _SUSPECTS).sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    one = found[0]
    return one if one.isprintable() or one in _JOINERS else one.encode("unicode_escape").decode("ascii")
