"""Conducting a run: from a job to a finished record and its report.

Opens or creates the journal, holds the suite against what is on record, gathers what is open, lets the engine
work, and closes the record. Everything that can be wrong with a job is said before its first case is begun.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paceline.conduct.attending import Attendance
from paceline.conduct.gatekeeping import gateway_for
from paceline.conduct.guards import guarded, quiet_collector
from paceline.conduct.job import Finished, Job, Progress, ToDo
from paceline.conduct.judging import asked_by, check_judges, key_variables
from paceline.conduct.notices import notices
from paceline.conduct.pacing import Pacing
from paceline.conduct.planning import in_processes, path_of, plain, plan_of, settings_of
from paceline.conduct.pulse import Pulse
from paceline.conduct.record import (
    Overtaken,
    Record,
    StoredAnswers,
    is_finished,
    ledger_at,
    recorder_at,
    spent_before,
)
from paceline.conduct.rehearsal import check_tasks, fingerprint_of, stand_in_keys
from paceline.conduct.supply import Forecast, Supply, supply_of
from paceline.conduct.tapes import recording_for, taping_of
from paceline.conduct.unseen import UnseenCalls
from paceline.conduct.width import MOST, widest
from paceline.engine.bookkeeping import Listener
from paceline.engine.budget import Budget, Spent
from paceline.engine.clock import SystemClock
from paceline.engine.events import Gauge, RunEnded, RunStarted, Warned
from paceline.engine.executors.local import LocalExecutor
from paceline.engine.plan import AUTO_CONCURRENCY
from paceline.engine.ports import Executor, Turn
from paceline.engine.provenance import command, git_commit, versions
from paceline.engine.run import Ending, Run
from paceline.engine.source import OpenKeys, turns_of
from paceline.engine.taping import Taping
from paceline.errors import JournalError
from paceline.evaluators.judges.choosing import judging_with
from paceline.evaluators.judges.standing import deciding, standings_of
from paceline.evaluators.prepare import prepare
from paceline.journal.ledger import Ledger, Tally
from paceline.journal.records import EndedLine, EvaluatorFacts, ManifestLine, RunLine
from paceline.journal.redaction import Redactor
from paceline.report import Report
from paceline.report.rows import row_maker
from paceline.runs import find_runs, new_run_id, runs_root

if TYPE_CHECKING:
    from paceline.conduct.tracing import Tracing

_NOTHING_KNOWN: Mapping[str, float] = {}
JOURNAL_READ_FOR_DURATIONS = 64 * 1024 * 1024
"""Bytes of an earlier run's journal that are worth reading for the order of the next one."""


async def conduct(job: Job, *, owns_process: bool = False) -> Finished:
    """Carry a job out. `owns_process`: signals are ours to handle, and a stuck loop may end the process."""
    return await Conductor(job).carry_out(owns_process=owns_process)


class Conductor:
    """One job on its way."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.options = options = job.options
        with judging_with(options.judge_model, options.judge_aliases):
            self.evaluators = prepare(job.evaluators)
            self.judges = standings_of(job.evaluators)
            self.deciding = deciding(job.evaluators, self.evaluators)
        self.clock = SystemClock()
        self.gauge = Gauge()
        self.run_id = new_run_id()
        """Of a resume, that of the run once it is read."""
        self.redactor = Redactor.standard(names=options.redact)
        self.facts = [
            EvaluatorFacts(label=each.label, spec=each.written, version=each.version)
            for each in self.evaluators
        ]
        self.pacing = Pacing(options)
        self.attendance = Attendance(job.tasks, redact=options.redact)
        self.plan = plan_of(
            options, self.evaluators, row_of=row_maker(options.repeat, self.facts), tasks=job.tasks
        )
        self.path = path_of(job, self.run_id)
        self.forecast: Forecast | None = None
        self.tracing = _tracing(job.suite, self.run_id)
        if self.tracing is not None:
            self.plan = replace(self.plan, around_evaluator=self.tracing.evaluator)

    # Before the first case

    def prepare(self) -> ToDo:
        """Everything that can be wrong is found here; nothing is written."""
        options, job = self.options, self.job
        if options.replay == "always":
            recording_for(options, suite=job.suite, path=self.path)
        ledger = ledger_at(
            self.path,
            self.fingerprint(),
            redactor=self.redactor,
            accept_changes=options.accept_changes,
        )
        if ledger is not None and ledger.run is not None:
            self.run_id = ledger.run.run_id
        if job.turns is not None:
            turns: Iterable[Turn] = job.turns()
            cases, count, order = job.count, job.count, "as given"
            digest, durations = "", _NOTHING_KNOWN
        else:
            supply = self._supply()
            turns = turns_of(
                supply.named,
                repeat=options.repeat,
                variants=tuple(job.tasks),
                in_memory=not supply.digest,
            )
            cases, order, digest, durations = supply.count, supply.order, supply.digest, supply.durations
            count = cases * options.repeat * len(job.tasks)
        if ledger is not None and not options.retry_errors and is_finished(ledger, digest, count):
            turns = ()  # a million cases that are all done need not be looked at one by one
        source = OpenKeys(
            turns,
            expected=count,
            standings=ledger,
            stored=None if ledger is None or self.path is None else StoredAnswers(self.path),
            retry_errors=options.retry_errors,
        )
        self.gauge.expected = count
        if not digest and job.turns is None and (ledger is not None or durations):
            gathered = source.gather()
            if durations:
                self.forecast = Forecast(self.gauge, (turn.key.case for turn in gathered), durations)
        if ledger is not None:
            self._count_done(ledger.tally(), source.reasons)
        if self.gauge.done < count:
            self._check_ready()
        todo = ToDo(source=source, ledger=ledger, cases=cases, order=order, digest=digest)
        self.gauge.expected = self.expected_of_all(todo)
        return todo

    def taping(self, ledger: Ledger | None) -> Taping:
        """What is kept of calls, and answered from what was kept."""
        return taping_of(
            self.options, suite=self.job.suite, path=self.path, ledger=ledger, redactor=self.redactor
        )

    def plan_only(self) -> ToDo:
        """What there is to do, for whoever does not want it done."""
        with self.with_keys():
            return self.prepare()

    def _check_ready(self) -> None:
        """Have tasks that know what they need say what is not there: an SDK, a key."""
        check_tasks(self.options.rehearse, self.job.tasks.values())
        for task in self.job.tasks.values():
            check = getattr(task.call, "check_ready", None)
            if callable(check):
                check()
        check_judges(self.job.evaluators, [task.call for task in self.job.tasks.values()])

    @contextlib.contextmanager
    def with_keys(self) -> Iterator[None]:
        """With the keys that are not needed where no provider is asked, and that clients insist on; and with
        the model that judges."""
        unasked = bool(self.options.rehearse) or self.options.replay == "always"
        with judging_with(self.options.judge_model, self.options.judge_aliases):
            asked = [each.model for each in asked_by(self.job.evaluators)]
            tasks = [task.call for task in self.job.tasks.values()]
            with stand_in_keys(unasked, key_variables([*tasks, *asked])):
                yield

    def _count_done(self, tally: Tally, reopened: Mapping[str, int]) -> None:
        """Start the gauge where earlier processes have left the run."""
        gauge = self.gauge
        errors_again = reopened.get("task_error", 0) + reopened.get("timeout", 0)
        gauge.done = tally.done - errors_again - reopened.get("content changed", 0)
        gauge.passed, gauge.failed, gauge.unasserted = tally.passed, tally.failed, tally.unasserted
        gauge.errors = tally.done - tally.passed - tally.failed - tally.unasserted - errors_again

    def _supply(self) -> Supply:
        options = self.options
        return supply_of(
            self.job.cases,
            keep=self.job.keep,
            custom=self.job.custom,
            types=self.job.types,
            # One by one means in the order of the dataset, unless another one is asked for.
            order="given" if options.order == "auto" and self.plan.one_by_one else options.order,
            durations=self._durations,
            whole=self.plan.budget == Budget(),
            fair=self.plan.budget.may_cut_short,
            seed=options.seed,
        )

    def fingerprint(self) -> dict[str, Any]:
        """What makes this suite this suite: a resume is held against it."""
        return {
            "suite": self.job.suite,
            **fingerprint_of(self.options.rehearse),
            **({"simulated_outputs": True} if self.job.simulated else {}),
            "tasks": {
                name: {"name": self.options.task_name or task.name, "version": task.version}
                for name, task in self.job.tasks.items()
            },
            "evaluators": {
                each.label: {"written": each.written, "version": each.version} for each in self.deciding
            },
        }

    def _durations(self) -> Mapping[str, float]:
        """Seconds that cases took in the latest run of this suite that tells."""
        for found in find_runs(runs_root(self.options.runs), self.job.suite):
            journal = found.path / "journal.jsonl"
            if found.path != self.path and journal.stat().st_size <= JOURNAL_READ_FOR_DURATIONS:
                with contextlib.suppress(JournalError):  # of a newer version, say: durations are but a hint
                    known = {
                        key.case: seconds for key, seconds in Report.read(found.path).durations().items()
                    }
                    if known:
                        return known
        return {}

    # The run

    async def carry_out(self, *, owns_process: bool) -> Finished:
        """Prepare, work, close, report."""
        with quiet_collector(), self.with_keys():
            return await self._carry_out(owns_process=owns_process)

    async def _carry_out(self, *, owns_process: bool) -> Finished:
        todo, recorder = self.open()
        ledger = todo.ledger
        if self.pacing.listens:
            self.plan = replace(self.plan, taping=self.taping(ledger))
        progress = self._progress()
        async with contextlib.AsyncExitStack() as around:
            around.enter_context(recorder)
            around.enter_context(self.pacing.opened())
            await around.enter_async_context(
                gateway_for(self.job.tasks.values(), recorder, listens=self.pacing.listens)
            )
            await around.enter_async_context(self.attendance.over(self.run_id, self.path))
            executor = self._executor()
            run = Run(
                source=todo.source,
                executor=executor,
                recorder=recorder,
                plan=self.plan,
                listeners=self.listeners(progress),
                gauge=self.gauge,
                spent=self.spent(ledger),
                clock=self.clock,
            )
            started = self.clock.now()
            pulse = self._pulse(run, executor)
            run.books.on_call = self.pacing.saw
            run.books.tell(self._started(todo))
            if progress is not None:
                progress.start(self.gauge)
            interrupted = 0
            try:
                with (
                    self.traced(),
                    guarded(run, recorder, owns_process=owns_process, watched=not self.options.debug) as came,
                ):
                    ending = await run.carry_out()
                    interrupted = len(came)
            except asyncio.CancelledError:
                ending = Ending(how="interrupted", reason="the run was cancelled")
                self._close(run, recorder, todo, ending, started, pulse)
                raise
            finally:
                if progress is not None:
                    progress.stop()
                pulse.stop()
            self._close(run, recorder, todo, ending, started, pulse)
            unknown = run.purse.unknown
            todo.source.let_go()
            del ledger, todo
        # By the record itself: a path may lead elsewhere by now, where the task has changed its directory.
        report: Report[Any, Any, Any] = Report(recorder.source(), path=self.path)
        return Finished(report=report, ending=ending, interrupts=interrupted, unknown_cost=unknown)

    def _pulse(self, run: Run, executor: Executor) -> Pulse:
        """Look after the run while it works, and see that a provider that closes ends it."""
        loop = asyncio.get_running_loop()

        def closed(why: str) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the run is over
                loop.call_soon_threadsafe(run.drain, why)

        self.pacing.when_closed(closed)
        unseen = executor if isinstance(executor, UnseenCalls) else None
        pulse = Pulse(
            run,
            lambda: [*self.pacing.facts(), *(unseen.facts() if unseen is not None else ())],
            widest=self._widest if unseen is not None else None,
        )
        run.books.listen(pulse)
        return pulse

    @property
    def _finds_width(self) -> bool:
        """Whether the run finds out itself how many cases to have in progress."""
        options = self.options
        return options.max_concurrency == "auto" and not options.debug and self.job.turns is None

    @property
    def _widest(self) -> int:
        """How many cases may come to be in progress."""
        if not self._finds_width:
            return self.plan.concurrency or MOST
        return widest(
            isolated=in_processes(self.options, self.job.tasks), has_hooks=self.options.lifecycle is not None
        )

    def open(self) -> tuple[ToDo, Record]:
        """What there is to do, and the record to write it to, which nobody else writes from here on."""
        while True:
            todo = self.prepare()
            try:
                return todo, self.recorder(todo)
            except Overtaken:
                continue

    def spent(self, ledger: Ledger | None) -> Spent:
        """What earlier processes have spent, where a budget asks for it."""
        if ledger is None or self.path is None or self.plan.budget == Budget():
            return Spent()
        return spent_before(self.path, ledger, retry_errors=self.options.retry_errors)

    def recorder(self, todo: ToDo) -> Record:
        """The record to write to; `Overtaken` where somebody else has written it since."""
        options = self.options
        line = RunLine(
            run_id=self.run_id,
            suite=self.job.suite,
            name=self.job.label,
            started=time.time(),
            fingerprint=self.fingerprint(),
            settings=settings_of(options),
            evaluators=self.facts,
            repeat=options.repeat if self.job.turns is None else self.job.repeat,
            variants=self.job.variants or tuple(self.job.tasks),
            rescored_from=self.job.rescored_from,
            metadata=plain(options.metadata),
            versions=versions(),
            git=git_commit(Path.cwd()),
            command=self.job.command or command(),
            directory=self.job.directory or str(Path.cwd()),
            expected=self.expected_of_all(todo),
            judges=self.judges,
            check=dict(self.job.check),
        )
        return recorder_at(
            self.path,
            line,
            todo.ledger,
            durability=options.durability,
            redactor=self.redactor,
            reasons=todo.source.reasons,
        )

    def expected_of_all(self, todo: ToDo) -> int | None:
        """How many keys the run has: a selection narrows what this process does, not what the run is."""
        expected = todo.source.expected
        before = todo.ledger.expected if todo.ledger is not None and self.job.keep is not None else None
        return expected if before is None or expected is None else max(before, expected)

    def _executor(self) -> Executor:
        executor = self.plain_executor(self._widest)
        if not self._finds_width or not self.options.adaptive:
            return executor
        return UnseenCalls(executor, window=AUTO_CONCURRENCY)

    def plain_executor(self, concurrency: int) -> Executor:
        """Where the task is carried out; so many attempts at a time at most."""
        options, tasks = self.options, self.job.tasks
        around = self.tracing.attempt if self.tracing is not None else None
        if in_processes(options, tasks):
            from paceline.engine.executors.process import ProcessExecutor

            return ProcessExecutor(
                tasks,
                concurrency=concurrency,
                around=around,
                doors=self.pacing.opening if self.pacing.listens else None,
                place=self.attendance.place,
            )
        return LocalExecutor(
            tasks,
            concurrency=concurrency,
            inline=options.debug,
            around=around,
            clock=self.clock,
            listens=True,
            place=self.attendance.place,
        )

    def listeners(self, progress: Progress | None) -> list[Listener]:
        """All who are told of what happens."""
        own = (self.tracing, self.forecast, self.attendance or None, progress)
        return [each for each in (*own, *self.job.listeners, self.options.on_event) if each is not None]

    def _progress(self) -> Progress | None:
        wanted = self.options.progress
        if wanted is not True:
            return wanted or None  # False, or an object that shows it
        if not sys.stderr or not sys.stderr.isatty():
            return None
        from paceline.progress import TerminalProgress

        return TerminalProgress()

    def traced(self) -> contextlib.AbstractContextManager[None]:
        """The span of the run, where somebody traces."""
        if self.tracing is None:
            return contextlib.nullcontext()
        return self.tracing.run({"paceline.expected": self.gauge.expected or 0})

    def _started(self, todo: ToDo) -> RunStarted:
        tally = todo.ledger.tally() if todo.ledger is not None else None
        done = Counter[str](tally.by_outcome if tally else {}) - todo.source.reasons
        return RunStarted(
            at=self.clock.epoch(),
            run_id=self.run_id,
            suite=self.job.suite,
            path=str(self.path or ""),
            expected=self.gauge.expected,
            done_before=self.gauge.done,
            open_reasons=dict(todo.source.reasons) if todo.ledger is not None else {},
            done_before_by={**done, "passed": tally.passed} if tally else {},
            concurrency=self.plan.concurrency or todo.source.expected or 1,
            order=todo.order,
        )

    def _close(
        self, run: Run, recorder: Record, todo: ToDo, ending: Ending, started: float, pulse: Pulse
    ) -> None:
        """Write the last lines, and tell what is safe by then."""
        wall = self.clock.now() - started
        pools = pulse.stop()
        source, digest = todo.source, todo.digest
        if ending.error is None:
            # A selection has not gone through all the keys of a run that was begun without one.
            if source.exhausted and source.digest.keys == self.expected_of_all(todo):
                manifest = ManifestLine(
                    keys=source.digest.keys, digest=source.digest.hexdigest(), dataset=digest
                )
                recorder.append(manifest)
            recorder.append(
                EndedLine(
                    at=time.time(),
                    how=ending.how,
                    wall=wall,
                    reason=ending.reason,
                    limited=pulse.limiting.seconds,
                    pools=pulse.limiting.ends(pools, closed=self.pacing.closed),
                    places=run.places if self.plan.concurrency is not None else 0,
                    blocker=pulse.blocker,
                )
            )
            recorder.flush()
        run.books.on_commit()
        vain = self.pacing.names_in_vain()
        names = [str(each.id) for each in pools]
        for message, hint in notices(run, source, ending, limits_in_vain=vain, pools=names):
            run.books.tell(Warned(at=time.time(), message=message, hint=hint))
        gauge = self.gauge
        open_keys = (gauge.expected or gauge.done) - gauge.done
        run.books.tell(
            RunEnded(at=time.time(), how=ending.how, reason=ending.reason, wall=wall, open=max(open_keys, 0))
        )


def _tracing(suite: str, run_id: str) -> Tracing | None:
    """Spans, where the program has set up somewhere for them to go; finding out imports nothing."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None or isinstance(api.get_tracer_provider(), api.ProxyTracerProvider | api.NoOpTracerProvider):
        return None
    from paceline.conduct.tracing import Tracing

    return Tracing(suite, run_id)
