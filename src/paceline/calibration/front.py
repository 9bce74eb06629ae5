"""Calibrating: from labelled items and what a judge said of them to all that can be found.

The judge's scores stand in a column beside the labels, or come from asking it (`judging`). What comes of them
is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paceline.calibration.columns import NOTHING, as_number, check_column, reach
from paceline.calibration.findings import Calibration, Figures
from paceline.calibration.labels import Columns, Item, Labels
from paceline.calibration.measuring import Scored, measure
from paceline.calibration.probes import probes_of
from paceline.calibration.verdict import BAR, FEWEST, verdict_of
from paceline.dataset.fields import Refused
from paceline.dataset.problems import Problems

LOW_ALPHA = 0.667
"""Krippendorff's alpha below which people do not agree enough for anything to agree with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """Columns beside those of people and the judge, for probes."""

    output: str | None = None
    """Where the text stands that was judged."""
    swapped: str | None = None
    """What the judge said of a pair in the other order."""
    again: tuple[str, ...] = ()
    """What it said when it was asked again."""


def scored_by_column(labels: Labels, aside: Aside = Aside()) -> list[Scored]:  # a frozen value
    """The items with the judge's scores that stand beside the labels."""
    rows = [(item.where, item.row) for item in labels.items]
    for column, option in (
        (aside.output, "--map output="),
        (aside.swapped, "--swapped-column"),
        *((column, "--retest-column") for column in aside.again),
    ):
        if column is not None:
            check_column(column, option, rows, labels.path)
    problems = Problems()
    scored = [_scored(item, labels.columns, aside, problems) for item in labels.items]
    problems.raise_any()
    return scored


def _scored(item: Item, columns: Columns, aside: Aside, problems: Problems) -> Scored:
    def number(column: str) -> float | None:
        value = reach(item.row, column)
        try:
            return None if value is NOTHING else as_number(value, columns.levels)
        except Refused as refused:
            problems.add(item.where, f"{column} {refused.what}", refused.hint)
            return None

    again = (number(column) for column in aside.again)
    swapped = number(aside.swapped) if aside.swapped is not None else None
    text = reach(item.row, aside.output) if aside.output is not None else NOTHING
    return Scored(
        where=item.where,
        human=item.human,
        humans=item.humans,
        judge=item.judge,
        cluster=item.cluster,
        length=length_of(text),
        again=tuple(said for said in again if said is not None),
        orders=(item.judge, swapped) if item.judge is not None and swapped is not None else None,
    )


def length_of(output: object) -> int | None:
    """Characters of what was judged; None where it is not text."""
    return len(output) if isinstance(output, str) else None


def calibration_of(
    items: Sequence[Scored],
    labels: Labels,
    judge: Mapping[str, Any],
    *,
    seed: int = 0,
    simulated: bool = False,
    are_human: bool = False,
    run: str | None = None,
) -> Calibration:
    """All that these items tell of a judge."""
    rng = np.random.default_rng(seed)
    figures = measure(items, rng)
    return Calibration(
        verdict=verdict_of(figures, simulated=simulated),
        bar=BAR,
        judge=dict(judge),
        labels={
            "file": str(labels.path),
            "digest": labels.digest,
            "human_columns": list(labels.columns.human),
            "cluster": labels.columns.cluster,
            "human": are_human or not labels.undeclared,
        },
        figures=figures,
        probes=probes_of(items, figures, rng),
        notes=(*labels.notes, *_notes(items, figures)),
        simulated=simulated,
        run=run,
    )


def _notes(items: Sequence[Scored], figures: Figures) -> list[str]:
    notes = []
    both = [item for item in items if item.judge is not None]
    if len(both) > 1 and all(item.judge == item.human for item in both):
        notes.append(
            f"the judge says of each of {len(both):,} items exactly what people say: see that neither has "
            "copied from the other"
        )
    unscored = [
        f"{item.where} ({item.why})" if item.why else item.where for item in items if item.judge is None
    ]
    if unscored:
        more = "; ..." if len(unscored) > 3 else ""
        notes.append(
            f"the judge has no score for {len(unscored):,} of {len(items):,} labelled items: "
            f"{'; '.join(unscored[:3])}{more}"
        )
    if figures.people is not None and figures.people.alpha is not None:
        alpha = figures.people.alpha.value
        if alpha < LOW_ALPHA:
            notes.append(
                f"people do not agree among themselves (alpha {alpha:.2f}), so nothing can be shown to agree "
                "with them: make the rubric plainer, and label again"
            )
    if FEWEST > figures.independent > 0:
        what = "items" if figures.n_clusters is None else "clusters"
        notes.append(f"figures of {figures.independent} {what} are hints, and no more")
    return notes


__all__ = ["Aside", "calibration_of", "length_of", "scored_by_column"]
