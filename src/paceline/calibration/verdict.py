"""The verdict: a judge passes when the low end of its correlation with people is at the bar, or above.

Not when the correlation is: of judges whose true correlation is .70, one in seven shows .80 in thirty items.
And never on fewer than thirty items (or clusters, where items hang together), on labels that are nearly all
the same, where too much went unscored, or on answers that were simulated.

Pure functions of figures.
"""

from __future__ import annotations

from typing import Final

from paceline.calibration.findings import Estimate, Figures, Verdict
from paceline.statistics.interval import Interval
from paceline.statistics.planning import needed_for, shown_spread

BAR: Final = 0.80
FEWEST: Final = 30
"""Items, or clusters, below which nothing passes."""
COVERAGE: Final = 0.95
"""The share of labelled items that a judge has to have scored."""
ONE_LEVEL: Final = 0.80
"""With more than this share of the scores at one level, a correlation means nothing."""


def verdict_of(figures: Figures, *, bar: float = BAR, simulated: bool = False) -> Verdict:
    """Whether the judge has been shown to agree with people, and why; what to do where it has not."""
    rho = figures.spearman
    if figures.n_scored == 0:
        return Verdict(kind="INCONCLUSIVE", why="the judge has scored nothing")
    if figures.judge is not None and figures.judge.levels == 1:
        return Verdict(
            kind="FAIL", why=f"the judge gives {figures.judge.top:g} to everything: it tells nothing apart"
        )
    if simulated:
        return Verdict(kind="INCONCLUSIVE", why="the judge's answers are simulated: this is no result")
    if figures.human.top_share > ONE_LEVEL:
        return Verdict(kind="INCONCLUSIVE", why=_nearly_all(figures, "people", figures.human.top))
    if rho is None or rho.low is None or rho.high is None:
        return Verdict(
            kind="INCONCLUSIVE",
            why="so few items tell nothing",
            more_labels=FEWEST - figures.independent,
        )
    if rho.high < bar:
        return Verdict(kind="FAIL", why=f"all of the interval lies below {bar:.2f}")
    if objection := _objection(figures, bar, rho):
        return objection
    if rho.low >= bar:
        return Verdict(kind="PASS", why=f"all of the interval lies at {bar:.2f} or above")
    return _open(figures, bar, rho)


def _objection(figures: Figures, bar: float, rho: Estimate) -> Verdict | None:
    """Why this can be no pass, whatever the interval says."""
    if figures.judge is not None and figures.judge.top_share > ONE_LEVEL:
        return Verdict(kind="INCONCLUSIVE", why=_nearly_all(figures, "the judge", figures.judge.top))
    if figures.independent < FEWEST:
        what = "items" if figures.n_clusters is None else "clusters"
        more = max(FEWEST - figures.independent, _more(figures, bar, rho) or 0)
        return Verdict(
            kind="INCONCLUSIVE",
            why=f"{figures.independent} {what} are too few: no judge passes on fewer than {FEWEST}",
            more_labels=more,
        )
    if figures.coverage < COVERAGE:
        unscored = figures.n_labelled - figures.n_scored
        return Verdict(
            kind="INCONCLUSIVE",
            why=f"the judge has not scored {unscored} of {figures.n_labelled} items, and nothing is known of "
            f"those: {COVERAGE:.0%} have to be scored",
        )
    return None


def _nearly_all(figures: Figures, who: str, level: float) -> str:
    scale = figures.human if who == "people" else figures.judge
    assert scale is not None
    remedy = "label more of the others" if who == "people" else "it has to tell more of them apart"
    return (
        f"{who} gave {scale.top_share:.0%} of the items a {level:g}: so little variety shows no agreement; "
        f"{remedy}"
    )


def _open(figures: Figures, bar: float, rho: Estimate) -> Verdict:
    more = _more(figures, bar, rho)
    if more is None:
        return Verdict(
            kind="INCONCLUSIVE",
            why=f"the interval holds {bar:.2f}, and a correlation this close to it is not told from it by "
            "any number of labels that somebody would give",
        )
    return Verdict(kind="INCONCLUSIVE", why=f"the interval holds {bar:.2f}", more_labels=more)


def _more(figures: Figures, bar: float, rho: Estimate) -> int | None:
    """How many more items would settle it in four cases of five, if the true correlation is the one seen."""
    if rho.low is None or rho.high is None or rho.n is None:
        return None
    seen = Interval(low=rho.low, high=rho.high, confidence=figures.confidence, n=rho.n)
    needed = needed_for(rho.value, bar, spread=shown_spread(rho.value, seen))
    if needed is None:
        return None
    # What is planned for are independent ones; in clusters, so many items come with each.
    per_unit = figures.n_scored / figures.independent
    more = max(needed - figures.independent, FEWEST - figures.independent, 1)
    return max(1, round(more * per_unit))


__all__ = ["BAR", "COVERAGE", "FEWEST", "ONE_LEVEL", "verdict_of"]
