"""Where requests go: by the end of their path, because base URLs differ in what they begin with.

`/v1/chat/completions`, `/chat/completions` and `/openai/v1/chat/completions` are one place. What a request is
not answered for, such as a path that nobody knows, is said in the words of the provider whose SDK has asked.

Knows paths, keys and JSON. Knows nothing of connections or time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast
from urllib.parse import unquote

import msgspec

from paceline.sim.anthropic_wire import Anthropic, Messages
from paceline.sim.openai_embeddings import Embeddings
from paceline.sim.openai_refusals import OpenAI
from paceline.sim.openai_wire import ChatCompletions, Responses
from paceline.sim.requests import Request
from paceline.sim.wire import BadRequest, Dialect, Format, Streamed

OPENAI: Final[Dialect] = OpenAI()
ANTHROPIC: Final[Dialect] = Anthropic()

MODELS: Final = ("sim-large", "sim-small")
"""What is listed where a scenario names no models; any name is accepted then."""


class Endpoint(NamedTuple):
    """A place that answers as a model."""

    form: Format
    dialect: Dialect
    speaks: bool = True
    """Whether what it gives is said by a model, and so has tokens of its own and may come as a stream."""

    @property
    def streamed(self) -> Streamed:
        """The same, where it can be a stream."""
        assert self.speaks
        return cast(Streamed, self.form)


ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    "chat/completions": Endpoint(ChatCompletions(), OPENAI),
    "responses": Endpoint(Responses(), OPENAI),
    "embeddings": Endpoint(Embeddings(), OPENAI, speaks=False),
    "messages": Endpoint(Messages(), ANTHROPIC),
}
COUNT_TOKENS: Final = "messages/count_tokens"


def ending_in(path: str, places: Mapping[str, Any]) -> str | None:
    """Which of these places a path leads to."""
    *_, before, last = ("", *path.rstrip("/").split("/"))
    both = f"{before}/{last}"
    return both if both in places else last if last in places else None


def model_asked_for(path: str) -> str | None:
    """`org/name` of `/v1/models/org/name`; "" where it is the list, None where it is about no models."""
    _, found, rest = f"{path.rstrip('/')}/".partition("/models/")
    return unquote(rest.rstrip("/")) if found else None


def dialect_of(request: Request) -> Dialect:
    """Whose words a caller understands, where the path does not tell."""
    return ANTHROPIC if "anthropic-version" in request.headers else OPENAI


def key_of(headers: Mapping[str, str]) -> str:
    """The key that a caller shows, as either SDK does; "" for none."""
    kind, _, key = headers.get("authorization", "").partition(" ")
    key = key.strip() if kind.lower() == "bearer" else ""
    return key or headers.get("x-api-key", "") or headers.get("api-key", "")


def missing_key(dialect: Dialect) -> str:
    """What is said to a caller that shows none."""
    if dialect is ANTHROPIC:
        return "x-api-key header is required"
    return (
        "You didn't provide an API key. You need to provide your API key in an Authorization header using "
        "Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
    )


def object_in(body: bytes) -> dict[str, Any]:
    """The JSON object that a body is."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest("We could not parse the JSON body of your request.") from None
    if not isinstance(found, dict):
        raise BadRequest("The JSON body of a request is an object.")
    return found
