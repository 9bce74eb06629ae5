"""A model as the thing under test: a prompt over the inputs of a case, one call, and what it answered.

    ModelTask("openai:gpt-5.4-mini", prompt="Translate into French: {{ inputs.text }}", temperature=0)

The output is the text of the answer; with a `schema`, the value that was asked for; where tools are offered,
a mapping with `text` and `tool_calls` (and `parsed`), whether or not the model asked for any: evaluators
should not have to guess. Tools are offered, never called.

Everything that the model is asked is decided by the inputs, before anything is paid for: a field that is
missing is an error of the case. What has been said of model, prompt, tools and schema is the task's version,
so that a resume notices a change. Knows nothing of limits and retries: those are the pace's and the engine's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from paceline.errors import UsageError
from paceline.models import Answer, AnswerNotJson, Message, Model, System, Tool, User, model
from paceline.models.plain import NotUnderstood, messages_of, plain_message, tools_of
from paceline.tasks.notes import increment_eval_metric, note_messages, set_eval_attribute
from paceline.tasks.template import SHOWN, MissingField, Template, fields_of, found

PARTS: Final = ("prompt", "system", "messages", "tools", "schema")
"""What may be said of a model task beside its model."""


class ModelTask:
    """A task that asks a model once."""

    def __init__(
        self,
        which: str | Model | Callable[..., Any] | Mapping[str, Any],
        *,
        prompt: str | None = None,
        system: str | None = None,
        messages: str | Sequence[Mapping[str, Any]] | None = None,
        tools: str | Sequence[Mapping[str, Any] | Tool] | None = None,
        schema: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """`system`, `messages` and `prompt` are sent in this order; each may have places, see `template`.

        `messages` and `tools` may also be one place, such as `{{ inputs.messages }}`. Without prompt and
        messages, the inputs are asked as they are: a text, or a mapping with `messages`. Without `tools`,
        those of the case are offered, where its inputs have a list of that name.
        """
        self._which, self._options = which, options
        self._said = {
            "prompt": prompt,
            "system": system,
            "messages": messages,
            "tools": tools,
            "schema": schema,
        }
        self.model = model(which, **options)
        self.schema = None if schema is None else _checked_schema(schema)
        self._system = None if system is None else _template(system, "system")
        self._prompt = None if prompt is None else _template(prompt, "prompt")
        self._messages = _message_templates(messages)
        self._tools = _tools(tools)
        self.version = self._described()
        # What reports call the task, as they call a function by its name.
        self.__qualname__ = self.model.name

    def __repr__(self) -> str:
        return f"ModelTask({self.version!r})"

    def check_ready(self) -> None:
        """Raise a `UsageError` with the remedy if the model cannot be asked: no SDK, no key."""
        self.model.check_ready()

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the model's key; None where none is needed."""
        return getattr(self.model, "key_variable", None)

    def on(self, which: str) -> ModelTask:
        """The same task on another model. How a model is asked stays; where the other one is does not."""
        named = self._which if isinstance(self._which, Mapping) else {}
        kept = of_any_model({**named, **self._options})
        return ModelTask(which, **self._said, **kept)  # type: ignore[arg-type]  # as they were given

    async def __call__(self, inputs: Any) -> Any:
        """Ask, and note what it took."""
        messages = self.conversation(inputs)
        tools = self.tools(inputs)
        try:
            answer = await self.model.ask(messages, tools=tools, schema=self.schema)
        except AnswerNotJson as error:
            if error.answer is not None:
                _note(error.answer)
            raise
        _note(answer)
        if tools:
            note_messages(plain_message(each, given=True) for each in messages)
            note_messages([plain_message(answer.as_message())])
        return self._output(answer, offered=bool(tools))

    def conversation(self, inputs: Any) -> tuple[Message, ...]:
        """What is sent for these inputs."""
        before: tuple[Message, ...] = () if self._system is None else (System(self._system.fill(inputs)),)
        match self._messages:
            case Template() as whole:
                place = whole.only_place()
                assert place is not None, "the constructor has seen to it"
                before += messages_of(found(inputs, place))
            case None:
                if self._prompt is None:
                    return before + _asked_as_they_are(inputs)
            case templates:
                before += messages_of([_filled(each, inputs) for each in templates])
        return before if self._prompt is None else (*before, User(self._prompt.fill(inputs)))

    def tools(self, inputs: Any) -> tuple[Tool, ...]:
        """The tools that are offered for these inputs."""
        match self._tools:
            case Template() as whole:
                place = whole.only_place()
                assert place is not None, "the constructor has seen to it"
                return tools_of(found(inputs, place) or ())
            case None:
                own = (fields_of(inputs) or {}).get("tools")
                return tools_of(own) if isinstance(own, list | tuple) else ()
            case tools:
                return tools

    def _output(self, answer: Answer, *, offered: bool) -> Any:
        if not offered:
            return answer.text if self.schema is None else answer.parsed
        # Without the ids of the calls: they are other ones each time, and outputs are compared.
        calls = [{"name": call.name, "arguments": call.arguments} for call in answer.tool_calls]
        parsed = {} if self.schema is None else {"parsed": answer.parsed}
        return {"text": answer.text, "tool_calls": calls, **parsed}

    def _described(self) -> str:
        said = {
            "prompt": self._prompt,
            "system": self._system,
            "messages": self._messages,
            "tools": self._tools,
            "schema": self.schema,
        }
        parts = [f"{name}={_fingerprint(value)}" for name, value in said.items() if value is not None]
        return ", ".join([getattr(self.model, "version", self.model.name), *parts])


_OF_A_PLACE: Final = ("name", "api", "base_url", "api_key_env", "headers", "extra")
"""Words that belong to one provider, and may hold what no other is to see."""


def of_any_model(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those options of a model that would mean the same to another one."""
    return {word: value for word, value in options.items() if word not in _OF_A_PLACE}


def _note(answer: Answer) -> None:
    """Requests and tokens as metrics, and which model it was that answered."""
    increment_eval_metric("requests", 1)
    usage = answer.usage
    if usage is not None:
        counts = {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cached_tokens": usage.cached,
            "reasoning_tokens": usage.reasoning,
        }
        for name, count in counts.items():
            if count is not None:
                increment_eval_metric(name, count)
    facts: dict[str, str | bool] = {"model": answer.model, "request_id": answer.request_id}
    if answer.stop != "end":
        facts["stop"] = answer.stop
    if answer.simulated:
        facts["simulated"] = True
    for name, fact in facts.items():
        if fact:
            set_eval_attribute(name, fact)


def _asked_as_they_are(inputs: Any) -> tuple[Message, ...]:
    if isinstance(inputs, str):
        return (User(inputs),)
    fields = fields_of(inputs) or {}
    if isinstance(messages := fields.get("messages"), list | tuple):
        return messages_of(messages)
    has = f"has {', '.join(map(str, list(fields)[:SHOWN]))}" if fields else f"is a {type(inputs).__name__}"
    raise MissingField(
        f"there is no prompt, and inputs {has}: it wants to be a text, or to have messages; "
        "or say what to ask, `prompt: ... {{ inputs.FIELD }}`"
    )


# What was said, as it is kept


def _template(text: object, where: str) -> Template:
    if not isinstance(text, str):
        raise UsageError(f"{where} wants a text, not a {type(text).__name__}", hint=_EXAMPLES[where])
    return Template(text, where=where)


def _message_templates(said: object) -> Template | tuple[Any, ...] | None:
    if said is None:
        return None
    if isinstance(said, str):
        return _one_place(said, "messages")
    if not isinstance(said, Sequence):
        raise UsageError(f"messages wants a list, not a {type(said).__name__}", hint=_EXAMPLES["messages"])
    try:
        messages_of(said)
    except NotUnderstood as error:
        raise UsageError(f"messages: {error}", hint=_EXAMPLES["messages"]) from None
    return tuple(_with_templates(each) for each in said)


def _tools(said: object) -> Template | tuple[Tool, ...] | None:
    if said is None:
        return None
    if isinstance(said, str):
        return _one_place(said, "tools")
    if not isinstance(said, Sequence):
        raise UsageError(f"tools wants a list, not a {type(said).__name__}", hint=_EXAMPLES["tools"])
    try:
        return tools_of(said)
    except NotUnderstood as error:
        raise UsageError(f"tools: {error}", hint=_EXAMPLES["tools"]) from None


def _one_place(text: str, where: str) -> Template:
    template = Template(text, where=where)
    if template.only_place() is None:
        raise UsageError(f"{where} wants a list, or one place that holds one", hint=_EXAMPLES[where])
    return template


def _checked_schema(schema: object) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or not schema:
        raise UsageError("schema wants a JSON schema, which is keys with values", hint=_EXAMPLES["schema"])
    return dict(schema)


_EXAMPLES: Final = {
    "prompt": "`prompt: 'Translate into French: {{ inputs.text }}'`",
    "system": "`system: You are a translator.`",
    "messages": "`messages: [{role: user, content: '{{ inputs.question }}'}]`, or `'{{ inputs.messages }}'`",
    "tools": "`tools: [{name: search, description: ..., parameters: {type: object, ...}}]`, "
    "or `'{{ inputs.tools }}'`",
    "schema": "`schema: {type: object, properties: {city: {type: string}}, required: [city], "
    "additionalProperties: false}`",
}


def _with_templates(value: Any) -> Any:
    """The same with templates in place of texts that have places in them."""
    match value:
        case str():
            template = Template(value, where="messages")
            return template if template.pieces != (value,) else value
        case Mapping():
            return {key: _with_templates(each) for key, each in value.items()}
        case list() | tuple():
            return [_with_templates(each) for each in value]
    return value


def _filled(value: Any, inputs: Any) -> Any:
    match value:
        case Template():
            return value.fill(inputs)
        case dict():
            return {key: _filled(each, inputs) for key, each in value.items()}
        case list():
            return [_filled(each, inputs) for each in value]
    return value


def _fingerprint(said: Any) -> str:
    """A short name for what was said, the same in every process."""

    def plain(value: Any) -> Any:
        return value.source if isinstance(value, Template) else repr(value)

    written = msgspec.json.encode(said, enc_hook=plain, order="deterministic")
    return hashlib.blake2b(written, digest_size=4).hexdigest()
