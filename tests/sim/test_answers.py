"""What a simulated model says: the same to the same prompt, and something to every prompt."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.sim.answers import Message, Prompt, Reply, Tool, arithmetic, reply_to, tokens_of, verdict_on
from paceline.sim.scenario import Answers, Rule, Scenario

ADD = Tool(
    "add",
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "minimum": 3}},
        "required": ["a", "b"],
    },
)
LOOK_UP = Tool(
    "look_up", {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
)


def prompt(*said: str | Message, **more: Any) -> Prompt:
    messages = tuple(Message("user", each) if isinstance(each, str) else each for each in said)
    return Prompt(model="m", messages=messages, **more)


def said_to(*said: str | Message, answers: Answers | None = None, turn: int = 0, **more: Any) -> str:
    return reply_to(prompt(*said, **more), answers or Answers(), turn).text


# ---- the small function ----


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("What is 17 * 23?", "391"),
        ("what's (2 + 3) * 4 ?", "20"),
        ("Compute 7 / 2.", "3.5"),
        ("7 // 2 =", "3"),
        ("What is -3 + 10?", "7"),
        ("What is 6 × 7 − 2?", "40"),
        ("First 1 + 1. Then: what is 2 + 3?", "5"),
        ("What is 10 % 4?", "2"),
        ("1 + 1", "2"),
    ],
)
def test_a_sum_gets_its_result(text: str, value: str) -> None:
    assert arithmetic(text) == value
    assert said_to(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "call 555-1234",
        "on 2026-11-12",
        "What is 1 / 0?",
        "a - b",
        "version 1.2.3",
        "",
        "What is 2 ** 9 ** 9?",
    ],
)
def test_what_is_no_sum_is_said_again(text: str) -> None:
    assert arithmetic(text) is None
    assert said_to(text) == text


def test_echo_says_even_a_sum_again() -> None:
    assert said_to("What is 2 + 2?", answers=Answers(otherwise="echo")) == "What is 2 + 2?"


def test_what_was_said_last_is_answered_whoever_has_said_it_before() -> None:
    system, before = Message("system", "Be brief: 1 + 1"), Message("assistant", "What is 5 + 5?")
    assert said_to(system, "What is 3 + 3?", before, "What is 2 + 2?") == "4"


# ---- as a judge ----

JUDGE = "Answer with {}.\nExpected answer: {}\nModel output: {}"


@pytest.mark.parametrize(
    ("asked", "yes", "no"),
    [
        ("yes or no", "yes", "no"),
        ("YES/NO", "YES", "NO"),
        ('"pass" or "fail"', "pass", "fail"),
        ("true, false", "true", "false"),
        ("a score from 1 to 5", "5", "1"),
        ("a rating between 0.5 and 10", "10", "0.5"),
    ],
)
def test_a_judge_says_whether_the_answer_shown_is_the_expected_one(asked: str, yes: str, no: str) -> None:
    assert said_to(JUDGE.format(asked, "Paris", "It is Paris.")) == yes
    assert said_to(JUDGE.format(asked, "Paris", "Rome")) == no


def test_where_no_answer_is_shown_four_verdicts_in_five_are_good_and_each_is_always_the_same() -> None:
    asked = [f"Is answer {number} fine? Say yes or no." for number in range(500)]
    verdicts = [said_to(each) for each in asked]
    assert 0.7 < verdicts.count("yes") / 500 < 0.9
    assert set(verdicts) == {"yes", "no"}
    assert [said_to(each) for each in asked] == verdicts


def test_an_expected_answer_of_nothing_is_not_found_in_everything() -> None:
    assert not verdict_on("Expected: ...\nOutput: whatever")


# ---- rules and scripts ----


def test_the_first_rule_that_fits_is_followed_with_what_it_has_found() -> None:
    rules = (
        Rule(when=r"capital of (\w+)", reply=r"\1 has none"),
        Rule(when=r"capital", reply="which?"),
    )
    answers = Answers(rules=rules)
    assert said_to("the capital of France?", answers=answers) == "France has none"
    assert said_to("the capital?", answers=answers) == "which?"
    assert said_to("What is 1 + 2?", answers=answers) == "3"


def test_a_script_is_gone_through_in_turn_and_begins_again() -> None:
    answers = Answers(script=("one", "two"))
    assert [said_to("?", answers=answers, turn=turn) for turn in range(5)] == [
        "one",
        "two",
        "one",
        "two",
        "one",
    ]


def test_answers_are_filled_up_and_never_cut_by_it() -> None:
    answers = Answers(output_tokens=50)
    assert tokens_of(said_to("hello", answers=answers)) == 50
    assert said_to("hello", answers=answers).startswith("hello")
    assert said_to("word " * 100, answers=answers) == "word " * 100


def test_max_tokens_ends_an_answer_and_says_so() -> None:
    whole = reply_to(prompt("some words that are said again"), Answers(), 0)
    cut = reply_to(prompt("some words that are said again", max_tokens=2), Answers(), 0)
    assert (whole.cut, cut.cut) == (False, True)
    assert (cut.text, cut.tokens) == ("some wor", 2)


# ---- tools and schemas ----


def test_a_tool_is_called_that_the_caller_insists_on_with_arguments_that_fit() -> None:
    reply = reply_to(prompt("What is 2 + 3?", tools=(LOOK_UP, ADD), must_call="add"), Answers(), 0)
    assert reply.call is not None
    assert reply.call.tool == "add"
    assert reply.call.arguments == {"a": 5, "b": 5}
    assert reply.text == ""
    assert reply.tokens > 0


@pytest.mark.parametrize(
    ("text", "more", "called"),
    [
        ("hello", {}, None),
        ("please add these", {}, "add"),
        ("please add these", {"may_call": False}, None),
        ("hello", {"must_call": ""}, "look_up"),
    ],
)
def test_otherwise_only_one_that_the_last_message_names(text: str, more: Any, called: str | None) -> None:
    reply = reply_to(prompt(text, tools=(LOOK_UP, ADD), **more), Answers(), 0)
    assert (reply.call.tool if reply.call else None) == called


def test_after_the_result_of_a_tool_that_is_said_and_no_tool_called_again() -> None:
    talk = ("please add 1 and 2", Message("assistant", ""), Message("tool", "the sum is 3"))
    reply = reply_to(prompt(*talk, tools=(ADD,), must_call="add"), Answers(), 0)
    assert reply.call is None
    assert reply.text == "the sum is 3"


def test_a_rule_calls_a_tool_with_its_own_arguments_where_the_prompt_has_it() -> None:
    answers = Answers(rules=(Rule(when="sum", call="add", arguments={"a": 1, "b": 2}),))
    called = reply_to(prompt("a sum", tools=(ADD,)), answers, 0)
    assert called.call is not None
    assert called.call.arguments == {"a": 1, "b": 2}
    assert reply_to(prompt("a sum", tools=(LOOK_UP,)), answers, 0).call is None


def test_a_model_is_scripted_over_many_turns_by_rules_for_results() -> None:
    rules = (
        Rule(when="^Add", call="look_up", arguments={"word": "sum"}),
        Rule(when="a sum is", call="add", arguments={"a": 1, "b": 3}, on_result=True),
        Rule(when="^4$", reply="It is 4.", on_result=True),
    )
    answers, tools = Answers(rules=rules), (LOOK_UP, ADD)
    talk: list[str | Message] = ["Add these up."]
    for result, tool in (("a sum is what add tells", "look_up"), ("4", "add")):
        called = reply_to(prompt(*talk, tools=tools), answers, 0).call
        assert called is not None
        assert called.tool == tool
        talk += [Message("assistant", ""), Message("tool", result)]
    assert said_to(*talk, tools=tools, answers=answers) == "It is 4."


def test_a_rule_for_results_is_for_nothing_else() -> None:
    for rule in (Rule(when="sum", reply="!", on_result=True), Rule(when="sum", call="add", on_result=True)):
        reply = reply_to(prompt("a sum", tools=(ADD,)), Answers(rules=(rule,)), 0)
        assert (reply.text, reply.call) == ("a sum", None)


def test_a_rule_may_go_by_what_the_user_has_said_long_before_as_well() -> None:
    rules = (
        Rule(asked="sums", when="done", call="add", arguments={"a": 1, "b": 3}, on_result=True),
        Rule(asked="words", when="done", reply="ready", on_result=True),
    )

    def after(task: str) -> Reply:
        talk = (task, Message("assistant", "words and sums"), Message("tool", "done"))
        return reply_to(prompt(*talk, tools=(ADD,)), Answers(rules=rules), 0)

    assert after("words").text == "ready"
    assert after("sums").call is not None
    assert after("neither").text == "done"


def test_a_schema_gets_a_value_that_fits_and_a_script_that_is_one_already_is_kept() -> None:
    schema = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    assert json.loads(said_to("What is 17 * 23?", schema=schema)) == {"total": 391}
    scripted = Answers(script=('{"total": 7}',))
    assert json.loads(said_to("?", schema=schema, answers=scripted)) == {"total": 7}


# ---- whatever is asked ----

texts = st.text(max_size=200) | st.lists(
    st.sampled_from(["yes or no", "score 1 to", "Expected:", "\n", "(", "3", "*", "add", "0", ".", " "]),
    max_size=30,
).map("".join)
messages = st.builds(Message, st.sampled_from(["system", "user", "assistant", "tool"]), texts)
prompts = st.builds(
    Prompt,
    model=st.just("m"),
    messages=st.lists(messages, min_size=1, max_size=5).map(tuple),
    tools=st.sampled_from([(), (ADD,), (LOOK_UP, ADD)]),
    must_call=st.sampled_from([None, "", "add", "unknown"]),
    may_call=st.booleans(),
    schema=st.sampled_from([None, ADD.schema]),
    max_tokens=st.none() | st.integers(1, 50),
)


@given(asked=prompts, turn=st.integers(0, 9))
def test_every_prompt_is_answered_and_always_alike(asked: Prompt, turn: int) -> None:
    reply = reply_to(asked, Answers(), turn)
    assert reply == reply_to(asked, Answers(), turn)
    assert isinstance(reply, Reply)
    if reply.call is None and asked.max_tokens is not None:
        assert reply.tokens <= asked.max_tokens


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 1_000_000,
        "1" * 1000 + "+" * 1000 + "x",
        "score" * 200_000,
        "expected " * 100_000,
        "yes " * 200_000,
        "((((" * 1000 + "1+1",
        "9" * 5000 + " * 2",
        "model " * 100_000,
    ],
    ids=["lines", "plus", "scores", "expected", "yes", "brackets", "digits", "models"],
)
def test_a_prompt_made_to_be_slow_is_answered_all_the_same(text: str) -> None:
    """Under the test's own timeout: what is gone over again and again would take hours."""
    assert reply_to(prompt(text), Answers(), 0) is not None


def test_a_scenario_of_rules_is_what_it_is_written_as() -> None:
    scenario = Scenario.of({"answers": {"rules": [{"when": "hi", "reply": "ho"}], "otherwise": "echo"}})
    assert said_to("hi", answers=scenario.answers) == "ho"
    assert said_to("What is 1 + 1?", answers=scenario.answers) == "What is 1 + 1?"
