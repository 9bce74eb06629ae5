"""code_bleu: how close generated code is to a reference, by its words, its keywords and its syntax.

CodeBLEU (Ren et al. 2020) without its fourth part, the flow of data: the mean of BLEU, of words in common
where keywords weigh five times as much, and of the share of the reference's syntax trees that the code has
too. There are syntax trees for Python; for another language the mean is that of the first two.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, Undefined, scored
from paceline.evaluators.templates.overlap import bleu

Language = Literal["python", "javascript", "java", "go", "sql", "other"]

_TOKEN: Final = re.compile(r"[^\W\d]\w*|\d[\w.]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[^\s\w]")


def _words(written: str) -> frozenset[str]:
    return frozenset(written.split())


_KEYWORDS: Final[Mapping[Language, frozenset[str]]] = {
    "python": frozenset(keyword.kwlist),
    "javascript": _words(
        "async await break case catch class const continue default delete do else export extends false "
        "finally for function if import in instanceof let new null of return static super switch this throw "
        "true try typeof undefined var void while yield"
    ),
    "java": _words(
        "abstract boolean break byte case catch char class const continue default do double else enum "
        "extends final finally float for if implements import instanceof int interface long new null package "
        "private protected public return short static super switch this throw throws true false try void "
        "while"
    ),
    "go": _words(
        "break case chan const continue default defer else fallthrough for func go goto if import interface "
        "map nil package range return select struct switch type var"
    ),
    "sql": _words(
        "select from where join inner outer left right on group by order having insert into values update "
        "set delete create table drop alter and or not in is null as distinct limit union"
    ),
    "other": frozenset(),
}
KEYWORD_WEIGHT: Final = 5.0


def code_bleu(reference: str, hypothesis: str, *, language: Language = "python") -> Finding:
    """CodeBLEU (Ren et al. 2020) without its part about the flow of data; syntax counts for Python."""
    wanted, found = tokens(reference), tokens(hypothesis)
    if not wanted:
        raise Undefined("the reference is empty, so nothing can be held against it")
    parts = {"BLEU": bleu([wanted], found), "with keywords": _weighted(wanted, found, _KEYWORDS[language])}
    if language == "python" and (trees := _common_trees(reference, hypothesis)) is not None:
        parts["syntax"] = trees
    told = ", ".join(f"{name} {value:.3f}" for name, value in parts.items())
    return scored(math.fsum(parts.values()) / len(parts), told)


def tokens(code: str) -> list[str]:
    """Names, numbers, strings and signs."""
    return _TOKEN.findall(code)


def _weighted(wanted: Sequence[str], found: Sequence[str], keywords: frozenset[str]) -> float:
    """The share of the words of the code that the reference has, where keywords weigh more."""

    def weight(counts: Counter[str]) -> float:
        return sum(
            count * (KEYWORD_WEIGHT if word in keywords or word.lower() in keywords else 1.0)
            for word, count in counts.items()
        )

    ours, theirs = Counter(found), Counter(wanted)
    if not ours:
        return 0.0
    brevity = 1.0 if len(found) >= len(wanted) else math.exp(1 - len(wanted) / len(found))
    return brevity * weight(ours & theirs) / weight(ours)


def _common_trees(reference: str, hypothesis: str) -> float | None:
    """The share of the reference's syntax trees, names left out, that are in the code; None without any."""
    theirs, ours = _trees(reference), _trees(hypothesis)
    if not theirs:
        return None
    return (theirs & (ours or Counter())).total() / theirs.total()


def _trees(code: str) -> Counter[str] | None:
    """Every syntax tree in a program, as text; None where it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = ast.parse(code)
        return Counter(_shape(node) for node in ast.walk(parsed) if list(ast.iter_child_nodes(node)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _shape(node: ast.AST) -> str:
    inside = ",".join(_shape(each) for each in ast.iter_child_nodes(node))
    return f"{type(node).__name__}({inside})"


TEMPLATES: Final = (computed(code_bleu, "Score"),)
