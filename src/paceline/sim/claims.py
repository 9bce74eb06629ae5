"""Whether a text supports what another one claims, by the words they have in common. A simulation.

    The Eiffel Tower is in Paris, France.      a claim: every name and number in it has to be in the source,
                                               and six in ten of its words; a name that only follows another
                                               after a comma belongs to it and is not looked for
    The Eiffel Tower is not in Paris.          a denial is supported by a sentence with a denial only

It knows no meaning: `it was painted red` is not supported by `its colour is red`, and `Paris, Germany` is. It
is here so that a judge can be tried for nothing, and comes out the same every time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

ENOUGH: Final = 0.6
"""Of the words of a claim that say something."""

_SENTENCE: Final = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*")
_LABEL: Final = re.compile(r"^\s*(?:[A-Z][\w ]{0,30}\d*|\d+)\s*[:)]\s+")
"""`Response 7: ` before a claim is no part of it."""
_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_CLAIM_NOTHING: Final = frozenset(
    """
    a an the this that these those it its is are was were be been being am do does did has have had will would
    can could should may might must and or but nor so if as of in on at to for from by with about into over
    under than then there here also very more most some any all such which who whom whose what when where why
    how i you he she we they me him her us them my your his our their not no never none up out just only
    """.split()  # noqa: SIM905  # words are read more easily than a list of them
)
_DENIALS: Final = re.compile(r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b")


class Found(NamedTuple):
    """How many claims there are, and those that the source does not support."""

    claims: int
    unsupported: tuple[str, ...]

    @property
    def share(self) -> float:
        """Of the claims that are supported; 1 where nothing is claimed."""
        return 1 - len(self.unsupported) / self.claims if self.claims else 1.0


def supported(text: str, source: str) -> Found:
    """The claims of a text, held against a source."""
    sentences = list(_claims(source))
    known = {_form(word) for word in _WORD.findall(source)}
    claims = [claim for claim in _claims(text) if _telling(claim)]
    return Found(len(claims), tuple(claim for claim in claims if not _has(claim, known, sentences)))


def _claims(text: str) -> Iterable[str]:
    return (_LABEL.sub("", sentence.strip()) for sentence in _SENTENCE.findall(text))


def _telling(claim: str) -> list[str]:
    return [word for word in _WORD.findall(claim) if word.casefold() not in _CLAIM_NOTHING]


def _has(claim: str, known: set[str], sentences: list[str]) -> bool:
    words = _telling(claim)
    met = [_form(word) in known for word in words]
    appended = _appended(claim)
    if any(
        not there and _is_particular(word) and word not in appended
        for word, there in zip(words, met, strict=True)
    ):
        return False
    return sum(met) >= ENOUGH * len(words) and _denies(claim) == _denies(_nearest(claim, sentences))


def _appended(claim: str) -> set[str]:
    """Names that stand after a comma behind another name, at the end of it all or before another comma."""
    return set(re.findall(r"\b[A-Z][\w'’-]*, ([A-Z][\w'’-]*)(?=,|\W*$)", claim))


def _is_particular(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit()


def _form(word: str) -> str:
    """A word without case and the commonest endings."""
    folded = word.casefold().replace("’", "'").removesuffix("'s").replace(",", "")
    shorter = re.sub(r"(?:ies|es|s|ed|ing|ly)$", "", folded)
    return shorter if len(shorter) > 2 else folded


def _nearest(claim: str, sentences: list[str]) -> str:
    """The sentence that has most words in common with a claim; names and numbers tell most."""
    weights = {_form(word): 1 + _is_particular(word) for word in _telling(claim)}

    def common(sentence: str) -> int:
        return sum(weights.get(form, 0) for form in {_form(word) for word in _telling(sentence)})

    return max(sentences, key=common, default="")


def _denies(text: str) -> bool:
    return _DENIALS.search(text.casefold()) is not None
