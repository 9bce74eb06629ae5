"""`sim`: a model that needs nothing, answers the same always, and never passes for a real one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset
from paceline.errors import UsageError
from paceline.models import Answer, Assistant, System, ToolResult, User, model
from paceline.tasks import ModelTask

SEARCH = {"name": "search", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}
SCHEMA = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}


def ask(which: Any, *what: Any, **options: Any) -> Answer:
    return asyncio.run(model(which).ask(*what, **options))


def test_it_answers_without_key_sdk_or_network_and_says_what_it_is() -> None:
    model("sim").check_ready()
    answer = ask("sim", "What is 17 * 23?")
    assert (answer.text, answer.stop, answer.model, answer.simulated) == ("391", "end", "sim", True)
    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.output) == (8, 1)


def test_it_says_the_same_to_the_same() -> None:
    first, second = (ask("sim", [System("Be brief."), User("hm?")]) for _ in range(2))
    assert (first.text, first.usage) == (second.text, second.usage)


def test_the_words_for_options_mean_what_they_mean_elsewhere() -> None:
    cut = ask({"name": "sim", "max_tokens": 2}, "word " * 50)
    assert (cut.stop, len(cut.text)) == ("length", 8)
    assert ask("sim", "search it", tools=[SEARCH]).tool_calls[0].name == "search"
    assert ask("sim", "hm", tools=[SEARCH]).tool_calls == ()
    called = ask("sim", "hm", tools=[SEARCH], tool_choice="required")
    assert (called.stop, called.tool_calls[0].name) == ("tool_calls", "search")
    assert ask("sim", "hm", tools=[SEARCH], tool_choice="search").tool_calls
    assert not ask("sim", "search it", tools=[SEARCH], tool_choice="none").tool_calls


def test_after_a_tool_it_says_what_the_tool_said() -> None:
    asked = ask("sim", "search it", tools=[SEARCH])
    (call,) = asked.tool_calls
    said = [User("search it"), asked.as_message(), ToolResult(call_id=call.id, content="found")]
    assert ask("sim", said, tools=[SEARCH]).text == "found"
    assert isinstance(asked.as_message(), Assistant)


def test_a_schema_is_kept_to() -> None:
    assert ask("sim", "What is 2 + 3?", schema=SCHEMA).parsed == {"sum": 5}


def test_rules_of_a_scenario_decide_and_are_part_of_the_version(tmp_path: Path) -> None:
    rules = tmp_path / "capitals.yaml"
    rules.write_text("rpm: 1\nanswers:\n  rules: [{when: France, reply: Paris}]\n")
    assert ask(f"sim:{rules}", "The capital of France?").text == "Paris"
    before = model(f"sim:{rules}").version
    assert model(f"sim:{rules}").version == before != model("sim").version
    rules.write_text("answers:\n  rules: [{when: France, reply: Lyon}]\n")
    assert model(f"sim:{rules}").version != before


def test_a_script_is_said_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text("answers: {script: [one, two]}\n")
    speaker = model(f"sim:{tmp_path / 'two.yaml'}")

    async def three() -> list[str]:
        return [(await speaker.ask("hm")).text for _ in range(3)]

    assert asyncio.run(three()) == ["one", "two", "one"]


@pytest.mark.parametrize(
    ("written", "options", "said"),
    [
        ("sim:", {}, "did you mean sim?"),
        ("sim:gentel", {}, "did you mean gentle?"),
        ("sim:gone.yaml", {}, "gone.yaml"),
        ("sim", {"base_url": "http://h"}, "this API has no base_url"),
        ("sim", {"api_key_env": "MINE"}, "this API has no api_key_env"),
        ("sim", {"temprature": 1}, "did you mean temperature?"),
    ],
)
def test_what_it_cannot_be_is_refused(written: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        model(written, **options)
    assert said in f"{caught.value} {caught.value.hint}"


def test_every_record_of_it_says_that_it_is_simulated() -> None:
    """Call, case, and report: whichever of them somebody looks at."""
    dataset = Dataset(
        name="sums",
        cases=[
            Case(name=f"{n} + 1", inputs=f"What is {n} + 1?", expected_output=str(n + 1)) for n in range(3)
        ],
        evaluators=[lambda output, expected_output: output == expected_output],
    )
    report = dataset.evaluate_sync(ModelTask("sim"), journal=False)
    assert report.pass_rate == 1.0
    assert all(case.attributes["simulated"] is True for case in report.cases)
    figures = report.figures
    assert figures.calls is None
    assert figures.simulated is not None
    assert (figures.simulated.spending.calls, figures.simulated.spending.cost.total) == (3, 0.0)
    assert figures.rehearsal is None
    text = report.render(width=100)
    assert "COMPLETE  SIMULATED" in text
    assert "not a result: a simulated provider answered all 3 calls" in " ".join(text.split())
    assert "nothing was paid" in text
