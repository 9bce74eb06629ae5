"""Turns from cases: which keys there are, in which order, and what each still needs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import values
from paceline.dataset.case import Case
from paceline.engine.ports import Stored, Turn
from paceline.engine.source import Named, OpenKeys, stored_turn, turns_of
from paceline.journal.digest import KeyDigest
from paceline.journal.records import Key
from paceline.journal.states import Changed, Done, Interrupted, KeyState, New, OpenAgain, ToScore


def named(number: int) -> list[Named]:
    return [(f"case-{place}", Case(inputs=place)) for place in range(number)]


class Standing:
    """A ledger that says what a test wants it to say."""

    def __init__(self, states: Mapping[str, KeyState]) -> None:
        self._states = states
        self.retry_errors: list[bool] = []

    def state(self, key: Key, content_hash: str, *, retry_errors: bool) -> KeyState:
        self.retry_errors.append(retry_errors)
        return self._states.get(key.case, New())


def taken(source: OpenKeys) -> list[Turn]:
    turns = []
    while (turn := source.take()) is not None:
        turns.append(turn)
    assert source.exhausted
    return turns


def test_keys_go_by_repeat_then_case_then_variant() -> None:
    turns = turns_of(lambda: named(2), repeat=2, variants=("a", "b"))
    assert [turn.key for turn in turns] == [
        Key(f"case-{case}", repeat, variant) for repeat in (0, 1) for case in (0, 1) for variant in ("a", "b")
    ]


def test_cases_are_gone_through_one_at_a_time_and_never_held() -> None:
    drawn = 0

    def endless() -> Iterator[Named]:
        nonlocal drawn
        while True:
            yield f"case-{drawn}", Case(inputs=drawn)
            drawn += 1

    source = OpenKeys(turns_of(endless), expected=None)
    for place in range(5):
        turn = source.take()
        assert turn is not None
        assert turn.case.inputs == place
        assert drawn == place
    assert not source.exhausted


def test_a_turn_carries_the_content_of_its_case_encoded() -> None:
    case = Case(inputs={"q": 1}, expected_output=2, metadata={"level": "hard"})
    (turn,) = turns_of(lambda: [("one", case)])
    assert values.decode(turn.inputs_raw) == {"q": 1}
    assert values.decode(turn.expected_raw) == 2
    assert values.decode(turn.metadata_raw) == {"level": "hard"}
    (bare,) = turns_of(lambda: [("one", Case(inputs=1))])
    assert (bare.expected_raw, bare.metadata_raw) == (b"", b"")
    assert turn.hash != bare.hash


@pytest.mark.parametrize("field", ["inputs", "expected_output", "metadata"])
def test_whatever_part_of_a_case_changes_its_hash_does(field: str) -> None:
    same: dict[str, Any] = {"inputs": 1, "expected_output": 1, "metadata": {"a": 1}}
    (first,) = turns_of(lambda: [("one", Case(**same))])
    (second,) = turns_of(lambda: [("one", Case(**same))])
    (other,) = turns_of(lambda: [("one", Case(**same | {field: {"b": 2}}))])
    assert first.hash == second.hash
    assert first.hash != other.hash


def test_only_what_is_open_is_handed_out_with_what_is_on_record_about_it() -> None:
    standing = Standing(
        {
            "case-0": Done("scored", "passed"),
            "case-1": Interrupted(2),
            "case-2": OpenAgain("infra_error", 3),
            "case-3": OpenAgain("skipped_budget", 0),
            "case-4": Changed(1),
            "case-5": ToScore(1, 77, ()),
        }
    )
    asked: list[ToScore] = []

    def stored(state: ToScore) -> Stored:
        asked.append(state)
        return Stored(output="answer")

    source = OpenKeys(
        turns_of(lambda: named(7)), expected=7, standings=standing, stored=stored, retry_errors=True
    )
    turns = {turn.key.case: turn for turn in taken(source)}
    assert list(turns) == [f"case-{place}" for place in range(1, 7)]
    assert [(turn.tried, turn.on_record) for turn in turns.values()] == [
        (2, True),
        (3, True),
        (0, False),
        (1, False),
        (1, True),
        (0, False),
    ]
    assert source.reasons == {
        "interrupted": 1,
        "infra_error": 1,
        "skipped_budget": 1,
        "content changed": 1,
        "not scored": 1,
        "new": 1,
    }
    assert [state.output for state in asked] == [77]
    assert turns["case-5"].stored is not None
    assert turns["case-5"].stored.output == "answer"
    assert all(standing.retry_errors)


@given(done=st.sets(st.integers(0, 19)), order=st.permutations(range(20)))
def test_the_digest_is_of_all_keys_in_whatever_order_and_however_many_are_done(
    done: set[int], order: list[int]
) -> None:
    standing = Standing({f"case-{place}": Done("scored", "passed") for place in done})
    everything = named(20)
    source = OpenKeys(
        turns_of(lambda: [everything[place] for place in order]), expected=20, standings=standing
    )
    assert len(taken(source)) == 20 - len(done)
    whole = KeyDigest()
    for name, _case in everything:
        whole.add(Key(name))
    assert source.digest.hexdigest() == whole.hexdigest()


def test_gathering_looks_through_everything_and_hands_it_out_all_the_same() -> None:
    source = OpenKeys(turns_of(lambda: named(4)), expected=4)
    assert [turn.key.case for turn in source.gather()] == [f"case-{place}" for place in range(4)]
    assert source.reasons == {"new": 4}
    assert len(taken(source)) == 4


def test_inputs_that_cannot_be_recorded_as_what_they_are_are_counted() -> None:
    source = OpenKeys(turns_of(lambda: [*named(2), ("odd", Case(inputs=lambda: None))]), expected=3)
    taken(source)
    assert source.vague == 1


def test_a_source_that_has_ended_is_never_waited_for() -> None:
    source = OpenKeys(turns_of(lambda: named(1)), expected=1)
    taken(source)
    with pytest.raises(AssertionError):
        asyncio.run(source.wait_for_more())


def test_a_stored_answer_is_a_turn_with_its_content() -> None:
    turn = stored_turn(Key("one"), Case(inputs=1, expected_output=2), Stored(output=2), tried=3)
    (plain,) = turns_of(lambda: [("one", Case(inputs=1, expected_output=2))])
    assert (turn.hash, turn.inputs_raw, turn.expected_raw) == (
        plain.hash,
        plain.inputs_raw,
        plain.expected_raw,
    )
    assert turn.attempt == 3
