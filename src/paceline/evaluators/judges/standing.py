"""How the judges among evaluators stand: what each is, and what its certificate says of it.

A judge is an evaluator that asks a model, or that names a certificate; the others need to be shown nothing. A
certificate that is not there, or cannot be read, is none: a judge without one is uncalibrated, and no error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from paceline.errors import UsageError
from paceline.evaluators.base import Evaluator
from paceline.evaluators.judges.certificate import read_certificate, standing_of
from paceline.evaluators.prepare import Prepared, prepare
from paceline.evaluators.verdicts import digest_of
from paceline.journal.records import WITHIN, JudgeStanding


def standings_of(evaluators: Iterable[object]) -> dict[str, JudgeStanding]:
    """How each judge among them stands, by its label; those inside of others as `Cascade: LLMJudge`."""
    return dict(_standings(list(evaluators), within=""))


def _standings(evaluators: list[object], *, within: str) -> Iterator[tuple[str, JudgeStanding]]:
    for evaluator, prepared in zip(evaluators, prepare(evaluators), strict=True):
        label = f"{within}{prepared.label}"
        inner = getattr(evaluator, "evaluators", None)
        if isinstance(evaluator, Evaluator) and inner:
            yield from _standings(list(inner), within=f"{label}{WITHIN}")
        elif is_judge(evaluator):
            yield label, _standing(evaluator)


def is_judge(evaluator: object) -> bool:
    """Whether an evaluator has to be shown to agree with people."""
    asks = isinstance(evaluator, Evaluator) and bool(evaluator.asks())
    return asks or certificate_named(evaluator) is not None


def certificate_named(evaluator: object) -> str | None:
    """The certificate that an evaluator names."""
    named = getattr(evaluator, "calibration", None)
    return str(named) if named is not None else None


def _standing(evaluator: object) -> JudgeStanding:
    fingerprint, named = fingerprint_of_judge(evaluator), certificate_named(evaluator)
    if named is None:
        return standing_of(fingerprint, None)
    try:
        certificate = read_certificate(named)
    except UsageError as error:
        return JudgeStanding(state="uncalibrated", why=str(error), fingerprint=fingerprint)
    return standing_of(fingerprint, certificate)


def fingerprint_of_judge(evaluator: object) -> str | None:
    """What a judge is, as a digest: its own, or that of its arguments and version; None without a version."""
    own = getattr(evaluator, "fingerprint", None)
    if isinstance(own, str):
        return own
    (prepared,) = prepare([without_certificate(evaluator)])
    if prepared.version is None:
        return None
    return digest_of("evaluator", prepared.written, prepared.version)


def without_certificate(evaluator: Any) -> Any:
    """The same judge, naming no certificate: that says nothing of what it is, and decides nothing it says."""
    if certificate_named(evaluator) is None or not dataclasses.is_dataclass(evaluator):
        return evaluator
    return dataclasses.replace(evaluator, calibration=None)  # type: ignore[type-var]  # an instance, no class


def deciding(evaluators: Sequence[object], prepared: tuple[Prepared, ...]) -> tuple[Prepared, ...]:
    """The evaluators as far as they decide what is said: a certificate that is named later makes no other
    suite of them."""
    if all(certificate_named(each) is None for each in evaluators):
        return prepared
    return prepare(map(without_certificate, evaluators))


__all__ = [
    "certificate_named",
    "deciding",
    "fingerprint_of_judge",
    "is_judge",
    "standings_of",
    "without_certificate",
]
