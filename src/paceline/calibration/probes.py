"""Probes: weaknesses that judges are known for, and whether this one shows them.

    length      does a longer answer get more than people give it?
    position    of two answers, does the one that is shown first win?
    retest      does it say the same of the same when asked again?
    scale       does it use its scale?

A probe that was not made says so, and how to make it. Pure functions of scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from paceline.calibration.findings import Figures, Probe
from paceline.calibration.measuring import Scored
from paceline.calibration.verdict import ONE_LEVEL
from paceline.statistics.agreement import krippendorff
from paceline.statistics.correlation import partial_correlation
from paceline.statistics.proportions import wilson
from paceline.statistics.resampling import Cells, Statistic, Values, bootstrap

FEWEST: Final = 10
"""Items below which a probe says nothing."""
DOUBLING: Final = 0.1
"""Standard deviations of the judge's scores for twice the length, from which on it matters."""
CONSISTENT: Final = 0.9
"""The share of pairs that has to have the same winner in both orders."""
STEADY: Final = 0.9
"""Krippendorff's alpha of a judge with itself."""
_NO_SPREAD: Final = 1e-12


def probes_of(items: Sequence[Scored], figures: Figures, rng: np.random.Generator) -> tuple[Probe, ...]:
    """All of them."""
    return length(items, rng), position(items), retest(items, rng), scale_use(figures)


def length(items: Sequence[Scored], rng: np.random.Generator) -> Probe:
    """What a longer answer gets beyond what people give it."""
    known = [item for item in items if item.judge is not None and item.length is not None]
    if len(known) < FEWEST:
        return Probe(
            name="length",
            state="not probed",
            said="name the column of the texts: --map output=COLUMN"
            if not known
            else f"of {len(known)} texts nothing can be told",
        )
    clusters = [item.cluster for item in known] if known[0].cluster is not None else None
    doublings = [math.log2(1 + (item.length or 0)) for item in known]
    judge = [item.judge for item in known if item.judge is not None]
    cells = Cells(judge, doublings, [item.human for item in known], clusters=clusters)
    partial, slope = partial_correlation(cells, 0, 1, 2), _slope(cells)
    rank, per_doubling = cells.of_all(partial), cells.of_all(slope)
    if rank is None or per_doubling is None:
        return Probe(name="length", state="not probed", said="texts or scores are all alike")
    of_rank = bootstrap(partial, cells, rng)
    of_slope = bootstrap(slope, cells, rng, span=(-math.inf, math.inf))
    assert of_rank is not None
    assert of_slope is not None
    sure = all(each.low > 0 or each.high < 0 for each in (of_slope, of_rank))
    alarm = sure and abs(per_doubling) > DOUBLING
    bounded = math.isfinite(of_slope.low) and math.isfinite(of_slope.high)
    between = f"{of_slope.low:+.2f} to {of_slope.high:+.2f}" if bounded else "no interval"
    return Probe(
        name="length",
        state="alarm" if alarm else "ok",
        said=f"twice the length moves the score by {per_doubling:+.2f} of its standard deviation "
        f"({between}) beyond what people give it; rank correlation {rank:+.2f} "
        f"({of_rank.low:+.2f} to {of_rank.high:+.2f}) with people's scores held fixed",
        figures={
            "per_doubling": per_doubling,
            "per_doubling_low": of_slope.low if bounded else None,
            "per_doubling_high": of_slope.high if bounded else None,
            "partial_spearman": rank,
            "partial_spearman_low": of_rank.low,
            "partial_spearman_high": of_rank.high,
        },
    )


def _slope(cells: Cells) -> Statistic:
    """The judge's score by doublings of the length and by people's score, least squares: the first slope, in
    standard deviations of the judge's scores."""
    judge, doublings, human = cells.columns

    def slope(weights: Values) -> Values:
        n = weights.sum(axis=1)

        def moment(x: Values, y: Values) -> Values:
            found: Values = weights @ (x * y) / n - (weights @ x / n) * (weights @ y / n)
            return found

        of_human, of_length = moment(human, human), moment(doublings, doublings)
        both = moment(doublings, human)
        left = of_length * of_human - both**2
        spread = moment(judge, judge)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = (moment(doublings, judge) * of_human - moment(human, judge) * both) / left
            return np.where((left > _NO_SPREAD) & (spread > _NO_SPREAD), found / np.sqrt(spread), np.nan)

    return slope


def position(items: Sequence[Scored]) -> Probe:
    """Of two answers, whether the one that is shown first wins, whichever that is."""
    pairs = [item.orders for item in items if item.orders is not None]
    if not pairs:
        return Probe(
            name="position",
            state="not probed",
            said="for judges of pairs: Pairwise, or --swapped-column",
        )
    middle = (min(map(min, pairs)) + max(map(max, pairs))) / 2
    winners = [(_sign(as_shown - middle), _sign(swapped - middle)) for as_shown, swapped in pairs]
    same = sum(one == other for one, other in winners)
    first = sum(one > other for one, other in winners)
    last = sum(one < other for one, other in winners)
    consistency, held = same / len(pairs), wilson(same, len(pairs))
    low, high = _exact(first, first + last)
    leans = first + last > 0 and not low <= 0.5 <= high
    assert held is not None
    share = f"{consistency:.0%} of {len(pairs)} pairs ({held.low:.0%} to {held.high:.0%})"
    told = f"{share} have the same winner in both orders"
    if first + last:
        told += f"; of the other {first + last}, the one shown first won {first}"
    return Probe(
        name="position",
        state="alarm" if consistency < CONSISTENT or leans else "ok",
        said=told,
        figures={
            "pairs": len(pairs),
            "consistency": consistency,
            "consistency_low": held.low,
            "consistency_high": held.high,
            "first_share": first / (first + last) if first + last else None,
            "first_share_low": low if first + last else None,
            "first_share_high": high if first + last else None,
        },
    )


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _exact(successes: int, n: int) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson)."""
    if not n:
        return 0.0, 1.0
    from scipy.stats import binomtest

    found = binomtest(successes, n).proportion_ci(method="exact")
    return float(found.low), float(found.high)


def retest(items: Sequence[Scored], rng: np.random.Generator) -> Probe:
    """Whether the judge agrees with itself when it is asked again."""
    asked = [(item.judge, *item.again) for item in items if item.judge is not None and item.again]
    if len(asked) < FEWEST:
        return Probe(
            name="retest",
            state="not probed",
            said="ask again: --retest 3, or --retest-column"
            if not asked
            else f"of {len(asked)} items that were asked again nothing can be told",
        )
    times = max(map(len, asked))
    same = sum(len(set(said)) == 1 for said in asked)
    found = krippendorff([[*said] for said in asked], "interval", rng)
    steady = found.alpha is None or found.alpha >= STEADY  # where nothing differs at all, it is undefined
    alpha = "all scores are the same" if found.alpha is None else f"alpha with itself {found.alpha:.2f}"
    if found.interval is not None:
        alpha += f" ({found.interval.low:.2f} to {found.interval.high:.2f})"
    return Probe(
        name="retest",
        state="ok" if steady else "alarm",
        said=f"asked up to {times} times about {len(asked)} items, the same score for {same}; {alpha}",
        figures={
            "items": len(asked),
            "same": same,
            "alpha": found.alpha,
            "alpha_low": found.interval.low if found.interval is not None else None,
            "alpha_high": found.interval.high if found.interval is not None else None,
        },
    )


def scale_use(figures: Figures) -> Probe:
    """Whether the judge uses its scale."""
    used = figures.judge
    if used is None:
        return Probe(name="scale", state="not probed", said="the judge has scored nothing")
    most = f"{used.top_share:.1%} of its scores are {used.top:.4g}"
    return Probe(
        name="scale",
        state="alarm" if used.top_share > ONE_LEVEL else "ok",
        said=f"{used.levels:,} levels from {used.lowest:.4g} to {used.highest:.4g}, people "
        f"{figures.human.levels:,}; {most}",
        figures={"levels": used.levels, "top_share": used.top_share, "bits": used.bits},
    )


__all__ = ["length", "position", "probes_of", "retest", "scale_use"]
