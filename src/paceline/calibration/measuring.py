"""Measuring: what people said of items and what a judge said, as figures of agreement.

Pure functions of scores. Chance comes as a generator, so that the same labels give the same figures.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from paceline.calibration.findings import Estimate, Figures, People, Scale, TwoByTwo
from paceline.errors import UsageError
from paceline.statistics.agreement import Metric, krippendorff, quadratic_kappa
from paceline.statistics.confusion import Confusion
from paceline.statistics.correlation import kendall, spearman, spearman_interval
from paceline.statistics.interval import CONFIDENCE
from paceline.statistics.means import mean_interval
from paceline.statistics.resampling import DRAWS, Cells, bootstrap

MOST_ORDINAL = 20
"""Different labels up to which a scale is taken for one of ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """An item that people have labelled, and what the judge said of it."""

    where: str
    human: float
    humans: tuple[float | None, ...]
    judge: float | None
    """None where the judge could say nothing."""
    why: str = ""
    """Why it could not, where that is known."""
    cluster: str | None = None
    length: int | None = None
    """Characters of what was judged."""
    again: tuple[float, ...] = ()
    """What the judge said when it was asked again."""
    orders: tuple[float, float] | None = None
    """Of a pair: what it said with the answers in one order, and in the other one."""


def measure(items: Sequence[Scored], rng: np.random.Generator, *, draws: int = DRAWS) -> Figures:
    """The figures of agreement; a UsageError where people gave all items the same label."""
    labels = [item.human for item in items]
    if len(set(labels)) == 1:
        raise UsageError(
            f"all {len(items)} items have the label {labels[0]:g}: there is no order to agree with",
            hint="label items over the whole scale, good ones and bad ones",
        )
    scored = [item for item in items if item.judge is not None]
    human = [item.human for item in scored]
    judge = [item.judge for item in scored if item.judge is not None]
    has_clusters = any(item.cluster is not None for item in items)
    clusters = [item.cluster for item in scored] if has_clusters else None
    same = bool(scored) and is_same_scale(human, judge)
    return Figures(
        n_labelled=len(items),
        n_scored=len(scored),
        n_clusters=len(set(clusters)) if clusters is not None else None,
        confidence=CONFIDENCE,
        spearman=_spearman(human, judge, clusters, rng, draws) if scored else None,
        kendall=kendall(human, judge) if scored else None,
        same_scale=same,
        kappa=_kappa(human, judge, clusters, rng, draws) if same else None,
        bias=_bias(human, judge, clusters) if same else None,
        two_by_two=_two_by_two(human, judge) if {*human, *judge} <= {0.0, 1.0} and scored else None,
        human=scale_of(labels),
        judge=scale_of(judge) if judge else None,
        people=_people([item.humans for item in items], rng, draws),
    )


def _spearman(
    human: list[float],
    judge: list[float],
    clusters: list[str | None] | None,
    rng: np.random.Generator,
    draws: int,
) -> Estimate | None:
    interval = spearman_interval(human, judge, rng, clusters=clusters, draws=draws)
    return Estimate.of(spearman(human, judge), interval)


def _kappa(
    human: list[float],
    judge: list[float],
    clusters: list[str | None] | None,
    rng: np.random.Generator,
    draws: int,
) -> Estimate | None:
    cells = Cells(human, judge, clusters=clusters)
    statistic = quadratic_kappa(cells, 0, 1)
    return Estimate.of(cells.of_all(statistic), bootstrap(statistic, cells, rng, draws=draws))


def _bias(human: list[float], judge: list[float], clusters: list[str | None] | None) -> Estimate | None:
    above = [said - meant for said, meant in zip(judge, human, strict=True)]
    return Estimate.of(fmean(above), mean_interval(above, clusters=clusters))


def _two_by_two(human: list[float], judge: list[float]) -> TwoByTwo:
    found = Confusion.of((bool(meant), bool(said)) for meant, said in zip(human, judge, strict=True))
    return TwoByTwo(
        both_yes=found.both_yes,
        both_no=found.both_no,
        judge_yes=found.judge_yes,
        judge_no=found.judge_no,
        sensitivity=Estimate.of(found.sensitivity, found.sensitivity_interval()),
        specificity=Estimate.of(found.specificity, found.specificity_interval()),
        mcc=found.mcc,
    )


def is_same_scale(human: Sequence[float], judge: Sequence[float]) -> bool:
    """Whether two columns can be on one scale: their ranges are about as wide, and cover each other by half.

    From 0 to 1 against 1 to 5 they are not, and a difference between them would mean nothing.
    """
    widths = sorted((max(human) - min(human), max(judge) - min(judge)))
    common = min(max(human), max(judge)) - max(min(human), min(judge))
    if widths[0] == 0:
        return common >= 0
    return widths[1] <= 1.5 * widths[0] and common >= widths[0] / 2


def scale_of(values: Sequence[float]) -> Scale:
    """How a column uses its scale."""
    counts = Counter(values)
    top, count = max(counts.items(), key=lambda each: (each[1], each[0]))
    shares = [each / len(values) for each in counts.values()]
    return Scale(
        levels=len(counts),
        lowest=min(values),
        highest=max(values),
        top=top,
        top_share=count / len(values),
        bits=abs(-math.fsum(share * math.log2(share) for share in shares)),
    )


def _people(
    humans: Sequence[tuple[float | None, ...]], rng: np.random.Generator, draws: int
) -> People | None:
    """How far people agree, where there are several."""
    raters = len(humans[0])
    if raters < 2:
        return None
    levels = {label for each in humans for label in each if label is not None}
    metric: Metric = "ordinal" if len(levels) <= MOST_ORDINAL else "interval"
    found = krippendorff(humans, metric, rng, draws=draws)
    return People(
        raters=raters,
        items=found.units,
        metric=metric,
        alpha=Estimate.of(found.alpha, found.interval),
        to_the_others=_to_the_others(humans),
    )


def _to_the_others(humans: Sequence[tuple[float | None, ...]]) -> float | None:
    """Spearman of each person with the mean of the others, averaged over people."""
    found = []
    for rater in range(len(humans[0])):
        own, others = [], []
        for labels in humans:
            rest = [label for place, label in enumerate(labels) if place != rater and label is not None]
            if (mine := labels[rater]) is not None and rest:
                own.append(mine)
                others.append(fmean(rest))
        if len(own) > 1 and (one := spearman(own, others)) is not None:
            found.append(one)
    return fmean(found) if found else None


__all__ = ["Scored", "is_same_scale", "measure", "scale_of"]
