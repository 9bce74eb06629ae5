"""Bodies of calls are on disk before their calls are on record, and come back as they were."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import JournalBroken
from paceline.journal import Journal, locate
from paceline.journal.bodies import NONE_BEFORE, Before, CallBodies, common_start, read_bodies, written
from paceline.journal.records import Key
from paceline.journal.redaction import Redactor
from tests.journal.disks import FullDisk, RecordingDisk
from tests.journal.lines import outcome, run_line

PLAIN = Redactor()


def call(ordinal: int = 1, asked: str = "asked", answered: str = "answered", **fields: object) -> CallBodies:
    told = {"case": "a", "began": 1.0, "ended": 2.0, "request": f"r{ordinal}", **fields}
    return CallBodies(ordinal=ordinal, asked=asked, answered=answered, **told)  # type: ignore[arg-type]


def kept(path: Path, calls: list[CallBodies], redactor: Redactor = PLAIN) -> None:
    with Journal.create(path, run_line(), redactor=redactor) as journal:
        before = NONE_BEFORE
        for each in calls:
            before = journal.keep_bodies(each, before)
        journal.append(outcome("a"))


@pytest.mark.parametrize(
    ("name", "file"), [("run", "run/calls.jsonl"), ("run.jsonl", "run.jsonl.calls.jsonl")]
)
def test_what_was_kept_comes_back(tmp_path: Path, name: str, file: str) -> None:
    calls = [
        call(1, status=200, content_type="application/json", path="/v1/chat/completions"),
        call(2, "asked again", attempt=1),
        call(3, "asked, again and again", ""),
        call(4, "x", ""),
    ]
    kept(tmp_path / name, calls)
    assert list(read_bodies(tmp_path / name)) == calls
    assert (tmp_path / file).exists()


def test_a_request_is_written_as_what_differs_from_the_one_before(tmp_path: Path) -> None:
    history = '{"messages":[' + ",".join(f'"message {number}"' for number in range(2000))
    first, second = history + '],"model":"m"}', history + ',"one more"],"model":"m"}'
    kept(tmp_path / "run", [call(1, first, ""), call(2, second, "")])
    _, line = (tmp_path / "run" / "calls.jsonl").read_bytes().splitlines()
    assert len(line) < 300
    assert [each.asked for each in read_bodies(tmp_path / "run")] == [first, second]


@given(st.lists(st.text(st.sampled_from("ab"), max_size=12), min_size=1, max_size=6))
def test_whatever_was_asked_before_each_request_is_told_in_full(asked: list[str]) -> None:
    before, lines = NONE_BEFORE, []
    for ordinal, text in enumerate(asked, start=1):
        lines.append(written(call(ordinal, text), before))
        before = Before(ordinal, text)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "journal.jsonl").touch()
        Path(folder, "calls.jsonl").write_bytes(b"".join(lines))
        assert [each.asked for each in read_bodies(folder)] == asked


@given(st.text(st.sampled_from("ab"), max_size=9), st.text(st.sampled_from("ab"), max_size=9))
def test_a_common_start_is_the_longest_there_is(one: str, other: str) -> None:
    length = common_start(one, other)
    assert one[:length] == other[:length]
    assert one[: length + 1] != other[: length + 1] or length == min(len(one), len(other))


def test_calls_of_others_are_not_read(tmp_path: Path) -> None:
    kept(tmp_path / "run", [call(1), call(1, case="b"), call(2, repeat=1)])
    wanted = {Key("b")}
    assert [each.case for each in read_bodies(tmp_path / "run", wanted.__contains__)] == ["b"]


def test_bytes_that_are_no_text_are_kept_as_such(tmp_path: Path) -> None:
    kept(tmp_path / "run", [call(answered="", answered_bytes=b"\xff\x00")])
    (read,) = read_bodies(tmp_path / "run")
    assert read.answer == b"\xff\x00"


def test_bodies_are_synced_before_the_line_of_their_call_is_written(tmp_path: Path) -> None:
    disk = RecordingDisk()
    with Journal.create(tmp_path / "run", run_line(), redactor=PLAIN, disk=disk) as journal:
        del disk.done[:]
        journal.keep_bodies(call())
        journal.append(outcome("a"))
    assert disk.done == [
        ("sync directory", "run"),
        ("write", "calls.jsonl"),
        ("sync", "calls.jsonl"),
        ("write", "journal.jsonl"),
        ("sync", "journal.jsonl"),
    ]


def test_where_bodies_cannot_be_written_nothing_is_reported_as_safe(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "run", run_line(), redactor=PLAIN, disk=FullDisk(room=2000)) as journal:
        journal.keep_bodies(call(answered="x" * 4000))
        number = journal.append(outcome("a"))
        with pytest.raises(JournalBroken, match="cannot write"):
            journal.flush()
        assert journal.committed < number


@pytest.mark.parametrize("harm", ["torn", "flipped"])
def test_a_line_that_is_no_more_whole_costs_one_call_only(tmp_path: Path, harm: str) -> None:
    kept(tmp_path / "run", [call(1, "one"), call(2, "one two"), call(3, "one two three")])
    file = tmp_path / "run" / "calls.jsonl"
    first, second, third = file.read_bytes().splitlines(keepends=True)
    if harm == "torn":
        file.write_bytes(first + second + third[:-9])
        assert [each.ordinal for each in read_bodies(tmp_path / "run")] == [1, 2]
    else:
        file.write_bytes(first + second.replace(b"answered", b"answerex") + third)
        read = list(read_bodies(tmp_path / "run"))
        assert [(each.ordinal, each.asked, each.answered) for each in read] == [
            (1, "one", "answered"),
            (3, "", "answered"),  # what it was like is lost; what came back is not
        ]


def test_a_torn_tail_is_cut_before_more_is_written(tmp_path: Path) -> None:
    path = tmp_path / "run"
    kept(path, [call(1)])
    with open(path / "calls.jsonl", "ab") as file:
        file.write(b'{"case":"a","ordi')
    with Journal.open(path, redactor=PLAIN) as journal:
        journal.keep_bodies(call(2))
        journal.append(outcome("a"))
    assert [each.ordinal for each in read_bodies(path)] == [1, 2]


def test_secrets_do_not_enter(tmp_path: Path) -> None:
    key = "sk-" + "a1B2" * 10
    said = f'{{"content":"my key is {key}"}}'
    kept(tmp_path / "run", [call(1, said, said), call(2, said + key, "")], Redactor.standard())
    text = (tmp_path / "run" / "calls.jsonl").read_text()
    assert key not in text
    assert "a1B2a1B2" not in text
    assert "[redacted:openai-key]" in text


def test_a_run_without_calls_has_no_file(tmp_path: Path) -> None:
    kept(tmp_path / "run", [])
    assert not locate(tmp_path / "run").bodies.exists()
    assert list(read_bodies(tmp_path / "run")) == []
