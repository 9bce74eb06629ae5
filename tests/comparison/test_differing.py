"""Differing: what else is not the same in two runs is told, and what is not known is said to be so."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from paceline import compare
from paceline.comparison import Side
from paceline.journal.records import JudgeStanding
from tests.comparison.sides import crashed, lettered, passed, side


def told(first: Side, second: Side) -> list[tuple[str, str]]:
    return [(each.about, each.text) for each in compare(first, second).pairs[0].differing]


def with_(**fields: Any) -> Side:
    return msgspec.structs.replace(lettered("pf"), **fields)


def judge(**fields: Any) -> dict[str, JudgeStanding]:
    written = {"state": "calibrated", "why": "it agrees", "fingerprint": "1"}
    return {"Helpful": msgspec.convert({**written, **fields}, JudgeStanding)}


def test_of_two_runs_that_differ_in_nothing_nothing_is_told() -> None:
    assert told(with_(judges=judge()), with_(judges=judge())) == []


@pytest.mark.parametrize(
    ("first", "second", "about", "text"),
    [
        ({"settings": {"timeout": 5}}, {}, "timeouts", "timeout was 5 in A and the default in B"),
        (
            {"settings": {"max_concurrency": 1}},
            {"settings": {"max_concurrency": 9}},
            "settings",
            "max_concurrency was 1 in A and 9 in B",
        ),
        ({"tasks": {"": {"model": "m1"}}}, {}, "task", 'the task or its model settings: {"model":"m1"} in A'),
        ({"tasks": None}, {}, "task", "cannot be compared: not known of both"),
        ({"settings": None}, {}, "timeouts", "deadlines cannot be compared"),
        ({"evaluators": {"E": "x"}}, {}, "evaluators", "E is in A only"),
        ({"evaluators": {"E": "x"}}, {"evaluators": {"E": "y"}}, "evaluators", "E was x in A and is y in B"),
        ({"judges": judge()}, {"judges": judge(fingerprint="2")}, "judges", "is not the same"),
        (
            {"judges": judge()},
            {"judges": judge(state="expired")},
            "judges",
            "was calibrated in A and is expired",
        ),
        ({"judges": judge()}, {}, "judges", "the judge Helpful is in A only"),
        (
            {"judges": judge(fingerprint=None)},
            {"judges": judge(fingerprint=None)},
            "judges",
            "whether the judge Helpful is the same in both is not known",
        ),
        ({}, {"simulated": True}, "simulated", "answers of B are of a simulated provider"),
        ({}, {"whole": False}, "run", "B is not whole"),
    ],
)
def test_what_differs_is_told(first: dict[str, Any], second: dict[str, Any], about: str, text: str) -> None:
    found = told(with_(**first), with_(**second))
    assert [each for each, _ in found] == [about]
    assert text in found[0][1]


def test_cases_that_ask_something_else_now_are_counted() -> None:
    first = side(passed("a"), passed("b"), passed("c"))
    second = side(passed("a", content="another"), crashed("b", content=""), passed("c"))
    assert [about for about, _ in told(first, second)] == ["dataset", "dataset"]
    assert told(first, second)[0][1].startswith("1 key of 3 in both do not ask the same")
    assert told(first, second)[1][1] == "whether 1 key ask the same in both is not known"


def test_runs_with_no_key_in_common_say_so_and_tell_nothing_else() -> None:
    compared = compare(side(passed("a")), side(passed("b")))
    assert ("dataset", "no key was run in both: cases are matched by name, repeat and variant") in told(
        side(passed("a")), side(passed("b"))
    )
    assert compared.verdict == "cannot tell"
    assert compared.to_dict()["pairs"][0]["metrics"][0]["p"] is None
