"""How often figures hold what they promise: intervals, tests, early decisions.

Where all samples that there can be are few enough, each is gone through, and the share is exact. Otherwise
samples are drawn, from a seed. The truth is known: intervals have to hold it in 93 to 97 % of samples, a test
must not find a difference that is not there in more than 5.5 %, an early decision must not be wrong in more
than 5 %, looking at every case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.results import Bar, Result, at_most, program
from paceline.statistics.interval import Interval
from paceline.statistics.means import mean_interval, share_interval
from paceline.statistics.paired import mcnemar, paired_difference, sign_flips, tango
from paceline.statistics.power import power_of_mcnemar, smallest_paired
from paceline.statistics.proportions import clopper_pearson, clustered, wilson
from paceline.statistics.repeats import Chance, average, pass_at_k, pass_hat_k
from paceline.statistics.sequential import evidence

SIZES = (50, 200)
REPEATS = 5
DRAWN = 10_000
LONGEST = 1_000
"""Cases after which a run that is still undecided has come to its end."""
ALPHA = 0.05
LEAST_DISAGREEMENTS = 5
"""Expected in a sample, for its interval to be judged: with fewer, samples are so few that shares jump."""

Values: TypeAlias = NDArray[np.float64]
Rng: TypeAlias = np.random.Generator


class Found(NamedTuple):
    """A share of samples, and whether it is that of all there can be."""

    of: str
    truth: str
    n: int
    samples: int | None
    share: float

    def row(self) -> dict[str, Any]:
        """As the table has it."""
        samples = "all" if self.samples is None else f"{self.samples:,}"
        return {
            "what": self.of,
            "truth": self.truth,
            "n": self.n,
            "samples": samples,
            "percent": self.percent,
        }

    @property
    def percent(self) -> float:
        return round(100 * float(self.share), 2)


# Intervals


def binomial(n: int, rate: float) -> Values:
    """The chance of each number of successes."""
    from scipy.stats import binom

    chances: Values = binom.pmf(np.arange(n + 1), n, rate)
    return chances


def held_by(intervals: Sequence[Interval | None], chances: Values, truth: float) -> float:
    """How often the truth is held, over samples with these chances."""
    held = [each is not None and each.low <= truth <= each.high for each in intervals]
    return float(chances[np.array(held)].sum())


def proportions(sizes: Iterable[int]) -> Iterator[tuple[Found, float]]:
    """Ours, and by how much SciPy's interval of the same name holds more or less."""
    from scipy.stats import binomtest

    for n in sizes:
        for name, ours, theirs in (
            ("Wilson", wilson, "wilson"),
            ("Clopper-Pearson", clopper_pearson, "exact"),
        ):
            own = [ours(successes, n) for successes in range(n + 1)]
            others = [binomtest(each, n).proportion_ci(method=theirs) for each in range(n + 1)]
            for rate in (0.5, 0.8, 0.9, 0.95, 0.98):
                chances = binomial(n, rate)
                share = held_by(own, chances, rate)
                known = sum(
                    chance
                    for chance, each in zip(chances, others, strict=True)
                    if each.low <= rate <= each.high
                )
                yield Found(f"{name} interval", f"{rate:.0%} pass", n, None, share), abs(share - known)


class Pairs(NamedTuple):
    """Two pass rates on the same cases."""

    held: Found
    """Coverage of their difference."""
    found: Found
    """How often the test finds one."""
    alike: bool
    """Whether there is none."""
    many: bool
    """Whether enough pairs disagree for coverage to be judged."""


def paired_rates(sizes: Iterable[int]) -> Iterator[Pairs]:
    """Over all samples."""
    from scipy.stats import multinomial

    for n in sizes:
        samples = [(lost, gained) for lost in range(n + 1) for gained in range(n + 1 - lost)]
        intervals = [tango(lost, gained, n) for lost, gained in samples]
        rejected = np.array([mcnemar(lost, gained) <= ALPHA for lost, gained in samples])
        counts = np.array([(lost, gained, n - lost - gained) for lost, gained in samples])
        for losses, gains in ((0.02, 0.02), (0.05, 0.05), (0.1, 0.1), (0.2, 0.2), (0.05, 0.15), (0.1, 0.3)):
            chances = multinomial.pmf(counts, n, [losses, gains, 1 - losses - gains])
            truth = f"{losses:.0%} lost, {gains:.0%} gained"
            share = held_by(intervals, chances, gains - losses)
            found = float(chances[rejected].sum())
            yield Pairs(
                held=Found("difference of pass rates (Tango)", truth, n, None, share),
                found=Found("McNemar test finds a difference", truth, n, None, found),
                alike=losses == gains,
                many=n * (losses + gains) >= LEAST_DISAGREEMENTS,
            )


class Drawn(NamedTuple):
    """Something to draw samples of, whose truth is known."""

    of: str
    truth: str
    value: float
    interval: Callable[[Rng, int], Interval | None]


def _rates(rng: Rng, n: int) -> Values:
    """Rates of cases: most are certain, some are not; 0.785 on average."""
    return np.where(rng.random(n) < 0.7, 0.95, 0.4)


def _tries(rng: Rng, rates: Values) -> list[tuple[int, int]]:
    return [(int(passed), REPEATS) for passed in rng.binomial(REPEATS, rates)]


def _of_clusters(values: NDArray[np.floating[Any]]) -> Interval | None:
    cases, repeats = values.shape
    return mean_interval(values.ravel().tolist(), clusters=np.repeat(np.arange(cases), repeats).tolist())


def _of_paired_repeats(rng: Rng, n: int) -> Interval | None:
    """Two runs of the same cases, which both have the same rates."""
    rates = np.repeat(_rates(rng, n), REPEATS)
    first, second = ((rng.random(len(rates)) < rates).astype(float).tolist() for _ in range(2))
    found = paired_difference(first, second, rng, clusters=np.repeat(np.arange(n), REPEATS).tolist())
    return None if found is None else found.interval


def _of_tries(rng: Rng, n: int, chance: Chance) -> Interval | None:
    found = average([(int(each), 8) for each in rng.binomial(8, rng.random(n))], 3, chance)
    return None if found is None else found.interval


INTERVALS: tuple[Drawn, ...] = (
    Drawn(
        "pass rate of repeated cases",
        "cases alike",
        0.7,
        lambda rng, n: clustered(_tries(rng, np.full(n, 0.7))),
    ),
    Drawn(
        "pass rate of repeated cases",
        "cases differ",
        0.785,
        lambda rng, n: clustered(_tries(rng, _rates(rng, n))),
    ),
    Drawn("pass@3", "rates of all sizes", 0.75, lambda rng, n: _of_tries(rng, n, pass_at_k)),
    Drawn("pass^3", "rates of all sizes", 0.25, lambda rng, n: _of_tries(rng, n, pass_hat_k)),
    Drawn(
        "mean score of repeated cases",
        "normal, cases differ",
        0.0,
        lambda rng, n: _of_clusters(rng.normal(size=(n, 1)) + rng.normal(size=(n, REPEATS))),
    ),
    Drawn(
        "mean score of repeated cases",
        "1 to 5, mostly 5",
        4.4,
        lambda rng, n: _of_clusters(
            5.0 - rng.binomial(4, rng.choice([0.05, 0.45], p=[0.75, 0.25], size=(n, 1)), size=(n, REPEATS))
        ),
    ),
    Drawn(
        "mean score between 0 and 1",
        "most have full marks",
        0.925,
        lambda rng, n: share_interval(np.where(rng.random(n) < 0.85, 1.0, rng.random(n)).tolist()),
    ),
    Drawn(
        "difference of scores", "normal", 0.1, lambda rng, n: mean_interval(rng.normal(0.1, 1, n).tolist())
    ),
    Drawn(
        "difference of scores",
        "two of three are the same",
        0.05,
        lambda rng, n: mean_interval((rng.choice([0, 0, 1], n) * rng.normal(0.15, 0.3, n)).tolist()),
    ),
    Drawn("difference of pass rates of repeated cases", "cases differ", 0.0, _of_paired_repeats),
)


def drawn_intervals(sizes: Iterable[int], samples: int) -> Iterator[Found]:
    """Coverage over samples that are drawn."""
    for drawn in INTERVALS:
        for n in sizes:
            rng = np.random.default_rng(n)
            intervals = (drawn.interval(rng, n) for _ in range(samples))
            held = sum(each is not None and each.low <= drawn.value <= each.high for each in intervals)
            yield Found(drawn.of, drawn.truth, n, samples, held / samples)


# Tests


def _alike(rng: Rng, n: int) -> tuple[Values, list[int]]:
    """Differences of scores that only chance tells apart."""
    return rng.normal(size=n) - rng.normal(size=n), list(range(n))


def _alike_and_coarse(rng: Rng, n: int) -> tuple[Values, list[int]]:
    return rng.choice([-1.0, 0.0, 0.0, 0.0, 1.0], n) * rng.exponential(size=n), list(range(n))


def _alike_and_repeated(rng: Rng, n: int) -> tuple[Values, list[int]]:
    """Repeats of a case share what tells the two runs apart on it."""
    differences = rng.normal(size=(n, 1)) + rng.normal(size=(n, REPEATS))
    return differences.ravel(), np.repeat(np.arange(n), REPEATS).tolist()


NOTHING_TO_FIND: dict[str, Callable[[Rng, int], tuple[Values, list[int]]]] = {
    "scores, normal": _alike,
    "scores, mostly the same": _alike_and_coarse,
    "scores of repeated cases": _alike_and_repeated,
}


def false_positives(sizes: Iterable[int], samples: int) -> Iterator[Found]:
    """How often the sign-flip test finds a difference that is not there."""
    for truth, differ in NOTHING_TO_FIND.items():
        for n in sizes:
            rng, found = np.random.default_rng(n), 0
            for _ in range(samples):
                differences, clusters = differ(rng, n)
                found += sign_flips(differences.tolist(), rng, clusters=clusters, draws=999).p <= ALPHA
            yield Found("sign-flip test finds a difference", truth, n, samples, found / samples)


def powers(sizes: Iterable[int]) -> Iterator[Found]:
    """How often the smallest difference that is said to be found four times in five is found."""
    for n in sizes:
        for disagree in (0.1, 0.3):
            smallest = smallest_paired(n, disagree)
            if smallest is not None:
                share = power_of_mcnemar(n, smallest, max(disagree, smallest))
                truth = f"{disagree:.0%} disagree, by {smallest:.1%}"
                yield Found("smallest detectable difference", truth, n, None, share)


# Deciding early


class Decided(NamedTuple):
    """Early decisions over all samples there can be."""

    rate: float
    bar: float
    above: float
    below: float
    mean_n: float

    @property
    def wrong(self) -> float:
        """At the bar itself, any decision counts as wrong."""
        return self.above * (self.rate <= self.bar) + self.below * (self.rate >= self.bar)


def decided(rate: float, bar: float, longest: int) -> Decided:
    """Looking at every case, up to so many."""
    needed = math.log(2 / ALPHA)
    alive, ends, spent = np.array([1.0]), {"above": 0.0, "below": 0.0}, 0.0
    for n in range(1, longest + 1):
        spent += float(alive.sum())
        alive = np.append(alive * (1 - rate), 0.0) + np.append(0.0, alive * rate)
        # Evidence grows to either side, so what is decided are the ends of what is left.
        for side, successes in (("above", range(n, -1, -1)), ("below", range(n + 1))):
            for each in successes:
                if getattr(evidence(each, n, bar), side) < needed:
                    break
                ends[side] += float(alive[each])
                alive[each] = 0.0
    return Decided(rate, bar, ends["above"], ends["below"], spent)


def early(longest: int) -> list[dict[str, Any]]:
    """What early decisions cost and save."""
    cases = [(rate, 0.8) for rate in (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6)] + [(0.5, 0.5), (0.95, 0.95)]
    found = [decided(rate, bar, longest) for rate, bar in cases]
    return [
        {
            "rate": f"{each.rate:.0%}",
            "bar": f"{each.bar:.0%}",
            "decided_above_percent": round(100 * each.above, 2),
            "decided_below_percent": round(100 * each.below, 2),
            "wrong_percent": round(100 * float(each.wrong), 2),
            "cases_looked_at_on_average": round(each.mean_n, 1),
        }
        for each in found
    ]


# The result

OF_SAMPLES = (
    "`percent` of an interval: samples in which it holds the truth; of a test: samples in which p is at most "
    f"{ALPHA:.0%}. `all`: every sample there can be, each with its chance; otherwise as many as were drawn."
)
OF_PAIRS = (
    f"Coverage where fewer than {LEAST_DISAGREEMENTS} pairs are expected to disagree is not judged: there "
    "are so few different samples that shares jump, and Tango's interval is then too wide."
)
OF_DECISIONS = (
    f"Early decisions are over all samples of up to {LONGEST:,} cases. At the bar itself any decision counts "
    "as wrong."
)


def _within(found: Sequence[Found], what: str) -> Bar:
    """The one that is furthest from 95 %."""
    worst = max((each.percent for each in found), key=lambda percent: abs(percent - 95))
    return Bar(what=what, bar="93 to 97 %", found=worst, met=93 <= worst <= 97)


def measure(quick: bool) -> Result:
    """All of them."""
    sizes, samples, longest = ((50,), 200, 100) if quick else (SIZES, DRAWN, LONGEST)
    singles = list(proportions(sizes))
    pairs = list(paired_rates(sizes))
    drawn = list(drawn_intervals(sizes, samples))
    flips = list(false_positives(sizes, samples))
    ends = early(longest)
    of_means = [each for each in drawn if "difference" not in each.of]
    differences = [each for each in drawn if "difference" in each.of]
    differences += [each.held for each in pairs if each.many]
    rows = [found.row() for found, _ in singles]
    rows += [each.held.row() for each in pairs] + [each.row() for each in drawn]
    rows += [each.found.row() for each in pairs] + [each.row() for each in flips]
    rows += [each.row() for each in powers(sizes)]
    return Result(
        title="How often figures hold what they promise",
        settings={"sizes": list(sizes), "samples": samples, "repeats": REPEATS, "longest": longest},
        rows=rows,
        more=ends,
        bars=[
            at_most(
                "intervals of proportions: coverage beside that of SciPy's, all samples",
                0.01,
                round(100 * float(max(off for _, off in singles)), 6),
                "% apart",
            ),
            _within(of_means, "intervals of rates and means of repeated cases hold the truth"),
            _within(differences, "intervals of paired differences hold the truth"),
            at_most(
                "McNemar test: differences found where there are none",
                5.5,
                max(each.found.percent for each in pairs if each.alike),
                "%",
            ),
            at_most(
                "sign-flip test: differences found where there are none",
                5.5,
                max(each.percent for each in flips),
                "%",
            ),
            at_most("early decisions that are wrong", 5, max(each["wrong_percent"] for each in ends), "%"),
        ],
        notes=[OF_SAMPLES, OF_PAIRS, OF_DECISIONS],
    )


if __name__ == "__main__":
    program("statistics", measure)
