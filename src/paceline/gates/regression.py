"""No regression: a run held against an earlier one, key by key, and red where it is significantly worse.

Keys are case, repeat and variant. What crashed, timed out or could not be scored has not passed, on either
side. What nothing is asserted of on both sides is left out; on one side only it has not passed, or taking
the evaluators away would make a run better. Repeats and variants of one case hang together, and are flipped
together. The tests are those of `statistics.paired`.
"""

from __future__ import annotations

from typing import Final

from paceline.gates.baseline import Baseline
from paceline.gates.verdict import Finding
from paceline.journal.records import Key
from paceline.report.text import counted, percent
from paceline.statistics.paired import PairedDifference, paired_difference

RULE: Final = "no regression"
_SEED: Final = 0
"""Signs are drawn only where there are too many patterns; the same two runs get the same verdict."""


def held_against(baseline: Baseline, now: Baseline, confidence: float) -> Finding:
    """Whether a run is worse than its baseline."""
    if baseline.run_id == now.run_id:
        return _unknown(f"the baseline is this very run, {now.run_id}, and nothing is worse than itself")
    if not baseline.whole:
        return _unknown(f"the baseline {baseline.run_id} is not whole: keys of it have not come to an end")
    shared = [key for key in baseline.passed if key in now.passed]
    pairs = [
        (key.case, baseline.passed[key], now.passed[key])
        for key in shared
        if baseline.passed[key] is not None or now.passed[key] is not None
    ]
    changed = _only_in_one(set(baseline.passed), set(now.passed))
    if not pairs:
        return _unknown(f"no key of the baseline {baseline.run_id} can be compared{changed}")
    import numpy as np

    cases = [case for case, _, _ in pairs]
    found = paired_difference(
        [float(before is True) for _, before, _ in pairs],
        [float(after is True) for _, _, after in pairs],
        np.random.default_rng(_SEED),
        clusters=cases if len(set(cases)) < len(cases) else None,
        confidence=confidence,
    )
    assert found is not None, "there are pairs"
    worse = found.difference < 0 and found.p <= 1 - confidence
    return Finding(
        rule=RULE,
        figure="no_regression",
        value=found.difference,
        bound=0.0,
        interval=(found.interval.low, found.interval.high) if found.interval else None,
        verdict="red" if worse else "green",
        why=f"{_in_words(found, worse=worse)}{changed}",
    )


def _in_words(found: PairedDifference, *, worse: bool) -> str:
    points = f"{100 * found.difference:+.1f} points"
    if found.interval is not None:
        points += f" ({100 * found.interval.low:+.1f} to {100 * found.interval.high:+.1f})"
    numbers = f"{percent(found.first)} before, {percent(found.second)} now, {points}, p = {found.p:.3g}"
    shared = counted(found.n, "key")
    if worse:
        return f"significantly worse on the {shared} of both: {numbers}"
    if found.difference == 0 and found.only_first == 0:
        said = f"no key of the {shared} of both passed before and does not now: {numbers}"
    elif found.difference >= 0:
        said = f"not worse on the {shared} of both: {numbers}"
    else:
        said = f"cannot tell from chance on the {shared} of both: {numbers}"
    if found.detectable is None:
        return f"{said}; so few show no difference of any size"
    return f"{said}; so many show differences of {100 * found.detectable:.1f} points and more"


def _only_in_one(before: set[Key], now: set[Key]) -> str:
    gone, new = len(before - now), len(now - before)
    told = [f"{counted(gone, 'key')} gone"] if gone else []
    told += [f"{counted(new, 'key')} new"] if new else []
    return f"; {' and '.join(told)}" if told else ""


def _unknown(why: str) -> Finding:
    return Finding(
        rule=RULE, figure="no_regression", value=None, bound=0.0, interval=None, verdict="red", why=why
    )


__all__ = ["RULE", "held_against"]
