"""The comparison as a JSON document: `to_dict`, and what each of its keys means.

Unknown is null, never 0 and never NaN. Keys are only ever added. `KEYS` is the documentation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from paceline.comparison import words
from paceline.comparison.metrics import Metric
from paceline.comparison.pairing import CHANGES, Changed
from paceline.comparison.sides import Side

if TYPE_CHECKING:
    from paceline.comparison.comparing import Comparison, Pair

KEYS: Final[dict[str, str]] = {
    "confidence": "of all intervals; a verdict is given where p is at most 1 less this",
    "runs": "by letter (A, B, ...): name, kind (run, baseline, inspect, pydantic_evals, rows), suite, n "
    "(keys seen), whole, simulated",
    "pairs": "A with B; of more than two runs, each with each that comes after it. The keys of each pair:",
    "pairs.a": "the letter of the run that the other one is held against",
    "pairs.b": "the letter of the other one; verdicts and differences are of this one",
    "pairs.verdict": "better, worse or cannot tell: of b, by pass rate",
    "pairs.n_shared": "keys (case × repeat × variant) that were run in both",
    "pairs.n_changes": "keys by what has become of them: better, worse, crashed, recovered, new, gone, "
    "not_run; one may be in several",
    "pairs.changes": "these keys: case, repeat, variant, a and b (passed, not passed, no assertion, not run, "
    "an outcome; null where it is not there)",
    "pairs.metrics": "pass_rate, assertions.NAME, scores.NAME, latency_s, cost_usd: those that both have. "
    "The keys of each:",
    "pairs.metrics.name": "which it is",
    "pairs.metrics.unit": "share, number, seconds or dollars",
    "pairs.metrics.lower_is_better": "whether less is better",
    "pairs.metrics.n": "pairs behind it; 0 where no key of both has it",
    "pairs.metrics.n_cases": "different cases behind it: what is counted where cases repeat",
    "pairs.metrics.n_failed_a": "keys left out because they failed in a, and have a value in b",
    "pairs.metrics.n_failed_b": "the same the other way round",
    "pairs.metrics.n_unknown": "keys left out because one of the runs does not say",
    "pairs.metrics.a": "the mean in a, over these pairs",
    "pairs.metrics.b": "the mean in b",
    "pairs.metrics.difference": "b less a",
    "pairs.metrics.interval": "where the true difference is likely to lie: low, high; null where unknown",
    "pairs.metrics.only_a": "pairs that are yes in a and no in b; null of graded values",
    "pairs.metrics.only_b": "the other way round",
    "pairs.metrics.p": "the chance of a difference at least so large, either way, by chance alone",
    "pairs.metrics.p_adjusted": "put right by Holm for how many were looked at together; it decides",
    "pairs.metrics.test": "where p is from: mcnemar (exact), sign flips, sampled sign flips",
    "pairs.metrics.detectable": "the smallest difference that so many pairs find four times in five; null "
    "where none would be found",
    "pairs.metrics.verdict": "better, worse or cannot tell",
    "pairs.metrics.sentence": "the same in words",
    "pairs.differing": "what else is not the same, or not known: about (run, dataset, timeouts, settings, "
    "judges, evaluators, task, simulated), text",
}


def document(compared: Comparison) -> dict[str, Any]:
    """A comparison as plain data."""
    return {
        "confidence": compared.confidence,
        "runs": {letter: _side(side) for letter, side in compared.sides.items()},
        "pairs": [_pair(pair) for pair in compared.pairs],
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name.encode(errors="backslashreplace").decode(),
        "kind": side.kind,
        "suite": side.suite,
        "n": len(side.seen),
        "whole": side.whole,
        "simulated": side.simulated,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "a": pair.first,
        "b": pair.second,
        "verdict": pair.verdict,
        "n_shared": pair.n_shared,
        "n_changes": {change: len(pair.changes[change]) for change in CHANGES},
        "changes": {change: [_changed(each) for each in pair.changes[change]] for change in CHANGES},
        "metrics": [_metric(each, pair) for each in pair.metrics],
        "differing": [msgspec.to_builtins(each) for each in pair.differing],
    }


def _changed(changed: Changed) -> dict[str, Any]:
    key = changed.key
    return {
        "case": key.case,
        "repeat": key.repeat,
        "variant": key.variant,
        "a": changed.first,
        "b": changed.second,
    }


def _metric(metric: Metric, pair: Pair) -> dict[str, Any]:
    found = metric.found
    return {
        "name": metric.name,
        "unit": metric.unit,
        "lower_is_better": metric.lower_is_better,
        "n": found.n if found else 0,
        "n_cases": found.units if found else 0,
        "n_failed_a": metric.failed_first,
        "n_failed_b": metric.failed_second,
        "n_unknown": metric.unknown,
        "a": found.first if found else None,
        "b": found.second if found else None,
        "difference": found.difference if found else None,
        "interval": {"low": found.interval.low, "high": found.interval.high}
        if found and found.interval
        else None,
        "only_a": found.only_first if found else None,
        "only_b": found.only_second if found else None,
        "p": found.p if found else None,
        "p_adjusted": metric.p_adjusted,
        "test": found.test if found else None,
        "detectable": found.detectable if found else None,
        "verdict": metric.verdict,
        "sentence": words.sentence(metric, pair.first, pair.second),
    }


__all__ = ["KEYS", "document"]
