"""Model calls of a command go by the gateway: paced, counted, priced, and with a key that is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, CommandTask
from paceline.errors import UsageError
from paceline.evaluators import (
    ArgumentCorrectness,
    CalledBefore,
    MaxModelRequests,
    NoFailedTools,
    ToolCorrectness,
)
from paceline.gateway.upstreams import KNOWN
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread
from tests.tasks.command.commands import elsewhere, python, run_of

__all__ = ["elsewhere"]

REAL_KEY = "sk-real-0123456789abcdefghijklmnop"
ASK = """
import json, os, sys, urllib.request
for question in sys.argv[1:]:
    asked = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(dict(model="m", messages=[dict(role="user", content=question)])).encode(),
        dict(authorization="Bearer " + os.environ["OPENAI_API_KEY"]),
    )
    asked.add_header("content-type", "application/json")
    print(json.load(urllib.request.urlopen(asked))["choices"][0]["message"]["content"])
print(os.environ.get("ANTHROPIC_BASE_URL"), os.environ["OPENAI_API_KEY"][:3])
"""


@pytest.fixture
def sim(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningSim]:
    with start_in_thread(Scenario.of({"latency": 0, "keys": [REAL_KEY]})) as sim:
        for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{sim.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", REAL_KEY)
        yield sim


@pytest.mark.slow
def test_calls_of_a_command_belong_to_its_case(elsewhere: Path, sim: RunningSim) -> None:
    task = CommandTask(python(ASK, "What is 17 * {{ inputs }}?"), pass_env=["OPENAI_*"])
    report: Any = run_of(elsewhere, task, *(Case(name=str(n), inputs=n) for n in (2, 3)))
    assert sorted(row.output for row in report.rows) == ["34\nNone pl-", "51\nNone pl-"]
    for row in report.rows:
        assert row.metrics["output_tokens"] == 1
        assert [step["role"] for step in row.trajectory] == ["user", "assistant"]
    lines = [json.loads(line) for line in (elsewhere / "run/journal.jsonl").read_text().splitlines()]
    assert sorted(line["case"] for line in lines if line["kind"] == "call") == ["2", "3"]
    assert sim.stats().answered == 2


AGENT = """
import json, os, sys, urllib.request
tools = [dict(name=name, input_schema=dict(type="object")) for name in ("look", "fix")]
said = [dict(role="user", content=sys.argv[1])]
while True:
    asked = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
        json.dumps(dict(model="m", max_tokens=99, messages=said, tools=tools)).encode(),
        {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"},
    )
    answer = json.load(urllib.request.urlopen(asked))
    said.append(dict(role="assistant", content=answer["content"]))
    calls = [block for block in answer["content"] if block["type"] == "tool_use"]
    if not calls:
        break
    results = [
        dict(type="tool_result", tool_use_id=call["id"], content=call["name"] + " done", is_error=False)
        for call in calls
    ]
    said.append(dict(role="user", content=results))
"""
TURNS = [
    {"when": "^Mend it", "call": "look"},
    {"on_result": True, "when": "look done", "call": "fix", "arguments": {"line": 3}},
    {"on_result": True, "when": "fix done", "reply": "Mended."},
]


@pytest.mark.slow
def test_the_tools_of_an_agent_in_a_program_are_judged(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluators = [
        ToolCorrectness(["look", "fix"]),
        CalledBefore("look", "fix"),
        ArgumentCorrectness("fix", {"line": 3}),
        NoFailedTools(),
        MaxModelRequests(3),
    ]
    with start_in_thread(Scenario.of({"latency": 0, "answers": {"rules": TURNS}})) as sim:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", sim.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", REAL_KEY)
        task = CommandTask(python(AGENT, "{{ inputs }}"))
        report: Any = run_of(elsewhere, task, Case(name="a", inputs="Mend it", evaluators=evaluators))
    (row,) = report.rows
    assert {name: result.value for name, result in row.assertions.items()} == {
        type(each).__name__: True for each in evaluators
    }, row


@pytest.mark.slow
def test_isolation_in_processes_makes_no_difference_to_a_command(elsewhere: Path, sim: RunningSim) -> None:
    task = CommandTask(python(ASK, "What is 17 * {{ inputs }}?"), pass_env=["OPENAI_*"])
    report = run_of(elsewhere, task, Case(name="2", inputs=2), isolation="process")
    assert [row.output for row in report.cases] == ["34\nNone pl-"]
    assert sim.stats().answered == 1


@pytest.mark.slow
def test_what_a_case_may_use_of_models_is_kept_to(elsewhere: Path, sim: RunningSim) -> None:
    task = CommandTask(python(ASK, "1 + 1?", "1 + 2?", "1 + 3?"), allow={"calls": 2})
    report: Any = run_of(elsewhere, task, Case(name="a", inputs=""))
    (row,) = report.rows
    assert row.outcome == "task_error"
    assert sim.stats().answered == 2


@pytest.mark.slow
def test_a_rehearsal_asks_the_simulated_provider_only(elsewhere: Path, sim: RunningSim) -> None:
    rehearsed = CommandTask(python(ASK, "What is 2 + 2?"), pass_env=["OPENAI_*"])
    report: Any = run_of(elsewhere, rehearsed, Case(name="a", inputs=""), rehearse=True)
    assert report.rows[0].outcome == "scored"
    assert sim.stats().answered == 0
    for more in ({"gateway": False}, {"docker": "image"}, {"bubblewrap": {"network": False}}):
        task = CommandTask(["true"], **more)
        with pytest.raises(UsageError, match="cannot be rehearsed: its model calls do not go by the gateway"):
            run_of(elsewhere, task, Case(name="a", inputs=""), rehearse=True, journal=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "hinted"), [("OpenAIError: The api_key client option must be set", True), ("no disk", False)]
)
def test_a_program_that_misses_a_key_where_there_is_none_is_told_so(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, said: str, hinted: bool
) -> None:
    for upstream in KNOWN:
        for name in (*upstream.key_names, *upstream.url_names):
            monkeypatch.delenv(name, raising=False)
    task = CommandTask(["sh", "-c", f"echo {said!r} >&2; exit 1"])
    (failure,) = run_of(elsewhere, task, Case(name="a", inputs=1)).failures
    assert ("led to no gateway" in failure.error_message) is hinted


def test_without_the_gateway_a_command_asks_by_itself(elsewhere: Path, sim: RunningSim) -> None:
    task = CommandTask(python(ASK, "1 + 1?"), gateway=False, pass_env=["OPENAI_*"])
    report: Any = run_of(elsewhere, task, Case(name="a", inputs=""))
    (row,) = report.rows
    assert row.output.endswith("None sk-")
    assert "output_tokens" not in row.metrics
