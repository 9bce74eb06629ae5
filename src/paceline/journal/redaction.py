"""Secrets never enter a journal: they are rewritten to `[redacted:NAME]` before anything reaches the disk.

What counts as a secret: keys whose form is known (`KEY_PATTERNS`), the values of the environment's own
secret variables, and whatever is configured by name. Strings are rewritten, keys of user mappings included;
numbers, structure, Paceline's own fields and every byte of a line without a secret stay as they are.

Nearly no line holds one, so a whole batch is searched first, in a few passes that cover all known forms
(`_ALARMS`). Only lines that set off an alarm are taken apart.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from json import dumps
from typing import Any

import msgspec

from paceline.journal.encoding import writable
from paceline.journal.records import Key

# After a letter it is part of a longer word (`task-...`); after an escape left by nested JSON it is not.
_STARTS = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4}))"

KEY_PATTERNS: Mapping[str, str] = {
    "anthropic-key": _STARTS + r"sk-ant-[A-Za-z0-9_-]{16,}",
    "openai-key": _STARTS + r"sk-[A-Za-z0-9_-]{20,}",
    "google-key": r"AIza[A-Za-z0-9_-]{30,}",
    "github-token": r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{20,})",
    "slack-token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "aws-key-id": r"A[KS]IA[A-Z0-9]{16}",
    "aws-secret-key": r"(?<=(?:ecret_access_key|ECRET_ACCESS_KEY))[\"'\\\s:=]{1,9}[A-Za-z0-9/+]{40}"
    r"|(?<=ecretAccessKey)[\"'\\\s:=]{1,9}[A-Za-z0-9/+]{40}",
    "huggingface-token": r"hf_[A-Za-z0-9]{20,}",
    "groq-key": r"gsk_[A-Za-z0-9]{20,}",
    "xai-key": r"xai-[A-Za-z0-9]{20,}",
    "perplexity-key": r"pplx-[A-Za-z0-9]{20,}",
    "replicate-token": r"r8_[A-Za-z0-9]{20,}",
    "bearer-token": r"(?<=earer )[A-Za-z0-9._~+/-]{20,}=*",
    "jwt": r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    "private-key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
}
"""Keys whose form is known, as they stand in text. In this order: the more specific goes first."""

# Each begins with one literal byte, which the regex engine looks for before all else, and looks back from
# there: one pass for all keys that have this byte.
_DASH = (
    rb"-(?:(?<=sk-)(?:(?<![A-Za-z0-9]sk-)|(?<=\\[bfnrt]sk-)|(?<=\\u[0-9A-Fa-f]{4}sk-))[A-Za-z0-9_-]{20}"
    rb"|(?<=xai-)[A-Za-z0-9]{20}|(?<=pplx-)[A-Za-z0-9]{20}|(?<=xox[abeoprs]-)[A-Za-z0-9-]{10}|----BEGIN )"
)
_UNDERSCORE = (
    rb"_(?:(?<=gh[pousr]_)[A-Za-z0-9]{30}|(?<=github_)pat_[A-Za-z0-9_]{20}|(?<=hf_)[A-Za-z0-9]{20}"
    rb"|(?<=gsk_)[A-Za-z0-9]{20}|(?<=r8_)[A-Za-z0-9]{20}|(?<=ecret_)access_key|(?<=ECRET_)ACCESS_KEY)"
)
_ALARMS: tuple[bytes, ...] = (
    _DASH,
    _UNDERSCORE,
    rb"A(?:Iza[A-Za-z0-9_-]{30}|[KS]IA[A-Z0-9]{16}|ccessKey)",
    rb"J(?<=eyJ)[A-Za-z0-9_-]{8,}\.eyJ",
    rb"earer [A-Za-z0-9._~+/-]{20}",
)

SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL")
"""An environment variable with one of these in its name is taken to hold a secret."""

_SHORTEST = 8
_COMMON = """
    password changeme postgres disabled enabled required optional development production testing localhost
    anonymous undefined unknown default example
    """
"""Values that a variable may have and that say nothing."""
_OWN_WORDS = """
    case repeat variant attempt inputs expected_output metadata output metrics attributes trajectory scores
    failures outcome seconds waited abandoned evaluator_error task_error infra_error skipped_budget
    evaluators fingerprint settings variants versions directory rescored_from error_class retry_in
    rate_limited transient permanent infrastructure cancelled complete interrupted manifest $paceline
    name value reason by error type message trace stage label spec version
    cases window requests tokens blocked outage backoff stragglers scoring loop machine journal idle pool host
    account rate token_rate accepted rejected by_cause peak closed concurrency unknown verdict part seen
    """
"""A secret that is part of one of these would make the journal unreadable if it were taken out."""
_UNTOUCHED = frozenset(
    {b'"kind"', b'"hash"', b'"crc"', b'"run_id"', b'"digest"', b'"seen"', b'"outcome"', b'"error_class"'}
)
"""Fields of a line whose values are Paceline's own."""

_SECRET_FIELDS = frozenset({"aws_secret_access_key", "secretaccesskey"})
"""Fields whose values are secrets; `_ALARMS` knows them."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_COLON = re.compile(rb"\s*:")


def as_written(key: Key, redactor: Redactor | None) -> Key:
    """A key under the name that it has in a journal, where not every name can stand."""
    case, variant = writable(key.case), writable(key.variant)
    if redactor is not None:
        case, variant = redactor.clean_text(case), redactor.clean_text(variant)
    return Key(case, key.repeat, variant)


class Redactor:
    """Rewrites secrets. Immutable; any thread may use it."""

    def __init__(
        self,
        *,
        patterns: Mapping[str, str] = KEY_PATTERNS,
        names: Iterable[str] = (),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """`patterns`: name to regular expression; yours must match in JSON too, so no anchors and no quotes.
        `names`: fields, and variables of the environment, whose values are secrets whatever they look like.
        `environ`: where the environment's secrets are taken from.
        """
        chosen = {name.casefold() for name in names}
        self._fields = frozenset(chosen | _SECRET_FIELDS)
        known = {name: value for name, value in (environ or {}).items() if _is_secret(name, value, chosen)}
        # The longest first: one secret can be the beginning of another.
        self._values = sorted(
            ((form, name) for name, value in known.items() for form in {value, *_escaped(value)}),
            key=lambda it: -len(it[0]),
        )
        self._patterns = [(re.compile(pattern), name) for name, pattern in patterns.items()]
        own = [pattern.encode() for name, pattern in patterns.items() if KEY_PATTERNS.get(name) != pattern]
        self._alarms: list[Callable[[bytes], object]] = [
            re.compile(alarm).search for alarm in (*(_ALARMS if patterns else ()), *own)
        ]
        self._alarms += [
            _contains(form) for form in {it for value in known.values() for it in _written_forms(value)}
        ]
        self._alarms += [_names_field(field) for field in chosen]

    @classmethod
    def standard(cls, *, names: Iterable[str] = (), patterns: Mapping[str, str] | None = None) -> Redactor:
        """All known patterns (and yours), and the secrets of this process's environment."""
        return cls(patterns={**KEY_PATTERNS, **(patterns or {})}, names=names, environ=os.environ)

    def clean(self, bodies: list[bytes], joined: bytes) -> list[bytes] | None:
        """The lines without secrets, or None where `joined`, the same lines in one piece, holds none."""
        if not self._is_alarmed(joined):
            return None
        return [self._rewrite(body, line=True) if self._is_alarmed(body) else body for body in bodies]

    def clean_value(self, raw: bytes) -> bytes:
        """An encoded value without secrets."""
        return self._rewrite(raw, line=False) if self._is_alarmed(raw) else raw

    def clean_text(self, text: str) -> str:
        """A text without secrets."""
        for form, name in self._values:
            if form in text:
                text = text.replace(form, f"[redacted:{name}]")
        for pattern, name in self._patterns:
            text = pattern.sub(f"[redacted:{name}]", text)
        return text

    def clean_body(self, body: str) -> str:
        """A body of a call without secrets: a text, in which there may be JSON."""
        raw = body.encode("utf-8", "surrogatepass")
        return self.clean_text(body) if self._is_alarmed(raw) else body

    def _is_alarmed(self, raw: bytes) -> bool:
        return any(alarm(raw) for alarm in self._alarms)

    def _rewrite(self, raw: bytes, *, line: bool) -> bytes:
        """The same JSON with its strings cleaned. Everything between them stays byte for byte."""
        pieces: list[bytes] = []
        end = depth = 0
        field = b""
        for match in _STRING.finditer(raw):
            gap, token = raw[end : match.start()], match.group()
            end = match.end()
            depth += gap.count(b"{") + gap.count(b"[") - gap.count(b"}") - gap.count(b"]")
            is_field = _COLON.match(raw, end) is not None
            ours = line and depth == 1 and (is_field or field in _UNTOUCHED)
            pieces += gap, token if ours else self._cleaned(token, b"" if is_field else field)
            field = token if is_field else b""
        return b"".join([*pieces, raw[end:]])

    def _cleaned(self, token: bytes, field: bytes) -> bytes:
        """A JSON string, quotes included, without secrets; `field` is the key whose value it is, if any."""
        name = _text(field).casefold() if field else ""
        text = _text(token)
        cleaned = f"[redacted:{name}]" if name in self._fields and text else self.clean_text(text)
        return token if cleaned == text else msgspec.json.encode(cleaned)


def _text(token: bytes) -> str:
    text: str = msgspec.json.decode(token, type=str)
    return text


def _is_secret(name: str, value: str, chosen: set[str]) -> bool:
    """Whether a variable of the environment holds something that nobody else should read."""
    if name.casefold() in chosen:
        return bool(value) and value not in _OWN_WORDS
    if len(value) < _SHORTEST or not any(part in name.upper() for part in SECRET_NAMES):
        return False
    if value.startswith(("/", "~", "./", "../")) or (value.isdigit() and len(value) < 2 * _SHORTEST):
        return False
    return len(set(value)) >= 4 and value.casefold() not in _COMMON + _OWN_WORDS


def _escaped(text: str) -> set[str]:
    """How a text can stand within a JSON string."""
    forms = {dumps(text)[1:-1]}
    with contextlib.suppress(UnicodeEncodeError):
        forms.add(msgspec.json.encode(text)[1:-1].decode())
    return forms


def _written_forms(value: str) -> set[bytes]:
    """How a value can stand in a line: escaped once, or twice where it stands in JSON within a string."""
    once = _escaped(value)
    return {form.encode() for form in once.union(*map(_escaped, once))}


def _contains(form: bytes) -> Callable[[bytes], object]:
    return lambda raw: form in raw


def _names_field(field: str) -> Callable[[bytes], Any]:
    """An alarm for a field of this name, in whatever case it is written."""
    return re.compile(b'"%b"' % re.escape(field.encode()), re.IGNORECASE).search
