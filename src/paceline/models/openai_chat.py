"""OpenAI's chat completions, and every server that speaks them under a base URL of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from paceline.models.clients import Client, Connection
from paceline.models.hosted import Hosted, given, request_of, usage_in
from paceline.models.messages import (
    Answer,
    Assistant,
    Message,
    Stop,
    Tool,
    ToolCall,
    ToolResult,
)
from paceline.models.openai_client import openai_client
from paceline.models.options import Options
from paceline.models.plain import arguments_of, arguments_text, plain_message
from paceline.models.schemas import can_be_strict, name_of_schema

STOPS: Final[Mapping[str, Stop]] = {
    "stop": "end",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}
CHOICES: Final = ("auto", "none", "required")


class OpenAIChat(Hosted):
    """A model behind `POST /chat/completions`."""

    sdk: ClassVar[str] = "openai"

    def request(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Tool, ...],
        schema: Mapping[str, Any] | None,
        options: Options,
    ) -> dict[str, Any]:
        """Our words in those of the API."""
        # `max_tokens` is refused by OpenAI's newer models, and the only one that most other servers know.
        longest = "max_completion_tokens" if self.provider == "openai" else "max_tokens"
        return given(
            model=self.model,
            messages=[_message(each) for each in messages],
            tools=[_tool(each) for each in tools] or None,
            response_format=None if schema is None else _format(schema),
            temperature=options.temperature,
            top_p=options.top_p,
            stop=None if options.stop is None else list(options.stop),
            seed=options.seed,
            reasoning_effort=options.reasoning,
            tool_choice=_choice(options.tool_choice),
            parallel_tool_calls=options.parallel_tool_calls,
            extra_body=options.extra,
            timeout=options.timeout,
            **{longest: options.max_tokens},
        )

    def client(self, connection: Connection) -> Client:
        """A client of the SDK."""
        return openai_client(connection)

    async def send(self, client: Any, request: dict[str, Any]) -> Any:
        """One completion."""
        return await client.chat.completions.create(**request)

    def read(self, raw: Any) -> Answer:
        """The first choice: more are never asked for."""
        if not getattr(raw, "choices", None):
            raise ValueError(f"{self.name} answered without a choice: {str(raw)[:200]}")
        choice = raw.choices[0]
        message = choice.message
        stop = STOPS.get(choice.finish_reason or "", "other")
        return Answer(
            text=message.content or message.refusal or "",
            tool_calls=tuple(
                ToolCall(id=call.id, name=call.function.name, arguments=arguments_of(call.function.arguments))
                for call in message.tool_calls or ()
                if call.type == "function"
            ),
            usage=usage_in(raw),
            stop="refusal" if getattr(message, "refusal", None) else stop,
            model=raw.model or "",
            **request_of(raw),
            raw=raw,
        )


def _message(message: Message) -> dict[str, Any]:
    match message:
        case Assistant(content, calls) if calls:
            return {
                "role": "assistant",
                "content": content or None,
                "tool_calls": [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": arguments_text(call.arguments)},
                    }
                    for call in calls
                ],
            }
        case ToolResult():
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    return plain_message(message)


def _tool(tool: Tool) -> dict[str, Any]:
    function = given(
        name=tool.name,
        description=tool.description or None,
        parameters=tool.parameters,
        strict=True if tool.strict else None,
    )
    return {"type": "function", "function": function}


def _choice(said: str | None) -> object:
    return said if said is None or said in CHOICES else {"type": "function", "function": {"name": said}}


def _format(schema: Mapping[str, Any]) -> dict[str, Any]:
    named = {"name": name_of_schema(schema), "schema": dict(schema), "strict": can_be_strict(schema)}
    return {"type": "json_schema", "json_schema": named}
