"""Templates about text as such: what it contains, how it begins and ends, how long it is."""

from __future__ import annotations

import re
from typing import Final

from paceline.errors import UsageError
from paceline.evaluators.matching import Pattern
from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, holds
from paceline.evaluators.templates.kinds import Keywords
from paceline.evaluators.wording import brief

_SENTENCE_END: Final = re.compile(r"[.!?…。！？]+[\"'”’)\]]*(?=\s|$)")


def contains(text: str, *, keyword: str, case_sensitive: bool = True) -> Finding:
    """The text contains the keyword."""
    found = _found(text, (keyword,), case_sensitive)
    return holds(bool(found), f"{brief(keyword)} is {'there' if found else 'not there'}")


def contains_all(text: str, *, keywords: Keywords, case_sensitive: bool = True) -> Finding:
    """The text contains all of the keywords."""
    found = _found(text, keywords, case_sensitive)
    missing = [each for each in keywords if each not in found]
    return holds(not missing, f"missing: {_listed(missing)}" if missing else "all keywords are there")


def contains_any(text: str, *, keywords: Keywords, case_sensitive: bool = True) -> Finding:
    """The text contains at least one of the keywords."""
    found = _found(text, keywords, case_sensitive)
    return holds(bool(found), f"found: {_listed(found)}" if found else "none of the keywords is there")


def contains_none(text: str, *, keywords: Keywords, case_sensitive: bool = True) -> Finding:
    """The text contains none of the keywords."""
    found = _found(text, keywords, case_sensitive)
    return holds(not found, f"found: {_listed(found)}" if found else "none of the keywords is there")


def _found(text: str, keywords: tuple[str, ...], case_sensitive: bool) -> list[str]:
    if not all(keywords):
        raise UsageError("an empty keyword is in every text", hint="give a keyword of at least a letter")
    if case_sensitive:
        return [each for each in keywords if each in text]
    folded = text.casefold()
    return [each for each in keywords if each.casefold() in folded]


def _listed(keywords: list[str]) -> str:
    return ", ".join(brief(each) for each in keywords)


def starts_with(text: str, *, substring: str, case_sensitive: bool = True) -> Finding:
    """The text begins with the substring."""
    whole, part = _same_case(text, substring, case_sensitive)
    return holds(whole.startswith(part), f"it begins with {brief(text[: len(substring)])}")


def ends_with(text: str, *, substring: str, case_sensitive: bool = True) -> Finding:
    """The text ends with the substring."""
    whole, part = _same_case(text, substring, case_sensitive)
    return holds(whole.endswith(part), f"it ends with {brief(text[-len(substring) :])}")


def _same_case(text: str, part: str, case_sensitive: bool) -> tuple[str, str]:
    if not part:
        raise UsageError(
            "every text begins and ends with nothing", hint="give a substring of at least a letter"
        )
    return (text, part) if case_sensitive else (text.casefold(), part.casefold())


def equals(text: str, expected_text: str, *, case_sensitive: bool = True) -> Finding:
    """The text is the expected one, to the letter."""
    same = text == expected_text if case_sensitive else text.casefold() == expected_text.casefold()
    return holds(same, "they are equal" if same else f"{brief(text)} is not {brief(expected_text)}")


def one_line(text: str) -> Finding:
    """The text is a single line; a line break at its very end does not count."""
    lines = len(text.splitlines())
    return holds(lines <= 1, f"it has {_counted(lines, 'line')}")


def regex(text: str, *, pattern: str, timeout: float = 1.0) -> Finding:
    """The regular expression matches somewhere in the text. The syntax is that of Python's `re`."""
    if not pattern:
        raise UsageError("an empty pattern matches every text", hint="give what has to be there: r'\\d+'")
    found = Pattern(pattern, whole=False, timeout=timeout).matches(text)
    return holds(found, f"{brief(pattern)} {'matches' if found else 'does not match'}")


def length_between(text: str, *, min_length: int, max_length: int) -> Finding:
    """The text has from `min_length` to `max_length` characters, both included."""
    return _in_range(len(text), "character", min_length, max_length)


def length_greater_than(text: str, *, min_length: int) -> Finding:
    """The text has more than `min_length` characters."""
    return holds(len(text) > min_length, f"it has {_counted(len(text), 'character')}")


def length_less_than(text: str, *, max_length: int) -> Finding:
    """The text has fewer than `max_length` characters."""
    return holds(len(text) < max_length, f"it has {_counted(len(text), 'character')}")


def word_count_in_range(text: str, *, min_words: int | None = None, max_words: int | None = None) -> Finding:
    """The text has from `min_words` to `max_words` words, both included. Words stand between spaces."""
    return _in_range(len(text.split()), "word", min_words, max_words)


def sentence_count(
    text: str, *, min_sentences: int | None = None, max_sentences: int | None = None
) -> Finding:
    """The text has from `min_sentences` to `max_sentences` sentences, which end with `.`, `!`, `?` or `…`."""
    return _in_range(len(sentences(text)), "sentence", min_sentences, max_sentences)


def sentences(text: str) -> list[str]:
    """The sentences of a text; what stands after the last full stop is one too."""
    return [part for part in _SENTENCE_END.split(text) if re.search(r"\w", part)]


def _in_range(count: int, what: str, least: int | None, most: int | None) -> Finding:
    if least is None and most is None:
        raise UsageError(f"no number of {what}s is asked for", hint=f"give min_{what}s, max_{what}s, or both")
    if least is not None and most is not None and least > most:
        raise UsageError(f"nothing is from {least} to {most} {what}s long", hint="the lower number first")
    fits = (least is None or count >= least) and (most is None or count <= most)
    return holds(fits, f"it has {_counted(count, what)}")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def latency_check(text: float, *, max_latency_ms: float) -> Finding:
    """The latency, given as `text` in milliseconds, is no more than `max_latency_ms`."""
    return holds(text <= max_latency_ms, f"{text:g} ms, and {max_latency_ms:g} ms are allowed")


_DO: Final = (
    "help|assist|answer|provide|do|share|comply|create|write|generate|discuss|give|support|continue|engage|"
    "fulfil|fulfill|complete|process"
)
_REFUSALS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:i|we) (?:can't|cannot|can not|couldn't|could not|won't|will not) (?:\w+ )?(?:{_DO})\b",
        r"\b(?:i'm|i am|we're|we are) (?:unable|not able|not allowed|not permitted) to\b",
        r"\bi (?:have to|must|will have to|respectfully) (?:\w+ )?(?:decline|refuse)\b",
        r"\bi (?:decline|refuse) to\b",
        r"\bi(?:'m| am) not (?:comfortable|willing)\b",
        r"\bi (?:don't|do not) feel comfortable\b",
        r"\b(?:against|violates?) (?:my|our) (?:guidelines|polic(?:y|ies)|principles|programming|rules)\b",
        r"\bas an ai\b[^.!?]{0,60}\b(?:can't|cannot|unable|not able|won't|will not)\b",
    )
)


def is_refusal(text: str) -> Finding:
    """The text refuses to answer, by the words that English refusals are made of. Irony is lost on it."""
    plain = re.sub(r"\s+", " ", text.replace("’", "'")).casefold()
    for refusal in _REFUSALS:
        if found := refusal.search(plain):
            return holds(True, f"it says {brief(found.group())}")
    return holds(False, "it does not say what refusals say")


TEMPLATES: Final = (
    computed(contains, "Pass/Fail"),
    computed(contains_all, "Pass/Fail"),
    computed(contains_any, "Pass/Fail"),
    computed(contains_none, "Pass/Fail"),
    computed(starts_with, "Pass/Fail"),
    computed(ends_with, "Pass/Fail"),
    computed(equals, "Pass/Fail"),
    computed(one_line, "Pass/Fail"),
    computed(regex, "Pass/Fail"),
    computed(length_between, "Pass/Fail"),
    computed(length_greater_than, "Pass/Fail"),
    computed(length_less_than, "Pass/Fail"),
    computed(word_count_in_range, "Pass/Fail"),
    computed(sentence_count, "Pass/Fail"),
    computed(latency_check, "Pass/Fail"),
    computed(is_refusal, "Pass/Fail"),
)
