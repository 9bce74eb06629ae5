"""A journal in memory is written and read like one on disk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import JournalError
from paceline.journal import FileSource, Journal, JournalSource, MemoryJournal, Recorded, Redactor
from paceline.journal.encoding import encode_line
from paceline.journal.records import Line
from tests.journal.disks import HastyDisk
from tests.journal.lines import begin, lines, run_line

PLAIN = Redactor()


@given(several=st.lists(lines, max_size=6))
def test_it_reads_as_the_same_lines_in_a_file_do(
    several: list[Line], tmp_path_factory: pytest.TempPathFactory
) -> None:
    memory = MemoryJournal(run_line(format=0), redactor=PLAIN)
    file = Journal.create(tmp_path_factory.mktemp("run"), run_line(), redactor=PLAIN, disk=HastyDisk())
    with memory, file:
        for line in several:
            assert memory.append(line) == file.append(line)
    sources: list[JournalSource] = [memory, file.source(), FileSource(file.places.path)]
    told = [
        [(entry.number, encode_line(entry.line)) for entry in source.entries() if isinstance(entry, Recorded)]
        for source in sources
    ]
    assert told[0] == told[1] == told[2]
    assert len(told[0]) == len(several) + 1


def test_a_line_is_committed_as_soon_as_it_is_appended() -> None:
    journal = MemoryJournal(run_line(), redactor=PLAIN)
    told: list[int] = []
    journal.on_commit = told.append
    assert journal.append(begin("a")) == 2 == journal.committed
    assert told == [2]
    assert journal.flush(0.0)
    assert not journal.lagging


def test_entries_can_be_taken_from_any_position_while_more_come() -> None:
    journal = MemoryJournal(run_line(), redactor=PLAIN)
    for case in "abc":
        journal.append(begin(case))
        entry = journal.entry_at(journal.committed - 1)
        assert isinstance(entry, Recorded)
        assert entry.line == begin(case)
    assert [entry.offset for entry in journal.entries(2)] == [2, 3]


def test_a_closed_one_takes_nothing_and_can_be_read() -> None:
    with MemoryJournal(run_line(), redactor=PLAIN) as journal:
        pass
    with pytest.raises(JournalError, match="closed"):
        journal.append(begin("a"))
    assert len(list(journal.entries())) == 1
