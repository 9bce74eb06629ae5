"""What a judge is, as one digest: its prompt, its model and its settings.

A certificate of calibration names a judge by it, a verdict on record and in a cache is found by it: whatever
changes what a judge is told or who judges makes another judge of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paceline.evaluators.judges import fencing
from paceline.evaluators.judges.questions import Question
from paceline.evaluators.verdicts import digest_of
from paceline.models.messages import Model


def fingerprint_of(model: Model, question: Question, settings: Mapping[str, Any] | None = None) -> str:
    """The digest of a judge. Of what the question shows, the names count, and not what stands there."""
    return digest_of(
        "judge",
        question.instructions,
        question.closing,
        fencing.VERSION,
        list(question.shown),
        model.version,
        dict(settings or {}),
    )


def seen_by(fingerprint: str, shown: Mapping[str, str]) -> str:
    """The digest of all that decides a verdict: the judge, and what it is shown."""
    return digest_of("seen", fingerprint, list(shown.items()))


__all__ = ["fingerprint_of", "seen_by"]
