"""Sending a call to a simulated provider in place of the one that was meant.

The request is the same but for where it goes, and for the key: that of the real provider stays here.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from paceline.errors import UsageError
from paceline.pace.requests import KEY_HEADERS, Seen

STAND_IN: Final = "simulated"
_PATHS: Final = {"openai": "/v1", "anthropic": "/v1"}
"""What goes before the name of an endpoint, by wire format: those that a simulated provider speaks."""


def redirected(request: Any, seen: Seen, base: str) -> Any:
    """The request as it goes to the simulated provider at `base`."""
    prefix = _PATHS.get(seen.endpoint.wire)
    if prefix is None or not seen.endpoint.name.startswith("/"):
        raise UsageError(
            f"{seen.pool} cannot be rehearsed: no simulated provider speaks like {seen.provider.name}",
            hint="it speaks the formats of OpenAI (chat completions, responses) and of Anthropic (messages)",
        )
    # The library gives no host to a request that it is given the stream of.
    host = urlsplit(base).netloc.encode()
    headers = [
        (name, host if name.lower() == b"host" else _without_key(name, value))
        for name, value in request.headers.raw
    ]
    return type(request)(
        request.method,
        f"{base.rstrip('/')}{prefix}{seen.endpoint.name}",
        headers=headers,
        stream=request.stream,
        extensions=request.extensions,
    )


def _without_key(name: bytes, value: bytes) -> bytes:
    lower = name.decode("latin-1").lower()
    if lower not in KEY_HEADERS:
        return value
    return f"Bearer {STAND_IN}".encode() if lower == "authorization" else STAND_IN.encode()
