"""Normalized: two texts say the same once case, space, punctuation and ways of encoding are set aside.

What makes a number another number stays: the sign before it, the point and the comma in it, the per cent
after it. And where nothing would be left of the expected text (`...`), the texts are compared as they are.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator, Verdict
from paceline.evaluators.wording import brief, kind_of

_MARK = re.compile(r"[^\w\s]|_")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_QUOTING = "`´"
"""Symbols in Unicode's book, and yet used like quotation marks."""


def without_punctuation(text: str) -> str:
    """Dashes and slashes become space, other punctuation goes; currency and mathematical signs stay."""
    return _MARK.sub(_kept, text)


def _kept(match: re.Match[str]) -> str:
    mark, text = match[0], match.string
    before = text[match.start() - 1 : match.start()]
    after = text[match.end() : match.end() + 1]
    if mark in ".," and after.isdecimal() and (before.isdecimal() or mark == "."):
        return mark
    if mark in "-−" and after.isdecimal() and not before.isalnum():
        return "-"
    if mark == "%" and before.isdecimal():
        return mark
    kind = unicodedata.category(mark)
    if kind == "Pd" or mark in "/\\":
        return " "
    return "" if kind.startswith("P") or mark in _QUOTING else mark


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation and articles."""
    plain = without_punctuation(unicodedata.normalize("NFKC", text).casefold())
    return _ARTICLE.sub(" ", plain).split()


@dataclass
class Normalized(Evaluator[object, object, object]):
    """The output is `value`, or the expected output, after what does not matter is taken from both.

    `strip=True` takes away the space around them and nothing else. Otherwise each of these can be left out:
    `case`, `space` (a stretch of it counts as one space), `punctuation`, `unicode` (other encodings of the
    same characters); `articles` (a, an, the) are only taken away if asked for.
    """

    value: str | float | None = None
    strip: bool = field(default=False, kw_only=True)
    case: bool = field(default=True, kw_only=True)
    space: bool = field(default=True, kw_only=True)
    punctuation: bool = field(default=True, kw_only=True)
    unicode: bool = field(default=True, kw_only=True)
    articles: bool = field(default=False, kw_only=True)
    evaluation_name: str | None = field(default=None, kw_only=True)

    instant = True

    def evaluate(self, ctx: AnyContext) -> Verdict:
        given = ctx.expected_output if self.value is None else self.value
        if given is None:
            return {}
        wanted, found = _text_of(given), _text_of(ctx.output)
        if wanted is None:
            raise TypeError(f"the expected output is {kind_of(given)}, and Normalized compares text")
        if found is None:
            return EvaluationReason(False, f"the output is {kind_of(ctx.output)}, not text")
        if self._same(found, wanted):
            return EvaluationReason(True)
        return EvaluationReason(False, f"{brief(found)} does not say the same as {brief(wanted)}")

    def _same(self, found: str, wanted: str) -> bool:
        left = "" if self.strip else self.normalized(wanted)
        if not left:
            return found.strip() == wanted.strip()
        return self.normalized(found) == left

    def normalized(self, text: str) -> str:
        """What is left of a text."""
        if self.unicode:
            text = unicodedata.normalize("NFKC", text)
        if self.case:
            text = text.casefold()
        if self.punctuation:
            text = without_punctuation(text)
        if self.articles:
            text = _ARTICLE.sub("", text)
        return " ".join(text.split()) if self.space else text.strip()


def _text_of(value: object) -> str | None:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
