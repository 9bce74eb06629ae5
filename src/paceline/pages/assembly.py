"""Assembly: ES modules and style sheets become one document with a strict content policy.

    page = assembled(face("report"))
    page.opening(title="...")     up to and with the place where the page will be drawn
    page.script                   the program, as an element; data that it needs at once stands before it
    CLOSING

Each module keeps its own scope: it becomes a function that returns what it exports, called once, in the
order in which modules need each other. What may stand in a module is therefore bounded, and checked:
`import { a } from "./b.mjs";` at the start of a line, `export` before a function, class or constant.

The policy allows this one script and this one style sheet, by their hashes, and nothing else: no request,
no frame, no form, no handler in markup, and no way from a string to markup.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

STYLES: Final = ("base.css", "summary.css", "grid.css", "case.css", "runs.css", "plots.css", "print.css")
CLOSING: Final = "</body>\n</html>\n"

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+\.mjs)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function\*?|class|const) ([A-Za-z_$][\w$]*)", re.MULTILINE)
_LEFT_OVER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


class Page(NamedTuple):
    """A page without its data."""

    code: str
    style: str

    @property
    def script(self) -> str:
        """The program, as an element."""
        return f"<script>{self.code}</script>\n"

    def policy(self, *, asks: bool) -> str:
        """The content policy; a page that `asks` may fetch from where it came from."""
        asked = "self" if asks else "none"
        return "; ".join(
            (
                "default-src 'none'",
                f"script-src '{_hash(self.code)}'",
                f"style-src '{_hash(self.style)}'",
                f"connect-src '{asked}'",
                "img-src data:",
                "base-uri 'none'",
                "form-action 'none'",
                "require-trusted-types-for 'script'",
                "trusted-types 'none'",
            )
        )

    def opening(
        self, *, title: str, facts: Sequence[tuple[str, str]] = (), source: str = "", asks: bool = False
    ) -> str:
        """The document up to its data, which comes from `source`. `facts` are for readers without scripts."""
        told = "".join(f"<dt>{escape(label)}</dt><dd>{escape(said)}</dd>" for label, said in facts)
        return (
            "<!doctype html>\n"
            f'<html lang="en" data-source="{escape(source)}">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{escape(self.policy(asks=asks))}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            '<meta name="referrer" content="no-referrer">\n'
            f'<meta name="generator" content="paceline">\n'
            f'<link rel="icon" href="data:,">\n'
            f"<title>{escape(title)}</title>\n<style>{self.style}</style>\n</head>\n<body>\n"
            f'<div id="page"><noscript><h1>{escape(title)}</h1><dl>{told}</dl>'
            "<p>With scripts, this page shows every case.</p></noscript></div>\n"
        )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def assembled(entry: str) -> Page:
    """The page whose program starts in this module, such as `report/main.mjs`."""
    here = files("paceline.pages")
    modules: dict[str, str] = {}
    _gather(here / "script", entry, modules, [])
    code = '"use strict";\n' + "".join(modules.values())
    style = "".join(_read(here / "style" / name) for name in STYLES)
    for text in (code, style):
        # Inside an element these two would end it, or change how the rest of it is read.
        assert not re.search(r"<(?:/(?:script|style)|!--)", text, re.IGNORECASE)
    return Page(code=code, style=style)


def _gather(root: Traversable, name: str, modules: dict[str, str], waiting: list[str]) -> None:
    """Put a module, and before it those that it needs, into the program."""
    if name in waiting:
        raise AssertionError(f"modules wait for each other: {' -> '.join([*waiting, name])}")
    if name in modules:
        return
    source = _source(root, name)
    for found in _IMPORT.finditer(source):
        _gather(root, _resolved(name, found[2]), modules, [*waiting, name])
    modules[name] = _as_function(name, source)


def _as_function(name: str, source: str) -> str:
    """A module as a function that is called at once, and what it exports as the result."""

    def taken(found: re.Match[str]) -> str:
        names = re.sub(r"\s+as\s+", ": ", " ".join(found[1].split()))
        return f"const {{ {names} }} = {_variable(_resolved(name, found[2]))};\n"

    exported = _EXPORTED.findall(source)
    body = _EXPORT.sub("", _IMPORT.sub(taken, source))
    if strange := _LEFT_OVER.search(body):
        raise AssertionError(f"{name}: cannot be put into a page: {strange[0]}")
    given = f"return {{ {', '.join(exported)} }};\n" if exported else ""
    return f"const {_variable(name)} = (() => {{\n{body}{given}}})();\n"


def _resolved(importer: str, path: str) -> str:
    """The name of a module that is imported by a path from another one."""
    parts = importer.split("/")[:-1]
    for part in path.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name.removesuffix(".mjs"))


def _source(root: Traversable, name: str) -> str:
    return _read(root.joinpath(*name.split("/")))


def _read(path: Traversable) -> str:
    return path.read_text(encoding="utf-8")


__all__ = ["CLOSING", "Page", "assembled"]
