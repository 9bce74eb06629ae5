"""How often a judge passes its calibration that should not, and how often a good one does.

Judges are drawn whose true correlation with people is known: that of the scores as they are given, on few
levels and with all their ties, not that of some finer score before. At the bar, each that passes is a false
green; well above it, each that does not pass costs somebody more labels. Beside our verdict stand the simpler
rules that are in use: the plain bootstrap, the closed form, and the correlation alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.results import Bar, Result, program
from paceline.calibration.verdict import BAR
from paceline.statistics.correlation import rank_correlation, spearman_interval
from paceline.statistics.planning import bonett_wright
from paceline.statistics.resampling import Cells, resampled

JUDGES: Final = 1_000
JUDGES_QUICK: Final = 4
RESAMPLES: Final = 2_000
LABELS: Final = (30, 50, 200)
AT_THE_BAR: Final = 0.80
GOOD: Final = 0.95

Table = NDArray[np.float64]


class Kind(NamedTuple):
    """How people and a judge score: the shares of the levels, and how the judge errs."""

    shares: tuple[float, ...]
    guesses: bool = False
    """Whether it is right or guesses, in place of being a little off."""
    judged: bool = False
    """Whether the bars are about it."""


KINDS: Final[Mapping[str, Kind]] = {
    "five levels alike": Kind((0.2, 0.2, 0.2, 0.2, 0.2), judged=True),
    "five levels, a bell": Kind((0.07, 0.24, 0.38, 0.24, 0.07), judged=True),
    "five levels, 55 % at the top": Kind((0.05, 0.05, 0.1, 0.25, 0.55)),
    "five levels, right or a guess": Kind((0.2, 0.2, 0.2, 0.2, 0.2), guesses=True),
    "yes 70 %, no 30 %": Kind((0.3, 0.7), guesses=True),
}


# Judges whose correlation is known ----------------------------------------------------------------


def correlation_of(table: Table) -> float:
    """Spearman's correlation of a population, from the table of its shares."""
    ranks = [np.cumsum(margin) - margin / 2 - 0.5 for margin in (table.sum(axis=1), table.sum(axis=0))]
    spread = [float((table.sum(axis=1 - axis) * ranks[axis] ** 2).sum()) for axis in (0, 1)]
    return float((table * np.outer(*ranks)).sum()) / math.sqrt(spread[0] * spread[1])


def population(kind: Kind, rho: float) -> Table:
    """The shares of a judge of this kind whose correlation with people is `rho`."""
    shares = np.array(kind.shares)
    made = _guessing if kind.guesses else _off
    low, high = 0.0, 1.0 - 1e-9
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if correlation_of(made(shares, middle)) < rho else (low, middle)
    return made(shares, low)


def _guessing(shares: Table, right: float) -> Table:
    """Right in this share of the cases; else any level, as often as people give it."""
    return right * np.diag(shares) + (1 - right) * np.outer(shares, shares)


def _off(shares: Table, latent: float) -> Table:
    """Two normal scores of this correlation, cut into levels."""
    from scipy.stats import multivariate_normal, norm

    cuts = np.concatenate([[-9], norm.ppf(np.cumsum(shares)[:-1]), [9]])
    both = multivariate_normal([0, 0], [[1, latent], [latent, 1]])
    below = np.array([[both.cdf([x, y]) for y in cuts] for x in cuts])
    table = np.clip(np.diff(np.diff(below, axis=0), axis=1), 0, None)
    return np.asarray(table / table.sum(), dtype=np.float64)


def drawn(table: Table, n: int, rng: np.random.Generator) -> tuple[Table, Table]:
    """Scores of people and of the judge for n items."""
    at = rng.choice(table.size, size=n, p=table.ravel())
    levels = table.shape[1]
    return (at // levels).astype(float), (at % levels).astype(float)


# Rules --------------------------------------------------------------------------------------------

Rule = Callable[[Table, Table, np.random.Generator], float]
"""The figure that has to reach the bar."""


def _ours(human: Table, judge: Table, rng: np.random.Generator) -> float:
    found = spearman_interval(human, judge, rng, draws=RESAMPLES)
    return -1.0 if found is None else found.low


def _percentile(human: Table, judge: Table, rng: np.random.Generator) -> float:
    cells = Cells(human, judge)
    found = resampled(rank_correlation(cells, 0, 1), cells, rng, draws=RESAMPLES)
    return float(np.quantile(np.where(np.isfinite(found), found, -1.0), 0.025))


def _point(human: Table, judge: Table, _rng: np.random.Generator) -> float:
    cells = Cells(human, judge)
    found = cells.of_all(rank_correlation(cells, 0, 1))
    return -1.0 if found is None else found


def _closed_form(human: Table, judge: Table, rng: np.random.Generator) -> float:
    found = bonett_wright(_point(human, judge, rng), len(human))
    return -1.0 if found is None else found.low


RULES: Final[Mapping[str, Rule]] = {
    "ours": _ours,
    "plain_bootstrap": _percentile,
    "closed_form": _closed_form,
    "correlation_alone": _point,
}


_NOTE: Final = """\
At a true correlation of 0.80 each that passes is a false green; at 0.95 each should pass. A judge that is \
right or guesses errs seldom and far, so that thirty or fifty labels hold few of its errors or none: no rule \
tells it from a better one there, and two hundred labels do."""


# Measuring ----------------------------------------------------------------------------------------


def passing(kind: Kind, rho: float, n: int, judges: int) -> dict[str, float]:
    """The percentage of judges that pass by each rule."""
    table, rng = population(kind, rho), np.random.default_rng([n, int(100 * rho)])
    passed = dict.fromkeys(RULES, 0)
    for _ in range(judges):
        human, judge = drawn(table, n, rng)
        for name, rule in RULES.items():
            passed[name] += rule(human, judge, rng) >= BAR
    return {name: 100 * count / judges for name, count in passed.items()}


def measure(quick: bool) -> Result:
    judges = JUDGES_QUICK if quick else JUDGES
    rows: list[dict[str, Any]] = []
    bars: list[Bar] = []
    for name, kind in KINDS.items():
        for rho in (AT_THE_BAR, GOOD):
            for n in LABELS:
                found = passing(kind, rho, n, judges)
                rows.append(
                    {"scores": name, "true_correlation": f"{rho:.2f}", "labels": n}
                    | {f"{rule} pass %": share for rule, share in found.items()}
                )
                if kind.judged:
                    bars += _bars(name, rho, n, found["ours"])
    return Result(
        title=f"{judges:,} judges of each kind, held against people on so many labels",
        settings={"judges": judges, "resamples": RESAMPLES, "bar": BAR},
        rows=rows,
        bars=bars,
        notes=(_NOTE,),
    )


def _bars(name: str, rho: float, n: int, found: float) -> Sequence[Bar]:
    if rho == AT_THE_BAR and n >= 50:
        what = f"{name}: judges of 0.80 that pass on {n} labels"
        return [Bar(what=what, bar="≤ 5 %", found=found, met=found <= 5)]
    if rho == GOOD and n == 50:
        what = f"{name}: judges of 0.95 that pass on {n} labels"
        return [Bar(what=what, bar="≥ 80 %", found=found, met=found >= 80)]
    return []


if __name__ == "__main__":
    program("calibration", measure)
