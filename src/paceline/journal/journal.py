"""The journal as the engine sees it: append lines, keep big values, be told what is safe.

    journal = Journal.create("runs/demo", run_line)         a new run; or, to go on with one:
    journal = Journal.open("runs/demo")
    number = journal.append(line)                           safe once `journal.committed >= number`

Whoever reports a case as done waits for its number: `on_commit` is told each new `committed`. One process
writes a journal at a time. Nothing here knows what a line means.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from types import TracebackType

import msgspec

from paceline.errors import JournalBroken, JournalError, PacelineError
from paceline.journal import lock
from paceline.journal.blobs import BLOB_OVER, BlobDirectory, digest_of, envelope
from paceline.journal.bodies import NONE_BEFORE, Before, BodiesFile, CallBodies, written
from paceline.journal.disk import Disk, OsDisk, make_directories
from paceline.journal.encoding import encode_line, writable
from paceline.journal.places import Places, locate, shown
from paceline.journal.reading import FileSource
from paceline.journal.records import FORMAT, Line, RunLine
from paceline.journal.recovery import Recovery, clear_leftover, recover, standing
from paceline.journal.redaction import Redactor, as_written
from paceline.journal.writer import Writer
from paceline.settings import Durability


class Journal:
    """One run's record, open for writing. Made by `create` and `open`; any thread may call any method."""

    def __init__(
        self, places: Places, held: lock.Lock, writer: Writer, recovery: Recovery, redactor: Redactor
    ) -> None:
        self.places = places
        self.recovery = recovery
        """What opening it had to deal with; all zero for a new one."""
        self.redactor = redactor
        self._lock = held
        self._writer = writer
        self._take_line = writer.append  # looked up once: every line goes this way

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        run_line: RunLine,
        *,
        durability: Durability = "disk",
        redactor: Redactor | None = None,
        disk: Disk | None = None,
    ) -> Journal:
        """Start the journal of a new run; when this returns, its first line is committed.

        Refuses where a journal is (`open` goes on with it) and where something else is. Without a
        `redactor` the standard one is used: known key patterns and the environment's own keys.
        """
        disk = disk or OsDisk()
        places = locate(path)
        _refuse_existing(places)
        with _disk_refusals(places):
            make_directories(disk, places.journal.parent)
            held = lock.acquire(places.lock)
        journal = cls._take(places, held, disk, durability, redactor, _begin_new)
        journal.append(msgspec.structs.replace(run_line, format=FORMAT))
        try:
            journal.flush()
        except PacelineError:
            journal.close()
            raise
        return journal

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        durability: Durability = "disk",
        redactor: Redactor | None = None,
        disk: Disk | None = None,
    ) -> Journal:
        """Take up a journal again: lock it, recover what a crash has left, stand at its end."""
        places = locate(path)
        if standing(places.journal) == "new":
            raise JournalError(
                f"there is no run at {places.path}", hint="`paceline ls` lists those there are"
            )
        with _disk_refusals(places):
            held = lock.acquire(places.lock)
        return cls._take(places, held, disk or OsDisk(), durability, redactor, recover)

    @classmethod
    def _take(
        cls,
        places: Places,
        held: lock.Lock,
        disk: Disk,
        durability: Durability,
        redactor: Redactor | None,
        prepare: Callable[[Places, Disk, int], Recovery],
    ) -> Journal:
        fd = -1
        try:
            with _disk_refusals(places):
                fd = disk.open_append(places.journal)
                recovery = prepare(places, disk, fd)
            redactor = redactor or Redactor.standard()
            writer = Writer(
                fd,
                path=shown(places.journal),
                disk=disk,
                blobs=BlobDirectory(places.blobs, disk),
                bodies=BodiesFile(places.bodies, disk),
                durability=durability,
                cleaner=redactor,
            )
        except BaseException:
            if fd >= 0:
                disk.close(fd)
            held.release()
            raise
        return cls(places, held, writer, recovery, redactor)

    @staticmethod
    def exists(path: str | os.PathLike[str]) -> bool:
        """Whether a journal is there to open; False where one can be created, `JournalForeign` where neither.

        What a crash at the very first write leaves (nothing, zeros, half a first line) is not a journal yet.
        """
        return standing(locate(path).journal) == "ours"

    def append(self, line: Line) -> int:
        """Take one line; answers its number. Raises `JournalBroken` once the disk has refused anything."""
        return self._take_line(encode_line(line))

    def keep(self, raw: bytes) -> msgspec.Raw:
        """An encoded value as it should stand in a line: itself, or where it is big the name of a blob.

        The blob is written before any line that is appended afterwards. Hashing a big value takes its time
        (3 ms per MB): call this on a thread for very big ones.
        """
        if len(raw) <= BLOB_OVER:
            return msgspec.Raw(raw)
        content = self.redactor.clean_value(raw)
        digest = digest_of(content)
        self._writer.put_blob(digest, content)
        return msgspec.Raw(envelope(digest, len(content)))

    def keep_bodies(self, bodies: CallBodies, before: Before = NONE_BEFORE) -> Before:
        """Keep what a call has asked and was answered; it is written before the lines appended after it.

        `before` is what this has returned for the call before it in the same attempt.
        """
        clean, key = self.redactor.clean_body, as_written(bodies.key, self.redactor)
        bodies = msgspec.structs.replace(
            bodies,
            case=key.case,
            variant=key.variant,
            by=writable(bodies.by),
            part=writable(bodies.part),
            asked=clean(bodies.asked),
            answered=clean(bodies.answered),
        )
        self._writer.put_bodies(written(bodies, before))
        kept = not (bodies.replayed or bodies.fresh)
        return Before(bodies.ordinal, bodies.asked) if kept else before

    @property
    def committed(self) -> int:
        """Number of the last line that is safe."""
        return self._writer.committed

    @property
    def lagging(self) -> bool:
        """Whether the disk is so far behind that no new work should be started."""
        return self._writer.lagging

    @property
    def on_commit(self) -> Callable[[int], None] | None:
        """Told each new `committed`, on the writer's thread."""
        return self._writer.on_commit

    @on_commit.setter
    def on_commit(self, listener: Callable[[int], None] | None) -> None:
        self._writer.on_commit = listener

    @property
    def on_broken(self) -> Callable[[JournalBroken], None] | None:
        """Told once, on the writer's thread, when the disk has refused."""
        return self._writer.on_broken

    @on_broken.setter
    def on_broken(self, listener: Callable[[JournalBroken], None] | None) -> None:
        self._writer.on_broken = listener

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything appended so far is safe; False where `timeout` seconds were too few."""
        return self._writer.flush(timeout)

    def when_safe(self, told: Callable[[], None]) -> None:
        """Tell, here or on the writer's thread, once what was appended so far is safe or never will be."""
        self._writer.when_safe(told)

    def source(self) -> FileSource:
        """This journal to read from; what is committed is there."""
        return FileSource(self.places)

    def close(self) -> None:
        """Commit what is left, and let go of file and lock."""
        self._writer.close()
        self._lock.release()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _begin_new(places: Places, disk: Disk, fd: int) -> Recovery:
    _refuse_existing(places)  # once more: another process may have been quicker to the lock, and gone
    clear_leftover(places, disk, fd)
    disk.sync(fd)
    disk.sync_directory(places.journal.parent)
    return Recovery()


def _refuse_existing(places: Places) -> None:
    if standing(places.journal) == "ours":
        raise JournalError(
            f"there is a run at {places.path} already",
            hint=f"`paceline resume {places.path}` goes on with it; a new run needs another `-o`",
        )


@contextlib.contextmanager
def _disk_refusals(places: Places) -> Iterator[None]:
    """What the operating system says while a journal is being opened, in our words."""
    try:
        yield
    except OSError as error:
        raise JournalBroken(
            f"cannot write {shown(places.journal)}: {error.strerror or error}",
            hint="choose a place that can be written with `-o`",
        ) from error
