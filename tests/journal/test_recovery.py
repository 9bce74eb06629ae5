"""A journal is opened again in whatever state a crash, a disk or a hand has left it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.errors import JournalError, JournalForeign, JournalTooNew
from paceline.journal import Damaged, Entry, Journal, Ledger, Recorded, locate, read_lines
from paceline.journal.encoding import encode_line, seal
from paceline.journal.records import FORMAT, Line
from paceline.journal.redaction import Redactor
from tests.journal.disks import HastyDisk, RecordingDisk
from tests.journal.lines import begin, file_of, finished, lines, outcome, run_line

PLAIN = Redactor()
AFTER = begin("after")
HASTY = HastyDisk()
"""What is asked here is what stands in a file, thousands of times; that it is synced is asked elsewhere."""


def reopened(place: Path) -> Journal:
    return Journal.open(place, redactor=PLAIN, disk=HASTY)


def bodies(place: Path) -> list[bytes]:
    return [encode_line(entry.line) for entry in read_lines(place) if isinstance(entry, Recorded)]


def damages(place: Path) -> list[Damaged]:
    return [entry for entry in read_lines(place) if isinstance(entry, Damaged)]


@settings(max_examples=4)
@given(recorded=st.lists(lines, min_size=1, max_size=3))
def test_a_crash_at_any_byte_loses_only_the_line_being_written(
    recorded: list[Line], tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = file_of(run_line(), *recorded)
    root = tmp_path_factory.mktemp("torn")
    for cut in range(len(whole) + 1):
        place = root / f"{cut}.jsonl"
        place.write_bytes(whole[:cut])
        survivors = whole[:cut].count(b"\n")
        assert Journal.exists(place) == (survivors > 0)
        if survivors:
            journal = reopened(place)
            torn = cut - whole[:cut].rfind(b"\n") - 1
            assert journal.recovery.torn_bytes == torn
            if torn:
                assert journal.recovery.torn_copy is not None
                assert journal.recovery.torn_copy.read_bytes() == whole[cut - torn : cut]
        else:
            journal = Journal.create(place, run_line(), redactor=PLAIN, disk=HASTY)
            survivors = 1
        with journal:
            journal.append(AFTER)
        assert bodies(place) == [*map(encode_line, [run_line(), *recorded][:survivors]), encode_line(AFTER)]
        assert damages(place) == []


@settings(max_examples=60)
@given(
    recorded=st.lists(lines, min_size=2, max_size=5),
    hurt=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 7)), min_size=1, max_size=3),
)
def test_flipped_bits_lose_exactly_the_lines_they_are_in(
    recorded: list[Line], hurt: list[tuple[float, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray(file_of(run_line(), *recorded))
    for where, bit in hurt:
        content[int(where * len(content))] ^= 1 << bit
    assert_only_touched_lines_are_lost(
        [run_line(), *recorded], bytes(content), tmp_path_factory.mktemp("run")
    )


@settings(max_examples=60)
@given(
    recorded=st.lists(lines, min_size=2, max_size=5),
    where=st.floats(0, 1, exclude_max=True),
    length=st.integers(1, 400),
    byte=st.sampled_from([0, 0, 0xFF, ord("x")]),
)
def test_overwritten_bytes_lose_exactly_the_lines_they_are_in(
    recorded: list[Line], where: float, length: int, byte: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray(file_of(run_line(), *recorded))
    start = int(where * len(content))
    end = min(start + length, len(content))
    content[start:end] = bytes([byte]) * (end - start)
    assert_only_touched_lines_are_lost(
        [run_line(), *recorded],
        bytes(content),
        tmp_path_factory.mktemp("run"),
        # Letters over half a string and half a seal happen to look like an edit, and are reported as one.
        may_look_edited=byte == ord("x"),
    )


def assert_only_touched_lines_are_lost(
    written: list[Line], content: bytes, root: Path, *, may_look_edited: bool = False
) -> None:
    """Every line of which no byte changed, nor the newline before it, can be read; any other is reported."""
    whole = file_of(*written)
    spans: list[tuple[int, int]] = []
    for line in written:
        start = spans[-1][1] if spans else 0
        spans.append((start, start + len(file_of(line))))
    lost = [
        number
        for number, (start, end) in enumerate(spans)
        if content[max(start - 1, 0) : end] != whole[max(start - 1, 0) : end]
    ]
    kept = [encode_line(line) for number, line in enumerate(written) if number not in lost]
    place = root / "run.jsonl"
    place.write_bytes(content)
    if not kept:
        return  # whether that is a journal at all is another question
    with reopened(place) as journal:
        recovery = journal.recovery
        journal.append(AFTER)
    sealed = [it for it in read_lines(place) if isinstance(it, Recorded) and it.sealed]
    assert [encode_line(it.line) for it in sealed] == [*kept, encode_line(AFTER)]
    edits = [it for it in read_lines(place) if isinstance(it, Recorded) and not it.sealed]
    assert recovery.unsealed == len(edits)
    assert may_look_edited or not edits
    reports = damages(place)
    assert recovery.damaged == len(reports)
    assert recovery.damaged == 0 or recovery.damaged_copy is not None
    torn_from = len(content) - recovery.torn_bytes
    remarks: list[Entry] = [*reports, *edits]
    for number in lost:
        start, end = spans[number]
        told = any(it.offset < end and it.offset + it.length >= start for it in remarks)
        assert told or end > torn_from
    assert lost or not (reports or edits or recovery.torn_bytes)
    if recovery.torn_copy is not None:
        assert recovery.torn_copy.read_bytes() == content[torn_from:]
    if recovery.damaged_copy is not None:
        copies = [json.loads(copy) for copy in recovery.damaged_copy.read_bytes().splitlines()]
        assert [copy["offset"] for copy in copies] == [report.offset for report in reports]


def test_a_damaged_line_in_the_middle_stays_and_a_copy_of_it_is_kept(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    good = file_of(run_line(), *finished("a"))
    bad = seal(encode_line(begin("b"))).replace(b'"b"', b'"c"')
    place.write_bytes(good + bad + file_of(*finished("d")))
    before = place.read_bytes()
    for _ in range(2):  # opening again neither doubles nor loses anything
        with reopened(place) as journal:
            assert journal.recovery.damaged == 1
            assert journal.recovery.damaged_copy == tmp_path / "run.jsonl.damaged"
        copy = json.loads((tmp_path / "run.jsonl.damaged").read_bytes())
        assert copy["line"] == 4
        assert copy["offset"] == len(good)
        assert copy["text"].encode() + b"\n" == bad
        assert "checksum" in copy["reason"]
    assert place.read_bytes() == before


def test_garbage_at_the_end_is_cut_off_and_kept_even_if_it_ends_with_a_newline(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    good = file_of(run_line(), *finished("a"))
    for number, tail in enumerate(
        [b"\0" * 5000, b"\0" * 10 + b"\n", b"\xff\xfe garbage\nmore\n", b'{"kind'], 1
    ):
        place.write_bytes(good + tail)
        with reopened(place) as journal:
            assert journal.recovery.torn_copy == tmp_path / f"run.jsonl.torn-{number}"
            assert journal.recovery.torn_copy.read_bytes() == tail
        assert place.read_bytes() == good


def test_a_tail_is_cut_off_only_when_its_copy_is_safe(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    place.write_bytes(file_of(run_line()) + b'{"kind')
    disk = RecordingDisk()
    Journal.open(place, redactor=PLAIN, disk=disk).close()
    assert disk.done == [
        ("write", "run.jsonl.torn-1.part"),
        ("sync", "run.jsonl.torn-1.part"),
        ("replace", "run.jsonl.torn-1"),
        ("sync directory", tmp_path.name),
        ("cut", "run.jsonl"),
        ("sync", "run.jsonl"),
        ("sync directory", tmp_path.name),
    ]


def test_a_last_line_that_someone_edited_wrongly_is_left_for_them_to_see(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    content = file_of(run_line(), *finished("a")).replace(b'"scored"', b'"timeout"')
    place.write_bytes(content)
    with reopened(place) as journal:
        assert journal.recovery.damaged == 1
        assert journal.recovery.torn_bytes == 0
    assert place.read_bytes() == content


def test_a_line_edited_by_hand_with_its_checksum_deleted_counts(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    edited = encode_line(outcome("a", "timeout")) + b"\n"
    place.write_bytes(file_of(run_line(), begin("a")) + edited + b"\n" + file_of(begin("b")))
    with reopened(place) as journal:
        assert journal.recovery.unsealed == 1
        assert journal.recovery.damaged == 0
    ledger = Ledger.read(place)
    assert (ledger.unsealed, ledger.damaged) == (1, 0)
    assert ledger.tally().by_outcome == {"timeout": 1}


def test_a_journal_whose_first_line_is_damaged_is_still_ours(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    place.write_bytes(b"\0" * 50 + file_of(run_line(), *finished("a"))[50:])
    assert Journal.exists(place)
    with reopened(place) as journal:
        assert journal.recovery.damaged == 1
    ledger = Ledger.read(place)
    assert ledger.run is None
    assert ledger.tally().passed == 1


FIRST_LINE = file_of(run_line())


@pytest.mark.parametrize(
    "leftover",
    [
        b"",
        b"\x00" * 100,
        b"{",
        FIRST_LINE[:20],
        FIRST_LINE[:-1],
        FIRST_LINE[:30] + b"\x00" * 90,
        b"\x00\n",
        FIRST_LINE.replace(b"demo", b"demp"),
        b"x" + FIRST_LINE[1:],
    ],
)
def test_what_a_crash_at_the_very_first_write_leaves_counts_as_nothing(
    tmp_path: Path, leftover: bytes
) -> None:
    place = tmp_path / "run"
    place.mkdir()
    file = locate(place).journal
    file.write_bytes(leftover)
    assert not Journal.exists(place)
    with pytest.raises(JournalError, match="no run"):
        Journal.open(place)
    assert file.read_bytes() == leftover
    with Journal.create(place, run_line(), redactor=PLAIN):
        pass
    assert bodies(place) == [encode_line(run_line())]
    kept = [copy.read_bytes() for copy in place.glob("*.torn-1")]
    assert kept == ([leftover] if leftover else [])


FOREIGN = [
    b'{"id": "q1", "output": "Paris"}\n{"id": "q2", "output": "Rome"}\n',
    b'{"id": "q1", "output": "Paris"}',
    b'[{"id": 1}]\n',
    b"id,output\nq1,Paris\n",
    b"%PDF-1.4 ...",
    b'{"kind": "run", "name": "of some other tool"}\n',
    b'{"kind":"begin","case":"a"}\n',
    b"\n\n\n{}\n",
    b"x" * 3_000_000,
]


VERBS: dict[str, Callable[[Path], object]] = {
    "create": lambda place: Journal.create(place, run_line()),
    "open": Journal.open,
    "exists": Journal.exists,
}


@pytest.mark.parametrize("content", FOREIGN)
@pytest.mark.parametrize("verb", VERBS)
def test_a_foreign_file_is_recognised_and_left_byte_for_byte(
    tmp_path: Path, content: bytes, verb: str
) -> None:
    place = tmp_path / "results.jsonl"
    place.write_bytes(content)
    before = place.stat()
    with pytest.raises(JournalForeign) as refused:
        VERBS[verb](place)
    assert f"paceline rescore {place} --evaluators EqualsExpected --expected gold.jsonl" in refused.value.hint
    assert place.read_bytes() == content
    after = place.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_mode,
    )
    assert list(tmp_path.iterdir()) == [place]


def test_a_file_that_is_not_jsonl_is_no_run_directory(tmp_path: Path) -> None:
    place = tmp_path / "results.json"
    place.write_text("{}")
    with pytest.raises(JournalForeign, match="not a run directory"):
        Journal.create(place, run_line())
    assert list(tmp_path.iterdir()) == [place]


def test_a_journal_of_a_later_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    content = file_of(run_line(format=FORMAT + 1)) + seal(b'{"kind":"novelty"}')
    place.write_bytes(content)
    with pytest.raises(JournalTooNew, match=f"format {FORMAT + 1}"):
        Journal.open(place)
    with pytest.raises(JournalTooNew, match=f"format {FORMAT + 1}"):
        Journal.create(place, run_line())
    assert place.read_bytes() == content
    assert list(tmp_path.iterdir()) == [place]


def test_a_damaged_first_line_is_not_believed_when_it_speaks_of_a_later_format(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    place.write_bytes(file_of(run_line()).replace(b'"format":1', b'"format":3') + file_of(*finished("a")))
    with reopened(place) as journal:
        assert journal.recovery.damaged == 1


def test_lines_of_a_kind_that_a_later_version_adds_are_kept(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    content = file_of(run_line()) + seal(b'{"kind":"novelty"}') + file_of(*finished("a"))
    content += seal(b'{"kind":"novelty"}')
    place.write_bytes(content)
    with reopened(place) as journal:
        assert journal.recovery.damaged == 0
    assert place.read_bytes() == content
    ledger = Ledger.read(place)
    assert ledger.damaged == 0
    assert ledger.tally().passed == 1
