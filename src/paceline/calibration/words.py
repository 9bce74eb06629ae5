"""A calibration in words, for a terminal of 80 columns: the verdict first, then what it rests on.

Foreign text (names, columns, paths) is made harmless. Knows findings. Knows nothing of how they came about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paceline.calibration.findings import Calibration, Estimate, Figures, People, Scale, TwoByTwo
from paceline.report.text import clean, counted, folded

_LABEL: Final = 12
_WIDTH: Final = 80
_FIRM, _TENTATIVE = 0.80, 0.667
"""Krippendorff's alpha from which on agreement of people is firm, or tentative."""


def in_words(found: Calibration, *, width: int = _WIDTH) -> str:
    """All that was found."""
    lines = [*_wrapped(found.verdict.kind, _headline(found), width), ""]
    for label, told in _figures(found):
        lines += _wrapped(label, told, width)
    lines += ["", "Probes"]
    for probe in found.probes:
        state = "" if probe.state == "ok" else f"{probe.state.upper()}: "
        lines += _wrapped(f"  {probe.name}", state + probe.said, width)
    if found.notes:
        lines += ["", "Notes"]
        for note in found.notes:
            lines += _wrapped("  -", note, width, label_width=4)
    return "\n".join(lines)


def _wrapped(label: str, told: str, width: int, *, label_width: int = _LABEL) -> Iterator[str]:
    """A label, and beside it a text on as many lines as it takes."""
    column = max(label_width, len(label) + 2)
    for place, line in enumerate(folded(clean(told, limit=2_000), width - column).splitlines()):
        yield f"{label if not place else '':{column}}{line}".rstrip()


def _headline(found: Calibration) -> str:
    told = found.verdict.why
    if found.verdict.more_labels is not None:
        more = counted(found.verdict.more_labels, "more label")
        told += f"; about {more} would settle it, in four cases of five, if the correlation stays what it is"
    return f"{told}."


def _figures(found: Calibration) -> Iterator[tuple[str, str]]:
    figures = found.figures
    yield "Judge", _judge(found)
    yield "Labels", _labels(found)
    percent = f"{figures.confidence:.0%}"
    interval = "the lower end of its interval has to reach"
    if figures.spearman is None:
        yield "Spearman", f"unknown; {interval} {found.bar:.2f}"
    else:
        yield "Spearman", f"{_estimate(figures.spearman, percent)}; {interval} {found.bar:.2f}"
    if figures.kendall is not None:
        yield "Kendall", f"{figures.kendall:.4f} (tau-b)"
    if not figures.same_scale and figures.judge is not None:
        yield "Agreement", f"not on one scale: people {_range(figures.human)}, judge {_range(figures.judge)}"
    if figures.kappa is not None:
        yield "Kappa", f"{_estimate(figures.kappa, percent)}; quadratic weights"
    if figures.bias is not None:
        yield "Bias", _bias(figures.bias, percent)
    if figures.two_by_two is not None:
        yield "Confusion", _two_by_two(figures.two_by_two)
    yield "People", _people(figures.people, percent, figures)


def _judge(found: Calibration) -> str:
    judge = found.judge
    if "column" in judge:
        return f"the scores in column {judge['column']}"
    model = f" on {judge['model']}" if judge.get("model") else ""
    print_ = f", fingerprint {judge['fingerprint'][:12]}" if judge.get("fingerprint") else ""
    return f"{judge['name']}{model}{print_}"


def _labels(found: Calibration) -> str:
    figures, labels = found.figures, found.labels
    told = f"{counted(figures.n_labelled, 'item')} of {labels['file']}"
    if figures.n_clusters is not None:
        told += f" in {counted(figures.n_clusters, 'cluster')} by {labels['cluster']}"
    told += f"; people: {', '.join(labels['human_columns'])}"
    if figures.n_scored < figures.n_labelled:
        told += f"; the judge has scored {figures.n_scored:,} of them"
    return told


def _estimate(figure: Estimate, percent: str) -> str:
    if figure.low is None or figure.high is None:
        return f"{figure.value:.4f} (no interval)"
    return f"{figure.value:.4f} ({percent} interval {figure.low:.3f} to {figure.high:.3f})"


def _range(scale: Scale) -> str:
    return f"{scale.lowest:.3g} to {scale.highest:.3g}"


def _bias(bias: Estimate, percent: str) -> str:
    where = "above" if bias.value > 0 else "below"
    told = f"the judge scores {abs(bias.value):.3f} {where} people" if bias.value else "none"
    if bias.low is None or bias.high is None:
        return told
    return f"{told} ({percent} interval of the difference {bias.low:+.3f} to {bias.high:+.3f})"


def _two_by_two(table: TwoByTwo) -> str:
    right = [
        f"{name} {_share(share)}"
        for name, share in (("sensitivity", table.sensitivity), ("specificity", table.specificity))
    ]
    counts = (
        f"both yes {table.both_yes:,}, both no {table.both_no:,}, only the judge says yes "
        f"{table.judge_yes:,}, only people do {table.judge_no:,}"
    )
    mcc = "unknown" if table.mcc is None else f"{table.mcc:.3f}"
    return f"{'; '.join(right)}; MCC {mcc}; {counts}"


def _share(share: Estimate | None) -> str:
    if share is None:
        return "unknown"
    return f"{share.value:.1%} ({share.low:.1%} to {share.high:.1%})"


def _people(people: People | None, percent: str, figures: Figures) -> str:
    if people is None:
        return "one label each, so how far people agree is not known"
    if people.alpha is None:
        return f"{people.raters} raters, and no two of them have told the same items apart"
    alpha = people.alpha.value
    how = "firm" if alpha >= _FIRM else "tentative" if alpha >= _TENTATIVE else "too low to rest on"
    told = f"Krippendorff's alpha {_estimate(people.alpha, percent)}, {how}; {people.metric}"
    told += f", {people.raters} raters, {counted(people.items, 'item')} labelled by two or more"
    if people.to_the_others is not None:
        told += f"; each with the others: Spearman {people.to_the_others:.3f}"
        if figures.spearman is not None:
            told += f", the judge with all: {figures.spearman.value:.3f}"
    return told


__all__ = ["in_words"]
