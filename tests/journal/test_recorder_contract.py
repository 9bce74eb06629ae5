"""What every recorder promises the engine; one suite over all of them, the fake of other tests too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from paceline.engine.ports import Recorder
from paceline.journal import FileSource, Journal, MemoryJournal, Recorded
from paceline.journal.blobs import BLOB_OVER
from paceline.journal.records import Line
from paceline.journal.redaction import Redactor
from paceline.settings import Durability
from tests.engine.stage import SlowDisk
from tests.journal.lines import begin, outcome, run_line

PLAIN = Redactor()
BIG = b'"%b"' % (b"x" * BLOB_OVER)


class Kept(NamedTuple):
    """A recorder, and how its tests have it come to rest and read it."""

    recorder: Recorder
    settle: Callable[[], object]
    lines: Callable[[], list[Line]]
    value: Callable[[Any], bytes]


def of_journal(journal: Journal | MemoryJournal) -> Kept:
    source = journal.source()

    def lines() -> list[Line]:
        return [entry.line for entry in source.entries() if isinstance(entry, Recorded)]

    return Kept(journal, journal.flush, lines, source.value)


def of_fake() -> Kept:
    disk = SlowDisk()
    disk.append(run_line())
    disk.commit()
    return Kept(disk, disk.commit, lambda: list(disk.lines), bytes)


@pytest.fixture(params=["on disk", "left to the system", "a single file", "in memory", "fake"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    match request.param:
        case "in memory":
            yield of_journal(MemoryJournal(run_line(), redactor=PLAIN))
        case "fake":
            yield of_fake()
        case how:
            place = tmp_path / ("run.jsonl" if how == "a single file" else "run")
            durability: Durability = "os" if how == "left to the system" else "disk"
            with Journal.create(place, run_line(), redactor=PLAIN, durability=durability) as journal:
                yield of_journal(journal)
            assert len(list(FileSource(place).entries())) > 1, "it is there for the next process, too"


def test_lines_are_numbered_in_the_order_in_which_they_come_and_read_back_in_it(kept: Kept) -> None:
    written: list[Line] = [begin("a"), begin("b"), outcome("b"), outcome("a")]
    numbers = [kept.recorder.append(line) for line in written]
    assert numbers == [2, 3, 4, 5], "the line of the run is the first"
    kept.settle()
    assert kept.lines()[1:] == written


def test_what_is_committed_is_told_in_growing_numbers_up_to_the_last(kept: Kept) -> None:
    told: list[int] = []
    kept.recorder.on_commit = told.append
    for case in "abcdef":
        number = kept.recorder.append(begin(case))
    kept.settle()
    kept.recorder.on_commit = None
    assert kept.recorder.committed == number
    assert told == sorted(set(told))
    assert told[-1] == number


def test_nothing_is_committed_that_cannot_be_read(kept: Kept) -> None:
    seen: list[tuple[int, int]] = []
    kept.recorder.on_commit = lambda committed: seen.append((committed, len(kept.lines())))
    for case in "abc":
        kept.recorder.append(begin(case))
        kept.settle()
    kept.recorder.on_commit = None
    assert seen
    assert all(committed <= readable for committed, readable in seen)


def test_a_value_comes_back_as_it_was_kept_however_big_it_is(kept: Kept) -> None:
    for raw in (b'"small"', BIG):
        value = kept.recorder.keep(raw)
        kept.recorder.append(outcome("a", output=value))
        kept.settle()
        (line,) = [line for line in kept.lines() if getattr(line, "output", None) == value]
        assert kept.value(line.output) == raw  # type: ignore[union-attr]


def test_it_does_not_lag_when_all_is_written(kept: Kept) -> None:
    kept.recorder.append(begin("a"))
    kept.settle()
    assert not kept.recorder.lagging
