"""CommandPasses: a command in the workspace of a case ends with 0."""

from __future__ import annotations

from dataclasses import dataclass

from paceline.evaluators.base import AnyContext, EvaluationReason, Verdict
from paceline.evaluators.code.commanding import InWorkspace, check_command, how_it_ended, workspace_of
from paceline.evaluators.code.judging import not_contained


@dataclass
class CommandPasses(InWorkspace):
    """A command in the workspace of the case ends with exit code 0, and in time.

    A text is for the shell, a list is carried out as it is. It runs in `cwd`, or in the workspace that the
    task has worked in. `contained` lets it write nowhere else, and reach no network without `network`.
    """

    command: str | list[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_command(self.command, "CommandPasses")

    async def evaluate(self, ctx: AnyContext) -> Verdict:
        async with workspace_of(ctx, self.cwd) as where:
            done = await self._carried_out(self.command, where)
        name, ended = self.get_default_evaluation_name(), done.ended
        found = EvaluationReason(
            ended.ok, None if ended.ok else self._limit_passed(ended) or how_it_ended(ended)
        )
        gaps = not_contained(name, done.gaps)
        return {name: found, **gaps} if gaps else found
