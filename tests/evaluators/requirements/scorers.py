"""Scorers for tests: each takes its time, says what it is told to, and counts who is inside."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from paceline.evaluators import RequirementResult


class Scorer:
    """Answers by requirement: a verdict, or an error, which is raised. By default all is fulfilled."""

    def __init__(
        self,
        said: Mapping[str, Any] | None = None,
        *,
        seconds: Mapping[str, float] | None = None,
        usual: float = 1.0,
    ) -> None:
        self.said = dict(said or {})
        self.seconds = dict(seconds or {})
        self.usual = usual
        self.asked: list[tuple[Any, str]] = []
        self.inside = 0
        self.peak = 0

    async def __call__(self, answer: Any, requirement: str) -> Any:
        self.asked.append((answer, requirement))
        self.inside += 1
        self.peak = max(self.peak, self.inside)
        try:
            await asyncio.sleep(self.seconds.get(requirement, self.usual))
        finally:
            self.inside -= 1
        said = self.said.get(requirement, (True, f"{requirement} it is"))
        if isinstance(said, BaseException):
            raise said
        return said


async def in_a_loop(answer: object, requirements: Sequence[str], scorer: Scorer) -> list[tuple[Any, ...]]:
    """What everybody writes first: one after the other."""
    found: list[tuple[Any, ...]] = []
    for place, requirement in enumerate(requirements, start=1):
        try:
            fulfilled, feedback = await scorer(answer, requirement)
        except Exception as error:
            told = f"{type(error).__name__}: {error}".removesuffix(": ")
            found.append((str(place), requirement, False, f"could not be checked: {told}", told))
        else:
            found.append((str(place), requirement, fulfilled, feedback, None))
    return found


def as_in_a_loop(results: Sequence[RequirementResult]) -> list[tuple[Any, ...]]:
    """Results in the same form."""
    return [(each.id, each.text, each.fulfilled, each.feedback, each.error) for each in results]
