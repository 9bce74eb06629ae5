"""Starting a command and awaiting its end, from a coroutine or from a thread.

    ended = await run(Launch(argv=("pytest", "-q"), env=..., cwd=...))

Whoever cancels `run` ends the command with everything it has started (TERM, grace, KILL), and gets the
cancellation back once nothing of it is left. When this process dies, however it dies, so does the command.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from paceline.errors import PacelineError
from paceline.processes.launch import FLOOD, Ended, Launch, Printed
from paceline.processes.line import AT_ONCE, END, IDLE_S, LENGTH

CHUNK: Final = 64 * 1024
KEPT_S: Final = IDLE_S / 2
"""For how long a warden is asked again."""
TRIES: Final = 3
"""A keeper may be killed as anything may; three in a row are no accident."""
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from paceline.processes.keeper import main; "
    "main(int(sys.argv[2]), int(sys.argv[3]))"
)


class KeeperLost(PacelineError):
    """The process that starts commands for us does not come up."""


async def run(launch: Launch, *, told: Callable[[Ended], None] | None = None) -> Ended:
    """Carry a command out. `told` hears of its end also where that was brought about by a cancellation."""
    loop = asyncio.get_running_loop()
    for _ in range(TRIES):
        with _Started(launch) as command:
            line, cut = command.line, None
            line.setblocking(False)
            with suppress(ConnectionError):
                await loop.sock_sendall(line, command.request)
            while not command.has_ended:
                try:
                    command.hear(await loop.sock_recv(line, CHUNK))
                except ConnectionError:
                    command.hear(b"")
                except asyncio.CancelledError as error:
                    command.end(at_once=cut is not None)
                    cut = error
            ended = command.ended()
        if ended is not None and told is not None:
            told(ended)
        if cut is not None:
            raise cut
        if ended is not None:
            return ended
    raise _no_keeper()


def run_blocking(launch: Launch) -> Ended:
    """The same for a thread. Ctrl-C ends the command, where it comes to this thread."""
    for _ in range(TRIES):
        with _Started(launch) as command:
            cut: BaseException | None = None
            command.line.setblocking(True)
            with suppress(ConnectionError):
                command.line.sendall(command.request)
            while not command.has_ended:
                try:
                    command.hear(command.line.recv(CHUNK))
                except ConnectionError:
                    command.hear(b"")
                except BaseException as error:  # a signal handler may raise anything
                    command.end(at_once=cut is not None)
                    cut = error
            ended = command.ended()
        if cut is not None:
            raise cut
        if ended is not None:
            return ended
    raise _no_keeper()


class _Started:
    """A command under way: the line to its warden, and what has come over it."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._heard = bytearray()
        self._gone = False
        self._begun = False
        self._told_to_end = False
        self._free = False
        self._pid = 0
        self._report: dict[str, Any] | None = None
        self.request = _request(launch)

    def __enter__(self) -> _Started:
        launch = self._launch
        with ExitStack() as ours, ExitStack() as theirs:
            stdin = theirs.enter_context(_filled(launch.stdin))
            self._out = _opened(launch.stdout)
            # A file that has a name is read by its name, if at all.
            (ours if launch.stdout is None else theirs).enter_context(self._out)
            self._err = _opened(launch.stderr)
            (ours if launch.stderr is None else theirs).enter_context(self._err)
            files = [each.fileno() for each in (stdin, self._out, self._err)]
            self.line = _keeper.line(LENGTH.pack(len(self.request)), files)
            self._files = ours.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()
        if self._free and not self._told_to_end:  # which it may not have read
            _keeper.take_back(self.line)
        else:
            self.line.close()

    @property
    def has_ended(self) -> bool:
        return self._gone

    def hear(self, words: bytes) -> None:
        """Take what came over the line; nothing means that the other end is closed."""
        self._gone = not words
        self._heard += words
        while (end := self._heard.find(b"\n")) >= 0:
            said = msgspec.json.decode(self._heard[:end])
            del self._heard[: end + 1]
            self._begun = True
            self._pid = said.get("pid", self._pid)
            if "ended" in said:
                self._report, self._free, self._gone = said["ended"], said["free"], True
            elif "broken" in said:
                self._report, self._gone = {"how": "lost", "error": said["broken"]}, True

    def end(self, *, at_once: bool) -> None:
        """Have it ended."""
        self._told_to_end = True
        with suppress(OSError):  # it has ended just now
            self.line.send(AT_ONCE if at_once else END)

    def ended(self) -> Ended | None:
        """How it ended; None where the keeper has gone before it could make a warden of it."""
        if not self._begun:
            return None
        report = self._report
        if report is None:
            report = {"how": "lost", "error": "its warden, which watched over it, was killed"}
            if self._pid:
                with suppress(OSError):
                    os.killpg(self._pid, 9)
        told = {name: report[name] for name in report.keys() - {"stdout", "stderr"}}
        return Ended(
            **told,
            stdout=_kept(self._out, self._launch.stdout, report.get("stdout")),
            stderr=_kept(self._err, self._launch.stderr, report.get("stderr")),
        )


def _no_keeper() -> KeeperLost:
    return KeeperLost(
        "the process that starts commands ends as soon as it is started",
        hint=f"does `{sys.executable} -I -S -c ''` work here?",
    )


def _request(launch: Launch) -> bytes:
    limits = {name: getattr(launch.limits, name) for name in launch.limits.__dataclass_fields__}
    request = {
        "argv": launch.argv,
        "env": dict(launch.env),
        "cwd": str(launch.cwd),
        "kept": launch.kept,
        "flood": launch.kept * FLOOD,
        "limits": {name: most for name, most in limits.items() if most is not None},
        "timeout_s": launch.timeout_s,
        "grace_s": launch.grace_s,
        "finally_run": launch.finally_run,
    }
    # By the standard library: names of files and variables may hold bytes that are no UTF-8.
    return json.dumps(request).encode()


def _filled(content: bytes) -> IO[bytes]:
    """A file to read `content` from; a pipe would have to be fed."""
    if not content:
        return open(os.devnull, "rb", buffering=0)
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # whoever asked closes it
    file.write(content)
    file.seek(0)
    return file


def _opened(path: Path | None) -> IO[bytes]:
    if path is None:
        return tempfile.TemporaryFile(buffering=0)
    # Not through a link that somebody has put there, and not into what is there.
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    return open(fd, "r+b", buffering=0)


def _kept(file: IO[bytes], path: Path | None, told: Sequence[Any] | None) -> Printed:
    if path is None:
        file.seek(0)
        content = file.read()
        there = len(content)
    else:
        content = None
        there = path.stat().st_size
    # Of a command that nobody reports on any more, what is in the file is all that is known.
    size, cut = told if told is not None else (there, False)
    return Printed(size=size, path=path, content=content, cut=cut)


class _Keeper:
    """Our end of the keeper: started when it is first needed, and anew should it be killed.

    Wardens that are free are kept for the next command; the one that was last at work is asked first.
    """

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._free: deque[tuple[float, socket.socket]] = deque()

    def line(self, words: bytes, files: Sequence[int]) -> socket.socket:
        """A line to a warden, which has been handed these open files with the first words."""
        while (line := self._free_line()) is not None:
            try:
                socket.send_fds(line, [words], files)
            except OSError:
                line.close()  # it was killed meanwhile
            else:
                return line
        line = self._new_line()
        with suppress(OSError):  # then it will say nothing, and that is heard
            socket.send_fds(line, [words], files)
        return line

    def take_back(self, line: socket.socket) -> None:
        """Keep a line to a warden that is free. Those that nobody has needed for long are let go."""
        now = time.monotonic()
        with self._starting:
            self._free.append((now, line))
            while self._free[0][0] < now - KEPT_S:
                self._free.popleft()[1].close()

    def _free_line(self) -> socket.socket | None:
        with self._starting:
            if not self._free:
                return None
            since, line = self._free.pop()
        if since >= time.monotonic() - KEPT_S:
            return line
        line.close()
        return None

    def _new_line(self) -> socket.socket:
        """A line to a warden that the keeper makes for it."""
        for _ in range(TRIES):
            control = self._control or self._started()
            ours, theirs = socket.socketpair()
            with theirs:
                try:
                    socket.send_fds(control, [b"."], [theirs.fileno()])
                except (BrokenPipeError, ConnectionResetError):
                    ours.close()
                    self._forget(control)
                else:
                    return ours
        raise _no_keeper()

    def _started(self) -> socket.socket:
        with self._starting:
            if self._control is not None:
                return self._control
            ours, theirs = socket.socketpair()
            home = Path(__file__).parent.parent.parent
            program = [sys.executable, "-I", "-S", "-c", _PROGRAM]
            with theirs:
                try:
                    self._process = subprocess.Popen(
                        [*program, str(home), str(theirs.fileno()), str(os.getpid())],
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        cwd="/",
                        pass_fds=[theirs.fileno()],
                        start_new_session=True,  # Ctrl-C is ours to handle
                    )
                except OSError as error:
                    raise KeeperLost(
                        f"no process can be started: {error}",
                        hint="commands are started through a Python of their own, `sys.executable`",
                    )
            self._control = ours
            return ours

    def _forget(self, control: socket.socket) -> None:
        with self._starting:
            if self._control is control:
                self.close()

    def close(self) -> None:
        """Let it go; it ends by itself."""
        self._close_lines()
        control, self._control = self._control, None
        process, self._process = self._process, None
        if control is not None:
            control.close()
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(5.0)  # or Python warns of a process that nobody has waited for

    def _close_lines(self) -> None:
        while self._free:
            self._free.pop()[1].close()

    def renew(self) -> None:
        """Start anew in a forked child: the keeper looks after its parent."""
        self._close_lines()
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.returncode = 0  # it is no child of this process, and cannot be waited for
        self.__init__()  # type: ignore[misc]  # everything of it belongs to the parent


def close() -> None:
    """Let go of the process that starts commands. The next command starts another one."""
    _keeper.close()


_keeper = _Keeper()
atexit.register(_keeper.close)
os.register_at_fork(after_in_child=_keeper.renew)
