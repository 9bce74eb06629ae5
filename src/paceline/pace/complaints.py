"""What a refusal says of itself: codes, words and hints, taken out of a body that somebody else wrote.

Bodies are foreign: garbage, HTML, half a JSON, numbers where texts belong. Whatever it is, a `Complaint`
comes out, perhaps an empty one, and nothing is raised. What it says is read in `answers`; no message leaves
here with a key in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from paceline.journal.redaction import KEY_PATTERNS

LONGEST_BODY: Final = 262_144
"""Bytes of a refusal that are looked at as JSON; nobody explains a refusal in more."""
LONGEST_MESSAGE: Final = 500
_DEEP_ENOUGH: Final = 4_000
"""Characters of a message in which the reason is looked for."""


class Complaint(msgspec.Struct, frozen=True, kw_only=True):
    """A refusal, taken apart."""

    codes: frozenset[str] = frozenset()
    """Whatever stands where types, codes, statuses and reasons stand, in lower case."""
    message: str = ""
    """In the provider's words; not yet safe to show, see `safe`."""
    status: int | None = None
    """That it names in its body, as those do who refuse inside an answer."""
    delay: str = ""
    """How long to wait, where the body says so (`46s`)."""
    quotas: str = ""
    """Names of the quotas that it is about."""
    as_json: bool = True
    flagged: bool = False
    """Whether it is about the content that was sent."""


def complaint_in(body: bytes) -> Complaint:
    """A refusal, from the bytes of its body."""
    if len(body) <= LONGEST_BODY:
        try:
            return complaint_of(msgspec.json.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
    return Complaint(message=body[:_DEEP_ENOUGH].decode("utf-8", "replace").strip(), as_json=False)


def complaint_of(document: object) -> Complaint:
    """A refusal, from what its body is as JSON."""
    if isinstance(document, list) and document:
        document = document[0]  # Gemini, where it speaks like OpenAI
    if not isinstance(document, Mapping):
        return Complaint(message=document[:_DEEP_ENOUGH] if isinstance(document, str) else "")
    error = document.get("error")
    if isinstance(error, str):
        error = {"message": error}
    if not isinstance(error, Mapping):
        errors = document.get("errors")
        first = errors[0] if isinstance(errors, list) and errors else None
        error = first if isinstance(first, Mapping) else {}
    details = _details(error)
    levels = (error, document, *details)
    metadata = _mapping(error.get("metadata"))
    return Complaint(
        codes=frozenset(_codes(levels)),
        message=_message(error, document, metadata)[:_DEEP_ENOUGH],
        status=_status(error, document, metadata),
        delay=next((delay for each in details if (delay := _text(each.get("retryDelay")))), ""),
        quotas=" ".join(_quotas(details)),
        flagged=bool(metadata.get("flagged_input") or metadata.get("reasons")),
    )


_CODES: Final = ("type", "code", "status", "error_code", "reason", "__type", "@type", "error_type")


def _codes(levels: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    for level in levels:
        for name in _CODES:
            value = level.get(name)
            if isinstance(value, str) and len(value) <= 200:
                yield value.lower()


def _details(error: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    details = error.get("details")
    if isinstance(details, Mapping):
        return [details]  # Anthropic
    return [each for each in details[:16] if isinstance(each, Mapping)] if isinstance(details, list) else []


def _message(error: Mapping[str, Any], document: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    for owner in (error, document):
        for name in ("message", "Message", "msg", "detail", "error_description"):
            if text := _text(owner.get(name)):
                upstream = _text(metadata.get("raw"))  # OpenRouter hands on what it was told itself
                return f"{text}: {upstream}" if upstream else text
    return ""


def _status(error: Mapping[str, Any], document: Mapping[str, Any], metadata: Mapping[str, Any]) -> int | None:
    for value in (
        metadata.get("provider_code"),
        error.get("code"),
        document.get("code"),
        error.get("status"),
    ):
        number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
        if isinstance(number, int) and not isinstance(number, bool) and 400 <= number < 600:
            return number
    return None


def _quotas(details: list[Mapping[str, Any]]) -> Iterator[str]:
    for each in details:
        violations = each.get("violations")
        for violation in violations[:16] if isinstance(violations, list) else []:
            if isinstance(violation, Mapping):
                yield f"{_text(violation.get('quotaId'))} {_text(violation.get('quotaMetric'))}"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value[:_DEEP_ENOUGH] if isinstance(value, str) else ""


# What may be shown ---------------------------------------------------------------------------------

_SECRETS: Final = re.compile(
    "|".join(
        (
            # Shorter and more broken forms than a journal would take for keys: providers show keys half
            # masked.
            r"(?i:\b(?:sk|rk|pk|gsk|csk|xai|hf|r8|pplx|nvapi|fw|tgp)[-_][\w*.\-]{4,}[\w*])",
            r"AIza[\w*\-]{6,}",
            r"(?i:(?<=bearer )|(?<=basic ))[\w*.~+/=\-]{6,}",
            r"(?i:(?<=key: )|(?<=key=)|(?<=key:)|(?<=key\": \")|(?<=key\":\")|(?<=token=))[^\s\"'&,;]{6,}",
            *KEY_PATTERNS.values(),
        )
    )
)
_BLANKS: Final = re.compile(r"\s+")


def safe(text: str, *, secret: str = "") -> str:
    """A message as it may be recorded and shown: one line, not long, with no key in it."""
    text = text[:_DEEP_ENOUGH]
    if len(secret) >= 4:
        text = text.replace(secret, "[key]")
    text = _BLANKS.sub(" ", _SECRETS.sub("[key]", text)).strip()
    text = text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be written anywhere
    return text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 1]}…"
