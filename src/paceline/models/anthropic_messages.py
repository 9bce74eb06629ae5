"""Anthropic's messages API, through its official SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from paceline.errors import UsageError
from paceline.models.clients import Client, Connection, connection_limits
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
from paceline.models.options import Options
from paceline.models.plain import arguments_of

LONGEST: Final = 8_192
"""Tokens of output where nothing is said: this API wants a number."""
WITHOUT_STREAMING: Final = 600.0
"""Seconds that a call may take. Said to the SDK, which else refuses long answers that are not streamed."""

STOPS: Final[Mapping[str, Stop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}
CHOICES: Final = {"auto": "auto", "none": "none", "required": "any"}
ALSO: Final = "ANTHROPIC_AUTH_TOKEN"
"""What the SDK takes in place of a key."""


class AnthropicMessages(Hosted):
    """A model behind `POST /v1/messages`."""

    sdk: ClassVar[str] = "anthropic"
    unused: ClassVar[frozenset[str]] = frozenset({"seed"})

    def request(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Tool, ...],
        schema: Mapping[str, Any] | None,
        options: Options,
    ) -> dict[str, Any]:
        """Our words in those of the API."""
        system = "\n\n".join(each.content for each in messages if isinstance(each, System))
        # The SDK has no parameters for the first two, which not all models take.
        body = given(temperature=options.temperature, top_p=options.top_p) | (options.extra or {})
        return given(
            model=self.model,
            messages=_turns(messages),
            system=system or None,
            max_tokens=options.max_tokens or LONGEST,
            tools=[_tool(each) for each in tools] or None,
            tool_choice=_choice(options),
            stop_sequences=None if options.stop is None else list(options.stop),
            output_config=_output(schema, options.reasoning) or None,
            extra_body=body or None,
            timeout=options.timeout or WITHOUT_STREAMING,
        )

    def client(self, connection: Connection) -> Client:
        """A client that sends every request once."""
        import httpx2
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

        client: Any = AsyncAnthropic(
            api_key=connection.key,
            base_url=connection.base_url,
            default_headers=dict(connection.headers) or None,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(limits=httpx2.Limits(**connection_limits())),  # type: ignore[arg-type]  # the names are those of `Limits`
        )
        return client  # type: ignore[no-any-return]  # it has `close`

    async def send(self, client: Any, request: dict[str, Any]) -> Any:
        """One message."""
        return await client.messages.create(**request)

    def read(self, raw: Any) -> Answer:
        """Texts and tool calls among the blocks; thinking stays in `raw`."""
        return Answer(
            text="".join(block.text for block in raw.content if block.type == "text"),
            tool_calls=tuple(
                ToolCall(id=block.id, name=block.name, arguments=arguments_of(block.input))
                for block in raw.content
                if block.type == "tool_use"
            ),
            usage=usage_in(raw),
            stop=STOPS.get(raw.stop_reason or "", "other"),
            model=raw.model or "",
            **request_of(raw),
            raw=raw,
        )

    def _without_key(self, variable: str) -> None:
        """The SDK knows other ways to be let in: a token, a profile, a federated identity."""
        if self.options.api_key_env is None:
            from anthropic import Anthropic

            try:
                with Anthropic() as client:
                    found = client.auth_token or client.credentials
            except Exception as error:
                raise UsageError(
                    f"{self.name} needs a key, and what the SDK found in its place is of no use: {error}",
                    hint=f"export {variable}=..., or repair that",
                ) from None
            if found:
                return
        super()._without_key(variable)


def _turns(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Messages as turns: results of tools are the user's, and those that follow each other one message."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        match message:
            case System():
                continue
            case User(str(content)):
                turns.append({"role": "user", "content": content})
            case User(tuple(parts)):
                turns.append({"role": "user", "content": [_part(part) for part in parts]})
            case Assistant():
                turns.append({"role": "assistant", "content": _said(message)})
            case ToolResult():
                before = turns[-1]["content"] if turns and turns[-1]["role"] == "user" else None
                block = _result(message)
                if isinstance(before, list) and before[-1]["type"] == "tool_result":
                    before.append(block)
                else:
                    turns.append({"role": "user", "content": [block]})
    return turns


def _said(message: Assistant) -> str | list[dict[str, Any]]:
    if not message.tool_calls:
        return message.content
    texts = [{"type": "text", "text": message.content}] if message.content else []
    calls = [
        # This API has no place for arguments that are no object.
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _object(call.arguments)}
        for call in message.tool_calls
    ]
    return [*texts, *calls]


def _object(arguments: dict[str, Any] | str) -> dict[str, Any]:
    return {"malformed": arguments} if isinstance(arguments, str) else arguments


def _result(message: ToolResult) -> dict[str, Any]:
    failed = {"is_error": True} if message.is_error else {}
    return {"type": "tool_result", "tool_use_id": message.call_id, "content": message.content, **failed}


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(url) if url.startswith("data:"):
            kind, _, data = url.removeprefix("data:").partition(";base64,")
            return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
        case Image(url):
            return {"type": "image", "source": {"type": "url", "url": url}}


def _tool(tool: Tool) -> dict[str, Any]:
    return given(
        name=tool.name,
        description=tool.description or None,
        input_schema=tool.parameters,
        strict=True if tool.strict else None,
    )


def _choice(options: Options) -> dict[str, Any] | None:
    said, parallel = options.tool_choice, options.parallel_tool_calls
    if said is None and parallel is None:
        return None
    said = said or "auto"
    choice = {"type": CHOICES[said]} if said in CHOICES else {"type": "tool", "name": said}
    # Whoever may call nothing cannot be told how many at once.
    return (
        choice
        if parallel is None or said == "none"
        else {**choice, "disable_parallel_tool_use": not parallel}
    )


def _output(schema: Mapping[str, Any] | None, effort: str | None) -> dict[str, Any]:
    if schema is None:
        return given(effort=effort)
    from anthropic import transform_schema

    try:
        # Closes objects, and turns what the API cannot enforce into words that the model reads.
        enforced = transform_schema(dict(schema))
    except (ValueError, TypeError, AttributeError, AssertionError) as error:
        raise UsageError(f"Anthropic has no use for this schema: {error}", hint="say the type of each part")
    return given(effort=effort, format={"type": "json_schema", "schema": enforced})
