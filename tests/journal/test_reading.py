"""Reading: every line in constant memory, in whatever state the file is, while it is being written."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import JournalError
from paceline.journal import Damaged, Journal, Recorded, read_at, read_lines, reading
from paceline.journal.encoding import encode_line
from paceline.journal.reading import Chunk, chunks
from paceline.journal.records import Line
from paceline.journal.redaction import Redactor
from tests.journal.lines import begin, file_of, lines, outcome, raw, run_line


@given(recorded=st.lists(lines, max_size=8))
def test_entries_tell_line_number_offset_and_length(
    recorded: list[Line], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.getbasetemp() / "entries.jsonl"
    content = file_of(run_line(), *recorded)
    place.write_bytes(content)
    entries = list(read_lines(place))
    assert [entry.number for entry in entries] == list(range(1, len(recorded) + 2))
    for entry, line in zip(entries, [run_line(), *recorded], strict=True):
        assert isinstance(entry, Recorded)
        assert entry.sealed
        assert encode_line(entry.line) == encode_line(line)
        assert content[entry.offset :][: entry.length + 1].endswith(b"}\n")
        again = read_at(place, entry.offset)
        assert isinstance(again, Recorded)
        assert encode_line(again.line) == encode_line(line)
        assert next(iter(read_lines(place, start=entry.offset))).offset == entry.offset


@given(st.lists(st.binary(max_size=12).map(lambda it: it.replace(b"\n", b"")), max_size=8), st.booleans())
def test_chunks_of_any_size_give_the_same_lines(several: list[bytes], whole: bool) -> None:
    content = b"\n".join(several) + (b"\n" if whole and several else b"")
    with pytest.MonkeyPatch.context() as patch:
        for size in (1, 2, 3, 7, 100):
            patch.setattr(reading, "CHUNK_BYTES", size)
            found = list(chunks(io.BytesIO(content)))
            rebuilt = b"".join(b"\n".join(it.lines) + (b"\n" if it.whole else b"") for it in found)
            assert rebuilt == content
            for chunk in found:
                assert content[chunk.offset : chunk.end].rstrip(b"\n").split(b"\n")[0] == chunk.lines[0]
            assert all(chunk.whole for chunk in found[:-1])
            assert [chunk.offset for chunk in found[1:]] == [chunk.end for chunk in found[:-1]]


def test_damage_is_told_where_it_stands_and_hides_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    good = file_of(run_line())
    place.write_bytes(good + b"\0" * 30 + b"\n" + file_of(begin("a")) + b"\n  \n" + b'{"id":1}\n')
    first, damaged, second, foreign = read_lines(place)
    assert isinstance(first, Recorded)
    assert isinstance(second, Recorded)
    assert damaged == Damaged("zeros", "30 NUL bytes", 2, len(good), 30)
    assert second.line == begin("a")
    assert second.number == 3
    assert isinstance(foreign, Damaged)
    assert foreign.reason == "unknown kind"
    assert foreign.number == 6


def test_a_torn_tail_is_simply_the_present_end(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    content = file_of(run_line(), begin("a"))
    for cut in range(len(content)):
        place.write_bytes(content[:cut])
        assert len(list(read_lines(place))) == content[:cut].count(b"\n")
    place.write_bytes(content[:-1])
    torn = read_at(place, len(file_of(run_line())))
    assert isinstance(torn, Damaged)
    assert torn.reason == "torn"


def test_a_journal_is_read_while_it_is_written(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "run", run_line(), redactor=Redactor()) as journal:
        for number in range(1, 20):
            journal.append(outcome(f"case {number}"))
            journal.flush()
            assert len(list(read_lines(tmp_path / "run"))) == journal.committed == number + 1


def test_a_value_is_fetched_from_wherever_it_lies(tmp_path: Path) -> None:
    big = b'"%b"' % (b"x" * 300_000)
    with Journal.create(tmp_path / "run", run_line(), redactor=Redactor()) as journal:
        journal.append(outcome("a", output=journal.keep(big)))
        journal.append(outcome("b", output=journal.keep(b'"small"')))
    source = journal.source()
    values = [
        source.value(entry.line.output)  # type: ignore[union-attr]
        for entry in source.entries()
        if isinstance(entry, Recorded) and entry.number > 1
    ]
    assert values == [big, b'"small"']


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    line = file_of(begin("a", inputs=raw("x" * 1000)))
    place.write_bytes(file_of(run_line()) + line * 20_000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_lines(place)) == 20_001
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 * reading.CHUNK_BYTES < place.stat().st_size


def test_a_chunk_knows_where_it_ends() -> None:
    assert list(chunks(io.BytesIO(b"ab\nc"))) == [Chunk(0, [b"ab"], 3), Chunk(3, [b"c"], 4, whole=False)]


def test_no_run_is_an_error_that_says_where(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no run at"):
        list(read_lines(tmp_path / "nowhere"))
    (tmp_path / "dir.jsonl" / "journal.jsonl").mkdir(parents=True)
    with pytest.raises(JournalError, match="cannot read"):
        list(read_lines(tmp_path / "dir.jsonl"))
