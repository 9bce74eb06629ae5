"""How a child is told no, in the words of the wire that it speaks.

Statuses that SDKs and agents take for final: nothing is won by asking again, so nobody should be invited to.

Knows the error documents of the wires. Knows nothing of why.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from paceline.pace.providers import Wire

HEADERS: Final = (("content-type", "application/json"), ("x-should-retry", "false"))


class Refusal(NamedTuple):
    """A no."""

    status: int
    reason: str
    wire: Wire = "openai"

    @property
    def body(self) -> bytes:
        """The document that says it."""
        openai, anthropic, google = _KINDS.get(self.status, _KINDS[400])
        message = f"Paceline's gateway: {self.reason}"
        match self.wire:
            case "anthropic":
                return msgspec.json.encode(
                    {"type": "error", "error": {"type": anthropic, "message": message}}
                )
            case "gemini":
                return msgspec.json.encode(
                    {"error": {"code": self.status, "message": message, "status": google}}
                )
            case _:
                error = {"message": message, "type": openai, "param": None, "code": openai}
                return msgspec.json.encode({"error": error})


_KINDS: Final[dict[int, tuple[str, str, str]]] = {
    # By status: the word for it in OpenAI's, in Anthropic's and in Google's documents.
    400: ("invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"),
    401: ("invalid_api_key", "authentication_error", "UNAUTHENTICATED"),
    403: ("budget_exceeded", "permission_error", "PERMISSION_DENIED"),
    404: ("not_found", "not_found_error", "NOT_FOUND"),
    405: ("method_not_allowed", "invalid_request_error", "INVALID_ARGUMENT"),
    502: ("upstream_unreachable", "api_error", "UNAVAILABLE"),
    503: ("run_is_ending", "overloaded_error", "UNAVAILABLE"),
}
