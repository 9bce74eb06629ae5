"""All requirements of one answer, checked at once.

    before ──▶ requirement 1 ┐
               requirement 2 ├──▶ all fulfilled? ──▶ confirm_coverage
               ...           ┘

Each call takes its turn where there is a limit, and its verdict goes on record as soon as it is there. What
is on record already takes no turn and is not asked for. A call that fails is data about its requirement;
what is raised here breaks a promise of ours, or is of whoever wants this gone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import msgspec

from paceline import values
from paceline.evaluators.requirements.calling import ANSWER, CONTEXT, Seen, verdict_of
from paceline.evaluators.requirements.given import Requirement
from paceline.evaluators.requirements.hearing import Heard, Leave, hear
from paceline.evaluators.requirements.results import (
    COVERAGE,
    RequirementResult,
    RequirementScores,
    Verdict,
)
from paceline.evaluators.requirements.together import together
from paceline.evaluators.verdicts import concluded, current_verdicts, digest_of
from paceline.evaluators.wording import error_in_words
from paceline.pace.turns import Turns

SaidT = TypeVar("SaidT")
Ask: TypeAlias = Callable[[Leave], Coroutine[Any, Any, SaidT | Heard]]
"""A call that is ready to be made in a task of its own."""

_SHOWN: Final = frozenset({ANSWER, "expected_output", "inputs", "metadata", "review"})
"""What decides a verdict, of all that may be seen; the rest is about the attempt, or in the digest anyway."""

ENOUGH: Final = "fulfilled together, the requirements cover what was asked for"


class Function(Protocol):
    """Something that is asked: a function of the user's (`calling.ByName`), or a judge."""

    @property
    def label(self) -> str:
        """What it is called."""
        ...

    @property
    def version(self) -> str | None:
        """All that decides what it says, beside what it sees; None where that is not known."""
        ...

    @property
    def asks_for(self) -> frozenset[str]:
        """What it sees, by name."""
        ...

    async def __call__(self, seen: Seen) -> Any:
        """What it says."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """Who is asked, and how."""

    scorer: Function
    """Checks one requirement."""
    before: Function | None = None
    """Looks at the answer first."""
    confirm: Function | None = None
    """Says whether requirements that are all fulfilled are enough."""
    turns: Turns | None = None
    """Taken for each call; None: as many at once as there are."""
    timeout: float | None = None
    """Seconds of work for each call."""


class Review(msgspec.Struct, frozen=True):
    """What `before` has returned, as it goes on record."""

    value: Any
    """Encoded, see `values`."""


class _NotKept(Exception):
    """What `before` has returned cannot be had back from a record, so it is not put there."""


class _Failed(Exception):
    """A call has failed: not a verdict, so it does not go on record."""

    def __init__(self, heard: Heard) -> None:
        super().__init__(heard)
        self.heard = heard


async def check(requirements: Sequence[Requirement], checks: Checks, seen: Seen) -> RequirementScores:
    """Check an answer; `seen` is what there is to see, by name.

    Raises what `before` raises: then nothing is known of any requirement.
    """
    calls = _Calls(checks, seen)
    review = None
    if checks.before is not None:
        calls.seen = {**seen, "review": (review := await calls.review(checks.before))}
    results = await calls.all_of(requirements)
    coverage = None
    if checks.confirm is not None and all(result.fulfilled for result in results):
        coverage = await calls.coverage(checks.confirm, results)
    return RequirementScores(results=results, review=review, coverage=coverage)


class _Calls:
    """The calls about one answer."""

    def __init__(self, checks: Checks, seen: Seen) -> None:
        self._checks = checks
        self.seen: Seen = {"review": None, **seen}
        self._known: dict[int, str] = {}
        """Digests of who is asked, and of what they all see."""

    async def review(self, before: Function) -> Any:
        """What `before` returns; from the record, where it is there, as the value that it was."""
        fresh: list[Any] = []

        def read(returned: object) -> Review:
            fresh.append(returned)
            raw = values.encode(returned)
            if values.is_lossy(raw):
                raise _NotKept
            return Review(msgspec.json.decode(raw))

        ask = partial(self._ask, "before", before, self.seen, self._digest(before), Review, read)
        (answer,) = await together([ask])
        if fresh:
            return fresh[0]
        if isinstance(answer, Review):
            return values.decode(msgspec.json.encode(answer.value), strict=True)
        assert answer.error is not None
        raise answer.error

    async def all_of(self, requirements: Sequence[Requirement]) -> tuple[RequirementResult, ...]:
        """A result for each, in their order. A text that is there twice is asked about once."""
        asked = {each.text: each for each in reversed(requirements)}
        distinct = [each for each in requirements if asked[each.text] is each]
        answers = await together([self._verdict(each) for each in distinct])
        found = {each.text: answer for each, answer in zip(distinct, answers, strict=True)}
        return tuple(_result(each.id, each.text, found[each.text]) for each in requirements)

    def _verdict(self, requirement: Requirement) -> Ask[Verdict]:
        scorer, text = self._checks.scorer, requirement.text
        seen, digest = {**self.seen, "requirement": text}, self._digest(scorer, text)
        return partial(self._ask, requirement.part, scorer, seen, digest, Verdict, verdict_of)

    async def coverage(self, confirm: Function, results: tuple[RequirementResult, ...]) -> RequirementResult:
        """Whether the requirements that are fulfilled are enough."""
        digest = self._digest(confirm, *(result.text for result in results))
        seen = {**self.seen, "results": results}
        (answer,) = await together([partial(self._ask, COVERAGE, confirm, seen, digest, Verdict, verdict_of)])
        return _result(COVERAGE, ENOUGH, answer)

    async def _ask(
        self,
        part: str,
        function: Function,
        seen: Seen,
        digest: str,
        kind: type[SaidT],
        read: Callable[[Any], SaidT],
        leave: Leave,
    ) -> SaidT | Heard:
        """What a function says, on record already or in one call in its turn; or how that call has failed."""

        async def call() -> SaidT:
            return read(await function(seen))

        async def conclude() -> SaidT:
            said: SaidT = await self._call(call, leave)
            return said

        # Who says nothing of its version may be another by the time a run is scored again.
        of_this_run = function.version is None
        try:
            return await concluded(part, digest, conclude, kind, of_this_run=of_this_run)
        except _Failed as failed:
            return failed.heard

    async def _call(self, call: Callable[[], Awaitable[Any]], leave: Leave) -> Any:
        turns = self._checks.turns
        turn = await turns.take() if turns is not None else None

        def left(heard: Heard) -> None:
            if turn is not None:
                turn.give_back()
            leave(heard)

        try:
            heard = await hear(call, within=self._checks.timeout, leave=left)
        finally:
            if turn is not None:
                turn.give_back()
        if heard.error is not None:
            raise _Failed(heard)
        return heard.returned

    def _digest(self, function: Function, *about: str) -> str:
        """A digest of all that a function is and sees; nothing where nobody keeps verdicts."""
        if current_verdicts.get() is None:
            return ""
        known = self._known.get(id(function))
        if known is None:
            known = self._known[id(function)] = digest_of(
                function.version or function.label, self._shown(function)
            )
        return digest_of(known, about)

    def _shown(self, function: Function) -> list[tuple[str, str]]:
        wanted = function.asks_for & _SHOWN
        if CONTEXT in function.asks_for:
            wanted = _SHOWN
        seen = self.seen
        return [(name, values.content_hash(values.encode(seen[name]))) for name in sorted(wanted)]


def _result(name: str, text: str, answer: Verdict | Heard) -> RequirementResult:
    if isinstance(answer, Verdict):
        return RequirementResult(
            id=name, text=text, fulfilled=answer.fulfilled, feedback=answer.feedback, flags=answer.flags
        )
    error = answer.error
    assert error is not None
    if isinstance(error, KeyboardInterrupt):
        raise error
    told = error_in_words(error)
    return RequirementResult(
        id=name,
        text=text,
        fulfilled=False,
        feedback=f"could not be checked: {told}",
        error=told,
        exception=error,
        turned_away=answer.turned_away,
    )


__all__ = ["Checks", "Function", "check"]
