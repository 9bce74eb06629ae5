"""The overview: what the figures of a run say in words, a label and a sentence each.

Passed, failed (an assertion is false), errors (ended without a score), not run, without assertion: each case
is one of these, and no word means two of them. A rate over cases of which some were not run has no interval.

Knows figures. Knows nothing of terminals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from paceline.journal.records import JudgeStanding
from paceline.report.figures import CostFigures, Figures, RehearsalFigures, RepeatFigures, SparedFigures
from paceline.report.passing import NOT_RUN
from paceline.report.shapes import Proportion, Spread
from paceline.report.spending import Amount, Spending
from paceline.report.text import UNKNOWN, counted, dollars, percent, seconds, short, times
from paceline.statistics.proportions import Interval
from paceline.statistics.repeats import PassAt

_VALUES_FOR: Final = {"p50": 1, "p90": 10, "p95": 20, "p99": 100}
"""Values that a quantile takes: with fewer it is their maximum by another name."""
_LEAST_SPEED_UP: Final = 2
_NO_ERRORS: Final = frozenset({"scored", *NOT_RUN})
"""Outcomes that are no error of the case."""


def lines_of(figures: Figures) -> Iterator[tuple[str, str]]:
    """What the overview says, a label and a sentence each."""
    if figures.is_simulated:
        yield "SIMULATED", _not_a_result(figures)
    if figures.rehearsal is not None:
        yield "Predicted", _predicted(figures.rehearsal)
    if figures.stopped:
        yield "Stopped", figures.stopped
    yield "Pass rate", _headline(figures)
    of_run = figures.passed_of_run
    if figures.verdict == "incomplete" and of_run.of:
        yield "of those run", _rate(of_run, "failures included")
    if figures.passed_of_scored.of and figures.passed_of_scored.of != of_run.of:
        yield "of completed", _rate(figures.passed_of_scored, f"coverage {percent(figures.coverage)}")
    yield "Cases", _counts(figures)
    yield from _repeats(figures)
    if figures.n_unasserted:
        yield (
            "No assertion",
            f"{counted(figures.n_unasserted, 'case')} with none: not passed, and in neither rate",
        )
    for label, standing in figures.judges.items():
        yield "Judge", f"{label}: {_standing(standing)}"
    if errors := _errors(figures):
        kinds = {name: n for name, n in figures.outcomes.items() if n and name not in _NO_ERRORS}
        causes = ", ".join(f"{name} {n:,}" for name, n in kinds.items())
        yield "Error rate", f"{percent(figures.error_rate)} of {figures.n_scored + errors:,} run: {causes}"
    yield from _times(figures)
    if figures.damaged or figures.unsealed:
        yield "Journal", f"{counted(figures.damaged, 'damaged line')}, {figures.unsealed:,} edited by hand"
    if figures.results_left_out:
        yield (
            "Left out",
            f"{counted(figures.results_left_out, 'result')}: more names than a report tells apart",
        )


def _times(figures: Figures) -> Iterator[tuple[str, str]]:
    if figures.latency.n:
        yield "Latency", _latency(figures.latency)
    if figures.waited:
        yield "Waiting", f"{seconds(figures.waited)} for limits and between tries, in all; not in the latency"
    if figures.wall is not None:
        yield "Duration", _duration(figures)
    if figures.attempts > figures.n + figures.n_begun or figures.retries or figures.abandoned:
        yield "Attempts", _attempts(figures)
    for label, calls in (("", figures.calls), ("  simulated", figures.simulated)):
        if calls is not None:
            yield label or "Calls", _calls(calls.spending)
            yield label or "Cost", _cost(calls.spending, simulated=bool(label))
            if not label and figures.cost is not None:
                yield "", _cost_of_what(figures.cost)
            for by, judging in calls.judging.items():
                yield f"  by {by}", f"{_calls(judging)}; cost: {_cost(judging, simulated=bool(label))}"
            if calls.spending.replayed:
                yield label or "Replayed", _replayed(calls.spending)
    for spared in figures.evaluators.spared:
        yield "Spared", _spared(spared)


def _standing(judge: JudgeStanding) -> str:
    if judge.state != "calibrated":
        return f"{judge.state.upper()}, {judge.why}: what it says proves nothing yet"
    if judge.spearman is None or judge.low is None or judge.high is None:
        return judge.state
    between = f"{judge.low:.2f} to {judge.high:.2f}"
    return (
        f"calibrated {judge.made}, Spearman {judge.spearman:.2f} ({between}) with people on {judge.n:,} items"
    )


def _not_a_result(figures: Figures) -> str:
    if figures.simulated is None:
        return "not a result: the outputs come from a rehearsal, or from a simulated model"
    count = figures.simulated.spending.calls
    of_all = count + (figures.calls.spending.calls if figures.calls is not None else 0)
    share = "all" if count == of_all else f"{count:,} of"
    what = "a rehearsal, not a result" if figures.rehearsal is not None else "not a result"
    return f"{what}: a simulated provider answered {share} {counted(of_all, 'call')}"


def _predicted(rehearsal: RehearsalFigures) -> str:
    at_once = f"with {counted(rehearsal.at_once, 'case')} in progress"
    cost = "an unknown sum" if rehearsal.usd is None else dollars(rehearsal.usd)
    return (
        f"the run would take about {seconds(rehearsal.seconds)} {at_once}, if the provider is as scenario "
        f"{rehearsal.scenario} plays it, and cost about {cost}, if answers are as long as these"
    )


def _spared(spared: SparedFigures) -> str:
    saved = counted(spared.calls, "call")
    return (
        f"{saved} of models not made: {spared.by} did without for {spared.cases:,} of "
        f"{counted(spared.n, 'case')}"
    )


def _replayed(spending: Spending) -> str:
    saved = said_amount(spending.saved, dollars)
    return f"{counted(spending.replayed, 'call')} answered from the record, not asked again; saved {saved}"


def _calls(spending: Spending) -> str:
    told = f"{spending.calls:,}"
    if spending.sent_again:
        told += f", {'once' if spending.sent_again == 1 else f'{spending.sent_again:,} times'} sent again"
    if spending.failed:
        told += f", {spending.failed:,} without an answer"
    told += f"; tokens: {said_amount(spending.input_tokens)} in"
    if spending.cached_tokens.known:
        told += f" ({said_amount(spending.cached_tokens)} cached)"
    told += f", {said_amount(spending.output_tokens)} out"
    return f"{told}; waited {seconds(spending.waited)} in all" if spending.waited else told


def said_amount(amount: Amount, form: Callable[[float], str] = short, *, at_least: str = "at least ") -> str:
    """A sum, or what it is at least where a part of it is not known."""
    if not amount.unknown:
        return form(amount.known)
    return f"{at_least}{form(amount.known)}" if amount.known else UNKNOWN


def _cost(spending: Spending, *, simulated: bool) -> str:
    """A sum of which a part is unknown is never given as the sum."""
    cost = spending.cost
    if simulated and cost.total == 0:
        return "nothing was paid"
    told = "nothing was paid; the real provider would have charged " if simulated else ""
    if cost.total is not None:
        return told + dollars(cost.total)
    unpriced = f"{counted(cost.unknown, 'call')} of unknown price"
    return (
        f"{told}at least {dollars(cost.known)}, and {unpriced}"
        if cost.known
        else f"{told}unknown: {unpriced}"
    )


def _cost_of_what(cost: CostFigures) -> str:
    told = f"{said_amount(cost.per_case, dollars)} per case"
    return told if cost.per_pass is None else f"{told}, {said_amount(cost.per_pass, dollars)} per pass"


def _errors(figures: Figures) -> int:
    """Cases that were run and ended without being scored."""
    return figures.n_failed + figures.n_open - figures.n_not_run


def _headline(figures: Figures) -> str:
    passed = figures.passed
    if figures.verdict != "incomplete" or passed.rate is None:
        return _rate(passed, "failures included")
    if not figures.expected_known:
        return f"so far {passed.count:,} of at least {passed.of:,} passed ({figures.n_not_run:,} not run)"
    return f"so far {passed.count:,} of {passed.of:,} passed ({figures.n_not_run:,} not run)"


def _latency(latency: Spread) -> str:
    """As many of its quantiles as so many values support."""
    quantiles = (("p50", latency.p50), ("p90", latency.p90), ("p95", latency.p95), ("p99", latency.p99))
    shape = [(name, value) for name, value in quantiles if latency.n >= _VALUES_FOR[name]]
    shape += [("mean", latency.mean), ("max", latency.max)]
    told = ", ".join(f"{name} {seconds(value)}" for name, value in shape)
    return f"{told}, of {counted(latency.n, 'output')}"


def _repeats(figures: Figures) -> Iterator[tuple[str, str]]:
    if 0 < figures.n_cases < figures.n + figures.n_begun:
        told = f"{figures.n + figures.n_begun:,} results of {counted(figures.n_cases, 'different case')}"
        why = "those of one case hang together, so intervals go by the spread between cases"
        yield "Repeats", f"{told}; {why}"
    if figures.pass_at:
        cases = counted(min(each.n_cases for each in figures.pass_at), "case")
        yield "pass@k", f"{_chances('pass@', figures.pass_at)}: at least one of k tries passes, over {cases}"
        yield "pass^k", f"{_chances('pass^', figures.pass_hat)}: all of k tries pass"
    if figures.repeats is not None and figures.verdict != "incomplete":
        yield "Stability", _stability(figures.repeats)


def _stability(repeats: RepeatFigures) -> str:
    classes = (f"{n:,} {name.replace('_', ' ')}" for name, n in repeats.classes.items() if n)
    told = f"{', '.join(classes)}, of {counted(repeats.n_cases, 'case')}"
    if repeats.flip_rate is None:
        return told
    return f"{told}; two tries of one case differ with a chance of {percent(repeats.flip_rate)}"


def _chances(name: str, found: Sequence[PassAt]) -> str:
    return ", ".join(f"{name}{each.k} {percent(each.value)}" for each in found)


def _rate(proportion: Proportion, remark: str) -> str:
    if proportion.rate is None:
        return "unknown: no case has an assertion"
    interval = said_interval(proportion.interval, proportion.of)
    return f"{percent(proportion.rate)} ({interval}), {proportion.count:,} of {proportion.of:,}, {remark}"


def said_interval(interval: Interval | None, of: int) -> str:
    if interval is None:
        return "no interval"
    told = f"{interval.confidence:.0%} interval {percent(interval.low)} to {percent(interval.high)}"
    # Repeats of one case tell less than as many different cases.
    if interval.n < 0.995 * of:
        told += f", worth {counted(round(interval.n), 'independent result')}"
    return told


def _counts(figures: Figures) -> str:
    told = f"{figures.n_expected:,} expected: {figures.n_passed:,} passed, {figures.n_not_passed:,} failed"
    told += f", {counted(_errors(figures), 'error')}"
    if figures.n_unasserted:
        told += f", {figures.n_unasserted:,} without assertion"
    if figures.n_not_run:
        told += f", {figures.n_not_run:,} not run"
    return told if figures.expected_known else f"{told}; there may be more"


def _duration(figures: Figures) -> str:
    told = seconds(figures.wall)
    if figures.processes > 1:
        told += f" in {figures.processes} processes"
    if figures.concurrency is not None:
        told += f"; effective concurrency {times(figures.concurrency)}"
    # Next to nothing, and what starting up costs hides it: neither is worth a sentence.
    if (figures.speed_up or 0) >= _LEAST_SPEED_UP and (figures.wall or 0) >= 1:
        told += f", {times(figures.speed_up or 0)} times as fast as a plain loop"
    return told


def _attempts(figures: Figures) -> str:
    told = f"{figures.attempts:,}"
    if figures.retries:
        classes = ", ".join(f"{name} {count:,}" for name, count in figures.retries.items())
        told += f"; {sum(figures.retries.values()):,} retried ({classes})"
    if figures.abandoned:
        told += f"; {figures.abandoned:,} ignored a deadline and were left behind"
    return told


__all__ = ["lines_of", "said_amount", "said_interval"]
