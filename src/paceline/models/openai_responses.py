"""OpenAI's responses API. Nothing is kept on the provider's side: each call brings its whole conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from paceline.models.clients import Client, Connection
from paceline.models.hosted import Hosted, given, request_of, usage_in
from paceline.models.messages import (
    Answer,
    Assistant,
    Image,
    Message,
    Part,
    Stop,
    System,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    User,
)
from paceline.models.openai_chat import CHOICES
from paceline.models.openai_client import openai_client
from paceline.models.options import Options
from paceline.models.plain import arguments_of, arguments_text
from paceline.models.schemas import can_be_strict, name_of_schema


class OpenAIResponses(Hosted):
    """A model behind `POST /responses`."""

    sdk: ClassVar[str] = "openai"
    unused: ClassVar[frozenset[str]] = frozenset({"stop", "seed"})

    def request(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Tool, ...],
        schema: Mapping[str, Any] | None,
        options: Options,
    ) -> dict[str, Any]:
        """Our words in those of the API."""
        return given(
            model=self.model,
            input=[item for each in messages for item in _items(each)],
            tools=[_tool(each) for each in tools] or None,
            text=None if schema is None else {"format": _format(schema)},
            temperature=options.temperature,
            top_p=options.top_p,
            max_output_tokens=options.max_tokens,
            reasoning=None if options.reasoning is None else {"effort": options.reasoning},
            tool_choice=_choice(options.tool_choice),
            parallel_tool_calls=options.parallel_tool_calls,
            store=False,
            extra_body=options.extra,
            timeout=options.timeout,
        )

    def client(self, connection: Connection) -> Client:
        """A client of the SDK."""
        return openai_client(connection)

    async def send(self, client: Any, request: dict[str, Any]) -> Any:
        """One response."""
        return await client.responses.create(**request)

    def read(self, raw: Any) -> Answer:
        """Texts and tool calls among the items of the output; reasoning stays in `raw`."""
        if raw.error is not None:
            raise ValueError(f"{self.name} failed to answer: {raw.error.code}: {raw.error.message}")
        parts = [part for item in raw.output if item.type == "message" for part in item.content]
        refusals = [part.refusal for part in parts if part.type == "refusal"]
        calls = tuple(
            ToolCall(id=item.call_id, name=item.name, arguments=arguments_of(item.arguments))
            for item in raw.output
            if item.type == "function_call"
        )
        texts = [part.text for part in parts if part.type == "output_text"]
        return Answer(
            text="".join(texts) or "".join(refusals),
            tool_calls=calls,
            usage=usage_in(raw),
            stop="refusal" if refusals else _stop(raw, calls),
            model=raw.model or "",
            **request_of(raw),
            raw=raw,
        )


def _items(message: Message) -> Iterator[dict[str, Any]]:
    """A message as items of the input: tool calls stand there on their own."""
    match message:
        case System(content):
            yield {"role": "system", "content": content}
        case User(str(content)):
            yield {"role": "user", "content": content}
        case User(tuple(parts)):
            yield {"role": "user", "content": [_part(part) for part in parts]}
        case Assistant(content, calls):
            if content or not calls:
                yield {"role": "assistant", "content": content}
            for call in calls:
                arguments = arguments_text(call.arguments)
                yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}
        case ToolResult():
            yield {"type": "function_call_output", "call_id": message.call_id, "output": message.content}


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "input_text", "text": text}
        case Image(url):
            return {"type": "input_image", "image_url": url, "detail": "auto"}


def _tool(tool: Tool) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    return {
        "type": "function",
        "name": tool.name,
        **described,
        "parameters": tool.parameters,
        "strict": tool.strict,
    }


def _choice(said: str | None) -> object:
    return said if said is None or said in CHOICES else {"type": "function", "name": said}


def _format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "name": name_of_schema(schema),
        "schema": dict(schema),
        "strict": can_be_strict(schema),
    }


def _stop(raw: Any, calls: tuple[ToolCall, ...]) -> Stop:
    if calls:
        return "tool_calls"
    if raw.status in (None, "completed"):
        return "end"
    reason = getattr(raw.incomplete_details, "reason", None)
    reasons: dict[str | None, Stop] = {"max_output_tokens": "length", "content_filter": "content_filter"}
    return reasons.get(reason, "other")
