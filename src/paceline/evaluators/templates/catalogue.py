"""The catalogue: every template by its name, and what to say of a name that is none.

Names, inputs and kinds of output are those that users of Future AGI know. What is asked, and how it is
computed, is our own.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache

from paceline.errors import UsageError
from paceline.evaluators.templates.entries import Entry, Supported, Unsupported, by_name
from paceline.evaluators.wording import brief, kind_of


@cache
def catalogue() -> Mapping[str, Entry]:
    """All templates by name, in alphabetical order."""
    from paceline.evaluators.templates import (
        classification,
        code_overlap,
        differences,
        formats,
        links,
        meaning,
        overlap,
        regression,
        retrieval,
        similarity,
        strings,
        style,
        transcripts,
        unsupported,
    )
    from paceline.evaluators.templates.judged import conversations, grounding, quality, safety

    code = (strings, formats, links, differences, similarity, overlap, code_overlap, transcripts, style)
    figures = (classification, regression, retrieval, meaning)
    judges = (grounding, quality, safety, conversations)
    entries = [entry for family in (*code, *figures, *judges, unsupported) for entry in family.TEMPLATES]
    return by_name(*sorted(entries, key=lambda entry: entry.name.casefold()))


def entry_of(name: object) -> Entry:
    """The entry of a name; UsageError, which says what was probably meant, where there is none."""
    if not isinstance(name, str):
        raise UsageError(
            f"a template is named by text, and this is {kind_of(name)}",
            hint='evaluate("groundedness", output=..., context=...); paceline.templates() lists all names',
        )
    if (entry := catalogue().get(name)) is None:
        raise UsageError(f"there is no template {brief(name)}{_meant(name)}", hint=LISTED)
    return entry


def template_of(name: object) -> Supported:
    """The same, for one that is supported; else a UsageError that says why not, and what to do instead."""
    entry = entry_of(name)
    if isinstance(entry, Unsupported):
        raise UsageError(f"{entry.name} is not supported: {entry.why}", hint=entry.instead)
    return entry


LISTED = "paceline.templates() lists all of them, and so does `paceline templates`"


def _meant(name: str) -> str:
    written = name.strip().casefold().replace("-", "_").replace(" ", "_")
    folded = {known.casefold(): known for known in catalogue()}
    begun = [known for known in folded if written and known.startswith(written)]
    within = [known for known in folded if written and (written in known or known in written)]
    close = difflib.get_close_matches(written, folded, n=1, cutoff=0.6)
    found = next(iter((*begun, *close, *within)), None)
    return "" if found is None else f"; did you mean {folded[found]}?"
