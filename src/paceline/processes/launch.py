"""What to start, and what came of it: plain values, the same for every kind of command.

A launch says everything: nothing of our own environment, open files or limits reaches the child unsaid.
Containment (a sandbox around the command) is a matter of `argv`, and is put there by whoever wants it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

MIB: Final = 1024 * 1024
OUTPUT_KEPT: Final = 16 * MIB
FLOOD: Final = 64
"""A command that prints so many times what is kept of it is ended: it prints without end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a command may use; None is no limit.

    `memory` and `processes` are those of the command with all of its descendants together. They are looked at
    a few times a second, which is soon enough for an agent that leaks; code that means harm is stopped by
    those that the kernel keeps: all the others, which each process has for itself.
    """

    memory: int | None = None
    """Bytes in use, of all its processes together."""
    processes: int | None = None
    """How many there may be at once."""
    cpu_s: int | None = None
    """Seconds of CPU for each process (RLIMIT_CPU)."""
    file_size: int | None = None
    """Bytes that any file may grow to (RLIMIT_FSIZE). What it prints has a bound of its own."""
    address_space: int | None = None
    """Bytes that each process may map (RLIMIT_AS). Node, Java and Go map far more than they use."""
    open_files: int | None = None
    """RLIMIT_NOFILE."""
    own_processes: int | None = None
    """RLIMIT_NPROC: counts every process of the user, within a user namespace those of the namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A command to start."""

    argv: tuple[str, ...]
    """The program, looked up in the PATH of `env`, and its arguments."""
    env: Mapping[str, str]
    """All of its environment."""
    cwd: Path
    stdin: bytes = b""
    stdout: Path | None = None
    """Where to keep what it prints, in a file that is made anew; None is a nameless one."""
    stderr: Path | None = None
    kept: int = OUTPUT_KEPT
    """Bytes that are kept of each: the first half and the last half. At `FLOOD` times as much it is ended."""
    limits: Limits = field(default_factory=Limits)
    timeout_s: float | None = None
    grace_s: float = 3.0
    """Between TERM and KILL."""
    finally_run: tuple[str, ...] = ()
    """A command that is run once this one is over, however it ended and also when we are gone: it removes
    what is not a child of ours, such as a container. It has ten seconds."""


How = Literal[
    "exited",
    "signalled",  # by somebody else: itself, the kernel where memory ran out, a person
    "timeout",  # past `timeout_s`
    "memory",  # past `limits.memory`
    "processes",  # past `limits.processes`
    "flood",  # printed far more than is kept
    "not found",  # there is no such program
    "not started",  # there is, and it cannot be started: no permission, no directory, too long
    "lost",  # whoever watched over it was killed, and it was ended without a report
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a command has printed to one of its two streams."""

    size: int
    """Bytes printed."""
    path: Path | None
    """The file, where it has a name."""
    content: bytes | None
    """What was kept, where it has not; else see `read`."""
    cut: bool
    """Whether the middle was dropped; a line in its place says so."""

    def read(self) -> bytes:
        """What was kept."""
        if self.content is not None:
            return self.content
        return self.path.read_bytes() if self.path is not None and self.size else b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended. Whatever it was, none of its processes is left."""

    how: How
    code: int | None = None
    """Of `exited`."""
    signal: int | None = None
    """That it died of, where it was one; also where it was us who sent it."""
    error: str = ""
    """Of `not found`, `not started` and `lost`: why, in words."""
    seconds: float = 0.0
    cpu_s: float = 0.0
    """Of all its processes, as far as they were waited for."""
    peak_memory: int = 0
    """Bytes, of its biggest process. The kernel counts from the fork on, so it is some MB for anything."""
    outlived_by: int = 0
    """Processes that it left running, and that were ended with it."""
    stdout: Printed
    stderr: Printed

    @property
    def ok(self) -> bool:
        """Whether it came to its end by itself and said that all is well."""
        return self.how == "exited" and self.code == 0
