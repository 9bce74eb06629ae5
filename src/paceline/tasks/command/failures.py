"""The ways in which a command can fail, told apart by their names.

What is about the machine and not about the program (no workspace, no container engine, a setup that does
not come to its end) is infrastructure: nobody's answer was wrong, and a resume asks again.
"""

from __future__ import annotations

import re
import signal
from dataclasses import replace
from typing import ClassVar, Final, Literal

from paceline.journal.records import ErrorClass
from paceline.processes.launch import Ended, Limits
from paceline.tasks.failures import TaskFailure

LAST_WORDS: Final = 600
"""Characters of what a program has printed last that an error shows."""
BRIEF: Final = 3
"""Lines that are shown as they are."""
_TROUBLE: Final = re.compile(
    r"[\w.:]*(?:Error|Exception|Exit|Interrupt)\b|(?i:error|fatal|panic)\b\S{0,12}[:\[ ]"
)
"""How a line begins that tells of trouble, in most languages."""
_ABOUT_KEYS: Final = re.compile(r"(?i)api.?key|credential|unauthori[sz]ed|authenticat|\b401\b")
NO_KEYS: Final = "no key of a provider is set here, such as OPENAI_API_KEY: the program was led to no gateway"
_FATAL: Final = frozenset(
    {
        *(signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGKILL, signal.SIGSEGV),
        *(signal.SIGTERM, signal.SIGXCPU, signal.SIGXFSZ),
    }
)
"""Signals that end a program. Those of the keyboard and the terminal are not among them."""


class ProgramNotFound(TaskFailure):
    """There is no such program."""


class NotStarted(TaskFailure):
    """The program is there, and the system did not start it."""


class NonZeroExit(TaskFailure):
    """It ended by itself, with a code that means that something went wrong."""


class KilledBySignal(TaskFailure):
    """It was ended by a signal that was not ours."""


class OutputFlood(TaskFailure):
    """It printed more than is kept."""


class MemoryExceeded(TaskFailure):
    """It used more memory than it may."""


class ProcessesExceeded(TaskFailure):
    """It had more processes than it may."""


class CpuExceeded(TaskFailure):
    """It used more CPU time than it may."""


class FileSizeExceeded(TaskFailure):
    """It wrote a file that is bigger than it may be."""


class CommandTimeout(TaskFailure):
    """It took longer than it may, where nobody else keeps the time."""

    error_class: ClassVar[ErrorClass] = "timeout"


class NoAnswer(TaskFailure):
    """It ended well, and its answer is not where it was to be."""


class BadFiles(TaskFailure):
    """The files of the case cannot be written as they are."""


class SetupFailed(TaskFailure):
    """What is to be done before it did not come to its end."""

    error_class: ClassVar[ErrorClass] = "infrastructure"


class WorkspaceFailed(TaskFailure):
    """There is no workspace for it."""

    error_class: ClassVar[ErrorClass] = "infrastructure"


class WorkspaceRemoved(TaskFailure):
    """It has removed its workspace, or put something else in its place."""


class EngineFailed(TaskFailure):
    """The container engine did not run it."""

    error_class: ClassVar[ErrorClass] = "infrastructure"


class CommandLost(TaskFailure):
    """Nobody can say how it ended: whoever watched over it was killed."""

    error_class: ClassVar[ErrorClass] = "infrastructure"


def telling(printed: str) -> str:
    """The line that tells the trouble, out of what a program has said last; all of it, where it was brief.

    Of a traceback that is the last line, of other stacks it is the first; a table has room for one.
    """
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    if len(lines) <= BRIEF:
        return printed.strip()[-LAST_WORDS:]
    return next((line for line in reversed(lines) if _TROUBLE.match(line)), lines[-1])[:LAST_WORDS]


def about_keys(failure: TaskFailure | None, said: str) -> TaskFailure | None:
    """A failure of a program that was given no key, told so where it seems to be about that."""
    if isinstance(failure, NonZeroExit) and _ABOUT_KEYS.search(said):
        return NonZeroExit(f"{failure}; {NO_KEYS}")
    return failure


def failure_of(
    ended: Ended,
    *,
    limits: Limits,
    program: str,
    last_words: str,
    timeout_s: float | None,
    accepted: frozenset[int] | None,
    engine: str = "",
    by_shell: bool = False,
) -> TaskFailure | None:
    """How a command has failed, if it has. `accepted`: exit codes that are none; None is any."""
    said = f"; it said: {last_words}" if last_words else ""
    match ended.how:
        case "exited":
            code = ended.code or 0
            if accepted is None or code in accepted:
                return None
            if (engine or by_shell) and code - 128 in _FATAL:  # as shells and engines tell of a signal
                return _signalled(replace(ended, signal=code - 128), limits, program, said)
            if engine and code == 125:
                return EngineFailed(f"{engine} did not run the command{said}")
            return NonZeroExit(f"{program} exited with code {code}{_meaning(code, engine, by_shell)}{said}")
        case "signalled":
            return _signalled(ended, limits, program, said)
        case "not found":
            return ProgramNotFound(f"there is no program {program}: {ended.error}")
        case "not started":
            return NotStarted(f"{program} cannot be started: {ended.error}{_remedy(ended.error)}")
        case "timeout":
            return CommandTimeout(f"{program} took longer than {timeout_s:g} s{said}")
        case "stopped" | "lost":
            return CommandLost(f"{program} was ended: {ended.error or 'nobody wanted it any more'}")
        case how:
            return _past_a_limit(how, ended, limits, program)


def _past_a_limit(
    how: Literal["flood", "memory", "processes"], ended: Ended, limits: Limits, program: str
) -> TaskFailure:
    if how == "flood":
        printed = max(ended.stdout.size, ended.stderr.size)
        return OutputFlood(f"{program} printed {printed:,} bytes and more, and was ended")
    if how == "memory":
        return MemoryExceeded(f"{program} used more than {limits.memory:,} bytes of memory, and was ended")
    return ProcessesExceeded(f"{program} had more than {limits.processes} processes, and was ended")


def _signalled(ended: Ended, limits: Limits, program: str, said: str) -> TaskFailure:
    number = ended.signal or 0
    if number == signal.SIGXCPU and limits.cpu_s is not None:
        return CpuExceeded(f"{program} used more than {limits.cpu_s} s of CPU time, and was ended")
    if number == signal.SIGXFSZ and limits.file_size is not None:
        return FileSizeExceeded(
            f"{program} wrote a file of more than {limits.file_size:,} bytes, and was ended"
        )
    known = number in set(signal.Signals)
    name = signal.Signals(number).name if known else f"signal {number}"
    hint = ", as the system does where memory runs out" if number == signal.SIGKILL else ""
    return KilledBySignal(f"{program} was killed by {name}{hint}{said}")


def _meaning(code: int, engine: str, by_shell: bool) -> str:
    """What an exit code means where it is not the program's own."""
    if not engine and not by_shell:
        return ""
    who = engine or "the shell"
    if code == 126:
        return f": {who} found a program that cannot be started"
    if code == 127:
        return f": {who} found no such program"
    return ""


def _remedy(error: str) -> str:
    if "too long" in error:
        return "; give long values by `stdin:` or in `files:`"
    if "Exec format" in error:
        return "; a script wants a first line such as #!/bin/sh"
    if "Permission denied" in error:
        return "; is it executable?"
    return ""
