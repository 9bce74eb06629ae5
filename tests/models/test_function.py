"""A plain callable as a model: from text to text, or from messages to an answer."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.models import Answer, AnswerNotJson, Assistant, Function, Message, System, Tool, User, model


def ask(call: Any, *what: Any, **options: Any) -> Answer:
    return asyncio.run(model(call).ask(*what, **options))


async def later(prompt: str) -> str:
    return prompt.upper()


class Stub:
    """A stub with a version."""

    version = "2"

    async def __call__(self, prompt: str) -> str:
        return prompt


@pytest.mark.parametrize("call", [str.upper, later, functools.partial(later), lambda text: later(text * 1)])
def test_a_function_from_text_to_text_is_a_model(call: Any) -> None:
    answer = ask(call, "hm?")
    assert (answer.text, answer.stop, answer.usage) == ("HM?", "end", None)


def test_all_that_was_said_reaches_it_as_one_text() -> None:
    said = [System("Be brief."), User("a"), Assistant("b"), User("c")]
    assert ask(lambda prompt: prompt, said).text == "Be brief.\n\na\n\nb\n\nc"


def test_a_function_of_messages_is_given_messages_and_may_give_an_answer() -> None:
    def call(messages: tuple[Message, ...], tools: tuple[Tool, ...] = ()) -> Answer:
        return Answer(text=f"{len(messages)} and {tools[0].name}", stop="length")

    answer = ask(call, [System("a"), User("b")], tools=[{"name": "search"}])
    assert (answer.text, answer.stop) == ("2 and search", "length")


def test_a_sync_function_runs_on_a_thread() -> None:
    assert ask(lambda _prompt: threading.current_thread().name, "?").text != threading.current_thread().name


def test_an_answer_with_a_schema_is_read() -> None:
    assert ask(lambda _prompt: "[1]", "?", schema={"type": "array"}).parsed == [1]
    with pytest.raises(AnswerNotJson):
        ask(lambda _prompt: "one", "?", schema={"type": "array"})


def test_what_it_raises_passes_and_what_is_no_answer_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        ask(lambda _prompt: 1 / 0, "?")
    with pytest.raises(TypeError, match="returned a int, not a text or an Answer"):
        ask(lambda _prompt: 3, "?")
    with pytest.raises(UsageError, match="has no option 'temperature'"):
        ask(later, "?", temperature=0)


def test_its_name_and_its_declared_version_are_known() -> None:
    assert (model(later).name, model(Stub()).version) == ("later", "Stub, version='2'")
    assert Function(later, name="mine").version == "mine"
    assert repr(model(later)) == "<model later>"
    model(later).check_ready()
