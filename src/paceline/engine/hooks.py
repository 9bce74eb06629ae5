"""The hooks of a case: setup, prepare_context and teardown, each under its deadline, in its case's context.

A hook that fails is a value like any other failure. Teardown is called once, whatever happened before it,
and is not cut off where the run is being cancelled: it clears away what nobody else will.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Any

from paceline.engine.clock import Clock
from paceline.engine.contexts import in_context
from paceline.engine.deadlines import NEVER
from paceline.engine.decisions import cancelled, timed_out
from paceline.engine.failures import classify, describe
from paceline.engine.lanes import Lane, LaneLost, Overdue, Stopped
from paceline.engine.plan import Plan
from paceline.engine.ports import Attempted, Turn
from paceline.evaluators.base import EvaluatorContext


class Hooks:
    """Calls hooks. Each method answers how its hook failed, or None."""

    def __init__(self, plan: Plan, clock: Clock) -> None:
        self._plan = plan
        self._time = clock.now
        self._limit = NEVER if plan.hook_timeout is None else plan.hook_timeout
        self._case_limit = NEVER if plan.case_timeout is None else plan.case_timeout

    async def set_up(self, lane: Lane, turn: Turn) -> Attempted | None:
        """Make the lifecycle of a key and call its setup."""
        turn.context = copy_context()
        assert self._plan.lifecycle is not None
        try:
            turn.lifecycle = turn.context.run(self._plan.lifecycle, turn.case)
        except BaseException as error:
            return Attempted(
                error=describe(error, stage="setup"), error_class=classify(error), exception=error
            )
        case_until = turn.started + self._case_limit
        _nothing, failed = await self._call(
            lane,
            turn,
            "setup",
            lambda: turn.lifecycle.setup(),  # noqa: PLW0108  # that there is one is for the call to find out
            at_most=case_until,
        )
        return failed

    async def prepare_context(
        self, lane: Lane, turn: Turn, ctx: EvaluatorContext[Any, Any, Any]
    ) -> tuple[EvaluatorContext[Any, Any, Any], Attempted | None]:
        """Let the context be added to or replaced before the evaluators see it."""
        prepared, failed = await self._call(
            lane, turn, "prepare_context", lambda: turn.lifecycle.prepare_context(ctx), check=_as_context
        )
        return prepared or ctx, failed

    async def tear_down(self, lane: Lane, turn: Turn, row: Any) -> Attempted | None:
        """Clear away. The lifecycle is over by then, however this ends."""
        lifecycle, turn.lifecycle = turn.lifecycle, None
        _nothing, failed = await self._call(
            lane, turn, "teardown", lambda: lifecycle.teardown(row), stoppable=False
        )
        return failed

    async def _call(
        self,
        lane: Lane,
        turn: Turn,
        name: str,
        hook: Callable[[], Any],
        *,
        check: Callable[[Any], Any] = lambda returned: returned,
        at_most: float = NEVER,
        stoppable: bool = True,
    ) -> tuple[Any, Attempted | None]:
        """Call a hook: what it returned, or how it failed."""
        assert turn.context is not None
        started = self._time()
        lane.stage, lane.since = name, started

        async def call() -> Any:
            returned = hook()
            return check(await returned if isinstance(returned, Awaitable) else returned)

        try:
            guarded = in_context(turn.context, call())
            until = started + self._limit
            return await lane.guard(guarded, until=until, at_most=at_most, stoppable=stoppable), None
        except Overdue:
            return None, self.overdue(turn, name, since=started)
        except Stopped:
            return None, cancelled(self._time() - started, stage=name)
        except (LaneLost, GeneratorExit):
            raise
        except BaseException as error:
            return None, Attempted(error=describe(error, stage=name), exception=error)

    def overdue(self, turn: Turn, name: str, *, since: float, abandoned: bool = False) -> Attempted:
        """A hook that did not end before its deadline, or before that of its case."""
        now = self._time()
        if name == "setup" and now >= turn.started + self._case_limit:
            name, limit = "case", self._plan.case_timeout
        else:
            limit = self._plan.hook_timeout
        return timed_out(now - since, stage=name, limit=limit, abandoned=abandoned)


def _as_context(returned: Any) -> EvaluatorContext[Any, Any, Any] | None:
    """What `prepare_context` returned, if evaluators can use it; None stands for what it was given."""
    if returned is None:
        return None
    if not isinstance(returned, EvaluatorContext):
        raise TypeError(f"prepare_context returned a {type(returned).__name__}, not an EvaluatorContext")
    for name in ("attributes", "metrics"):
        if not isinstance(getattr(returned, name), dict):
            raise TypeError(f"prepare_context returned a context whose {name} are not a dict")
    return returned
