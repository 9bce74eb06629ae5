"""Verdicts in a run: each on record by itself, found by another try, by a resume, and by nobody else."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from paceline.engine.ports import Said, Stored
from paceline.engine.retry import Retry
from paceline.evaluators.base import instant
from paceline.evaluators.verdicts import concluded, current_verdicts
from paceline.journal.records import OutcomeLine, VerdictLine
from tests.engine.stage import Carried, cases, play, really, turn_of
from tests.engine.test_keys import Answers


async def echo(number: int) -> int:
    return number


class Panel:
    """Asks for a vote three times; counts, and fails where it is told to."""

    evaluation_name = "Panel"

    def __init__(self, *, failing: int = 0, of_this_run: bool = False) -> None:
        self.asked: list[tuple[int, str]] = []
        self.failing = failing
        self.of_this_run = of_this_run

    async def evaluate(self, ctx: Any) -> int:
        return sum([await self._vote(ctx.output, number) for number in (1, 2, 3)])

    async def _vote(self, output: int, number: int) -> int:
        async def ask() -> int:
            self.asked.append((output, f"vote {number}"))
            if number == 3 and self.failing:
                self.failing -= 1
                raise ConnectionError("gone")
            await asyncio.sleep(1)
            return number

        return await concluded(f"vote {number}", "s", ask, int, of_this_run=self.of_this_run)


def told(carried: Carried) -> list[tuple[str, str, str, Any]]:
    lines = carried.of(VerdictLine)
    return [(line.case, line.by, line.part, msgspec.json.decode(line.value)) for line in lines]


def test_each_verdict_is_on_record_before_the_result_that_is_made_of_them() -> None:
    carried = play(cases(1), echo, evaluators=[Panel()])
    assert told(carried) == [("case-0", "Panel", f"vote {n}", n) for n in (1, 2, 3)]
    assert [score.value for score in carried.outcomes["case-0"].scores] == [6]
    kinds = [type(line) for line in carried.lines]
    assert kinds.index(OutcomeLine) > kinds.index(VerdictLine) + 2


def test_another_try_of_the_evaluator_asks_only_for_what_is_missing() -> None:
    panel = Panel(failing=1)
    carried = play(cases(1), echo, evaluators=[panel], retry_evaluators=Retry(attempts=2, on=None))
    assert carried.ended == {"scored": 1}
    assert panel.asked == [(0, f"vote {n}") for n in (1, 2, 3, 3)]
    assert len(told(carried)) == 3


def test_an_evaluator_that_fails_leaves_the_verdicts_that_it_had() -> None:
    carried = play(cases(1), echo, evaluators=[Panel(failing=9)], retry_evaluators=Retry(attempts=1))
    assert carried.ended == {"evaluator_error": 1}
    assert [part for _, _, part, _ in told(carried)] == ["vote 1", "vote 2"]


def test_verdicts_on_record_are_handed_to_the_evaluator_that_has_concluded_them() -> None:
    record = {
        Said("Panel", "vote 1", "s"): msgspec.Raw(b"10"),
        Said("Panel", "vote 2", "of another judge"): msgspec.Raw(b"20"),
        Said("Panel_2", "vote 3", "s"): msgspec.Raw(b"30"),
    }
    first, second = Panel(), Panel()
    carried = play(None, echo, source=Answers(Stored(output=0, verdicts=record)), evaluators=[first, second])
    assert [part for _, part in first.asked] == ["vote 2", "vote 3"]
    assert [part for _, part in second.asked] == ["vote 1", "vote 2"]
    values = {score.by: score.value for line in carried.lines for score in getattr(line, "scores", ())}
    assert values == {"Panel": 15, "Panel_2": 33}


def test_what_another_run_has_concluded_goes_on_this_ones_record() -> None:
    record = {Said("Panel", "vote 1", "s"): msgspec.Raw(b"10")}
    stored = Stored(output=0, verdicts=record, on_record=False)
    carried = play(None, echo, source=Answers(stored), evaluators=[Panel()])
    assert [value for *_, value in told(carried)] == [10, 2, 3]
    stored.on_record = True
    carried = play(None, echo, source=Answers(stored), evaluators=[Panel()])
    assert [part for _, _, part, _ in told(carried)] == ["vote 2", "vote 3"]


def test_what_another_run_has_concluded_does_not_count_where_only_this_one_does() -> None:
    record = {Said("Panel", "vote 1", "s"): msgspec.Raw(b"10")}
    stored = Stored(output=0, verdicts=record, on_record=False)
    carried = play(None, echo, source=Answers(stored), evaluators=[Panel(of_this_run=True)])
    assert [value for *_, value in told(carried)] == [1, 2, 3]
    stored.on_record = True
    carried = play(None, echo, source=Answers(stored), evaluators=[Panel(of_this_run=True)])
    assert [value for *_, value in told(carried)] == [2, 3]


def test_cases_that_are_scored_at_once_have_verdicts_of_their_own() -> None:
    carried = play(cases(5), echo, evaluators=[Panel()])
    assert sorted(told(carried)) == sorted(
        (f"case-{case}", "Panel", f"vote {n}", n) for case in range(5) for n in (1, 2, 3)
    )


def test_an_evaluator_on_a_thread_has_them_too() -> None:
    def judge(output: int) -> int:
        async def conclude() -> int:
            return 7

        return asyncio.run(concluded("all", "s", conclude, int))

    carried = really(cases(2), echo, evaluators=[judge])
    assert carried.ended == {"scored": 2}
    assert sorted(told(carried)) == [("case-0", "judge", "all", 7), ("case-1", "judge", "all", 7)]


def test_nobody_keeps_verdicts_for_a_task_or_for_an_instant_evaluator() -> None:
    seen: list[object] = []

    async def task(number: int) -> int:
        seen.append(current_verdicts.get())
        return number

    @instant
    def at_once(output: int) -> bool:
        seen.append(current_verdicts.get())
        return True

    play(cases(1), task, evaluators=[at_once, Panel()])
    assert seen == [None, None]


def test_turns_are_told_apart_by_more_than_their_case() -> None:
    """The evaluator of one variant never finds what was said about another."""
    turns = [turn_of(case, "same", stored=Stored(output=case.inputs)) for case in cases(2)]
    turns[1].key = turns[1].key._replace(variant="big")

    class Both(Answers):
        def __init__(self) -> None:
            self._turns = turns
            self.expected, self.exhausted = 2, False

    carried = play(None, echo, source=Both(), evaluators=[Panel()])
    assert {(line.case, line.variant) for line in carried.of(VerdictLine)} == {("same", ""), ("same", "big")}
