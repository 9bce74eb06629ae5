"""The warden of a command: it starts it, keeps what it prints, ends it, and says how it ended.

A process of its own, forked by the keeper, with one line to whoever asks for commands. It ends the command,
with everything that this has started, when it is told to, when the time is up, when a limit is passed, when
the command's own process has ended and left others running, and when the line is dead: whoever asked is gone
then. It takes the next command once nothing is left of the one before. A fork of a Python costs most after
it, when the pages that it shares are copied one by one; so a warden that is there is worth keeping.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, NoReturn

from paceline.processes.becoming import become, offer_to_oom
from paceline.processes.capture import Capture
from paceline.processes.line import AT_ONCE, FILES, IDLE_S, LENGTH
from paceline.processes.tree import (
    PATIENCE_S,
    PAUSE_S,
    Tree,
    adopt_orphans,
    be_called,
    fair_memory_of,
    memory_of,
    signal_all,
)

CHUNK: Final = 256 * 1024
LOOKS_EVERY_S: Final = 0.1
"""Between two looks at what a command uses, where that is limited."""
ORPHAN_GRACE_S: Final = 2.0
"""Between TERM and KILL at most, where nobody is left to wait for it."""
AFTER_S: Final = 10.0
"""For the command that is run at the end."""
_TO_END: Final = frozenset({signal.SIGTERM, signal.SIGHUP, signal.SIGINT})


class Asked(NamedTuple):
    """A command that is to be watched over."""

    request: Mapping[str, Any]
    stdin: int
    stdout: int
    stderr: int


def serve(line: int, owner_gone: int) -> NoReturn:
    """Watch over one command after the other. `owner_gone` is ready once whoever asks has ended, or -1."""
    try:
        os.setsid()
        be_called(b"paceline-warden")
        adopt_orphans()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        connection = socket.socket(fileno=line)
        signals = _heard_signals()
        free = True
        while free and (asked := _asked(connection, signals, owner_gone)) is not None:
            free = Warden(asked.request, connection, signals, owner_gone).watch_over(asked)
        os._exit(0)  # nothing is left of any: that is what watching over means
    except BaseException as error:
        with contextlib.suppress(BaseException):
            os.write(line, json.dumps({"broken": f"{type(error).__name__}: {error}"}).encode() + b"\n")
    finally:
        with contextlib.suppress(BaseException):
            signal_all(os.getpid(), signal.SIGKILL)
        os._exit(1)


def _heard_signals() -> int:
    """A pipe from which the numbers of signals are read as they come."""
    signals, wake_w = os.pipe()
    for fd in (signals, wake_w):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
    # Python ignores two of them, and what is ignored stays so in a program that is started; what is heard
    # does not.
    for number in (signal.SIGCHLD, *_TO_END, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, lambda _number, _frame: None)
    return signals


def _asked(connection: socket.socket, signals: int, owner_gone: int) -> Asked | None:
    """The next command; None where nobody is there any more to ask for one, or nobody does."""
    poll = select.poll()
    for fd in (connection.fileno(), signals, owner_gone):
        if fd >= 0:
            poll.register(fd, select.POLLIN)
    ready = {fd for fd, _event in poll.poll(IDLE_S * 1000)}
    while ready == {signals} and _TO_END.isdisjoint(os.read(signals, 4096)):
        ready = {fd for fd, _event in poll.poll(IDLE_S * 1000)}  # of what is buried already
    if connection.fileno() not in ready or owner_gone in ready:
        return None
    try:
        length, files, _flags, _address = socket.recv_fds(connection, LENGTH.size, FILES)
        whole = len(length) == LENGTH.size and len(files) == FILES
        said = _exactly(connection, LENGTH.unpack(length)[0]) if whole else b""
    except ConnectionError:
        return None
    if not said:
        return None
    for fd in files:
        os.set_inheritable(fd, False)
    stdin, stdout, stderr = files
    with contextlib.suppress(OSError):
        connection.sendall(b"{}\n")
    return Asked(json.loads(said), stdin, stdout, stderr)


def _exactly(connection: socket.socket, size: int) -> bytes:
    """So many bytes; none where the line is closed before."""
    got = bytearray()
    while len(got) < size:
        part = connection.recv(min(size - len(got), CHUNK))
        if not part:
            return b""
        got += part
    return bytes(got)


class NotStarted(Exception):
    """There is no command to watch over."""

    def __init__(self, how: str, why: str) -> None:
        super().__init__(how, why)
        self.how = how
        self.why = why


class Warden:
    """One command and how it stands."""

    def __init__(
        self, request: Mapping[str, Any], connection: socket.socket, signals: int, owner_gone: int
    ) -> None:
        self._request = request
        self._connection = connection
        self._signals = signals
        self._owner_gone = owner_gone
        self._alone = False
        self._limits: Mapping[str, int] = request["limits"]
        self._grace = float(request["grace_s"])
        self._pid = 0
        self._started = 0.0
        self._how = ""
        """Why it is being ended; empty while it is not."""
        self._status: int | None = None
        self._childless = False
        self._kill_at: float | None = None
        self._seconds = 0.0
        self._cpu_s = 0.0
        self._peak = 0
        self._outlived_by = 0
        self._captures: dict[int, Capture] = {}
        self._look_at = 0.0
        self._tree = Tree(os.getpid())

    def watch_over(self, asked: Asked) -> bool:
        """Start it, and stay until it is over. Whether nothing stands against another one."""
        try:
            ended = self._ended(asked)
        finally:
            os.close(asked.stdout)
            os.close(asked.stderr)
        free = not self._alone and _has_no_children()
        self._say({"ended": ended, "free": free})
        return free

    def _ended(self, asked: Asked) -> dict[str, Any]:
        kept = int(self._request["kept"])
        captures = Capture(asked.stdout, kept=kept), Capture(asked.stderr, kept=kept)
        try:
            ends = self._start(asked.stdin)
        except NotStarted as failed:
            return {"how": failed.how, "error": failed.why}
        self._captures = dict(zip(ends, captures, strict=True))
        self._say({"pid": self._pid})
        while not self._over():
            self._wait()
        for capture in captures:
            capture.finish()
        self._run_at_the_end()
        return self._told(*captures)

    # Starting

    def _start(self, stdin: int) -> tuple[int, int]:
        """Start the command; returns the ends from which its output is read."""
        out_r, out_w = os.pipe()
        err_r, err_w = os.pipe()
        word_r, word_w = os.pipe()
        self._started = time.monotonic()
        self._pid = os.fork()
        if self._pid == 0:
            become(self._request, (stdin, out_w, err_w), word_w)
        offer_to_oom(self._pid)
        for fd in (stdin, out_w, err_w, word_w):
            os.close(fd)
        word = b""
        while part := os.read(word_r, 4096):  # closed by the start of the program
            word += part
        os.close(word_r)
        if word:
            os.waitpid(self._pid, 0)
            os.close(out_r)
            os.close(err_r)
            how, _, why = word.decode().partition(": ")
            raise NotStarted(how, why)
        for fd in (out_r, err_r):
            os.set_blocking(fd, False)
        return out_r, err_r

    # Waiting

    def _over(self) -> bool:
        """Whether nothing of it is left, and all it has printed is read."""
        return self._childless and not self._captures

    def _wait(self) -> None:
        """Wait for the next thing to happen, and do what it asks for."""
        now = time.monotonic()
        poll = select.poll()
        for fd in (*self._captures, self._signals):
            poll.register(fd, select.POLLIN)
        if not self._alone:
            poll.register(self._connection, select.POLLIN)
            if self._owner_gone >= 0:
                poll.register(self._owner_gone, select.POLLIN)
        ready = [fd for fd, _event in poll.poll(self._patience(now))]
        for fd in ready:
            if fd in self._captures:
                self._read(fd)
            elif fd == self._signals:
                self._hear()
            elif not self._alone:
                self._obey(fd)
        self._keep_time(time.monotonic())

    def _patience(self, now: float) -> float | None:
        """Milliseconds until something is due."""
        due = [at for at in (self._kill_at, self._timeout_at, self._next_look) if at is not None]
        return max(min(due) - now, 0.0) * 1000 if due else None

    @property
    def _timeout_at(self) -> float | None:
        limit = self._request["timeout_s"]
        return None if limit is None or self._ending else self._started + limit

    @property
    def _next_look(self) -> float | None:
        watched = "memory" in self._limits or "processes" in self._limits
        return self._look_at if watched and not self._ending else None

    @property
    def _ending(self) -> bool:
        return bool(self._how) or self._status is not None

    def _read(self, fd: int) -> None:
        try:
            printed = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        capture = self._captures[fd]
        if not printed:
            os.close(fd)
            del self._captures[fd]
            return
        try:
            capture.write(printed)
        except OSError as error:
            self._how = self._how or f"unkept {error.strerror}"
            self._kill()
            os.close(fd)
            del self._captures[fd]
            return
        if capture.size > self._request["flood"] and not self._how:
            self._end("flood", grace=0.0)

    def _hear(self) -> None:
        """A signal has come: of the end of a child, or to end."""
        numbers = os.read(self._signals, 4096)
        self._bury()
        if not _TO_END.isdisjoint(numbers):
            self._end("stopped", grace=self._grace)

    def _obey(self, fd: int) -> None:
        """A word of whoever asked for the command; or there is nobody left to say one."""
        word = b""
        if fd == self._connection.fileno():
            with contextlib.suppress(OSError):
                word = self._connection.recv(16)
        if not word:
            self._alone = True
            self._end("stopped", grace=min(self._grace, ORPHAN_GRACE_S))
        elif AT_ONCE in word:
            self._end("stopped", grace=0.0)
        else:
            self._end("stopped", grace=self._grace)

    def _keep_time(self, now: float) -> None:
        if self._timeout_at is not None and now >= self._timeout_at:
            self._end("timeout", grace=self._grace)
        if self._next_look is not None and now >= self._next_look:
            self._look_at = now + LOOKS_EVERY_S
            self._look()
        if self._kill_at is not None and now >= self._kill_at:
            self._kill()

    def _look(self) -> None:
        """Whether it uses more than it may."""
        below = self._tree.below()
        if len(below) > self._limits.get("processes", len(below)):
            self._end("processes", grace=0.0)
        if (most := self._limits.get("memory")) is None:
            return
        # In the quick sum shared pages count for each that shares them: it is only a reason to look closely.
        if most < sum(memory_of(each.pid) for each in below) and most < sum(
            fair_memory_of(each.pid) for each in below
        ):
            self._end("memory", grace=0.0)

    # Ending

    def _end(self, how: str, *, grace: float) -> None:
        """End all of it: with TERM, and with KILL for what is still there after the grace."""
        self._how = self._how or how
        kill_at = time.monotonic() + grace
        first = self._kill_at is None
        self._kill_at = kill_at if first else min(kill_at, self._kill_at or kill_at)
        if grace > 0:
            if first:
                self._signal(signal.SIGTERM)
        else:
            self._kill()

    def _signal(self, number: int) -> int:
        if sys.platform != "linux":
            with contextlib.suppress(OSError):
                os.killpg(self._pid, number)
                return 1
            return 0
        return signal_all(os.getpid(), number)

    def _kill(self) -> None:
        until = time.monotonic() + PATIENCE_S
        while self._signal(signal.SIGKILL) and time.monotonic() < until:
            self._bury()
            time.sleep(PAUSE_S)
        self._bury()
        if not self._childless:  # it is in the kernel's hands: neither it nor its pipe is waited for
            self._close()

    def _read_the_rest(self, fd: int) -> None:
        """What is still in a pipe."""
        while fd in self._captures:
            before = self._captures[fd].size
            self._read(fd)
            if fd in self._captures and self._captures[fd].size == before:
                os.close(fd)
                del self._captures[fd]

    def _bury(self) -> None:
        """Bury what has ended, and note what it used; see what it has left behind."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                self._childless = True
                break
            if pid == 0:
                break
            self._cpu_s += used.ru_utime + used.ru_stime
            unit = 1 if sys.platform == "darwin" else 1024
            self._peak = max(self._peak, used.ru_maxrss * unit)
            if pid == self._pid:
                self._status = status
                self._seconds = time.monotonic() - self._started
        if self._childless:
            self._close()
        elif self._status is not None and self._kill_at is None:
            self._end_what_is_left()

    def _close(self) -> None:
        """Nothing is left of it: what is in the pipes is all that there will be."""
        self._kill_at, self._childless = None, True
        for fd in list(self._captures):
            self._read_the_rest(fd)

    def _end_what_is_left(self) -> None:
        """The command has ended. What it has left running, in the background, ends with it."""
        self._outlived_by = self._signal(signal.SIGTERM)
        self._kill_at = time.monotonic() + min(self._grace, ORPHAN_GRACE_S)

    def _run_at_the_end(self) -> None:
        """Remove what is no child of ours."""
        if not (argv := self._request["finally_run"]):
            return
        nothing = os.open(os.devnull, os.O_RDWR)
        word_r, word_w = os.pipe()
        pid = os.fork()
        if pid == 0:
            request = {**self._request, "argv": argv, "cwd": "/", "limits": {}}
            become(request, (nothing, nothing, nothing), word_w)
        for fd in (nothing, word_w, word_r):
            os.close(fd)
        until = time.monotonic() + AFTER_S
        while os.waitpid(pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > until:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                break
            time.sleep(PAUSE_S)

    # Telling

    def _told(self, out: Capture, err: Capture) -> dict[str, Any]:
        status = self._status if self._status is not None else 0
        code, number = None, None
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
        elif self._status is not None:
            code = os.WEXITSTATUS(status)
        how, _, error = self._how.partition(" ")
        return {
            "how": "lost" if how == "unkept" else how or ("exited" if number is None else "signalled"),
            "error": f"its output could not be kept: {error}" if how == "unkept" else "",
            "code": code,
            "signal": number,
            "seconds": self._seconds or time.monotonic() - self._started,
            "cpu_s": self._cpu_s,
            "peak_memory": self._peak,
            "outlived_by": self._outlived_by,
            "stdout": [out.size, out.cut],
            "stderr": [err.size, err.cut],
        }

    def _say(self, words: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):  # nobody is there to hear it
            self._connection.sendall(json.dumps(words).encode() + b"\n")


def _has_no_children() -> bool:
    """Whether nothing is left below that the kernel holds, and that would be taken for the next command's."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False
