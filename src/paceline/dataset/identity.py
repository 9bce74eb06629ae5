"""Identity: the name by which a case is known, in every run, file and journal.

A case is known by its name; one without a name by a hash of its content, `#3f2a9c51d07b`, so that moving it
within the dataset changes nothing. Several of the same content are told apart by an ordinal, as in
`#3f2a9c51d07b-2`. Which of them is which makes no difference: they ask the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from paceline.dataset.case import Case
from paceline.errors import DatasetError
from paceline.values import content_hash, encode

AnyCase: TypeAlias = Case[Any, Any, Any]

MAX_NAME: Final = 1_000
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_OF_UNNAMED = re.compile(r"#[0-9a-f]{12}(-\d+)?")


def identify(cases: Iterable[AnyCase]) -> Iterator[tuple[str, AnyCase]]:
    """Give each case the name it is known by, one at a time; refuse a name that was there before."""
    # Hashes, not names, for the sake of a million cases. An alarm is checked before it is believed.
    taken: set[int] = set()
    repeats: Counter[str] = Counter()
    for position, case in enumerate(cases, start=1):
        if case.name is None:
            known_as = name_of_content(case)
            if hash(known_as) in taken:
                repeats[known_as] += 1
                known_as = with_ordinal(known_as, 1 + repeats[known_as])
        else:
            known_as = case.name
            if objection := objection_to(known_as):
                raise DatasetError(f"case {position}: its name {objection[0]}", hint=objection[1])
            if hash(known_as) in taken:
                _refuse_if_twice(known_as, position, cases)
        taken.add(hash(known_as))
        yield known_as, case


def name_of_content(case: AnyCase) -> str:
    """What a case without a name is known by, if no other has the same content."""
    contents = encode(case.inputs), encode(case.expected_output), encode(case.metadata)
    return f"#{content_hash(*contents)[:12]}"


def with_ordinal(known_as: str, ordinal: int) -> str:
    """The name of the first, second, third case of the same content."""
    return known_as if ordinal == 1 else f"{known_as}-{ordinal}"


def objection_to(name: object) -> tuple[str, str] | None:
    """Why this cannot be the name of a case, and what to do about it; None where it can.

    Names stand in terminals, file names and one line of a journal, so what would break a line is refused.
    """
    if type(name) is str and 0 < len(name) <= MAX_NAME and name[0] not in " #" and name.isprintable():
        return None  # nearly every name, told by what costs least
    if not isinstance(name, str):
        return f"is {name!r:.40}, not text", "put the name in quotes"
    if not name or name.isspace():
        return "is empty", f"{_LEAVE_OUT}, or give it a name"
    if len(name) > MAX_NAME:
        return f"has {len(name):,} characters; {MAX_NAME:,} is the most", f"{_LEAVE_OUT}, or shorten it"
    if not name.isprintable() and (unfit := _CONTROL.search(name)):
        return f"has the character {unfit[0]!r} in it: {name!r:.80}", "use printable characters"
    if _OF_UNNAMED.fullmatch(name):
        return f"is {name!r}, the form by which cases without a name are known", f"{_LEAVE_OUT} or change it"
    return None


_LEAVE_OUT: Final = "leave the name out, and the case is known by its content"
TWICE_HINT: Final = (
    "rename one of them, or leave the names out: cases without a name are known by their content"
)


def _refuse_if_twice(name: str, position: int, cases: Iterable[AnyCase]) -> None:
    if isinstance(cases, Iterator):
        raise DatasetError(f"case {position} is named {name!r}, as one before it is", hint=TWICE_HINT)
    for earlier, case in enumerate(cases, start=1):
        if earlier == position:
            return  # only the hashes of two names are the same
        if case.name == name:
            raise DatasetError(f"cases {earlier} and {position} are both named {name!r}", hint=TWICE_HINT)
