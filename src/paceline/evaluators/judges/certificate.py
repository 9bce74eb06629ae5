"""A certificate: what `paceline calibrate` has found about a judge, and whether it still holds.

It names the judge by its fingerprint, which is made of its prompt, its model and its settings: change any of
them and it is another judge, of which nothing has been shown. So a judge is

    calibrated      its certificate is about this very judge, and says PASS
    expired         its certificate is about what the judge was before it was changed
    uncalibrated    it has none, or one that says something else than PASS

Knows what a certificate says. Knows nothing of how it came about (`paceline.calibration`).
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec

from paceline.errors import UsageError
from paceline.journal.records import JudgeStanding

KIND: Final = "paceline calibration"
FORMAT: Final = 1
_REMEDY: Final = "make it anew: paceline calibrate LABELS --judge SUITE:NAME --human-column COLUMN -o FILE"

State: TypeAlias = Literal["calibrated", "uncalibrated", "expired"]


class _Verdict(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    why: str = ""


class _Judge(msgspec.Struct, frozen=True, kw_only=True):
    fingerprint: str | None = None
    name: str | None = None
    model: str | None = None
    result: str | None = None


class _Labels(msgspec.Struct, frozen=True, kw_only=True):
    human: bool = False


class _Estimate(msgspec.Struct, frozen=True, kw_only=True):
    value: float
    low: float | None = None
    high: float | None = None


class _Figures(msgspec.Struct, frozen=True, kw_only=True):
    n_scored: int
    spearman: _Estimate | None = None


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """As much of a certificate as decides about a judge."""

    kind: str
    format: int
    made: str
    verdict: _Verdict
    judge: _Judge
    labels: _Labels
    figures: _Figures
    simulated: bool = False


def standing_of(fingerprint: str | None, certificate: Certificate | None) -> JudgeStanding:
    """How the judge of this fingerprint stands, by this certificate."""
    if certificate is None:
        return JudgeStanding(state="uncalibrated", why="it has no certificate", fingerprint=fingerprint)
    rho = certificate.figures.spearman
    state, why = _state(fingerprint, certificate)
    return JudgeStanding(
        state=state,
        why=why,
        fingerprint=fingerprint,
        spearman=rho.value if rho is not None else None,
        low=rho.low if rho is not None else None,
        high=rho.high if rho is not None else None,
        n=certificate.figures.n_scored,
        made=certificate.made[:10],
    )


def _state(fingerprint: str | None, certificate: Certificate) -> tuple[State, str]:
    verdict = certificate.verdict
    if certificate.judge.fingerprint is None:
        return "uncalibrated", "its certificate is of scores in a column, and names no judge"
    if certificate.simulated:
        return "uncalibrated", "its certificate is of simulated answers"
    if not certificate.labels.human:
        return "uncalibrated", "its certificate rests on labels that nobody has declared to be people's"
    if verdict.kind != "PASS":
        return "uncalibrated", f"its certificate says {verdict.kind}: {verdict.why}"
    if certificate.judge.fingerprint != fingerprint:
        return "expired", "its prompt, model or settings are no longer those that were calibrated"
    return "calibrated", "shown to agree with people"


def read_certificate(path: str | Path) -> Certificate:
    """A certificate; a UsageError where there is none, or it is not as it was written."""
    file = Path(path)
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"there is no certificate {path}", hint=_REMEDY)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", hint="a certificate that can be read is needed")
    try:
        document: Any = json.loads(raw)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise UsageError(f"{path} is no certificate of calibration", hint=_REMEDY)
    if document.get("format") != FORMAT:
        raise UsageError(
            f"{path} is of format {document.get('format')!r:.20}, and this Paceline reads {FORMAT}",
            hint=_REMEDY,
        )
    if document.pop("digest", None) != digest_of_document(document):
        raise UsageError(f"{path} is not as it was written: it was edited, or damaged", hint=_REMEDY)
    try:
        return msgspec.convert(document, Certificate)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path} cannot be understood: {error}", hint=_REMEDY)


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """A certificate as it is written: with a digest of all that it says."""
    whole = {"kind": KIND, "format": FORMAT, **document}
    return {**whole, "digest": digest_of_document(whole)}


def digest_of_document(document: dict[str, Any]) -> str:
    """A digest that is the same however the JSON is laid out."""
    written = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.blake2b(written.encode(), digest_size=16).hexdigest()


__all__ = ["Certificate", "State", "read_certificate", "sealed", "standing_of"]
