"""Commands that a shell reads, with values put in so that they stay values.

A value never becomes part of what the shell parses: it is handed over as an argument, and stands in the
text as `"${1}"`. Whatever is in it, quotes and `$(...)` included, it is one word. Where the shell puts
nothing in (between single quotes), or where that would not hold (backquotes, arithmetic, here-documents), a
place is refused before anything runs.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from paceline.errors import UsageError
from paceline.tasks.template import Place, Template

SHELL: Final = "/bin/sh"

_REFUSED: Final = {
    "single": "between single quotes, where the shell puts nothing in: leave them out, it is quoted for you",
    "backquotes": "between backquotes: write $(...) in their place",
    "arithmetic": "in arithmetic, which the shell would work out: put it into a variable of `env:`",
    "here-document": "below a here-document: give it by `stdin:` or in `files:`",
}


class Script(NamedTuple):
    """What the shell is told, and the places whose values are its arguments."""

    text: str
    places: tuple[Place, ...]

    @property
    def argv(self) -> tuple[str, ...]:
        """The start of the command; the values follow."""
        return (SHELL, "-c", self.text, "sh")


def script_of(template: Template) -> Script:
    """The script of a command with places in it."""
    text: list[str] = []
    places: list[Place] = []
    reader = _Reader()
    for piece in template.pieces:
        if isinstance(piece, str):
            reader.read(piece)
            text.append(piece)
            continue
        if (why := _REFUSED.get(reader.here)) is not None:
            raise UsageError(f"{template.where} has {{{{ {piece.written} }}}} {why}")
        places.append(piece)
        value = f"${{{len(places)}}}"
        text.append(value if reader.here == "double" else f'"{value}"')
    return Script("".join(text), tuple(places))


class _Reader:
    """Reads a script as far as it takes to know what stands around a place."""

    def __init__(self) -> None:
        self._around: list[str] = ["plain"]
        self._word_begins = True
        self._comment = False
        self._after_heredoc = False

    @property
    def here(self) -> str:
        """What stands around the text that comes next."""
        if self._after_heredoc:
            return "here-document"
        for each in ("arithmetic", "backquotes"):
            if each in self._around:
                return each
        return self._around[-1]

    def read(self, text: str) -> None:
        """Go on by this text."""
        at = 0
        while at < len(text):
            at += self._step(text, at)
        self._word_begins = self._word_begins and not text

    def _step(self, text: str, at: int) -> int:
        """Take what stands at a position; how long it is."""
        char = text[at]
        if self._comment:
            self._comment = char != "\n"
            return 1
        if self._around[-1] == "single":
            self._leave_at(char, "'")
            return 1
        if char == "\\":
            self._word_begins = False
            return 2
        quoted = self._around[-1] == "double"
        begins, self._word_begins = self._word_begins, char in " \t\n;&|(" and not quoted
        for opening, name in _OPENINGS:
            if text.startswith(opening, at) and not (quoted and opening in _PLAIN_ONLY):
                self._enter(name)
                return len(opening)
        match char:
            case '"' | "`" | ")":
                self._close(char)
            case "#" if begins and not quoted:
                self._comment = True
            case "<" if text.startswith("<<<", at):
                return 3
            case "<" if text.startswith("<<", at) and not quoted:
                self._after_heredoc = True
                return 2
            case _:
                pass
        return 1

    def _enter(self, name: str) -> None:
        self._around.append(name)

    def _leave_at(self, char: str, end: str) -> None:
        if char == end:
            self._around.pop()

    def _close(self, char: str) -> None:
        """A sign that ends what it has begun, or begins it."""
        name = {'"': "double", "`": "backquotes", ")": ""}[char]
        if char == ")":
            if self._around[-1] in ("command", "arithmetic"):
                self._around.pop()
        elif self._around[-1] == name:
            self._around.pop()
        else:
            self._around.append(name)


_OPENINGS: Final = (("$((", "arithmetic"), ("$(", "command"), ("(", "command"), ("'", "single"))
_PLAIN_ONLY: Final = ("(", "'")
