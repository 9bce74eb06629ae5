"""What is said to a model and what it says: one form for all providers, as frozen values.

    messages + tools + schema ──▶ Model.ask ──▶ Answer

A conversation is a sequence of `System`, `User`, `Assistant` and `ToolResult`. Adapters translate it to the
form of a provider and its answer back; what a provider says beyond that stays reachable in `Answer.raw`.

Knows no provider, no SDK and no network. Tools are only described and asked for here: nobody calls them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from paceline.pace.calls import Usage


class Text(msgspec.Struct, frozen=True):
    """A part of a message that is text."""

    text: str


class Image(msgspec.Struct, frozen=True):
    """A part of a message that is a picture: an address, or a `data:` URL that holds it."""

    url: str


Part = Text | Image


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the model wants called."""

    id: str
    name: str
    arguments: dict[str, Any] | str
    """Or the text itself, where what the model wrote is not a JSON object."""


class System(msgspec.Struct, frozen=True):
    """How the model is to behave."""

    content: str


class User(msgspec.Struct, frozen=True):
    """What it is told or asked."""

    content: str | tuple[Part, ...]


class Assistant(msgspec.Struct, frozen=True):
    """What it said before."""

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool that it asked for has returned."""

    call_id: str
    content: str
    is_error: bool | None = None
    """Whether the tool has failed; None where its format has no word for that, as OpenAI's has none."""


Message = System | User | Assistant | ToolResult


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the model may ask for."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON schema of its arguments, an object."""
    strict: bool = False
    """Whether the provider is to hold the model to that schema."""


Stop = Literal["end", "length", "tool_calls", "refusal", "content_filter", "other"]
"""Why a model stopped: it was done, cut off, wants tools called, refuses, was silenced; or something else."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a model answered."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    parsed: Any = None
    """The text read as JSON, where a schema was given; None where the model wants tools called first."""
    usage: Usage | None = None
    stop: Stop = "end"
    model: str = ""
    """The one that answered, as the provider names it: often more precise than the one that was asked."""
    request_id: str = ""
    simulated: bool = False
    """Whether a simulated provider has answered: nothing is known of a model by it."""
    raw: Any = None
    """What the SDK returned."""

    def as_message(self) -> Assistant:
        """As it stands in the conversation from here on."""
        return Assistant(self.text, self.tool_calls)


Conversation = str | Sequence[Message | Mapping[str, Any]]
"""What may be said to a model: one text of the user's, or messages, ours or as OpenAI writes them."""


class Model(Protocol):
    """Something that answers messages."""

    @property
    def name(self) -> str:
        """What it is called in reports: `openai:gpt-5.4-mini`."""
        ...

    @property
    def version(self) -> str:
        """All that was said of what decides its answers: part of what a run is. No secrets."""
        ...

    def check_ready(self) -> None:
        """Raise a `UsageError` with the remedy if asking cannot work: no SDK, no key."""
        ...

    async def ask(
        self,
        messages: Conversation,
        *,
        tools: Sequence[Tool | Mapping[str, Any]] = (),
        schema: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Answer:
        """One call. `options` replace those that the model was made with, for this call."""
        ...


class AnswerNotJson(ValueError):
    """A model was to answer in JSON, and did not. The answer is paid for, and goes along."""

    def __init__(self, message: str, answer: Answer | None = None) -> None:
        super().__init__(message)
        self.answer = answer
