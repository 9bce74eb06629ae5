"""A sweep from a job to its report: what is open, what it will cost, level after level, what was found.

The job is that of a run, so the cases go into its journal, and whoever runs the suite into the same place
goes on from there. What a sweep has found is kept beside the journal after each level: one that was killed or
interrupted goes on with the levels that are missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Final, cast

import msgspec

from paceline.conduct import Conductor, Job
from paceline.conduct.guards import quiet_collector, watch_over
from paceline.conduct.job import ToDo
from paceline.conduct.limiting import Limiting
from paceline.conduct.record import Overtaken, Record
from paceline.conduct.rehearsal import DEFAULT
from paceline.conduct.unseen import UnseenCalls
from paceline.conduct.width import widest
from paceline.engine.interrupts import interrupts
from paceline.engine.plan import Plan as EnginePlan
from paceline.engine.ports import Turn
from paceline.engine.run import Run
from paceline.errors import JournalError, UsageError
from paceline.journal.records import EndedLine, ManifestLine
from paceline.options import EvaluateOptions, Options, RampOptions
from paceline.pace.ceilings import limits_for
from paceline.pace.desk import pool_closed
from paceline.pace.learned import learned_limits
from paceline.pace.messages import PoolId
from paceline.pace.pool import Closed
from paceline.ramp.cost import cost_before, said_after, said_first, unaffordable
from paceline.ramp.learning import learn
from paceline.ramp.levels import HIGHEST, Plan, checked_levels, geometric, good_cases, in_words, plan_levels
from paceline.ramp.opening import AnyDesk, open_ramp, others_are_at_work
from paceline.ramp.report import RampInterrupted, RampReport, keep, kept
from paceline.ramp.rows import Row
from paceline.ramp.stage import RunStage
from paceline.ramp.sweep import Found, How, Sweep
from paceline.ramp.verdict import judge
from paceline.ramp.view import View
from paceline.ramp.words import line_of
from paceline.runs import runs_root

PER_LEVEL: Final = 20
CLOSER: Final = 3
"""Closer looks at most, once it is known about where the ceiling is."""
TELLING: Final = ("enough", "limit", "errors")
"""Halts of levels whose rows a later process takes as they are; others were cut short by something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How a sweep is wanted."""

    levels: tuple[int, ...] | None = None
    """None: 1, 2, 4, ..., as high as the cases reach."""
    per_level: int = PER_LEVEL
    variant: str | None = None
    """Which of several tasks."""

    def __post_init__(self) -> None:
        if self.levels is not None:
            checked_levels(self.levels)
        if type(self.per_level) is not int or self.per_level < 1:
            raise UsageError(
                f"per_level is {self.per_level!r}, and wants a whole number from 1 up",
                hint="such as --per-level 20",
            )


async def climb(
    job: Job, wishes: Wishes | None = None, *, view: View | None = None, owns_process: bool = False
) -> RampReport:
    """Find out how much the provider of a suite bears. `owns_process`: signals are ours to handle."""
    with quiet_collector():
        return await Climb(job, wishes or Wishes(), view or _view_for(job)).carry_out(
            owns_process=owns_process
        )


async def ramped(job_of: Callable[[Options], Job], given: RampOptions) -> RampReport:
    """A sweep as code asks for it; `job_of` makes the job of what is said of any run."""
    usual, wishes = _parted(given)
    return await climb(job_of(usual), wishes)


def ramped_sync(job_of: Callable[[Options], Job], given: RampOptions) -> RampReport:
    """The same from sync code. Ctrl-C lets what is in flight finish, and then it raises."""
    from paceline.engine.loop import run_to_end

    usual, wishes = _parted(given)
    job = job_of(usual)
    found = run_to_end(lambda: climb(job, wishes, owns_process=True))
    if found.interrupts:
        raise RampInterrupted(found)
    return found


def _parted(given: RampOptions) -> tuple[Options, Wishes]:
    """What is said of any run, and what is said of a sweep."""
    own: dict[str, Any] = {name: given.get(name) for name in WISHES if name in given}
    usual = cast("EvaluateOptions", {name: each for name, each in given.items() if name not in WISHES})
    if "max_concurrency" in usual:
        raise UsageError(
            "a ramp takes no max_concurrency: that is what its levels are", hint="levels=[1, 10, 50, 100]"
        )
    if own.get("levels") is not None:
        own["levels"] = tuple(own["levels"])
    return Options.of(usual), Wishes(**own)


WISHES: Final = ("levels", "per_level", "variant")


def _view_for(job: Job) -> View:
    """Where nobody brings a view: one on a terminal, if there is one and it is wanted."""
    import sys

    wanted = job.options.progress is True and sys.stderr is not None and sys.stderr.isatty()
    return View("bar" if wanted else "none")


class Climb:
    """One sweep on its way."""

    def __init__(self, job: Job, wishes: Wishes, view: View) -> None:
        self._variant = variant_of(job, wishes.variant)
        options = job.options
        if options.replay == "always":
            raise UsageError(
                "a ramp asks the provider, and replay='always' asks nobody", hint="leave replay out"
            )
        # Nothing adapts, and the longest first would make each level another kind of cases.
        order = "given" if options.order == "auto" else options.order
        self._shuffles = options.order == "auto"
        self._job = replace(job, options=replace(options, adaptive=False, order=order))
        self._learns = options.adaptive and not options.rehearse
        self._wishes = wishes
        self._view = view
        self._conductor = Conductor(self._job)
        self._options = self._conductor.options
        # The task may go to another directory meanwhile.
        self._place = None if self._conductor.path is None else self._conductor.path.absolute()
        self._before: RampReport | None = None
        self._said_cost = False

    async def carry_out(self, *, owns_process: bool) -> RampReport:
        """Prepare, climb, judge, keep."""
        with self._conductor.with_keys():
            return await self._carry_out(owns_process=owns_process)

    async def _carry_out(self, *, owns_process: bool) -> RampReport:
        conductor = self._conductor
        if self._place is not None:
            self._before = worth_keeping(kept(self._place))
        while True:
            todo = conductor.prepare()
            if (done := self._done_before()) is not None:
                return done
            turns, available = self._open_turns(todo)
            plan = self._plan(available)
            try:
                record = conductor.recorder(todo)
                break
            except Overtaken:
                continue
        self._say_plan(plan, todo)
        with record:
            return await self._climb(todo, record, plan, turns, owns_process=owns_process)

    # Before the first level

    def _wanted(self) -> tuple[int, ...] | None:
        if self._wishes.levels is None and self._before is not None:
            return self._before.levels or None
        return self._wishes.levels

    def _done_before(self) -> RampReport | None:
        """What a sweep in this place has found, where nothing is left of it to do."""
        before = self._before
        if before is None or before.how != "complete" or self._wanted() != before.levels:
            return None
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(before.at))
        self._view.say(f"these levels were held on {day}; another -o holds them anew")
        return msgspec.structs.replace(before, path=self._conductor.path)

    def _rows_before(self) -> list[Row]:
        rows = self._before.rows if self._before is not None else ()
        return [row for row in rows if row.halt is None or row.halt.kind in TELLING]

    def _open_turns(self, todo: ToDo) -> tuple[list[Turn], int]:
        """Cases that are still to be asked, as many as a sweep can take, and how many there are."""
        wanted = self._wanted() or geometric()
        most = sum(good_cases(level, self._wishes.per_level) for level in wanted)
        most += CLOSER * good_cases(2 * wanted[-1], self._wishes.per_level)
        wanted_turns = (
            turn
            for turn in iter(todo.source.take, None)
            if turn.stored is None and turn.key.variant == self._variant
        )
        # What is in memory anyway is shuffled as a whole; a file that is streamed is not read to its end.
        turns = list(islice(wanted_turns, most) if todo.digest else wanted_turns)
        if self._shuffles:
            random.Random(self._options.seed).shuffle(turns)
        if todo.source.exhausted:
            return turns, len(turns)
        done = todo.ledger.tally().done if todo.ledger is not None else 0
        return turns, max(len(turns), (todo.source.expected or 0) - done)

    def _plan(self, available: int) -> Plan:
        has_hooks = self._options.lifecycle is not None
        bound = widest(isolated=self._options.isolation == "process", has_hooks=has_hooks)
        return plan_levels(
            self._wanted(),
            per_level=self._wishes.per_level,
            available=available,
            held={row.level for row in self._rows_before() if row.paced is None},
            highest=min(HIGHEST, bound),
        )

    def _say_plan(self, plan: Plan, todo: ToDo) -> None:
        view, options = self._view, self._options
        view.say(f"{self._job.suite}: how much does its provider bear?")
        for line in in_words(plan):
            view.say(line)
        budget = self._conductor.plan.budget
        before = None if options.rehearse else cost_before(runs_root(options.runs), self._job.suite)
        spent = self._conductor.spent(todo.ledger).usd
        rehearsal = bool(options.rehearse)
        for line in said_first(plan, before, ceiling=budget.usd, spent=spent, rehearsal=rehearsal):
            view.say(line)
        self._said_cost = before is not None and None not in before
        if self._conductor.path is not None:
            view.say(f"record: {self._conductor.path}")
        if options.share_pools and not options.rehearse and others_are_at_work():
            view.warn(
                "warning: other runs of yours are at work on this machine; "
                "what they use of a provider is missing in what is found here"
            )

    # Climbing

    async def _climb(
        self, todo: ToDo, record: Record, plan: Plan, turns: Sequence[Turn], *, owns_process: bool
    ) -> RampReport:
        conductor, options = self._conductor, self._options
        loop = asyncio.get_running_loop()
        started = time.monotonic()
        stages: list[RunStage] = []

        def closed(pool: PoolId, why: Closed) -> None:
            error = pool_closed(pool, why)
            with contextlib.suppress(RuntimeError):  # the loop is closed: the sweep is over
                loop.call_soon_threadsafe(stages[0].close, str(error))

        isolated = options.isolation == "process"
        with open_ramp(
            conductor.pacing, rehearse=options.rehearse, isolated=isolated, on_closed=closed
        ) as desk:
            stage = self._stage(todo, record, plan, desk, owns_process=owns_process)
            stages.append(stage)
            sweep = self._sweep(stage, plan, turns)
            await stage.executor.start()
            found: Found | None = None
            try:
                with conductor.traced(), self._signals(stage, owns_process=owns_process):
                    found = await sweep.carry_out()
            finally:
                self._view.stop()
                self._close(record, todo, started, found, stage)
                await stage.executor.stop()
        return self._conclude(stage, plan, found)

    def _stage(
        self, todo: ToDo, record: Record, plan: Plan, desk: AnyDesk, *, owns_process: bool
    ) -> RunStage:
        conductor = self._conductor
        opening = conductor.pacing.opening
        executor = conductor.plain_executor(2 * max(each.level for each in plan.levels))
        may_end_process = owns_process and _is_main_thread()

        @contextlib.contextmanager
        def watch(run: Run) -> Iterator[None]:
            watching = watch_over(run, record, may_end_process=may_end_process)
            try:
                yield
            finally:
                watching.close()

        return RunStage(
            executor=UnseenCalls(executor, desk=desk),
            recorder=record,
            flush=record.flush,
            plan=self._engine_plan(todo),
            desk=desk,
            stated=partial(limits_for, general=opening.limits, per_pool=opening.per_pool),
            gauge=conductor.gauge,
            limiting=Limiting(time.monotonic()),
            spent=conductor.spent(todo.ledger),
            listeners=(*conductor.listeners(None), self._view),
            clean=conductor.redactor.clean_text,
            show=self._view.look,
            watch=watch,
            make_ready=getattr(executor, "make_ready", None),
        )

    def _engine_plan(self, todo: ToDo) -> EnginePlan:
        conductor = self._conductor
        if not conductor.pacing.listens:
            return conductor.plan
        return replace(conductor.plan, taping=conductor.taping(todo.ledger))

    def _sweep(self, stage: RunStage, plan: Plan, turns: Sequence[Turn]) -> Sweep[Turn]:
        ceiling = self._conductor.plan.budget.usd

        def tell(row: Row) -> None:
            self._view.say(line_of(row, sweep.rows))
            if not self._said_cost:
                self._said_cost = True
                for line in said_after(plan, sweep.rows, rehearsal=bool(self._options.rehearse)):
                    self._view.say(line)
            self._keep(self._report(plan, sweep.rows, how="interrupted", stopped="it was killed, or goes on"))

        def afford(rows: Sequence[Row], cases: int) -> str | None:
            return unaffordable(rows, cases, ceiling=ceiling, spent=stage.spent.usd)

        sweep = Sweep(
            plan,
            stage,
            turns,
            before=self._rows_before(),
            refine=CLOSER,
            tell=tell,
            afford=afford,
        )
        return sweep

    @contextlib.contextmanager
    def _signals(self, stage: RunStage, *, owns_process: bool) -> Iterator[None]:
        if not (owns_process and _is_main_thread()):
            yield
            return
        with interrupts(asyncio.get_running_loop(), drain=stage.drain, cancel=stage.cancel):
            yield

    # After the last level

    def _report(
        self, plan: Plan, rows: Sequence[Row], *, how: How, stopped: str, interrupts: int = 0
    ) -> RampReport:
        ordered = sorted(rows, key=lambda row: (row.paced is not None, row.level))
        return RampReport(
            suite=self._job.suite,
            rows=tuple(row for row in ordered if row.cases),
            verdict=judge(ordered),
            how=how,
            stopped=stopped,
            path=self._conductor.path,
            at=time.time(),
            levels=(*(each.level for each in plan.levels), *plan.left_out),
            per_level=plan.per_level,
            left=max((self._conductor.gauge.expected or 0) - self._conductor.gauge.done, 0),
            simulated=DEFAULT if self._options.rehearse is True else self._options.rehearse or "",
            interrupts=interrupts,
        )

    def _conclude(self, stage: RunStage, plan: Plan, found: Found | None) -> RampReport:
        assert found is not None, "else its error has passed through here"
        report = self._report(
            plan, found.rows, how=found.how, stopped=found.stopped, interrupts=found.interrupts
        )
        if self._learns and report.how == "complete":
            limits = learned_limits(os.environ, clock=time.time)
            pool = stage.ids.get(report.verdict.pool)
            report = msgspec.structs.replace(report, learned=learn(limits, pool, report.verdict, report.rows))
        self._keep(report)
        return report

    def _keep(self, report: RampReport) -> None:
        if self._place is not None:
            keep(report, self._place)

    def _close(
        self, record: Record, todo: ToDo, started: float, found: Found | None, stage: RunStage
    ) -> None:
        """The last line of this process, unless the disk has failed it."""
        gauge, source = self._conductor.gauge, todo.source
        expected = self._conductor.expected_of_all(todo)
        with contextlib.suppress(JournalError):
            complete = source.exhausted and gauge.done == expected == source.digest.keys
            if complete:
                record.append(
                    ManifestLine(
                        keys=source.digest.keys, digest=source.digest.hexdigest(), dataset=todo.digest
                    )
                )
            budget = found is not None and found.how == "budget"
            record.append(
                EndedLine(
                    at=time.time(),
                    how="complete" if complete else "budget" if budget else "interrupted",
                    wall=time.monotonic() - started,
                    limited=stage.limiting.seconds,
                    pools=stage.limiting.ends(
                        each for each in stage.desk.facts() if each.id in stage.ids.values()
                    ),
                    reason="" if complete else "it was a ramp, which leaves cases to be run",
                )
            )
            record.flush()


def worth_keeping(before: RampReport | None) -> RampReport | None:
    """A sweep that is on record, unless it found nothing: then its levels are to be held again."""
    found_nothing = before is not None and before.verdict.kind in ("broken", "closed", "nothing")
    return msgspec.structs.replace(before, rows=(), how="interrupted") if before and found_nothing else before


def variant_of(job: Job, wanted: str | None) -> str:
    """The task that it is about: the only one, or the one that was named."""
    names = list(job.tasks)
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None or wanted not in names:
        told = ", ".join(name or "unnamed" for name in names)
        asked = "a ramp is about one variant" if wanted is None else f"there is no variant {wanted!r}"
        raise UsageError(f"{asked}; the suite has {told}", hint=f"choose one: --variant {names[0]}")
    return wanted


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


__all__ = ["PER_LEVEL", "Climb", "Wishes", "climb", "ramped", "ramped_sync"]
