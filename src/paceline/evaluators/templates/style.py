"""Templates about how a text is written: variety, repetition, how easy it is to read; how tangled code is."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Final

from paceline.errors import UsageError
from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, Undefined, measured, scored
from paceline.evaluators.templates.overlap import ngrams
from paceline.evaluators.templates.strings import sentences

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
FINE_COMPLEXITY: Final = 10
"""McCabe's own limit (1976), below which nothing is to be said."""


def _words(text: str) -> list[str]:
    if not (words := _WORD.findall(text.casefold())):
        raise Undefined("there is no word in the text")
    return words


def type_token_ratio(text: str) -> Finding:
    """Different words by all words, without case and punctuation."""
    words = _words(text)
    return scored(len(set(words)) / len(words), f"{len(set(words))} different words of {len(words)}")


def distinct_n(text: str, *, n: int = 2) -> Finding:
    """Different stretches of `n` words by all of them (Li et al. 2016)."""
    different, every = _stretches(text, n)
    return scored(different / every, f"{different} different stretches of {n} words, of {every}")


def repetition_rate(text: str, *, n: int = 3) -> Finding:
    """The share of stretches of `n` words that have been there before. The score is 1 less that."""
    different, every = _stretches(text, n)
    rate = 1 - different / every
    return measured(rate, f"{every - different} of {every} stretches are repeated", score=1 - rate)


def _stretches(text: str, size: int) -> tuple[int, int]:
    if size < 1:
        raise UsageError(f"there are no stretches of {size} words", hint="n=2")
    found = ngrams(_words(text), size)
    if not found:
        raise Undefined(f"the text has fewer than {size} words")
    return len(found), found.total()


# Reading ------------------------------------------------------------------------------------------


def readability_score(text: str) -> Finding:
    """Flesch's reading ease (1948) of an English text: about 100 for very easy, 0 for very hard. Syllables
    are counted by their letters, which is right for most words. The score is a hundredth of it.
    """
    words = re.findall(r"[A-Za-z]+(?:['’][A-Za-z]+)*", text)
    if not words:
        raise Undefined("there is no English word in the text")
    number = max(1, len(sentences(text)))
    syllables = sum(map(syllables_in, words))
    ease = 206.835 - 1.015 * len(words) / number - 84.6 * syllables / len(words)
    told = f"reading ease {ease:.1f}: {len(words)} words, {number} sentences, {syllables} syllables"
    return measured(ease, told, score=min(max(ease / 100, 0.0), 1.0))


def syllables_in(word: str) -> int:
    """Syllables of an English word by its letters: groups of vowels, two where a group is said as two, less
    an `e` that nobody says.
    """
    letters = word.lower().replace("’", "'").removesuffix("'s")
    groups = len(re.findall(r"[aeiouy]+", letters)) + len(_SAID_AS_TWO.findall(letters))
    return max(1, groups - (1 if _SILENT_E.search(letters) else 0))


_SAID_AS_TWO: Final = re.compile(r"(?<![tcsgxl])i(?=[aou])|(?<=[aeiouy][^aeiouy])ea\b|eo\b|[^gq]u(?=al|ou)")
_SILENT_E: Final = re.compile(
    r"[^aeiouyl]e\b|[aeiouy]le\b|[^aeiouydt]ed\b|[^aeiouyszxcgh]es\b"  # make, while; walked; likes
)


# Code ---------------------------------------------------------------------------------------------


def code_complexity(text: str) -> Finding:
    """The cyclomatic complexity (McCabe 1976) of Python code: of its most tangled function, or of what stands
    outside of functions. The score is 1 up to 10, and from there 10 by the complexity.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = ast.parse(text)
        worst, name = max(_complexities(parsed), key=lambda each: each[0])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Undefined(f"it is not Python, so it has no complexity: {error}") from error
    return measured(float(worst), f"{worst}, in {name}", score=min(1.0, FINE_COMPLEXITY / worst))


_BRANCHES: Final = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def _complexities(tree: ast.Module) -> Iterator[tuple[int, str]]:
    yield 1 + sum(map(_ways, _own(tree))), "the module"
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            yield 1 + sum(map(_ways, _own(node))), node.name


def _own(tree: ast.AST) -> Iterator[ast.AST]:
    """What belongs to a function itself, and not to one inside it."""
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, _FUNCTIONS):
            yield child
            yield from _own(child)


def _ways(node: ast.AST) -> int:
    """How many further ways through the code a node opens."""
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.match_case):
        catches_all = isinstance(node.pattern, ast.MatchAs) and node.pattern.pattern is None
        return 0 if catches_all and node.guard is None else 1
    return int(isinstance(node, _BRANCHES))


TEMPLATES: Final = (
    computed(type_token_ratio, "Score"),
    computed(distinct_n, "Score"),
    computed(repetition_rate, "Numeric"),
    computed(readability_score, "Numeric"),
    computed(code_complexity, "Numeric"),
)
