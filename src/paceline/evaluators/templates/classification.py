"""Templates about labels: predicted ones against true ones, and raters against each other.

Labels are compared without case and the space around them. A figure that does not exist (the precision of a
label that was never predicted) is an error and not 0.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from paceline.errors import UsageError
from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, Undefined, measured, scored
from paceline.evaluators.templates.kinds import Labels, Numbers, Table


def _pairs(output: Labels, expected: Labels) -> list[tuple[str, str]]:
    same_length(output, expected)
    return list(zip(output, expected, strict=True))


def same_length(output: tuple[object, ...], expected: tuple[object, ...]) -> None:
    """Both have to speak of the same items."""
    if len(output) != len(expected):
        raise UsageError(
            f"output has {len(output)} items, and expected has {len(expected)}",
            hint="they are compared pair by pair: give lists of the same length",
        )


def accuracy(output: Labels, expected: Labels) -> Finding:
    """The share of labels that are as expected."""
    right = sum(found == wanted for found, wanted in _pairs(output, expected))
    return scored(right / len(expected), f"{right} of {len(expected)} labels are as expected")


def balanced_accuracy(output: Labels, expected: Labels) -> Finding:
    """The mean of the recall of each label, so that a rare one counts as much as a frequent one."""
    pairs = _pairs(output, expected)
    met = Counter(wanted for found, wanted in pairs if found == wanted)
    recalls = {label: met[label] / count for label, count in Counter(expected).items()}
    told = ", ".join(f"{label} {recall:.1%}" for label, recall in sorted(recalls.items())[:5])
    return scored(math.fsum(recalls.values()) / len(recalls), f"recall by label: {told}")


def precision_score(output: Labels, expected: Labels, *, positive_label: str | None = None) -> Finding:
    """Of those predicted to have a label, the share that have it: of `positive_label`, or the mean over all
    labels, where one that was never predicted counts as 0.
    """
    pairs = _pairs(output, expected)
    met = Counter(found for found, wanted in pairs if found == wanted)
    predicted = Counter(output)
    if positive_label is None:
        labels = sorted({*output, *expected})
        each = [met[label] / predicted[label] if predicted[label] else 0.0 for label in labels]
        return scored(math.fsum(each) / len(labels), f"the mean over {len(labels)} labels")
    positive = _label(positive_label)
    if not predicted[positive]:
        raise Undefined(f"nothing was predicted to be {positive_label!r}, so there is no precision of it")
    return scored(
        met[positive] / predicted[positive], f"{met[positive]} of {predicted[positive]} are {positive}"
    )


def f_beta_score(output: Labels, expected: Labels, *, positive_label: str, beta: float = 1.0) -> Finding:
    """F-beta of one label: precision and recall, recall `beta` times as important."""
    if beta <= 0:
        raise UsageError(f"beta cannot be {beta:g}", hint="above 1 favours recall, below 1 precision")
    positive = _label(positive_label)
    pairs = _pairs(output, expected)
    met = sum(found == wanted == positive for found, wanted in pairs)
    predicted, there = output.count(positive), expected.count(positive)
    if not predicted and not there:
        raise Undefined(f"{positive_label!r} was neither predicted nor expected, so there is no F of it")
    # (1 + b²) tp / ((1 + b²) tp + b² fn + fp)
    value = (1 + beta**2) * met / (beta**2 * there + predicted)
    return scored(value, f"{met} right of {predicted} predicted and {there} expected")


def _label(written: str) -> str:
    return written.strip().casefold()


# Agreement ----------------------------------------------------------------------------------------


def cohen_kappa(output: Labels, expected: Labels) -> Finding:
    """Cohen's kappa (1960): agreement beyond chance. 1 is full agreement, 0 that of chance; the score of less
    than chance is 0.
    """
    pairs = _pairs(output, expected)
    seen = sum(found == wanted for found, wanted in pairs) / len(pairs)
    ours, theirs = Counter(output), Counter(expected)
    by_chance = sum(ours[label] * theirs[label] for label in ours) / len(pairs) ** 2
    return _beyond_chance(seen, by_chance)


def _beyond_chance(seen: float, by_chance: float) -> Finding:
    if math.isclose(by_chance, 1.0):
        raise Undefined("there is only one label, so chance alone agrees always")
    kappa = (seen - by_chance) / (1 - by_chance)
    return _agreement(kappa, f"kappa {kappa:.3f}: agreement {seen:.1%}, by chance {by_chance:.1%}")


def _agreement(value: float, told: str) -> Finding:
    return measured(value, told, score=min(max(value, 0.0), 1.0))


def fleiss_kappa(output: Table) -> Finding:
    """Fleiss' kappa (1971) of several raters: a row for each item, with how many raters chose each label."""
    raters = sum(output[0])
    if any(len(row) != len(output[0]) or sum(row) != raters or min(row) < 0 for row in output):
        raise UsageError(
            "each row has to have the same labels and the same number of raters",
            hint="output=[[3, 0], [1, 2]]: two items, two labels, three raters",
        )
    if raters < 2:
        raise Undefined("with fewer than two raters there is no agreement")
    within = [(sum(count**2 for count in row) - raters) / (raters * (raters - 1)) for row in output]
    shares = [sum(column) / (len(output) * raters) for column in zip(*output, strict=True)]
    return _beyond_chance(math.fsum(within) / len(within), math.fsum(share**2 for share in shares))


def matthews_correlation(output: Labels, expected: Labels) -> Finding:
    """Matthews' correlation, for any number of labels (Gorodkin 2004); the score of one below 0 is 0."""
    pairs = _pairs(output, expected)
    total, right = len(pairs), sum(found == wanted for found, wanted in pairs)
    ours, theirs = Counter(output), Counter(expected)
    together = sum(ours[label] * theirs[label] for label in ours)
    spread = (total**2 - sum(count**2 for count in ours.values())) * (
        total**2 - sum(count**2 for count in theirs.values())
    )
    if not spread:
        raise Undefined("one side has a single label, so there is no correlation")
    value = (right * total - together) / math.sqrt(spread)
    return _agreement(value, f"correlation {value:.3f}")


# Probabilities ------------------------------------------------------------------------------------

_CERTAIN: Final = 1e-15


def log_loss(output: Numbers, expected: Numbers) -> Finding:
    """The mean negative logarithm of the probabilities that `output` gave to what came true (0 or 1 in
    `expected`). The score is 1 / (1 + loss), and nothing passes or fails by it unless you give a threshold.
    """
    same_length(output, expected)
    if not all(0 <= each <= 1 for each in output) or not set(expected) <= {0.0, 1.0}:
        raise UsageError(
            "log_loss wants probabilities from 0 to 1, and 0 or 1 for what came true",
            hint="output=[0.9, 0.2], expected=[1, 0]",
        )
    given = (
        probability if came else 1 - probability for probability, came in zip(output, expected, strict=True)
    )
    loss = -math.fsum(math.log(min(max(each, _CERTAIN), 1 - _CERTAIN)) for each in given) / len(output)
    return measured(loss, f"loss {loss:.4f}", score=1 / (1 + loss))


TEMPLATES: Final = (
    computed(accuracy, "Score"),
    computed(balanced_accuracy, "Score"),
    computed(precision_score, "Score"),
    computed(f_beta_score, "Score"),
    computed(cohen_kappa, "Numeric"),
    computed(fleiss_kappa, "Numeric"),
    computed(matthews_correlation, "Numeric"),
    computed(log_loss, "Numeric", threshold=None),
)
