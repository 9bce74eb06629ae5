"""Regular expressions tried in another process, where a deadline really ends them.

Python's `re` cannot be interrupted and holds the interpreter's lock, so a pattern that may take for ever is
tried in a small child, which is killed and replaced when its time is up. Children are kept for the next
pattern, at most a few; a caller waits for a free one, and its deadline starts when the child does.

A child needs nothing of ours or of the user's: `python -I -S`, a working directory that is always there, a
group of its own (Ctrl-C is for us to handle). It ends when its input does, and by an alarm of its own if it
is in the middle of a pattern then.
"""

from __future__ import annotations

import atexit
import marshal
import os
import select
import subprocess
import sys
import threading
from contextlib import suppress

STARTING_S = 30.0
"""How long a child may take to start; generous, for it says nothing about a pattern."""

_CHILD = """
import marshal, re, signal, sys
requests, answers = sys.stdin.buffer, sys.stdout.buffer
signal.signal(signal.SIGALRM, signal.SIG_DFL)
answers.write(b"r"); answers.flush()
while True:
    try:
        pattern, flags, whole, text, patience = marshal.load(requests)
    except EOFError:
        break
    compiled = re.compile(pattern, flags)
    signal.setitimer(signal.ITIMER_REAL, patience)
    found = compiled.fullmatch(text) if whole else compiled.search(text)
    signal.setitimer(signal.ITIMER_REAL, 0)
    answers.write(b"y" if found else b"n"); answers.flush()
"""


class TookTooLong(Exception):
    """The deadline came before the answer."""


class Matcher:
    """One child, which tries one pattern at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            process_group=0,
        )
        if self._answer(STARTING_S) != b"r":
            self.kill()
            raise OSError(f"a process for regular expressions did not start ({sys.executable})")

    def matches(self, pattern: str, flags: int, text: str, *, whole: bool, timeout: float) -> bool:
        """Whether the pattern matches; TookTooLong at the deadline, after which the child is of no use."""
        # The child's own alarm is for the case that nobody is left to kill it, hence later than ours.
        request = marshal.dumps((pattern, flags, whole, text, timeout + 1))
        assert self._process.stdin is not None
        self._process.stdin.write(request)
        self._process.stdin.flush()
        match self._answer(timeout):
            case b"y":
                return True
            case b"n":
                return False
            case None:
                raise TookTooLong
            case _:
                raise OSError("a process for regular expressions ended by itself")

    def _answer(self, timeout: float) -> bytes | None:
        """One byte; none at the end of the stream; None at the deadline."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        # `poll`, because `select` refuses descriptors above 1023, and runs have many open.
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return os.read(descriptor, 1) if poll.poll(timeout * 1000) else None

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End the child, whatever it is doing."""
        self._process.kill()
        self._close()
        self._process.wait()

    def disown(self) -> None:
        """Let go of a child that belongs to the process this one was forked from."""
        self._close()
        self._process.returncode = 0

    def _close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            # What is left to write has no reader any more.
            with suppress(OSError):
                assert stream is not None
                stream.close()


class Matchers:
    """The children of this process: at most `limit`, started when needed, kept when done."""

    def __init__(self, *, limit: int) -> None:
        self._places = threading.BoundedSemaphore(limit)
        self._idle: list[Matcher] = []

    def matches(self, pattern: str, flags: int, text: str, *, whole: bool, timeout: float) -> bool:
        """Whether the pattern matches; TookTooLong at the deadline."""
        with self._places:
            matcher = self._take()
            try:
                found = matcher.matches(pattern, flags, text, whole=whole, timeout=timeout)
            except BaseException:
                matcher.kill()
                raise
            self._idle.append(matcher)
            return found

    def _take(self) -> Matcher:
        # `pop` and `append` are atomic: threads need no lock to share the list.
        with suppress(IndexError):
            while True:
                matcher = self._idle.pop()
                if matcher.is_alive:
                    return matcher
                matcher.kill()
        return Matcher()

    def stop(self) -> None:
        """Let the idle children go."""
        while self._idle:
            self._idle.pop().kill()

    def disown(self) -> None:
        """Forget the children of the process that this one was forked from."""
        while self._idle:
            self._idle.pop().disown()


def _new_matchers() -> Matchers:
    return Matchers(limit=min(4, os.cpu_count() or 1))


_matchers = _new_matchers()


def matches_apart(pattern: str, flags: int, text: str, *, whole: bool, timeout: float) -> bool:
    """Whether the pattern matches, told by a child of this process; TookTooLong at the deadline."""
    return _matchers.matches(pattern, flags, text, whole=whole, timeout=timeout)


def _start_anew() -> None:
    # A fork shares the pipes of its parent's children: two processes would read each other's answers.
    global _matchers  # noqa: PLW0603  # one set of children for one process, as processes go
    _matchers.disown()
    _matchers = _new_matchers()


os.register_at_fork(after_in_child=_start_anew)


@atexit.register
def _stop() -> None:
    _matchers.stop()
