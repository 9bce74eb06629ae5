"""A trajectory comes from the record or from the output; where nobody knows it, that is an error."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage

from paceline import Case, Dataset
from paceline.evaluators import (
    AcceptedCalls,
    ArgumentCorrectness,
    CalledBefore,
    ForbiddenTools,
    MaxModelRequests,
    MaxToolCalls,
    NoFailedTools,
    NoTrajectory,
    ToolCorrectness,
    TrajectoryMatch,
    tool_calls,
)
from paceline.evaluators.trajectories.sources import model_requests
from tests.evaluators.cases import finished
from tests.evaluators.trajectories.told import Call, anthropic, of, openai, recorded, responses

EVERY = [
    AcceptedCalls([{"f": {}}]),
    ArgumentCorrectness("f", {}),
    CalledBefore("f", "g"),
    ForbiddenTools(["f"]),
    MaxModelRequests(1),
    MaxToolCalls(1),
    NoFailedTools(),
    ToolCorrectness([]),
    TrajectoryMatch([]),
]


@pytest.mark.parametrize("evaluator", EVERY, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("output", ["an answer", {"answer": 7}, [], None, 42])
def test_without_a_trajectory_every_evaluator_names_the_ways_to_have_one(evaluator: Any, output: Any) -> None:
    with pytest.raises(NoTrajectory) as refused:
        evaluator.evaluate(finished(output))
    for way in ("httpx", "gateway", "paceline.tool_call", "OpenAI or Anthropic messages", "OpenTelemetry"):
        assert way in str(refused.value)
    assert len(f"ArgumentCorrectness: {refused.value}") <= 200, "reports show no more"


@pytest.mark.parametrize(
    "output",
    [
        [{"role": "user", "content": "delete it"}],
        [{"role": "system", "content": "be kind"}, {"role": "user", "content": "delete it"}],
    ],
)
def test_messages_in_which_no_model_says_anything_are_no_trajectory(output: Any) -> None:
    with pytest.raises(NoTrajectory):
        ForbiddenTools(["delete"]).evaluate(finished(output))


def test_in_a_run_that_is_an_evaluator_that_failed_and_neither_a_pass_nor_a_zero() -> None:
    dataset: Dataset[Any, Any, Any] = Dataset(
        cases=[Case(inputs=1)], evaluators=[ToolCorrectness([]), TrajectoryMatch([])]
    )
    report = dataset.evaluate_sync(lambda n: n, progress=False, journal=False)
    (row,) = report.cases
    assert (row.outcome, row.passed) == ("evaluator_error", False)
    assert not row.assertions
    assert not row.scores
    assert [failure.error_type for failure in row.evaluator_failures] == ["NoTrajectory"] * 2
    assert report.passed is False


def names(**known: Any) -> list[str]:
    return [call.name for call in tool_calls(finished(**known))]


def test_the_record_goes_before_the_output() -> None:
    assert names(trajectory=recorded(of("f")), output=openai(of("g"))) == ["f"]


def test_an_empty_record_says_that_no_tool_was_called() -> None:
    assert names(trajectory=[]) == []
    assert names(trajectory=[], output=openai(of("f"))) == []


def test_a_record_that_tells_of_no_tool_is_filled_up_from_the_output() -> None:
    spoken = [{"role": "assistant", "content": "Hi.", "call": 1}]
    assert names(trajectory=spoken, output="an answer") == []
    assert names(trajectory=spoken, output={"messages": anthropic(of("g"))}) == ["g"]


def test_old_calls_that_a_conversation_quotes_again_are_none_of_this_attempt() -> None:
    before = openai(of("f"))
    ask = {"role": "user", "content": "And now?"}
    answer = {"role": "assistant", "content": "Nothing."}
    assert names(inputs={"messages": [*before, ask]}, output=[*before, ask, answer]) == []
    quoted = [{**each, "given": True} if each["role"] == "assistant" else each for each in before]
    assert names(trajectory=[*quoted, ask, {**answer, "call": 1}], output=[*before, ask, answer]) == []


def test_messages_may_be_objects_of_an_sdk_and_stand_in_a_value_of_the_users() -> None:
    message = ChatCompletionMessage.model_validate(openai(of("f"))[1])

    @dataclass
    class Result:
        answer: str
        messages: list[Any]

    assert names(output=Result("x", [{"role": "user", "content": "Go."}, message])) == ["f"]


def test_an_answer_that_is_not_known_makes_the_tool_calls_unknown() -> None:
    unread = [*recorded(of("f")), {"role": "assistant", "content": "", "unread": True, "call": 7}]
    with pytest.raises(NoTrajectory, match="the answer of model call 7 is not known"):
        names(trajectory=unread)


def test_all_of_them_can_be_named_in_a_file_and_are_written_there_again(tmp_path: Path) -> None:
    text = """
cases: [{inputs: 1}]
evaluators:
- ToolCorrectness: [search, fetch]
- ToolCorrectness: {expected_tools: [search], allow_extra: true}
- TrajectoryMatch: {expected_trajectory: [search], order: exact, threshold: 0.5}
- ArgumentCorrectness: {tool_name: search, expected_arguments: {q: x}, occurrence: 1}
- ArgumentCorrectness: {tool_name: search, expected_arguments: {}, occurrence: last, match_mode: exact}
- MaxToolCalls: 3
- MaxModelRequests: 2
- NoFailedTools
- NoFailedTools: {tools: [search], failed_when: [Error]}
- CalledBefore: {first: search, then: fetch, only_if_called: true}
- ForbiddenTools: [rm]
- AcceptedCalls
- AcceptedCalls: {accepted: [{search: {q: [x, ""]}}], tools: [{name: search}]}
"""
    dataset: Dataset[Any, Any, Any] = Dataset.from_text(text)
    assert {type(each) for each in dataset.evaluators} == {type(each) for each in EVERY}
    dataset.to_file(tmp_path / "again.yaml")
    again: Dataset[Any, Any, Any] = Dataset.from_file(tmp_path / "again.yaml")
    assert again.evaluators == dataset.evaluators


# How often a model was asked


def test_requests_are_those_that_were_counted() -> None:
    assert model_requests(finished(metrics={"requests": 3}, trajectory=recorded(of("f")))) == 3


def test_else_those_that_the_record_numbers_given_ones_left_out() -> None:
    given = {"role": "assistant", "content": "an example", "given": True}
    assert model_requests(finished(trajectory=[given, *recorded(of("f", "g"))])) == 2


@pytest.mark.parametrize("form", [openai, anthropic, responses])
def test_else_the_turns_of_the_model_in_the_output(form: Any) -> None:
    assert model_requests(finished(form(of("f", "g")))) == 3


def test_a_task_that_tells_its_tools_does_not_tell_its_requests_by_it() -> None:
    told = [{key: value for key, value in each.items() if key != "call"} for each in recorded(of(Call("f")))]
    with pytest.raises(NoTrajectory, match="increment_eval_metric"):
        model_requests(finished(trajectory=told))


UNREADABLE: list[Any] = [
    ["delete_file"],
    {"name": "delete_file"},
    [{"id": "c1", "type": "function", "function": {"name": None, "arguments": "{}"}}],
]


@pytest.mark.parametrize("calls", UNREADABLE)
def test_a_tool_call_that_cannot_be_read_is_no_tool_that_was_not_called(calls: Any) -> None:
    said = {"role": "assistant", "content": None, "tool_calls": calls}
    for output in ([{"role": "user", "content": "Tidy up."}, said], said, {"choices": [{"message": said}]}):
        with pytest.raises(NoTrajectory, match="cannot be read"):
            ForbiddenTools(["delete_file"]).evaluate(finished(output))


def test_neither_is_a_block_that_names_no_tool() -> None:
    said = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "input": {}}]}
    with pytest.raises(NoTrajectory, match="cannot be read"):
        MaxToolCalls(5).evaluate(finished([said]))
