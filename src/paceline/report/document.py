"""The report as a JSON document: `to_dict`, and what each of its keys means.

Unknown is null, never 0 and never NaN. Keys are only ever added. `KEYS` is the documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from paceline.journal.records import JudgeStanding
from paceline.report.figures import (
    AssertionFigures,
    CallFigures,
    CostFigures,
    FieldFigures,
    Figures,
    LabelFigures,
    PartFigures,
    PerCaseFigures,
    PoolFigures,
    ScoreFigures,
    SliceFigures,
    VariantFigures,
)
from paceline.report.shapes import Spread
from paceline.report.spending import TOKENS, Amount, Spending

FORMAT: Final = 1
"""Of the document: it changes when a key goes, or means something else."""

KEYS: Final[dict[str, str]] = {
    "format": "version of this document, 1: it changes when a key goes or means something else",
    "pass_rate": "passed / (expected − unasserted): failures, open and never begun cases count as not passed",
    "pass_rate_interval": "95 % interval of pass_rate: low, high, confidence, and n, the independent "
    "observations behind it (by the spread between cases where these repeat); null while keys are not run",
    "pass_rate_of": "the denominator of pass_rate",
    "pass_rate_completed": "passed / (passed + not passed): of those that were scored",
    "pass_rate_completed_interval": "its 95 % interval",
    "pass_rate_completed_of": "its denominator",
    "pass_rate_run": "passed / (expected − unasserted − not run): failures count as not passed, what is "
    "not run does not count; the same as pass_rate where all was run",
    "pass_rate_run_interval": "its 95 % interval",
    "pass_rate_run_of": "its denominator",
    "pass_at_k": "where cases repeat, and the run is whole: k, value (the chance that at least one of k "
    "tries passes, estimated without bias, a mean over cases), interval, n_cases",
    "pass_hat_k": "the same of pass^k, the chance that all of k tries pass",
    "repeats": "where cases repeat: n_cases, classes (cases by stable_pass, flaky, stable_fail, "
    "infrastructure, unknown), flip_rate (the chance that two tries of a case come out differently, a mean "
    "over cases), n_flip (cases behind it), flaky (case, variant, passed, tries, infrastructure; most "
    "evenly split first), n_left_out (flaky cases that are not listed); null where no case repeats",
    "coverage": "scored / expected",
    "error_rate": "ended without being scored / ended; of both, cancelled and skipped_budget are left out",
    "timeout_rate": "timed out / ended, with the denominator of error_rate",
    "n": "keys (case × repeat × variant) that have come to an end",
    "n_expected": "keys that the run has, begun or not",
    "n_expected_known": "false while there may be more keys than have been seen",
    "n_cases": "different cases seen",
    "n_scored": "ended with all evaluators having had their say",
    "n_failed": "ended without being scored, for whatever reason: cancelled and skipped_budget too",
    "n_open": "expected, and without an outcome",
    "n_begun": "of those open: begun, and cut off or under way",
    "n_not_run": "open, cancelled or skipped_budget",
    "n_rerun": "keys that a resume would run or score",
    "n_passed": "scored, with at least one assertion, and all true",
    "n_not_passed": "scored, with an assertion that is false",
    "n_unasserted": "scored, without any assertion",
    "outcomes": "keys by outcome",
    "p50_latency_s": "median working time of attempts that gave an output, waiting for limits left out; of "
    "a rescored run that of its source, null where that knows none",
    "p90_latency_s": "90th percentile of it",
    "p95_latency_s": "95th percentile of it",
    "p99_latency_s": "99th percentile of it",
    "mean_latency_s": "its mean",
    "max_latency_s": "its maximum",
    "n_latency": "keys behind the latencies",
    "latency_histogram": "the same, sorted into ranges: above, to (both in seconds), count",
    "waited_s": "seconds spent waiting for limits and between tries, summed over keys",
    "wall_s": "seconds that the run took, over all processes that worked on it",
    "work_s": "seconds that tasks worked, over all attempts",
    "effective_concurrency": "work_s / wall_s; null for a rescored run, which calls no task",
    "speed_up": "against a plain loop doing the same work, scoring included; null for a rescored run",
    "cases_per_s": "n / wall_s",
    "timeline": "how the run went, in equal steps of the time that processes worked on it: step_s, "
    "in_progress and waiting (keys, on average over each step), ended and errors (keys that came to an "
    "end, and those of them that were not scored), starts (seconds at which each process began); null "
    "where nothing has ended, and for a rescored run",
    "attempts": "attempts begun",
    "retries": "failed attempts that another one followed, by class of error",
    "abandoned": "threads and coroutines that ignored their deadline and were left behind",
    "processes": "processes that worked on the run",
    "damaged_lines": "lines of the journal that cannot be read",
    "edited_lines": "lines of the journal that were edited by hand",
    "assertions": "by name: by, n, n_expected, n_true, rate, interval",
    "scores": "by name: by, n, n_expected, mean, interval (of the mean), median, min, max",
    "labels": "by name: by, n, n_expected, counts",
    "evaluator_failures": "by evaluator: cases that it could not say anything about",
    "calls_spared": "evaluators that did without a model where they could, by name: n (cases that they "
    "have said something about), n_spared (those without a model), calls (that were not made)",
    "evaluators_silent": "evaluators of the run without any result or failure, and of how many keys they "
    "are expected",
    "judges": "evaluators that ask a model, by label: state (calibrated, uncalibrated, expired), why, "
    "fingerprint, and what its certificate says: spearman, low, high, n, made",
    "causes": "failures by cause, most frequent first: outcome, stage, type, message, count, examples",
    "causes_left_out": "failures whose cause is not listed",
    "variants": "where there are several: name, n, n_cases, n_scored, n_failed, n_open, n_not_run, "
    "pass_rate, interval, pass_rate_of, pass_rate_completed, pass_rate_completed_of, error_rate, "
    "latency_s, scores (by name: n, mean, interval), cost_usd, pass_at_k, pass_hat_k",
    "slices": "by each field of metadata that was asked for: n_values (different ones), n_left_out (keys "
    "in slices that are not listed), slices (as variants, with value, variant, few, p, p_adjusted and "
    "without name and pass_at_k; value is null of cases that say nothing in this field)",
    "clustered_by": "the field of metadata that intervals go by; null where they go by cases",
    "results_left_out": "results in no figure, because an evaluator made up too many names",
    "simulated": "true where any call was answered, or any output made, by a simulated provider: a "
    "rehearsal, and no result",
    "calls": "model calls to real providers, null where none was seen: n, n_answered, tries, sent_again, "
    "waited_s, n_replayed (answered from the record, and in none of the others), saved_usd (what these did "
    "not cost again), cost_usd and input_, output_, cached_, cache_write_, reasoning_tokens (each with "
    "total, null unless all of it is known, at_least, and n_unknown, the calls of which it is not known), "
    "latency_s and first_token_s (each with n, mean, min, p50, p90, p95, p99, max), of_task (what the task "
    "has used of this) and judging (what each evaluator has, by name)",
    "cost_usd": "what these calls have cost: total, per_case (by key that was begun) and per_pass (by key "
    "that passed; null where none did), each with total, at_least, n_unknown; null where no call was seen",
    "per_case": "what single keys have used that made calls, simulated ones where there are no others: n, "
    "and calls, input_tokens, output_tokens, cost_usd, each with n (keys of which it is known), mean, min, "
    "p50, p90, p95, p99, max; null where no call was seen",
    "calls_simulated": "the same of calls that a simulated provider has answered: nothing was paid for them",
    "rehearsal": "what a rehearsal predicts of the run: scenario, at_once (cases in progress), seconds, "
    "usd (null where a price is unknown); null where the run was no rehearsal",
    "pools": "each quota that calls share: pool, host, account, simulated, calls (as above), and as it was "
    "left: window, rate_per_s, tokens_per_s, accepted, rejected, rejected_by_cause, peak_in_flight, "
    "limited_s, closed; null where that is not known",
    "limited_by": "what limited the run, the greatest first: limit, seconds, share of the wall time; null "
    "where no process has said",
    "limited_advice": "what would have made it faster, in a sentence; null where nothing can be said",
    "verdict": "empty; incomplete: keys are left to run; errors: some ended without being scored; complete",
    "stopped": "why the last process left before the end: interrupted, a budget, a provider that answers "
    "no more calls; null where it did not, or was killed",
    "name": "the suite",
    "run_id": "the run",
    "path": "where it lies; null where it was kept in memory only",
    "started": "seconds since the epoch",
    "metadata": "what the caller said about the run",
}


def document(
    figures: Figures,
    *,
    name: str,
    run_id: str,
    path: str | None,
    started: float | None,
    metadata: dict[str, Any] | None,
    slices: Sequence[FieldFigures] = (),
    clustered_by: str | None = None,
) -> dict[str, Any]:
    """Plain data: numbers, strings, lists, dicts with string keys, None."""
    evaluators = figures.evaluators
    return {
        "format": FORMAT,
        **_passing(figures),
        **_counts(figures),
        **_times(figures),
        "attempts": figures.attempts,
        "retries": figures.retries,
        "abandoned": figures.abandoned,
        "processes": figures.processes,
        "damaged_lines": figures.damaged,
        "edited_lines": figures.unsealed,
        "assertions": {each.name: _assertion(each) for each in evaluators.assertions},
        "scores": {each.name: _score(each) for each in evaluators.scores},
        "labels": {each.name: _label(each) for each in evaluators.labels},
        "evaluator_failures": evaluators.failures,
        "calls_spared": {
            each.by: {"n": each.n, "n_spared": each.cases, "calls": each.calls} for each in evaluators.spared
        },
        "evaluators_silent": evaluators.silent,
        "judges": {label: _judge(standing) for label, standing in figures.judges.items()},
        "causes": msgspec.to_builtins(figures.causes),
        "causes_left_out": figures.causes_left_out,
        "variants": [_variant(each) for each in figures.variants],
        "slices": {each.field: _field(each) for each in slices},
        "clustered_by": clustered_by,
        "results_left_out": figures.results_left_out,
        **_traffic(figures),
        "verdict": figures.verdict,
        "stopped": figures.stopped or None,
        "name": name,
        "run_id": run_id,
        "path": path,
        "started": started,
        "metadata": metadata,
    }


def _judge(standing: JudgeStanding) -> dict[str, Any]:
    return {name: getattr(standing, name) for name in standing.__struct_fields__}


def _passing(figures: Figures) -> dict[str, Any]:
    return {
        "pass_rate": figures.passed.rate,
        "pass_rate_interval": msgspec.to_builtins(figures.passed.interval),
        "pass_rate_of": figures.passed.of,
        "pass_rate_completed": figures.passed_of_scored.rate,
        "pass_rate_completed_interval": msgspec.to_builtins(figures.passed_of_scored.interval),
        "pass_rate_completed_of": figures.passed_of_scored.of,
        "pass_rate_run": figures.passed_of_run.rate,
        "pass_rate_run_interval": msgspec.to_builtins(figures.passed_of_run.interval),
        "pass_rate_run_of": figures.passed_of_run.of,
        "pass_at_k": msgspec.to_builtins(figures.pass_at),
        "pass_hat_k": msgspec.to_builtins(figures.pass_hat),
        "repeats": msgspec.to_builtins(figures.repeats),
        "coverage": figures.coverage,
        "error_rate": figures.error_rate,
        "timeout_rate": figures.timeout_rate,
    }


def _counts(figures: Figures) -> dict[str, Any]:
    return {
        "n": figures.n,
        "n_expected": figures.n_expected,
        "n_expected_known": figures.expected_known,
        "n_cases": figures.n_cases,
        "n_scored": figures.n_scored,
        "n_failed": figures.n_failed,
        "n_open": figures.n_open,
        "n_begun": figures.n_begun,
        "n_not_run": figures.n_not_run,
        "n_rerun": figures.n_rerun,
        "n_passed": figures.n_passed,
        "n_not_passed": figures.n_not_passed,
        "n_unasserted": figures.n_unasserted,
        "outcomes": figures.outcomes,
    }


def _times(figures: Figures) -> dict[str, Any]:
    latency = figures.latency
    return {
        "p50_latency_s": latency.p50,
        "p90_latency_s": latency.p90,
        "p95_latency_s": latency.p95,
        "p99_latency_s": latency.p99,
        "mean_latency_s": latency.mean,
        "max_latency_s": latency.max,
        "n_latency": latency.n,
        "latency_histogram": msgspec.to_builtins(figures.latency_bins),
        "waited_s": figures.waited,
        "wall_s": figures.wall,
        "work_s": figures.work,
        "effective_concurrency": figures.concurrency,
        "speed_up": figures.speed_up,
        "cases_per_s": figures.rate_per_s,
        "timeline": msgspec.to_builtins(figures.timeline),
    }


def _traffic(figures: Figures) -> dict[str, Any]:
    limited = figures.limited
    return {
        "simulated": figures.is_simulated,
        "calls": _calls(figures.calls),
        "cost_usd": _cost(figures.cost),
        "per_case": _per_case(figures.per_case),
        "calls_simulated": _calls(figures.simulated),
        "rehearsal": msgspec.to_builtins(figures.rehearsal),
        "pools": [_pool(each) for each in figures.pools],
        "limited_by": None if limited is None else msgspec.to_builtins(limited.shares),
        "limited_advice": (limited.advice or None) if limited is not None else None,
    }


def _calls(figures: CallFigures | None) -> dict[str, Any] | None:
    if figures is None:
        return None
    spending = figures.spending
    return {
        **calls_document(spending),
        "of_task": calls_document(figures.of_task),
        "judging": {by: calls_document(each) for by, each in figures.judging.items()},
        "latency_s": _spread(figures.latency),
        "first_token_s": _spread(figures.first_token),
    }


def calls_document(spending: Spending) -> dict[str, Any]:
    """What some calls have used together, as plain data."""
    return {
        "n": spending.calls,
        "n_answered": spending.calls - spending.failed,
        "tries": spending.tries,
        "sent_again": spending.sent_again,
        "waited_s": spending.waited,
        "cost_usd": _amount(spending.cost),
        "n_replayed": spending.replayed,
        "saved_usd": _amount(spending.saved),
        **{name: _amount(getattr(spending, name)) for name in TOKENS},
    }


def _amount(amount: Amount) -> dict[str, Any]:
    return {"total": amount.total, "at_least": amount.known, "n_unknown": amount.unknown}


def _spread(spread: Spread) -> dict[str, Any]:
    return {name: getattr(spread, name) for name in spread.__struct_fields__}


def _cost(figures: CostFigures | None) -> dict[str, Any] | None:
    if figures is None:
        return None
    return {
        "total": _amount(figures.total),
        "per_case": _amount(figures.per_case),
        "per_pass": None if figures.per_pass is None else _amount(figures.per_pass),
    }


def _per_case(figures: PerCaseFigures | None) -> dict[str, Any] | None:
    if figures is None:
        return None
    return {
        "n": figures.n,
        "calls": _spread(figures.calls),
        "input_tokens": _spread(figures.input_tokens),
        "output_tokens": _spread(figures.output_tokens),
        "cost_usd": _spread(figures.cost),
    }


# Parts of the run


def _part(figures: PartFigures) -> dict[str, Any]:
    return {
        "n": figures.n,
        "n_cases": figures.n_cases,
        "n_scored": figures.n_scored,
        "n_failed": figures.n_failed,
        "n_open": figures.n_open,
        "n_not_run": figures.n_not_run,
        "pass_rate": figures.passed.rate,
        "interval": msgspec.to_builtins(figures.passed.interval),
        "pass_rate_of": figures.passed.of,
        "pass_rate_completed": figures.passed_of_scored.rate,
        "pass_rate_completed_of": figures.passed_of_scored.of,
        "error_rate": figures.error_rate,
        "latency_s": _spread(figures.latency),
        "scores": msgspec.to_builtins(figures.scores),
        "cost_usd": _cost(figures.cost),
    }


def _variant(figures: VariantFigures) -> dict[str, Any]:
    return {
        "name": figures.name,
        **_part(figures),
        "pass_at_k": msgspec.to_builtins(figures.pass_at),
        "pass_hat_k": msgspec.to_builtins(figures.pass_hat),
    }


def _field(figures: FieldFigures) -> dict[str, Any]:
    return {
        "n_values": figures.n_values,
        "n_left_out": figures.n_left_out,
        "slices": [_slice(each) for each in figures.slices],
    }


def _slice(figures: SliceFigures) -> dict[str, Any]:
    return {
        "value": figures.value,
        "variant": figures.variant,
        **_part(figures),
        "few": figures.few,
        "p": figures.p,
        "p_adjusted": figures.p_adjusted,
    }


def _pool(figures: PoolFigures) -> dict[str, Any]:
    end = figures.end
    return {
        "pool": figures.pool,
        "host": figures.host,
        "account": figures.account,
        "simulated": figures.simulated,
        "calls": _calls(figures.calls),
        "window": end.window if end else None,
        "rate_per_s": end.rate if end else None,
        "tokens_per_s": end.token_rate if end else None,
        "accepted": end.accepted if end else None,
        "rejected": end.rejected if end else None,
        "rejected_by_cause": end.by_cause if end else None,
        "peak_in_flight": end.peak if end else None,
        "limited_s": end.limited if end else None,
        "closed": (end.closed or None) if end else None,
    }


def _assertion(figures: AssertionFigures) -> dict[str, Any]:
    return {
        "by": figures.by,
        "n": figures.true.of,
        "n_expected": figures.n_expected,
        "n_true": figures.true.count,
        "rate": figures.true.rate,
        "interval": msgspec.to_builtins(figures.true.interval),
    }


def _score(figures: ScoreFigures) -> dict[str, Any]:
    values = figures.values
    return {
        "by": figures.by,
        "n": values.n,
        "n_expected": figures.n_expected,
        "mean": values.mean,
        "interval": msgspec.to_builtins(figures.interval),
        "median": values.p50,
        "min": values.min,
        "max": values.max,
    }


def _label(figures: LabelFigures) -> dict[str, Any]:
    return {"by": figures.by, "n": figures.n, "n_expected": figures.n_expected, "counts": figures.counts}


__all__ = ["KEYS", "calls_document", "document"]
