"""What every source promises the engine; one suite over all of them, the fakes of other tests too."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paceline.dataset.case import Case
from paceline.dataset.identity import identify
from paceline.dataset.rows import RowFile
from paceline.engine.ports import Source, Turn
from paceline.engine.source import OpenKeys, turns_of
from paceline.journal.records import Key
from tests.engine.stage import ListSource, StreamSource, cases

NAMES = [f"case-{number}" for number in range(5)]
Make = Callable[[int], Source]


def keys_of_a_list(number: int) -> OpenKeys:
    named = [*identify([Case(name=name, inputs=name) for name in NAMES[:number]])]
    return OpenKeys(turns_of(lambda: named), expected=number)


def keys_gathered(number: int) -> OpenKeys:
    source = keys_of_a_list(number)
    source.gather()
    return source


def fed_and_closed(number: int) -> StreamSource:
    source = StreamSource()
    source.feed(*NAMES[:number])
    source.close()
    return source


@pytest.fixture(params=["cases", "cases gone through", "rows", "fake list", "fake stream"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    def keys_of_rows(number: int) -> OpenKeys:
        file = tmp_path / f"{number}.jsonl"
        file.write_text("".join(json.dumps({"id": name, "input": name}) + "\n" for name in NAMES[:number]))
        rows = RowFile(file)
        return OpenKeys(turns_of(rows.names) if number else (), expected=number)

    makers: dict[str, Any] = {
        "cases": keys_of_a_list,
        "cases gone through": keys_gathered,
        "rows": keys_of_rows,
        "fake list": lambda number: ListSource(cases(number)),
        "fake stream": fed_and_closed,
    }
    made: Make = makers[request.param]
    return made


def all_turns(source: Source) -> list[Turn]:
    """What it hands out until it has ended, asked as the engine asks."""

    async def ask() -> list[Turn]:
        turns: list[Turn] = []
        while not source.exhausted:
            if (turn := source.take()) is not None:
                turns.append(turn)
            elif not source.exhausted:
                await source.wait_for_more()
        return turns

    return asyncio.run(asyncio.wait_for(ask(), 10))


@pytest.mark.parametrize("number", [0, 1, 5])
def test_every_key_comes_once_and_then_it_has_ended(make: Make, number: int) -> None:
    source = make(number)
    turns = all_turns(source)
    assert [turn.key for turn in turns] == [Key(name) for name in NAMES[:number]]
    assert source.exhausted
    assert source.expected in (number, None), "None where nobody knows how many will come"


def test_it_has_not_ended_as_long_as_it_has_turns(make: Make) -> None:
    source = make(5)
    for _ in NAMES:
        assert not source.exhausted
        assert source.take() is not None


def test_a_turn_is_whole_and_has_nothing_of_a_run_in_it_yet(make: Make) -> None:
    for turn in all_turns(make(5)):
        assert turn.hash
        assert turn.inputs_raw == json.dumps(turn.case.inputs).encode()
        assert (turn.tried, turn.tries, turn.on_record, turn.stored, turn.attempt) == (0, 0, False, None, 0)


def test_no_two_turns_are_the_same_object(make: Make) -> None:
    """A turn goes with its key to the outcome, and what happens on the way is noted in it."""
    turns = all_turns(make(5))
    assert len({id(turn) for turn in turns}) == 5
