"""From the bodies on record to the tape of the attempt that goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from paceline.conduct.tapes import RecordedCalls, recording_for, taping_of
from paceline.errors import UsageError
from paceline.journal import Journal
from paceline.journal.bodies import CallBodies
from paceline.journal.records import Key
from paceline.journal.redaction import Redactor
from paceline.options import Options
from paceline.pace.tape import Tape
from tests.journal.lines import outcome, run_line

PLAIN = Redactor()


def recorded(path: Path, *calls: CallBodies) -> Path:
    with Journal.create(path, run_line(), redactor=PLAIN) as journal:
        for call in calls:
            journal.keep_bodies(call)
        journal.append(outcome("a"))
    return path


def call(request: str, at: float, attempt: int = 1, **fields: object) -> CallBodies:
    told = {"case": "a", "answered": request, **fields}
    return CallBodies(request=request, began=at, ended=at, attempt=attempt, ordinal=int(at), **told)  # type: ignore[arg-type]


def requests(path: Path, key: Key, by: str = "") -> list[str]:
    return [taped.request for taped in RecordedCalls(path)(key, by)]


def test_an_attempt_that_was_cut_off_is_gone_on_with(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run", call("p", 1), call("q", 2), call("x", 1, case="b"))
    assert requests(path, Key("a")) == ["p", "q"]
    assert requests(path, Key("b")) == ["x"]
    assert requests(path, Key("c")) == []


def test_one_that_went_on_itself_and_was_cut_off_too_is_put_together(tmp_path: Path) -> None:
    path = recorded(
        tmp_path / "run",
        *(call("p", 1), call("q", 2)),
        *(call("p", 3, 2, replayed=True), call("q", 4, 2, replayed=True), call("r", 5, 2)),
    )
    assert requests(path, Key("a")) == ["p", "q", "r"]


def test_one_that_was_cut_off_while_it_was_answered_has_all_of_the_tape_still(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run", call("p", 1), call("q", 2), call("p", 3, 2, replayed=True))
    assert requests(path, Key("a")) == ["p", "q"]


def test_what_an_attempt_has_asked_that_came_to_its_end_is_not_played(tmp_path: Path) -> None:
    path = recorded(
        tmp_path / "run",
        call("p", 1),
        CallBodies(case="a", attempt=2, ordinal=0, fresh=True),
        call("p", 3, 2),
    )
    assert requests(path, Key("a")) == ["p"]
    path = recorded(tmp_path / "other", call("p", 1), CallBodies(case="a", attempt=2, ordinal=0, fresh=True))
    assert requests(path, Key("a")) == []


def test_what_an_evaluator_has_asked_is_its_own(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run", call("p", 1), call("j", 2, by="LLMJudge"))
    assert requests(path, Key("a")) == ["p"]
    assert requests(path, Key("a"), "LLMJudge") == ["j"]


def test_what_a_part_of_an_evaluator_has_asked_is_its_own(tmp_path: Path) -> None:
    by = "LLMJudge"
    path = recorded(
        tmp_path / "run",
        *(call("p", 1, by=by), call("q", 2, by=by, part="vote 1"), call("r", 3, by=by, part="vote 2")),
    )
    recording = RecordedCalls(path)
    parts = {
        part: [each.request for each in recording(Key("a"), by, part)] for part in ("", "vote 1", "vote 2")
    }
    assert parts == {"": ["p"], "vote 1": ["q"], "vote 2": ["r"]}


def test_names_are_those_that_stand_in_the_record(tmp_path: Path) -> None:
    secret = "sk-" + "a1B2" * 8
    path = tmp_path / "run"
    with Journal.create(path, run_line(), redactor=Redactor.standard()) as journal:
        journal.keep_bodies(call("p", 1, case=f"with {secret}"))
        journal.keep_bodies(call("q", 1, case="lone \ud800"))
        journal.append(outcome("a"))
    recording = RecordedCalls(path, redactor=Redactor.standard())
    assert [taped.request for taped in recording(Key(f"with {secret}"))] == ["p"]
    assert [taped.request for taped in recording(Key("lone \ud800"))] == ["q"]


def test_where_there_is_nothing_to_answer_from_that_is_said_before_anything_runs(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    with Journal.create(empty, run_line(), redactor=PLAIN):
        pass
    with pytest.raises(UsageError, match="no calls on record"):
        recording_for(Options(recording=empty), suite="s", path=None)
    with pytest.raises(UsageError, match="no run of s has calls"):
        recording_for(Options(runs=tmp_path), suite="s", path=None)


def test_off_keeps_nothing_and_record_plays_nothing(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run", call("p", 1))

    def tape(options: Options) -> Tape:
        taping = taping_of(options, suite="s", path=path, ledger=None, redactor=PLAIN)
        return taping.tape(Key("a"), goes_on=True)

    off, record = tape(Options(replay="off")), tape(Options(replay="record"))
    assert (len(off), off.kept) == (0, False)
    assert (len(record), record.kept) == (0, True)
    assert len(tape(Options(replay="always", recording=path))) == 1
