"""The writer: a thread that puts on disk whatever has gathered, and says how far it has come.

Whoever appends pays for a list append. The thread takes all that has gathered, redacts, seals, writes and
syncs it in one go, reports the number of the last line, and looks again: the slower the disk, the larger
the next batch. Hence the promise: a line whose number is `committed` survives whatever `durability` says
it survives (`disk`: a power cut; `os`: the death of the process).

A disk that refuses a write or a sync is never asked again: after a failed sync nobody knows what it holds.
From then on every call raises `JournalBroken`.

Knows encoded lines and files. Knows nothing of what a line means.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Protocol

from paceline.errors import JournalBroken, JournalError
from paceline.journal.disk import Disk, write_all
from paceline.journal.encoding import seal_all
from paceline.settings import Durability

LAGGING_LINES = 50_000
LAGGING_BYTES = 64 * 1024 * 1024
_LAST_FLUSH_S = 30.0
"""How long the end of the interpreter waits for the disk."""


class BlobStore(Protocol):
    """What the writer needs to know of blobs: they reach the disk before the line that names them."""

    def put(self, blobs: dict[str, bytes], *, sync: bool) -> None: ...


class BodiesStore(Protocol):
    """Likewise of the bodies of calls."""

    def append(self, lines: list[bytes], *, sync: bool) -> None: ...

    def close(self) -> None: ...


class Cleaner(Protocol):
    """What the writer needs to know of redaction."""

    def clean(self, bodies: list[bytes], sealed: bytes) -> list[bytes] | None:
        """The bodies without secrets, or None where `sealed`, the same lines in one piece, holds none."""
        ...


class Writer:
    """Appends lines to one file. Any thread may call any method."""

    def __init__(
        self,
        fd: int,
        *,
        path: str,
        disk: Disk,
        blobs: BlobStore,
        bodies: BodiesStore,
        durability: Durability = "disk",
        cleaner: Cleaner | None = None,
    ) -> None:
        self.on_commit: Callable[[int], None] | None = None
        """Called on the writer's thread with the number of the last line that is safe."""
        self.on_broken: Callable[[JournalBroken], None] | None = None
        """Called on the writer's thread, once, when the disk has refused."""
        self._path = path
        self._fd = fd
        self._disk = disk
        self._sync = durability == "disk"
        self._blobs = blobs
        self._bodies = bodies
        self._cleaner = cleaner
        self._good_size = disk.size(fd)
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._settled = threading.Condition(self._lock)
        self._gathered: list[bytes] = []
        self._gathered_blobs: dict[str, bytes] = {}
        self._gathered_bodies: list[bytes] = []
        self._awaited: deque[tuple[int, Callable[[], None]]] = deque()
        self._appended = 0
        self._committed = 0
        self._unsafe_bytes = 0
        self._idle = False
        self._closing = False
        self._refusal: Callable[[], JournalError] | None = None
        self._thread = threading.Thread(target=self._work, name="paceline-journal", daemon=True)
        self._thread.start()
        _writers.add(self)

    def append(self, body: bytes) -> int:
        """Take one encoded line; answers its number. It is safe once `committed` has reached that."""
        with self._lock:
            if self._refusal is not None:
                raise self._refusal()
            self._gathered.append(body)
            self._appended = number = self._appended + 1
            self._unsafe_bytes += len(body)
            if self._idle:  # a busy writer looks again by itself
                self._idle = False
                self._wake.notify()
            return number

    def put_blob(self, digest: str, content: bytes) -> None:
        """Take a value that a line to come will name; it is written before that line."""
        with self._lock:
            if self._refusal is not None:
                raise self._refusal()
            self._gathered_blobs[digest] = content
            self._unsafe_bytes += len(content)

    def put_bodies(self, line: bytes) -> None:
        """Take the bodies of a call, as a whole line; written before the journal's lines to come."""
        with self._lock:
            if self._refusal is not None:
                raise self._refusal()
            self._gathered_bodies.append(line)
            self._unsafe_bytes += len(line)

    @property
    def committed(self) -> int:
        """Number of the last line that is safe; 0 before the first."""
        return self._committed

    @property
    def lagging(self) -> bool:
        """Whether so much has gathered that whoever appends should hold back."""
        return self._appended - self._committed > LAGGING_LINES or self._unsafe_bytes > LAGGING_BYTES

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that was appended before is safe; False where the time was too short."""
        with self._settled:
            wanted = self._appended
            self._settled.wait_for(lambda: self._committed >= wanted or self._refusal is not None, timeout)
            if self._committed >= wanted:
                return True
            if self._refusal is not None:
                raise self._refusal()
            return False

    def when_safe(self, told: Callable[[], None]) -> None:
        """Tell once what was appended before is safe, or never will be: here, or on the writer's thread."""
        with self._lock:
            if self._refusal is None and self._committed < self._appended:
                self._awaited.append((self._appended, told))
                return
        told()

    def close(self) -> None:
        """Commit what has gathered, then let go of the file. A broken journal closes without complaint."""
        with self._lock:
            already = self._closing
            self._closing = True
            if self._refusal is None:
                self._refusal = self._closed
            self._wake.notify()
        if self._thread is not threading.current_thread():
            self._thread.join()
        if not already:
            _writers.discard(self)
            self._bodies.close()
            self._disk.close(self._fd)

    def _closed(self) -> JournalError:
        return JournalError(f"the journal {self._path} is closed")

    def _work(self) -> None:
        while True:
            with self._lock:
                while not self._gathered and not self._closing:
                    self._idle = True
                    self._wake.wait()
                self._idle = False
                if not self._gathered:
                    return
                lines, self._gathered = self._gathered, []
                blobs, self._gathered_blobs = self._gathered_blobs, {}
                bodies, self._gathered_bodies = self._gathered_bodies, []
                upto, gathered = self._appended, self._unsafe_bytes
            try:
                self._commit(lines, blobs, bodies)
            except Exception as error:  # whatever it is, nothing after it may be reported as safe
                self._break(error)
                return
            with self._lock:
                self._committed = upto
                self._unsafe_bytes -= gathered
                self._settled.notify_all()
            if (listener := self.on_commit) is not None:
                _call(listener, upto)
            self._tell_awaited(upto)

    def _tell_awaited(self, upto: int) -> None:
        """On the writer's thread; others only add to the end."""
        while self._awaited and self._awaited[0][0] <= upto:
            _call(self._awaited.popleft()[1])

    def _commit(self, lines: list[bytes], blobs: dict[str, bytes], bodies: list[bytes]) -> None:
        if blobs:
            self._blobs.put(blobs, sync=self._sync)
        if bodies:
            self._bodies.append(bodies, sync=self._sync)
        sealed = seal_all(lines)
        if self._cleaner is not None and (cleaned := self._cleaner.clean(lines, sealed)) is not None:
            sealed = seal_all(cleaned)
        try:
            write_all(self._disk, self._fd, sealed)
        except OSError:
            # The file should end with a newline whatever happened; recovery copes where even that is refused.
            with contextlib.suppress(OSError):
                self._disk.truncate(self._fd, self._good_size)
            raise
        if self._sync:
            self._disk.sync(self._fd)
        self._good_size += len(sealed)

    def _break(self, error: Exception) -> None:
        def refusal() -> JournalBroken:
            broken = JournalBroken(
                f"cannot write the journal {self._path}: {error}",
                hint="free space or mend the disk, then run the same command again: "
                "what was committed is safe",
            )
            broken.__cause__ = error
            return broken

        with self._lock:
            self._refusal = refusal
            self._gathered.clear()
            self._gathered_blobs.clear()
            self._gathered_bodies.clear()
            self._settled.notify_all()
        if (listener := self.on_broken) is not None:
            _call(listener, refusal())
        self._tell_awaited(self._appended)

    def disown(self) -> None:
        """In a forked child: the thread and the journal are the parent's, and only its."""
        self._lock = threading.Lock()  # the parent may have held the old one at the fork
        self._wake = threading.Condition(self._lock)
        self._settled = threading.Condition(self._lock)
        self._gathered = []
        self._gathered_blobs = {}
        self._gathered_bodies = []
        self._awaited.clear()
        self._closing = True
        self._refusal = lambda: JournalError(
            f"the journal {self._path} belongs to the process that opened it, and this is a fork of that one"
        )
        with contextlib.suppress(OSError):
            os.close(self._fd)


def _call(listener: Callable[..., None], *values: object) -> None:
    """Tell a listener; one that raises (a loop that is gone, say) must not stop the writer."""
    try:
        listener(*values)
    except Exception:
        import logging

        logging.getLogger("paceline.journal").exception("a listener of the journal failed")


_writers: weakref.WeakSet[Writer] = weakref.WeakSet()


def _forget_all() -> None:
    for writer in list(_writers):
        writer.disown()
    _writers.clear()


def _flush_all() -> None:
    for writer in list(_writers):
        with contextlib.suppress(JournalError):
            writer.flush(_LAST_FLUSH_S)


os.register_at_fork(after_in_child=_forget_all)
atexit.register(_flush_all)
