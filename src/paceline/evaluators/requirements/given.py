"""Requirements as they are given: texts, or an `id` and a `text`, in a list or in the metadata of a case.

What cannot be a requirement is an error that says which one and why: a list that comes out empty would make
every answer pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from paceline.errors import UsageError
from paceline.evaluators.plain import named_fields
from paceline.evaluators.verdicts import digest_of
from paceline.evaluators.wording import brief, kind_of

LONGEST_PART: Final = 80
"""Characters of a requirement that its verdict goes by in the record; what it says in full is in a digest."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something that an answer has to fulfil."""

    id: str
    """What it is called in results: as given, or else its place in the list, from 1."""
    text: str
    is_named: bool = False
    """Whether the id was given."""

    @property
    def part(self) -> str:
        """What its verdict, and its calls, go by: another one for each requirement of a list.

        Not its place: the list may have one more at its head next time.
        """
        if self.is_named:
            return f"requirement {self.id}"
        told = " ".join(self.text.split())
        if len(told) > LONGEST_PART:
            told = f"{told[: LONGEST_PART - 1]}…"
        return f"requirement: {told}" + ("" if told == self.text else f" [{digest_of(self.text)[:8]}]")


def requirements_of(given: object) -> tuple[Requirement, ...]:
    """The requirements in a list."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise UsageError(
            f"requirements come as a list, and {brief(given)} is {kind_of(given)}",
            hint='["It names a source", "It is polite"]; each is a text, or {"id": ..., "text": ...}',
        )
    found = tuple(_requirement(each, place) for place, each in enumerate(given, start=1))
    if not found:
        raise UsageError(
            "there are no requirements: every answer would fulfil them",
            hint="give at least one; a case without any is better left to another evaluator",
        )
    _refuse_two_of_one_name(found)
    return found


def requirements_in(metadata: object, key: str) -> tuple[Requirement, ...]:
    """The requirements in the metadata of a case, under a key that may be a path: `task.wanted`."""
    found: Any = metadata
    for step in key.split("."):
        found = found.get(step) if isinstance(found, Mapping) else getattr(found, step, None)
    if found is None:
        raise UsageError(
            f"the metadata of the case has no requirements under {brief(key)}",
            hint="put a list there, or name another key: Requirements(requirements='key'); "
            "requirements that are the same for all cases are a list: Requirements(requirements=[...])",
        )
    return requirements_of(found)


def _requirement(each: object, place: int) -> Requirement:
    if isinstance(each, Requirement):
        return each
    if isinstance(each, str):
        return Requirement(str(place), _text(each, place))
    fields = each if isinstance(each, Mapping) else named_fields(each)
    if fields is None or not {"text"} <= set(fields) <= {"id", "text"}:
        raise UsageError(
            f"requirement {place} is {brief(each)}",
            hint='a text, or {"id": ..., "text": ...} and nothing else',
        )
    name = fields.get("id")
    if name is None:
        return Requirement(str(place), _text(fields["text"], place))
    if isinstance(name, bool) or not isinstance(name, str | int) or not str(name).strip():
        raise UsageError(f"requirement {place} has the id {brief(name)}", hint="an id is a short text")
    return Requirement(str(name).strip(), _text(fields["text"], place), is_named=True)


def _text(text: object, place: int) -> str:
    if not isinstance(text, str) or not text.strip():
        raise UsageError(
            f"requirement {place} is {brief(text)}, which is no requirement",
            hint="a sentence that is true of a good answer: 'It names a source'",
        )
    # A text proper that UTF-8 has bytes for: it is sent, and goes on record.
    return str.__str__(text).encode("utf-8", "backslashreplace").decode("utf-8")


def _refuse_two_of_one_name(found: Iterable[Requirement]) -> None:
    by_id: dict[str, Requirement] = {}
    for requirement in found:
        if by_id.setdefault(requirement.id, requirement) is not requirement:
            raise UsageError(
                f"two requirements are called {brief(requirement.id)}",
                hint="give each an id of its own; those without one are called by their place, from 1",
            )


__all__ = ["Requirement", "requirements_in", "requirements_of"]
