"""A simulated model: `sim`, for trying a suite and for tests. It needs no key, no SDK and no network.

    sim                    says what the simulated provider says: sums, verdicts, values that fit a schema
    sim:answers.yaml       by the rules or the script of a scenario, of which only the answers count here

It answers at once and in this process. Every answer and every recorded call says that it is simulated, so no
report takes it for a result. Who wants limits, latencies and faults as well sends a real model's traffic to
the simulated provider (`--rehearse`, `paceline sim`).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

import msgspec

from paceline.models.function import text_of
from paceline.models.messages import (
    Answer,
    Assistant,
    Conversation,
    Message,
    Stop,
    System,
    Tool,
    ToolCall,
    ToolResult,
    User,
)
from paceline.models.options import Options, options_of, replaced
from paceline.models.plain import messages_of, tools_of
from paceline.models.schemas import read_json
from paceline.pace.calls import Call, Usage, current_listener, request_hash
from paceline.sim import answers
from paceline.sim.scenario import Answers, Scenario
from paceline.sim.wire import input_tokens_of

NAME: Final = "sim"
UNUSED: Final = frozenset({"base_url", "api_key_env", "headers"})
"""Words about places and keys: it is in none, and needs none."""
REQUEST: Final = "req_sim_"
"""What the ids of requests begin with that a simulated provider has answered."""
_ROLES: Final[Mapping[type[Message], str]] = {
    System: "system",
    User: "user",
    Assistant: "assistant",
    ToolResult: "tool",
}


class Simulated:
    """A model that answers by rules."""

    def __init__(self, scenario: str = "", **options: Any) -> None:
        self.name = f"{NAME}:{scenario}" if scenario else NAME
        self.options: Options = options_of(options, model=self.name, without=UNUSED)
        self._answers = Scenario.load(scenario).answers if scenario else Answers()
        self._turns = itertools.count()

    @property
    def version(self) -> str:
        """Name, options and rules: what decides the answers."""
        written = msgspec.json.encode(self._answers, order="deterministic")
        rules = (
            [f"answers={blake2b(written, digest_size=4).hexdigest()}"] if self._answers != Answers() else []
        )
        return ", ".join((self.name, *self.options.said(), *rules))

    def __repr__(self) -> str:
        return f"<model {self.version}>"

    def check_ready(self) -> None:
        """It always is."""

    async def ask(
        self,
        messages: Conversation,
        *,
        tools: Sequence[Tool | Mapping[str, Any]] = (),
        schema: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Answer:
        """The answer that this prompt always gets."""
        chosen = replaced(self.options, options, model=self.name, without=UNUSED)
        prompt = _prompt(self.name, messages_of(messages), tools_of(tools), schema, chosen)
        turn = next(self._turns)
        reply = answers.reply_to(prompt, self._answers, turn)
        usage = Usage(input=input_tokens_of(prompt), output=reply.tokens)
        self._record(prompt, usage)
        answer = Answer(
            text=reply.text,
            tool_calls=_calls(reply, turn),
            usage=usage,
            stop=_stop(reply),
            model=self.name,
            request_id=f"{REQUEST}{turn:08}",
            simulated=True,
            raw=reply,
        )
        return answer if schema is None else read_json(answer)

    def _record(self, prompt: answers.Prompt, usage: Usage) -> None:
        """Tell of the call, as a door does of one that it sees."""
        if (listener := current_listener.get()) is None:
            return
        listener.begun()
        asked = request_hash("POST", self.name, msgspec.json.encode(prompt))
        listener.ended(
            Call(
                at=time.time(),
                pool=self.name,
                model=self.name,
                request=asked,
                usage=usage,
                price=0.0,
                simulated=True,
            )
        )


def is_simulated(request_id: str) -> bool:
    """Whether a simulated provider has answered this request of an SDK."""
    return request_id.startswith(REQUEST)


def _prompt(
    name: str,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    schema: Mapping[str, Any] | None,
    options: Options,
) -> answers.Prompt:
    choice = options.tool_choice
    must_call = {None: None, "auto": None, "none": None, "required": ""}.get(choice, choice)
    return answers.Prompt(
        model=name,
        messages=tuple(answers.Message(_ROLES[type(each)], text_of([each])) for each in messages),
        tools=tuple(answers.Tool(each.name, each.parameters) for each in tools),
        must_call=must_call,
        may_call=choice != "none",
        schema=None if schema is None else dict(schema),
        max_tokens=options.max_tokens,
    )


def _calls(reply: answers.Reply, turn: int) -> tuple[ToolCall, ...]:
    if reply.call is None:
        return ()
    return (ToolCall(id=f"call_sim_{turn:08}", name=reply.call.tool, arguments=reply.call.arguments),)


def _stop(reply: answers.Reply) -> Stop:
    return "tool_calls" if reply.call is not None else "length" if reply.cut else "end"
