"""What a caller is told whose call was never sent: a refusal in the words of the provider's wire format.

A pool closes because a provider has refused for good. Whoever asks after that gets that same refusal once
more, byte for byte; where nobody here has seen it (another process has), one is written that the SDKs read as
the error that it is. Either way the SDK is told not to try again.

Knows wire formats of errors. Knows nothing of pools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final

import msgspec

from paceline.errors import PaceError
from paceline.pace.providers import Wire

NO_RETRY: Final = {"x-should-retry": "false"}
SHORTEST_KEY: Final = 4
"""What is shorter is no secret, and may be part of any word."""


class Refusal(msgspec.Struct, frozen=True):
    """An answer that says no."""

    status: int
    body: bytes
    content_type: str = "application/json"

    @classmethod
    def of(cls, response: Any) -> Refusal:
        """A refusal that came, without the headers that belong to one answer only."""
        return cls(
            response.status_code,
            unpacked(response, b"".join(response.stream)),
            response.headers.get("content-type", "application/json"),
        )

    def response(self, library: ModuleType) -> Any:
        """The same as an answer of the library that the caller uses."""
        headers = {**NO_RETRY, "content-type": self.content_type}
        return library.Response(self.status, headers=headers, content=self.body)


def unpacked(response: Any, body: bytes) -> bytes:
    """The body of an answer as it was before it was compressed for the way; nothing, where it is broken."""
    coding = response.headers.get("content-encoding", "identity")
    if coding == "identity":
        return body
    try:
        content: bytes = type(response)(200, headers={"content-encoding": coding}, content=body).content
        return content
    except Exception:  # its caller will be told so by the library
        return b""


def masked(raw: bytes, secret: str) -> bytes:
    """Bytes without the key."""
    told = secret.encode()
    return raw.replace(told, b"[key]") if len(told) >= SHORTEST_KEY else raw


_OF_THE_BODY: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def without_key(response: Any, body: bytes, secret: str, library: ModuleType) -> Any:
    """An answer that says no, without the key of the one who asked: its words end up in logs and reports."""
    plain = unpacked(response, body)
    content = masked(plain, secret)
    if content == plain:
        return response
    headers = [pair for pair in response.headers.multi_items() if pair[0].lower() not in _OF_THE_BODY]
    return library.Response(
        response.status_code,
        headers=headers,
        content=content,
        extensions=response.extensions,
    )


class _Kind(msgspec.Struct, frozen=True):
    """One kind of refusal in the words of two providers."""

    status: int
    code: str
    """OpenAI's."""
    type: str
    """Anthropic's."""
    state: str
    """Google's."""


_QUOTA: Final = _Kind(429, "insufficient_quota", "billing_error", "RESOURCE_EXHAUSTED")
_AUTH: Final = _Kind(401, "invalid_api_key", "authentication_error", "UNAUTHENTICATED")
_REPLAY: Final = _Kind(400, "not_on_record", "invalid_request_error", "INVALID_ARGUMENT")
_ENDING: Final = _Kind(503, "run_is_ending", "overloaded_error", "UNAVAILABLE")


def refusal_of(closed: PaceError, wire: Wire) -> Refusal:
    """A refusal for a call that is not let go, with the reason and the remedy in it."""
    kind = {"quota": _QUOTA, "auth": _AUTH, "replay": _REPLAY}.get(getattr(closed, "cause", ""), _ENDING)
    message = f"{closed}; {closed.hint}" if closed.hint else str(closed)
    return Refusal(kind.status, msgspec.json.encode(_WRITTEN[wire](kind, message)))


def _openai(kind: _Kind, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind.code, "param": None, "code": kind.code}}


def _anthropic(kind: _Kind, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind.type, "message": message}}


def _gemini(kind: _Kind, message: str) -> dict[str, Any]:
    return {"error": {"code": kind.status, "message": message, "status": kind.state}}


def _bedrock(kind: _Kind, message: str) -> dict[str, Any]:  # noqa: ARG001 - one signature for all wires
    return {"message": message}


_WRITTEN: Final[Mapping[Wire, Callable[[_Kind, str], dict[str, Any]]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
}
