"""The sweep: level after level, until the next one is not worth its cases; then a closer look.

    plan ── hold a level ── a row ── worth a higher one? ──┬─ yes: the next level
                                                           └─ no: levels in between, or a certain rate, as
                                                              far as that makes the verdict more exact
    rows ── verdict

Knows the order of steps. Holding levels is the stage's, deciding is that of `rules` and `verdict`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, Generic, Literal, NamedTuple

import msgspec

from paceline.ramp.levels import Plan, good_cases, least_cases, level_between
from paceline.ramp.rows import Row, row_of
from paceline.ramp.rules import Rules, heed, is_broken, stop_after, usual_errors
from paceline.ramp.seen import CaseT, Glimpse, Halt, Stage, Supply
from paceline.ramp.verdict import Verdict, judge, saved_up

REFINED: Final = frozenset({"latency", "errors", "growth", "cpu", "loop", "task"})
"""Verdicts that a level in between makes more exact; rejections tell where the limit is by themselves."""
FEW_REJECTIONS: Final = 20
"""Unless there were so few of them."""

FASTER: Final = 1.3
"""Of the rate that is known to be accepted, the one that is looked at next, as long as none was rejected."""
NEAR_ENOUGH: Final = 1.15
"""Rates that are so near to each other need no look at one in between."""
TURNS_AT_A_RATE: Final = 4
"""How often each place is filled when a rate is looked at."""
MORE_THAN_SAVED: Final = 16
"""Times what can be saved up, that has to go through for that not to matter,"""
MOST_AT_A_RATE: Final = 400
"""but no more cases than this."""

How = Literal["complete", "interrupted", "budget"]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a sweep leaves behind."""

    rows: tuple[Row, ...]
    """Lowest level first."""
    verdict: Verdict
    how: How = "complete"
    stopped: str = ""
    """Why no higher level was tried; empty where the highest of the plan was held."""
    interrupts: int = 0


class _Look(NamedTuple):
    """One more level, or the same at a certain rate."""

    level: int
    cases: int
    rps: float | None = None


class Sweep(Generic[CaseT]):
    """One sweep on its way."""

    def __init__(
        self,
        plan: Plan,
        stage: Stage[CaseT],
        cases: Sequence[CaseT],
        *,
        rules: Rules | None = None,
        before: Sequence[Row] = (),
        refine: int = 3,
        tell: Callable[[Row], None] | None = None,
        afford: Callable[[Sequence[Row], int], str | None] | None = None,
    ) -> None:
        """`before`: rows that are on record; their levels are not held again. `refine`: closer looks at most.
        `afford`: why so many more cases cannot be paid for, if so."""
        self.plan = plan
        self.rules = rules or Rules()
        self.rows: list[Row] = []
        self._stage = stage
        self._supply = Supply(cases)
        self._before = {row.level: row for row in before if row.paced is None}
        planned = {each.level for each in plan.levels}
        self._closer = [row for row in before if row.paced is not None or row.level not in planned]
        """Rows of closer looks that were taken before."""
        self._refine = refine - len(self._closer)
        self._tell = tell
        self._afford = afford
        self._interrupts = 0
        self._spent = False
        """Whether a level was not held because it could not be paid for."""

    async def carry_out(self) -> Found:
        """Climb, look closer, judge."""
        stopped = await self._climb()
        self.rows += self._closer
        self._put_in_order()
        how = self._how()
        if how == "complete" and stopped:
            await self._look_closer()
            how = self._how()
        return Found(
            rows=tuple(row for row in self.rows if row.cases),
            verdict=judge(self.rows, self.rules),
            how=how,
            stopped=stopped,
            interrupts=self._interrupts,
        )

    async def _climb(self) -> str:
        for planned in self.plan.levels:
            if (row := self._before.get(planned.level)) is not None:
                self.rows.append(row)
            elif (reason := self._unaffordable(planned.cases)) is not None:
                self._spent = True
                return reason
            else:
                row = await self._hold(planned.level, planned.cases)
            if len(self.rows) == 1 and is_broken(row, self.rules):
                return f"cases fail at level {row.level} already"
            if (reason := stop_after(self.rows, self.rules)) is not None:
                return reason
        return ""

    async def _look_closer(self) -> None:
        """Levels in between, or the same level at a certain rate: whatever makes the verdict more exact."""
        for _ in range(self._refine):
            verdict = judge(self.rows, self.rules)
            if verdict.kind in ("requests", "tokens"):
                look = self._next_rate(verdict)
            else:
                look = self._next_between(verdict)
            if look is None or self._unaffordable(look.cases) is not None:
                return
            row = await self._hold(look.level, look.cases, rps=look.rps)
            self._put_in_order()
            if row.halt is not None and row.halt.kind in ("closed", "interrupt", "budget"):
                return

    def _put_in_order(self) -> None:
        self.rows.sort(key=lambda each: (each.paced is not None, each.level))

    def _next_rate(self, verdict: Verdict) -> _Look | None:
        """A rate above the one that is known to be accepted, and below the one at which calls were rejected.

        After each rejection nothing is sent for a while, and what comes in meanwhile may be lost: at full
        press a provider accepts less than it would.
        """
        if not any(row.pressed for row in self.rows):
            return None  # the provider has said it in so many words
        low, high = verdict.rps_low, verdict.rps_high
        if low is None or verdict.window is None or (high is not None and high < low * NEAR_ENOUGH):
            return None
        saved = saved_up(self.rows)
        telling = min(MORE_THAN_SAVED * saved, MOST_AT_A_RATE)
        wanted = max(2 * self.plan.per_level, TURNS_AT_A_RATE * verdict.window, telling)
        cases = min(len(self._supply), wanted)
        if cases < 2 * verdict.window:
            return None
        # Where a provider asks for long waits, a level below its limit tells more than one at full press.
        calm = [row for row in self.rows if row.paced is None and not row.rejected and row.sent > saved]
        rate = max([low * FASTER, *(row.sent_rate * (1 - saved / row.sent) for row in calm)])
        if high is not None:
            rate = math.sqrt(low * high)
        elif rate <= max((row.paced or 0.0 for row in self.rows), default=0.0) * 1.02:
            return None  # that was looked at
        return _Look(2 * verdict.window, cases, rate)

    def _next_between(self, verdict: Verdict) -> _Look | None:
        """A level between the highest good one and the one above it, where these are far apart."""
        rejections = sum(row.rejected for row in self.rows)
        if verdict.kind not in REFINED and not (0 < rejections < FEW_REJECTIONS):
            return None
        knee = verdict.window or 0
        good = [row.level for row in self.rows if self._is_good(row) and row.level <= max(knee, 1)]
        bad = [row.level for row in self.rows if row.level > max(good, default=0)]
        if not good or not bad:
            return None
        level = level_between(max(good), min(bad), None if verdict.kind == "errors" else float(knee))
        if level is None or len(self._supply) < least_cases(level, self.plan.per_level):
            return None
        return _Look(level, min(len(self._supply), good_cases(level, self.plan.per_level)))

    def _is_good(self, row: Row) -> bool:
        allowed = usual_errors(self.rows) + self.rules.errors
        return row.rejected_share <= self.rules.rejected and row.error_share <= allowed

    async def _hold(self, level: int, cases: int, *, rps: float | None = None) -> Row:
        usual = self.rows[0].error_share if self.rows else 0.0

        def heeded(glimpse: Glimpse) -> Halt | None:
            return heed(glimpse, self.rules, usual_errors=usual)

        run = await self._stage.hold(level, self._supply.peek(cases), heeded, rps=rps)
        self._supply.use(run.begun)
        self._interrupts = max(self._interrupts, run.interrupts)
        row = row_of(run)
        self.rows.append(row)
        if self._tell is not None:
            self._tell(row)
        return row

    def _unaffordable(self, cases: int) -> str | None:
        return self._afford(self.rows, cases) if self._afford is not None else None

    def _how(self) -> How:
        kinds = {row.halt.kind for row in self.rows if row.halt is not None}
        if "interrupt" in kinds:
            return "interrupted"
        return "budget" if self._spent or "budget" in kinds else "complete"
