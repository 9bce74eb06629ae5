"""The model task: what is asked for these inputs, what comes back as output, what is noted of the call."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.models import Answer, Assistant, Message, System, Tool, ToolCall, Usage, User
from paceline.models.plain import NotUnderstood
from paceline.tasks import ModelTask
from paceline.tasks.notes import Notes, current_notes
from paceline.tasks.template import MissingField

SEARCH = {"name": "search", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}
CALL = ToolCall(id="call_1", name="search", arguments={"q": "cats"})
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


@dataclass
class City:
    """Inputs of a class of the user's."""

    name: str
    land: str


def say(answer: str | Answer) -> Callable[..., Any]:
    """A model that says this whatever it is asked."""

    async def speaker(messages: tuple[Message, ...], tools: Any = ()) -> str | Answer:
        return answer

    return speaker


def run(task: ModelTask, inputs: Any) -> tuple[Any, Notes]:
    async def once() -> tuple[Any, Notes]:
        notes = Notes()
        current_notes.set(notes)
        return await task(inputs), notes

    return asyncio.run(once())


def contents(task: ModelTask, inputs: Any) -> list[Any]:
    return [each.content for each in task.conversation(inputs)]


# What is asked


def test_system_messages_and_prompt_are_sent_in_this_order() -> None:
    task = ModelTask(
        "sim",
        system="Be {{ inputs.tone }}.",
        messages=[
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": "{{ inputs.last }}"},
        ],
        prompt="And {{ inputs.name }}?",
    )
    inputs = {"tone": "brief", "last": "Hi!", "name": "Rome"}
    assert task.conversation(inputs) == (
        System("Be brief."),
        User("Hello."),
        Assistant("Hi!"),
        User("And Rome?"),
    )


def test_inputs_may_be_text_a_mapping_or_an_object_with_fields() -> None:
    assert contents(ModelTask("sim", prompt="Say {{ inputs }}."), "this") == ["Say this."]
    for inputs in ({"name": "Rome", "land": "Italy"}, City("Rome", "Italy")):
        task = ModelTask("sim", prompt="{{ inputs.name }} in {{ inputs.land }}: {{ inputs }}")
        assert contents(task, inputs) == ['Rome in Italy: {"name":"Rome","land":"Italy"}']


def test_without_a_prompt_inputs_are_a_text_or_have_messages() -> None:
    bare = ModelTask("sim")
    assert bare.conversation("Who?") == (User("Who?"),)
    assert bare.conversation({"messages": [{"role": "user", "content": "Who?"}]}) == (User("Who?"),)
    with pytest.raises(MissingField, match=r"there is no prompt, and inputs has question"):
        bare.conversation({"question": "Who?"})
    with pytest.raises(MissingField, match="inputs is a int"):
        bare.conversation(3)


def test_messages_of_the_case_may_stand_in_one_place() -> None:
    task = ModelTask("sim", system="Go on.", messages="{{ inputs.so_far }}", prompt="And now?")
    assert task.conversation({"so_far": [{"role": "assistant", "content": "Hm."}]}) == (
        System("Go on."),
        Assistant("Hm."),
        User("And now?"),
    )
    with pytest.raises(NotUnderstood):
        task.conversation({"so_far": [{"role": "boss", "content": "Hm."}]})


def test_a_field_that_a_case_lacks_is_its_error_before_anything_is_paid_for() -> None:
    asked: list[str] = []

    def model(text: str) -> str:
        asked.append(text)
        return text

    with pytest.raises(MissingField, match=r"wants inputs\.nmae, and inputs has name; did you mean name"):
        run(ModelTask(model, prompt="{{ inputs.nmae }}"), {"name": "Rome"})
    assert asked == []


# What comes back


def test_the_output_is_the_text_and_what_the_call_took_is_noted() -> None:
    answer = Answer(
        text="Rome",
        model="m-2026-01-01",
        request_id="req_1",
        usage=Usage(input=12, output=1, cached=8, reasoning=None),
    )
    output, notes = run(ModelTask(say(answer)), "hm")
    assert output == "Rome"
    used = {"input_tokens": 12, "output_tokens": 1, "cached_tokens": 8}
    assert notes.metrics == {"requests": 1, **used}
    assert notes.attributes == {"model": "m-2026-01-01", "request_id": "req_1"}


def test_with_a_schema_it_is_the_value() -> None:
    assert run(ModelTask("sim", schema=SCHEMA), "Rome")[0] == {"city": "Rome"}


def test_an_answer_that_is_no_json_is_an_error_whose_tokens_are_noted() -> None:
    broken = ModelTask(say(Answer(text="Rome!", usage=Usage(input=3, output=1))), schema=SCHEMA)
    notes = Notes()

    async def once() -> None:
        current_notes.set(notes)
        with pytest.raises(ValueError, match="did not answer in JSON"):
            await broken("hm")

    asyncio.run(once())
    assert notes.metrics == {"requests": 1, "input_tokens": 3, "output_tokens": 1}


def test_where_tools_are_offered_the_output_has_one_shape_whether_or_not_any_is_called() -> None:
    calling = ModelTask(say(Answer(tool_calls=(CALL,), stop="tool_calls")))
    output, notes = run(calling, {"messages": [{"role": "user", "content": "hm"}], "tools": [SEARCH]})
    assert output == {"text": "", "tool_calls": [{"name": "search", "arguments": {"q": "cats"}}]}
    assert notes.attributes["stop"] == "tool_calls"
    assert [step["role"] for step in notes.steps] == ["user", "assistant"]
    answering, _ = run(ModelTask(say("no"), tools=[SEARCH]), "hm")
    assert answering == {"text": "no", "tool_calls": []}


def test_tools_reach_the_model_as_they_are_described() -> None:
    offered: list[tuple[Tool, ...]] = []

    def model(messages: Any, tools: tuple[Tool, ...]) -> str:
        offered.append(tools)
        return "ok"

    run(ModelTask(model, tools=[{"type": "function", "function": SEARCH}]), "hm")
    assert [(tool.name, tool.parameters) for tool in offered[0]] == [("search", SEARCH["parameters"])]


# What it is


def test_the_version_tells_all_that_was_said_and_is_the_same_in_every_process() -> None:
    said = {
        "prompt": "p",
        "system": "s",
        "messages": [{"role": "user", "content": "{{ inputs }}"}],
        "tools": [SEARCH],
        "schema": SCHEMA,
    }
    versions = {ModelTask("sim", **{name: value}).version for name, value in said.items()}  # type: ignore[arg-type]
    assert len({*versions, ModelTask("sim").version, ModelTask("sim", temperature=0).version}) == 7
    whole = ModelTask("sim", **said)  # type: ignore[arg-type]
    assert pickle.loads(pickle.dumps(whole)).version == whole.version
    assert whole.__qualname__ == "sim"


def test_on_another_model_it_asks_the_same_and_takes_no_address_or_key_along() -> None:
    here = ModelTask(
        {"name": "openai:m", "base_url": "https://h/v1", "api_key_env": "MINE", "temperature": 0},
        prompt="Say {{ inputs }}",
        max_tokens=5,
    )
    there = here.on("anthropic:c")
    assert there.model.version == "anthropic:c, temperature=0.0, max_tokens=5"
    assert there.conversation("a") == here.conversation("a")
    assert (here.key_variable, there.key_variable) == ("MINE", "ANTHROPIC_API_KEY")
    assert ModelTask(str.upper).key_variable is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prompt": 3}, "prompt wants a text, not a int"),
        ({"system": ["a"]}, "system wants a text, not a list"),
        ({"messages": 3}, "messages wants a list, not a int"),
        ({"messages": "all of {{ inputs }}"}, "messages wants a list, or one place"),
        ({"messages": [{"role": "boss"}]}, "message 1 has the role 'boss'"),
        ({"tools": {"name": "search"}}, "tools wants a list"),
        ({"tools": [{}]}, "tool 1 has no name"),
        ({"schema": "object"}, "schema wants a JSON schema"),
        ({"schema": {}}, "schema wants a JSON schema"),
        ({"prompt": "{{ question }}"}, "question"),
        ({"temprature": 0}, "did you mean temperature?"),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_made(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        ModelTask("sim", **given)
    assert said in str(caught.value)
    assert caught.value.hint
