"""Patches as text: where one is in an answer, and which files it touches.

Understands what `git diff`, `diff -u` and models write. Says which files, not whether it applies: git knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

_FENCE: Final = re.compile(
    r"^[ \t]*(`{3,})[ \t]*(?:diff|patch|udiff)?[ \t]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL
)
_LOOKS_LIKE_ONE: Final = re.compile(r"^(?:diff --git |--- )", re.MULTILINE)
_FROM_TO: Final = re.compile(r"^(?:rename|copy) (?:from|to) (.+)$")
_BINARY: Final = re.compile(r"^Binary files (.+) and (.+) differ$")
_HUNK: Final = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ESCAPES: Final = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def patch_in(answer: str) -> str:
    """The patch of an answer: what blocks with a fence hold, if they look like one, else all of it."""
    blocks = [match[2] for match in _FENCE.finditer(f"{answer}\n") if _LOOKS_LIKE_ONE.search(match[2])]
    return "".join(blocks) if blocks else answer


class Damaged(Exception):
    """A patch that is not what its own counts say: which files it touches cannot be told."""


def files_of(patch: str) -> tuple[str, ...]:
    """The files that a patch touches, each by its old and its new name; sorted."""
    found: set[str] = set()
    old = new = 0
    for number, line in enumerate(patch.split("\n"), 1):
        if old > 0 or new > 0:  # within a hunk, whatever a line looks like
            if line[:1] not in (" ", "-", "+", "\\", ""):
                raise Damaged(f"line {number} stands where a hunk goes on")
            old -= line[:1] in (" ", "-", "")
            new -= line[:1] in (" ", "+", "")
            continue
        hunk = _HUNK.match(line)
        if hunk is not None:
            old, new = (int(count) if count is not None else 1 for count in hunk.groups())
        else:
            found.update(_named_in(line))
    if old > 0 or new > 0:
        raise Damaged("it ends within a hunk")
    return tuple(sorted(found - {""}))


def _named_in(line: str) -> Iterable[str]:
    """The files that a line outside of hunks names."""
    if line.startswith("diff --git "):
        return _both(line.removeprefix("diff --git "))
    if line.startswith(("--- ", "+++ ")):
        return (_path(line[4:].split("\t", maxsplit=1)[0]),)
    moved, binary = _FROM_TO.match(line), _BINARY.match(line)
    if moved is not None:
        return (_unquoted(moved[1]),)
    return map(_path, binary.groups()) if binary is not None else ()


def _both(named: str) -> Iterable[str]:
    """The names in `diff --git a/one b/two`, which are the same but where others lines say it, too."""
    if named.startswith('"') or named.endswith('"'):
        return map(_path, re.findall(r'"(?:[^"\\]|\\.)*"|\S+', named))
    middle = len(named) // 2
    one, two = named[:middle], named[middle + 1 :]
    return (_path(one),) if one[2:] == two[2:] and named[middle] == " " else ()


def _path(written: str) -> str:
    path = _unquoted(written.rstrip("\r"))
    if path == "/dev/null":
        return ""
    return path[2:] if path[:2] in ("a/", "b/") else path


def _unquoted(written: str) -> str:
    """A path as git writes it where it has unusual signs: in quotes, with escapes, bytes in octal."""
    if len(written) < 2 or not (written.startswith('"') and written.endswith('"')):
        return written
    raw = re.sub(rb"\\([0-7]{3}|.)", _meant, written[1:-1].encode("utf-8", "surrogatepass"), flags=re.DOTALL)
    return raw.decode("utf-8", "backslashreplace")


def _meant(escape: re.Match[bytes]) -> bytes:
    sign = escape[1]
    return bytes([int(sign, 8) & 0xFF]) if len(sign) == 3 else _ESCAPES.get(sign, sign)


# ---- patterns of paths ----


def matches(path: str, pattern: str) -> bool:
    """Whether a path is one that a pattern means.

    `*` stays within one name, `**` goes over folders, `src/` is all below it. A pattern without a slash is a
    name in any folder.
    """
    return _compiled(pattern).fullmatch(path) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    whole = f"{pattern}**" if pattern.endswith("/") else pattern if "/" in pattern else f"**/{pattern}"
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]/]+\])", whole.removeprefix("./"))
    return re.compile("".join(map(_as_expression, parts)), re.DOTALL)


def _as_expression(part: str) -> str:
    known = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if part in known:
        return known[part]
    if part.startswith("[") and part.endswith("]") and len(part) > 2:
        inside = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[^/{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    return re.escape(part)
