"""The report as a JSON document: `to_dict`, and what each of its keys means.

Unknown is null, never 0 and never NaN. Keys are only ever added. `KEYS` is the documentation.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from paceline.report.figures import AssertionFigures, Figures, LabelFigures, ScoreFigures

KEYS: Final[dict[str, str]] = {
    "pass_rate": "passed / (expected − unasserted): failures, open and never begun cases count as not passed",
    "pass_rate_interval": "95 % interval of pass_rate: low, high, confidence, and n, the independent "
    "observations behind it (at most the different cases where cases repeat); null while keys are not run",
    "pass_rate_of": "the denominator of pass_rate",
    "pass_rate_completed": "passed / (passed + not passed): of those that were scored",
    "pass_rate_completed_interval": "its 95 % interval",
    "pass_rate_completed_of": "its denominator",
    "pass_rate_run": "passed / (expected − unasserted − not run): failures count as not passed, what is "
    "not run does not count; the same as pass_rate where all was run",
    "pass_rate_run_interval": "its 95 % interval",
    "pass_rate_run_of": "its denominator",
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
    "p50_latency_s": "median working time of attempts that gave an output, waiting for limits left out; of a "
    "rescored run that of its source, null where that knows none",
    "p90_latency_s": "90th percentile of it",
    "p95_latency_s": "95th percentile of it",
    "p99_latency_s": "99th percentile of it",
    "mean_latency_s": "its mean",
    "max_latency_s": "its maximum",
    "n_latency": "keys behind the latencies",
    "waited_s": "seconds spent waiting for limits and between tries, summed over keys",
    "wall_s": "seconds that the run took, over all processes that worked on it",
    "work_s": "seconds that tasks worked, over all attempts",
    "effective_concurrency": "work_s / wall_s; null for a rescored run, which calls no task",
    "speed_up": "against a plain loop doing the same work, scoring included; null for a rescored run",
    "cases_per_s": "n / wall_s",
    "attempts": "attempts begun",
    "retries": "failed attempts that another one followed, by class of error",
    "abandoned": "threads and coroutines that ignored their deadline and were left behind",
    "processes": "processes that worked on the run",
    "damaged_lines": "lines of the journal that cannot be read",
    "edited_lines": "lines of the journal that were edited by hand",
    "assertions": "by name: by, n, n_expected, n_true, rate, interval",
    "scores": "by name: by, n, n_expected, mean, median, min, max",
    "labels": "by name: by, n, n_expected, counts",
    "evaluator_failures": "by evaluator: cases that it could not say anything about",
    "evaluators_silent": "evaluators of the run without any result or failure, and of how many keys they are "
    "expected",
    "causes": "failures by cause, most frequent first: outcome, stage, type, message, count, examples",
    "causes_left_out": "failures whose cause is not listed",
    "variants": "where there are several: name, n, n_scored, n_failed, n_open, n_not_run, pass_rate, "
    "interval",
    "results_left_out": "results in no figure, because an evaluator made up too many names",
    "verdict": "empty; incomplete: keys are left to run; errors: some ended without being scored; complete",
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
) -> dict[str, Any]:
    """Plain data: numbers, strings, lists, dicts with string keys, None."""
    evaluators = figures.evaluators
    return {
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
        "evaluators_silent": evaluators.silent,
        "causes": msgspec.to_builtins(figures.causes),
        "causes_left_out": figures.causes_left_out,
        "variants": [
            {
                "name": each.name,
                "n": each.n,
                "n_scored": each.n_scored,
                "n_failed": each.n_failed,
                "n_open": each.n_open,
                "n_not_run": each.n_not_run,
                "pass_rate": each.passed.rate,
                "interval": msgspec.to_builtins(each.passed.interval),
            }
            for each in figures.variants
        ],
        "results_left_out": figures.results_left_out,
        "verdict": figures.verdict,
        "name": name,
        "run_id": run_id,
        "path": path,
        "started": started,
        "metadata": metadata,
    }


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
        "waited_s": figures.waited,
        "wall_s": figures.wall,
        "work_s": figures.work,
        "effective_concurrency": figures.concurrency,
        "speed_up": figures.speed_up,
        "cases_per_s": figures.rate_per_s,
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
        "median": values.p50,
        "min": values.min,
        "max": values.max,
    }


def _label(figures: LabelFigures) -> dict[str, Any]:
    return {"by": figures.by, "n": figures.n, "n_expected": figures.n_expected, "counts": figures.counts}


__all__ = ["KEYS", "document"]
