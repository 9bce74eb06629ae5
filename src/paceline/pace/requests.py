"""What is about to be asked: whose pool it belongs to, how much it will take, and whether it can be asked
twice.

Paced is a POST to a path that model calls go to, with a JSON body that names a model (or a path that does).
Everything else is nobody's business here. The key is read to tell accounts apart and goes no further: what
leaves is a fingerprint.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec

from paceline.pace.calls import request_hash
from paceline.pace.messages import PoolId
from paceline.pace.providers import Endpoint, Provider, endpoint_of, provider_for

UNKNOWN_MODEL: Final = "unknown"
"""Of a body that cannot be looked at before it is sent."""
_PICTURE: Final = 4_000
"""Characters that a picture or a file within a prompt stands for: a thousand tokens or so."""
_PROMPT_FIELDS: Final = (
    "messages",
    "input",
    "system",
    "instructions",
    "prompt",
    "contents",
    "tools",
    "documents",
)


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One request, as far as its pace is concerned."""

    provider: Provider
    endpoint: Endpoint
    pool: PoolId
    path: str = ""
    request: str = ""
    """Its hash, see `request_hash`."""
    streamed: bool = False
    characters: int = 0
    """Of the prompt."""
    max_tokens: int | None = None
    """What its answers may have at most, all of them together."""
    replayable: bool = True
    """Whether its body is at hand, so that it can be sent again."""


def read_request(
    method: str,
    origin: str,
    host: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    query: str = "",
) -> Seen | None:
    """A request as it concerns the pace; None where it does not.

    `origin` is scheme, host and port; `body` is None where it is a stream that can be read but once.
    """
    if method != "POST":
        return None
    endpoint = endpoint_of(path)
    if endpoint is None:
        return None
    asked = _decoded(body)
    named = asked.get("model") if asked is not None else None
    model = endpoint.model or (named if isinstance(named, str) else "")
    if not model:
        if body is not None or "json" not in headers.get("content-type", ""):
            return None
        model = UNKNOWN_MODEL
    provider = provider_for(host, endpoint)
    account = fingerprint(key_in(headers, query), headers)
    asked = asked or {}
    return Seen(
        provider=provider,
        endpoint=endpoint,
        pool=PoolId(provider.name, origin, model, account),
        path=path,
        request=request_hash(method, path, asked or body),
        streamed=asked.get("stream") is True or "stream" in endpoint.name.lower(),
        characters=_characters(asked),
        max_tokens=_max_tokens(asked),
        replayable=body is not None,
    )


def renamed(seen: Seen, body: bytes) -> str:
    """The hash of a request with another body than it has: one from which something was taken out."""
    return request_hash("POST", seen.path, _decoded(body) or body)


def _decoded(body: bytes | None) -> dict[str, Any] | None:
    if not body or body[:1] not in b"{ \t\r\n":
        return None
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


# Who asks ------------------------------------------------------------------------------------------

KEY_HEADERS: Final = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_SIGNED: Final = re.compile(r"Credential=([^/,\s]+)")


def key_in(headers: Mapping[str, str], query: str = "") -> str:
    """The key that a request is made with; empty where there is none."""
    for name in KEY_HEADERS:
        told = headers.get(name)
        if not told:
            continue
        if name != "authorization":
            return told.strip()
        if signed := _SIGNED.search(told):
            return signed[1]  # the rest of a signature is new with each request
        return told.rpartition(" ")[2]
    if "key=" in query:
        return (parse_qs(query).get("key") or [""])[0]
    return ""


def fingerprint(key: str, headers: Mapping[str, str]) -> str:
    """What tells accounts apart and says nothing of the key; empty where there is no key."""
    if not key:
        return ""
    # One key may work for several organisations and projects, each with limits of its own.
    parts = (key, headers.get("openai-organization", ""), headers.get("openai-project", ""))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:10]


# How much ------------------------------------------------------------------------------------------


def _characters(asked: Mapping[str, Any]) -> int:
    """Of all texts of the prompt. Pictures count as what they cost, not as what they weigh."""
    total = 0
    rest: list[Any] = [asked[name] for name in _PROMPT_FIELDS if name in asked]
    while rest:
        part = rest.pop()
        if isinstance(part, str):
            total += len(part) if not _is_file(part) else _PICTURE
        elif isinstance(part, dict):
            rest.extend(part.values())
        elif isinstance(part, list):
            # A prompt may be given as tokens.
            total += 4 * len(part) if part and isinstance(part[0], int) else 0
            rest.extend(part)
    return total


def _is_file(text: str) -> bool:
    return len(text) > _PICTURE and (text.startswith("data:") or " " not in text[:_PICTURE])


def _max_tokens(asked: Mapping[str, Any]) -> int | None:
    config = asked.get("generationConfig") or asked.get("inferenceConfig")
    places = (asked, config) if isinstance(config, dict) else (asked,)
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens")
    for place in places:
        for name in names:
            value = place.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                answers = asked.get("n")
                return value * answers if isinstance(answers, int) and 1 < answers <= 128 else value
    return None
