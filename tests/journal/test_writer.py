"""The writer: what it has reported survives, and a disk that refused is never asked again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.errors import JournalBroken, JournalError
from paceline.journal import Journal, read_lines
from paceline.journal.disk import Disk, OsDisk
from paceline.journal.reading import Recorded
from paceline.journal.records import Line
from paceline.journal.redaction import Redactor
from paceline.journal.writer import LAGGING_LINES
from tests.journal.disks import FullDisk, RecordingDisk, ShortDisk, UnsyncableDisk, VolatileDisk
from tests.journal.lines import begin, outcome, raw, run_line

PLAIN = Redactor()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def cases_in(path: Path) -> list[str]:
    lines = [entry.line for entry in read_lines(path) if isinstance(entry, Recorded)]
    return [line.case for line in lines if not isinstance(line, type(run_line()))]  # type: ignore[union-attr]


class Gate(OsDisk):
    """Holds every sync up until it is told to go on."""

    def __init__(self) -> None:
        self.waiting = threading.Semaphore(0)
        self.go = threading.Semaphore(0)

    def sync(self, fd: int) -> None:
        self.waiting.release()
        self.go.acquire()
        super().sync(fd)


def test_what_gathers_during_a_commit_is_committed_together(place: Path) -> None:
    disk = Gate()
    for _ in range(2):  # the empty file, and the first line
        disk.go.release()
    with Journal.create(place, run_line(), redactor=PLAIN, disk=disk) as journal:
        for _ in range(2):
            disk.waiting.acquire()
        told: list[int] = []
        journal.on_commit = told.append
        assert journal.append(begin("a")) == 2
        disk.waiting.acquire()  # the first is being synced; the others come meanwhile
        assert [journal.append(begin(case)) for case in "bcd"] == [3, 4, 5]
        assert journal.committed == 1
        assert not journal.flush(timeout=0.001)
        disk.go.release(100)
        assert journal.flush()
    assert told == [2, 5]
    assert cases_in(place) == ["a", "b", "c", "d"]


def test_a_line_is_reported_only_after_its_write_and_its_sync(place: Path) -> None:
    disk = RecordingDisk()
    with Journal.create(place, run_line(), redactor=PLAIN, disk=disk) as journal:
        del disk.done[:]
        journal.on_commit = lambda _: disk.done.append(("told", ""))
        journal.append(begin("a"))
        journal.flush()
    assert disk.done == [("write", "run.jsonl"), ("sync", "run.jsonl"), ("told", "")]


def test_whoever_waits_for_a_line_to_be_safe_is_told_then_and_not_before(place: Path) -> None:
    disk = Gate()
    for _ in range(2):
        disk.go.release()
    with Journal.create(place, run_line(), redactor=PLAIN, disk=disk) as journal:
        for _ in range(2):
            disk.waiting.acquire()
        told: list[str] = []
        safe = threading.Event()
        journal.when_safe(lambda: told.append("nothing to wait for"))
        journal.append(begin("a"))
        disk.waiting.acquire()  # it is being synced
        journal.append(begin("b"))
        journal.when_safe(lambda: told.append("b"))
        journal.when_safe(safe.set)
        assert told == ["nothing to wait for"]
        disk.go.release()
        disk.waiting.acquire()  # "a" is safe, and "b" is being synced
        assert told == ["nothing to wait for"]
        disk.go.release(100)
        assert safe.wait(30)
    assert told == ["nothing to wait for", "b"]


def test_nobody_waits_for_a_disk_that_has_refused(place: Path) -> None:
    disk = FullDisk(200)
    journal = Journal.create(place, run_line(), redactor=PLAIN, disk=disk)
    told = threading.Event()
    with suppress(JournalBroken):
        for _ in range(100):
            journal.append(begin("a"))
        journal.when_safe(told.set)
        assert told.wait(30)
    told.clear()
    journal.when_safe(told.set)
    assert told.is_set()
    journal.close()


def test_durability_of_the_operating_system_syncs_nothing_after_the_start(place: Path) -> None:
    disk = RecordingDisk()
    with Journal.create(place, run_line(), durability="os", redactor=PLAIN, disk=disk) as journal:
        del disk.done[:]
        journal.append(begin("a"))
    assert disk.done == [("write", "run.jsonl")]
    assert cases_in(place) == ["a"]


def test_many_threads_may_append_at_once_and_every_number_stands_for_its_line(place: Path) -> None:
    with Journal.create(place, run_line(), durability="os", redactor=PLAIN) as journal:
        numbers: dict[str, int] = {}

        def append(thread: int) -> None:
            for turn in range(200):
                case = f"{thread}-{turn}"
                numbers[case] = journal.append(begin(case))

        threads = [threading.Thread(target=append, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [numbers[case] for case in cases_in(place)] == list(range(2, 802))


def test_a_listener_that_raises_stops_nothing(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    def gone(_: int) -> None:
        raise RuntimeError("Event loop is closed")

    with Journal.create(place, run_line(), redactor=PLAIN) as journal:
        journal.on_commit = gone
        journal.append(begin("a"))
        journal.flush()
        journal.append(begin("b"))
        assert journal.flush()
    assert cases_in(place) == ["a", "b"]
    assert "Event loop is closed" in caplog.text


def test_a_closed_journal_takes_nothing_and_may_be_closed_again(place: Path) -> None:
    journal = Journal.create(place, run_line(), redactor=PLAIN)
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="closed"):
        journal.append(begin("a"))


def test_a_disk_that_falls_behind_is_seen_as_lagging(place: Path) -> None:
    disk = Gate()
    disk.go.release(2)
    with Journal.create(place, run_line(), redactor=PLAIN, disk=disk) as journal:
        line = begin("a")
        lagging = [journal.lagging]
        for _ in range(LAGGING_LINES + 1):
            journal.append(line)
        lagging.append(journal.lagging)
        disk.go.release(100)
        journal.flush()
        lagging.append(journal.lagging)
    assert lagging == [False, True, False]


def test_big_values_that_gather_count_as_lagging_too(place: Path) -> None:
    disk = Gate()
    disk.go.release(2)
    with Journal.create(place, run_line(), redactor=PLAIN, disk=disk) as journal:
        journal.append(begin("a"))
        for number in range(65):
            journal.keep(b'"%d%b"' % (number, b"x" * 1024 * 1024))
        assert journal.lagging
        disk.go.release(100)


@pytest.mark.parametrize("most", [1, 7, 4096])
def test_short_writes_are_carried_on(place: Path, most: int) -> None:
    with Journal.create(place, run_line(), redactor=PLAIN, disk=ShortDisk(most)) as journal:
        for case in "abc":
            journal.append(begin(case))
    assert cases_in(place) == ["a", "b", "c"]


def exhaust(journal: Journal, line: Line) -> JournalBroken:
    """Append until the journal is broken."""

    def append_for_ever() -> None:
        while True:
            journal.append(line)
            journal.flush()

    with pytest.raises(JournalBroken) as refused:
        append_for_ever()
    return refused.value


@settings(max_examples=30)
@given(room=st.integers(200, 2000))
def test_a_full_disk_breaks_the_journal_and_leaves_whole_lines(
    room: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("full") / "run.jsonl"
    told: list[int] = []
    broken: list[JournalBroken] = []
    disk = FullDisk(room)
    journal = Journal.create(place, run_line(), redactor=PLAIN, disk=disk)
    journal.on_commit, journal.on_broken = told.append, broken.append
    error = exhaust(journal, begin("a"))
    assert "No space left" in str(error)
    assert "free space" in error.hint
    disk.room = 10**9  # space that comes back changes nothing for this journal
    with pytest.raises(JournalBroken):
        journal.append(begin("b"))
    with pytest.raises(JournalBroken):
        journal.flush()
    journal.close()
    assert len(broken) == 1
    content = place.read_bytes()
    assert content.endswith(b"\n")
    assert content.count(b"\n") == max(told, default=1) == journal.committed
    with Journal.open(place, redactor=PLAIN) as again:
        assert again.recovery.torn_bytes == 0
        again.append(begin("c"))
    assert cases_in(place)[-1] == "c"


def test_a_failed_sync_is_never_tried_again(place: Path) -> None:
    disk = UnsyncableDisk(4)
    broken: list[JournalBroken] = []
    told: list[int] = []
    journal = Journal.create(place, run_line(), redactor=PLAIN, disk=disk)
    journal.on_broken, journal.on_commit = broken.append, told.append
    exhaust(journal, begin("a"))
    with pytest.raises(JournalBroken):
        journal.append(begin("b"))
    journal.close()
    assert disk.syncs_after == 0
    assert told == [2]
    assert journal.committed == 2
    assert [type(error) for error in broken] == [JournalBroken]


def test_a_disk_that_cannot_sync_from_the_start_refuses_the_run(place: Path) -> None:
    for failing in (1, 2):
        with pytest.raises(JournalBroken):
            Journal.create(place, run_line(), redactor=PLAIN, disk=UnsyncableDisk(failing))
        place.unlink(missing_ok=True)
        assert not list(place.parent.glob("*.lock"))


cut_runs = given(
    cut_before=st.integers(0, 60),
    tail=st.sampled_from(["gone", "zeros"]),
    sizes=st.lists(st.sampled_from([1, 300, 300_000]), min_size=1, max_size=12),
    flush_every=st.integers(1, 4),
)


def run_into_a_power_cut(place: Path, disk: Disk, sizes: list[int], flush_every: int) -> dict[str, int]:
    """Write cases, some with big outputs, until the lights go out; answers the sizes of those reported."""
    reported: dict[str, int] = {}
    numbers: dict[int, tuple[str, int]] = {}

    def on_commit(upto: int) -> None:
        reported.update(numbers[number] for number in list(numbers) if number <= upto)

    with suppress(JournalError), Journal.create(place, run_line(), redactor=PLAIN, disk=disk) as journal:
        journal.on_commit = on_commit
        for turn, size in enumerate(sizes):
            case = f"case {turn}"
            line = outcome(case, "scored", output=journal.keep(b'"%b"' % (b"x" * size)))
            # Known under its number before it can be reported: one thread appends.
            numbers[turn + 2] = (case, size)
            assert journal.append(line) == turn + 2
            if turn % flush_every == 0:
                journal.flush()
    return reported


@pytest.mark.parametrize("directory", [True, False])
@settings(max_examples=60)
@cut_runs
def test_nothing_that_was_reported_is_lost_in_a_power_cut(
    directory: bool,
    cut_before: int,
    tail: str,
    sizes: list[int],
    flush_every: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("cut")
    place = root / "deep" / "down" / ("run" if directory else "run.jsonl")
    disk = VolatileDisk(cut_before=cut_before, tail=tail)  # type: ignore[arg-type]
    reported = run_into_a_power_cut(place, disk, sizes, flush_every)
    if disk.is_on:
        disk.cut()
    assert_on_record(place, reported)


def assert_on_record(place: Path, reported: dict[str, int]) -> None:
    """Whether all of these are there, with their outputs, once the lights are on again."""
    if not Journal.exists(place):
        assert reported == {}
        Journal.create(place, run_line(), redactor=PLAIN).close()
    with Journal.open(place, redactor=PLAIN) as journal:
        source = journal.source()
        found = {}
        for entry in source.entries():
            assert isinstance(entry, Recorded)
            line = entry.line
            if isinstance(line, type(outcome("a"))):
                found[line.case] = len(source.value(line.output)) - 2
        assert reported.items() <= found.items()
        journal.append(begin("after"))
    assert cases_in(place)[-1] == "after"


def test_the_disk_that_loses_bytes_can_tell_a_sync_from_none(tmp_path: Path) -> None:
    """Without this, the test above would prove nothing."""
    for honest, durability in ((False, "disk"), (True, "os")):
        place = tmp_path / f"{honest}" / "run.jsonl"
        place.parent.mkdir()
        disk = VolatileDisk(honest=honest)
        with Journal.create(place, run_line(), durability=durability, redactor=PLAIN, disk=disk) as journal:  # type: ignore[arg-type]
            number = journal.append(begin("a"))
            journal.flush()
            assert journal.committed == number
            disk.cut()
        assert not place.exists() or cases_in(place) == []


@pytest.fixture(autouse=True)
def _no_writer_is_left_behind() -> Iterator[None]:
    yield
    assert not [thread for thread in threading.enumerate() if thread.name == "paceline-journal"]


def test_keys_hidden_in_a_line_do_not_reach_the_disk(place: Path) -> None:
    secret = "sk-" + "a1B2" * 10
    with Journal.create(place, run_line(metadata={"key": secret})) as journal:
        journal.append(begin("a", inputs=raw({"key": secret})))
    assert secret.encode() not in place.read_bytes()
    assert place.read_bytes().count(b"[redacted:openai-key]") == 2
