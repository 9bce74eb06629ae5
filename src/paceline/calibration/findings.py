"""What a calibration finds, as values: figures, probes, a verdict. As JSON they are what `--json` prints.

None is unknown, and why is said beside it in words. Knows nothing of how anything was found.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from paceline.statistics.interval import Interval

Kind: TypeAlias = Literal["PASS", "FAIL", "INCONCLUSIVE"]
State: TypeAlias = Literal["ok", "alarm", "not probed"]


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A figure, and where the true one is likely to lie."""

    value: float
    low: float | None
    high: float | None
    n: float | None
    """Independent observations behind the interval."""

    @classmethod
    def of(cls, value: float | None, interval: Interval | None) -> Estimate | None:
        """Both together; None where the figure is unknown."""
        if value is None:
            return None
        if interval is None:
            return cls(value=value, low=None, high=None, n=None)
        return cls(value=value, low=interval.low, high=interval.high, n=interval.n)


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """How a column of scores uses its scale."""

    levels: int
    lowest: float
    highest: float
    top: float
    """The level that is used most."""
    top_share: float
    bits: float
    """Entropy: 0 where all is one level, 1 for two used alike, 2.3 for five."""


class People(msgspec.Struct, frozen=True, kw_only=True):
    """How far people agree among themselves."""

    raters: int
    items: int
    """Labelled by two of them at least."""
    metric: str
    alpha: Estimate | None
    """Krippendorff's."""
    to_the_others: float | None
    """Spearman of each of them with the mean of the others, on average: what a judge can be measured by."""


class TwoByTwo(msgspec.Struct, frozen=True, kw_only=True):
    """Yes and no of the judge against those of people."""

    both_yes: int
    both_no: int
    judge_yes: int
    judge_no: int
    sensitivity: Estimate | None
    specificity: Estimate | None
    mcc: float | None


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """How far a judge agrees with people."""

    n_labelled: int
    n_scored: int
    """Of these, by the judge."""
    n_clusters: int | None
    """None where no clusters are named."""
    confidence: float
    spearman: Estimate | None
    kendall: float | None
    """tau-b."""
    same_scale: bool
    """Whether both score on one scale, so that differences mean something."""
    kappa: Estimate | None
    """Quadratic-weighted."""
    bias: Estimate | None
    """The judge less people, on average."""
    two_by_two: TwoByTwo | None
    human: Scale
    judge: Scale | None
    people: People | None

    @property
    def independent(self) -> int:
        """Clusters where there are any, else items."""
        return self.n_scored if self.n_clusters is None else self.n_clusters

    @property
    def coverage(self) -> float:
        """The share of labelled items that the judge has scored."""
        return self.n_scored / self.n_labelled


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """A weakness that judges are known for, and whether this one shows it."""

    name: Literal["length", "position", "retest", "scale"]
    state: State
    said: str
    figures: dict[str, float | None] = {}


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a judge has been shown to agree with people."""

    kind: Kind
    why: str
    more_labels: int | None = None
    """About how many more would settle it; None where that is settled, or no number of them would."""


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """All that was found."""

    verdict: Verdict
    bar: float
    judge: dict[str, Any]
    """What was calibrated: a judge by its fingerprint, or a column."""
    labels: dict[str, Any]
    """The file, its digest, the columns, who labelled."""
    figures: Figures
    probes: tuple[Probe, ...]
    notes: tuple[str, ...]
    simulated: bool = False
    run: str | None = None
    """Where the judge's scores are on record."""

    def document(self) -> dict[str, Any]:
        """As plain JSON values."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


__all__ = [
    "Calibration",
    "Estimate",
    "Figures",
    "Kind",
    "People",
    "Probe",
    "Scale",
    "State",
    "TwoByTwo",
    "Verdict",
]
