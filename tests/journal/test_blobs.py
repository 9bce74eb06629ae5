"""Big values lie beside the journal, whole and safe before any line names them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from paceline.errors import JournalBroken, JournalError
from paceline.journal import Journal, MemoryJournal, Recorded, locate
from paceline.journal.blobs import BLOB_OVER, blob_named_by, digest_of, envelope, read_blob
from paceline.journal.redaction import Redactor
from tests.journal.disks import FullDisk, RecordingDisk
from tests.journal.lines import outcome, output, run_line

PLAIN = Redactor()
BIG = b'"%b"' % (b"x" * BLOB_OVER)


def test_a_value_up_to_the_limit_stays_in_its_line(tmp_path: Path) -> None:
    fits = BIG[2:]
    assert len(fits) == BLOB_OVER
    with Journal.create(tmp_path / "run", run_line(), redactor=PLAIN) as journal:
        assert bytes(journal.keep(fits)) == fits
        assert bytes(journal.keep(b"")) == b""
    assert not (tmp_path / "run" / "blobs").exists()


@pytest.mark.parametrize(("name", "directory"), [("run", "run/blobs"), ("run.jsonl", "run.jsonl.blobs")])
def test_a_bigger_one_goes_to_a_file_named_by_its_hash(tmp_path: Path, name: str, directory: str) -> None:
    with Journal.create(tmp_path / name, run_line(), redactor=PLAIN) as journal:
        kept = journal.keep(BIG)
        journal.append(outcome("a", output=kept))
    digest = hashlib.sha256(BIG).hexdigest()
    assert msgspec.json.decode(kept) == {"$paceline": {"blob": digest, "bytes": len(BIG)}}
    assert blob_named_by(kept) == (digest, len(BIG))
    assert [path.name for path in (tmp_path / directory).iterdir()] == [digest]
    assert read_blob(tmp_path / directory, digest) == BIG
    assert journal.source().value(kept) == BIG


def test_file_and_directory_are_synced_before_the_line_that_names_them_is_written(tmp_path: Path) -> None:
    disk = RecordingDisk()
    with Journal.create(tmp_path / "run", run_line(), redactor=PLAIN, disk=disk) as journal:
        del disk.done[:]
        journal.append(outcome("a", output=journal.keep(BIG)))
    name = digest_of(BIG)
    assert disk.done == [
        ("make directory", "blobs"),
        ("sync directory", "run"),
        ("write", f"{name}.part"),
        ("sync", f"{name}.part"),
        ("replace", name),
        ("sync directory", "blobs"),
        ("write", "journal.jsonl"),
        ("sync", "journal.jsonl"),
    ]


def test_the_same_value_is_written_once(tmp_path: Path) -> None:
    disk = RecordingDisk()
    with Journal.create(tmp_path / "run", run_line(), redactor=PLAIN, disk=disk) as journal:
        for case in "ab":
            journal.append(outcome(case, output=journal.keep(BIG)))
            journal.flush()
    assert sum(1 for step, name in disk.done if step == "replace") == 1


def test_one_that_another_process_put_there_is_looked_at_and_synced_once(tmp_path: Path) -> None:
    """It may not be safe yet, or not whole any more."""
    place = tmp_path / "run"
    name = digest_of(BIG)
    with Journal.create(place, run_line(), redactor=PLAIN, durability="os") as journal:
        journal.append(outcome("a", output=journal.keep(BIG)))
    for damaged in (False, True):
        if damaged:
            (place / "blobs" / name).write_bytes(BIG.replace(b"x", b"y", 1))
        disk = RecordingDisk()
        with Journal.open(place, redactor=PLAIN, disk=disk) as journal:
            del disk.done[:]
            for case in "bc":
                journal.append(outcome(case, output=journal.keep(BIG)))
                journal.flush()
        put = [("sync", name)]
        if damaged:
            put = [("write", f"{name}.part"), ("sync", f"{name}.part"), ("replace", name)]
        commit = [("write", "journal.jsonl"), ("sync", "journal.jsonl")]
        assert disk.done == [*put, ("sync directory", "blobs"), *commit, *commit]
        assert read_blob(place / "blobs", name) == BIG


def test_what_a_crash_left_half_written_is_written_anew(tmp_path: Path) -> None:
    place = tmp_path / "run"
    (place / "blobs").mkdir(parents=True)
    digest = digest_of(BIG)
    (place / "blobs" / f"{digest}.part").write_bytes(b"half of something")
    with Journal.create(place, run_line(), redactor=PLAIN) as journal:
        journal.append(outcome("a", output=journal.keep(BIG)))
    assert [path.name for path in (place / "blobs").iterdir()] == [digest]
    assert read_blob(place / "blobs", digest) == BIG


def test_no_room_for_a_blob_breaks_the_journal_before_the_line_is_written(tmp_path: Path) -> None:
    place = tmp_path / "run"
    journal = Journal.create(place, run_line(), redactor=PLAIN, disk=FullDisk(1000))
    journal.append(outcome("a", output=journal.keep(BIG)))
    with pytest.raises(JournalBroken):
        journal.flush()
    with pytest.raises(JournalBroken):
        journal.keep(BIG)
    journal.close()
    assert locate(place).journal.read_bytes().count(b"\n") == 1
    assert list((place / "blobs").iterdir()) == []


def test_a_blob_that_is_gone_or_altered_is_an_error_that_names_it(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with Journal.create(place, run_line(), redactor=PLAIN) as journal:
        journal.append(output("a", output=journal.keep(BIG)))
    source = journal.source()
    entry = list(source.entries())[1]
    assert isinstance(entry, Recorded)
    blob = place / "blobs" / digest_of(BIG)
    blob.write_bytes(BIG.replace(b"x", b"y", 1))
    with pytest.raises(JournalError, match=f"altered: {blob}"):
        source.value(entry.line.output)  # type: ignore[union-attr]
    blob.unlink()
    with pytest.raises(JournalError, match=f"missing: {blob}"):
        source.value(entry.line.output)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "value",
    [
        b'"text"',
        b"null",
        b'{"$paceline":{"types":{"":"date"}},"value":"2026-11-18"}',
        b'{"$paceline":{"blob":"../../etc/passwd","bytes":1}}',
        b'{"$paceline":{"blob":"' + b"0" * 64 + b'","bytes":1},"value":1}',
        b'{"$paceline":{"blob":"' + b"0" * 64 + b'"}}',
        b'{"$paceline":{"blob":"' + b"0" * 64 + b'","bytes":"many"}}',
    ],
)
def test_only_the_exact_envelope_names_a_blob(value: bytes) -> None:
    assert blob_named_by(value) is None
    assert blob_named_by(envelope("0" * 64, 7)) == ("0" * 64, 7)


def test_memory_keeps_any_value_where_it_is() -> None:
    journal = MemoryJournal(run_line(), redactor=PLAIN)
    journal.append(outcome("a", output=journal.keep(BIG)))
    entry = journal.entry_at(1)
    assert isinstance(entry, Recorded)
    assert journal.value(entry.line.output) == BIG  # type: ignore[union-attr]
