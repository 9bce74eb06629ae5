"""A cell: what a contained command may see, write and use; and the argv that puts a command into one.

    with contained(("pytest", "-q"), Cell(cwd=workspace, writable=(workspace,))) as inside:
        inside.argv, inside.env, inside.cwd      what to start
        inside.gaps                              what is not contained here

How well it holds depends on the machine (`means`). `check` refuses where files or network would be open, and
`gaps_of` says what else is: a promise that this machine cannot keep is never made.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from paceline.containment import bubblewrap, gate, landlock
from paceline.containment.means import LANDLOCK_SCOPES, Means, means
from paceline.containment.view import interpreter_paths, open_to_others
from paceline.errors import UsageError

MIB: Final = 1024 * 1024

Gap = Literal["files", "network", "signals", "processes", "disk", "names"]
"""What is left open; `IN_WORDS` says what that means."""

IN_WORDS: Final[dict[Gap, str]] = {
    "files": "files outside can be read and written",
    "network": "the network can be reached",
    "signals": "other processes of the same user can be ended",
    "processes": "the number of processes is watched, not bounded",
    "disk": "what its files take together is not bounded",
    "names": "which files there are outside can be found out",
}
SERIOUS: Final[frozenset[Gap]] = frozenset({"files", "network"})

_ENOUGH_USERS: Final = 1 << 15
_SLACK: Final = 32
"""Processes that others of the same user may start meanwhile, where the kernel counts them together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What a command may see, write and use. Its home, a temporary folder, is its own and goes with it."""

    cwd: Path | None = None
    """Where it starts; None is its temporary folder."""
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    """Beside the system's folders and the interpreter's."""
    etc: bool = True
    """Whether it sees what programs look for below /etc, without secrets."""
    network: bool = False
    processes: int | None = 64
    """At once, threads counted too."""
    scratch: int = 64 * MIB
    """Bytes in its temporary folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contained:
    """A command with a cell around it."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    """All of its environment."""
    cwd: Path
    gaps: frozenset[Gap]


@dataclass(frozen=True, slots=True)
class Source:
    """A Python program, which goes on in the interpreter that has shut the cell.

    It is handed over as text: nothing of ours can be imported in a cell, but for the modules named here. Each
    may import those before it; the last one is the program.
    """

    modules: tuple[str, ...]
    python: str = field(default=sys.executable)
    packages: bool = False
    """Whether it can import what is installed beside the interpreter."""


def gaps_of(cell: Cell, found: Means, *, python: str = sys.executable) -> frozenset[Gap]:
    """What is left open on a machine with these means."""
    gaps: set[Gap] = set()
    own_user = _has_own_user(cell, found, _seen(python))
    if found.way != "bubblewrap":
        gaps |= {"names", "disk"}
        if not own_user and (found.way == "limits" or found.landlock < LANDLOCK_SCOPES):
            gaps.add("signals")
    elif not found.sizes:
        gaps.add("disk")
    if found.way == "limits":
        gaps |= {"files", "network"}
    counted = own_user or (found.way == "bubblewrap" and found.own_count and not found.root)
    if not counted and cell.processes is not None:
        gaps.add("processes")
    return frozenset(gaps - ({"network"} if cell.network else set()))


def check(cell: Cell, found: Means, *, what: str) -> None:
    """Raise a UsageError where files or the network would be open to `what`, with the remedy."""
    open_ones = [IN_WORDS[gap] for gap in ("files", "network") if gap in gaps_of(cell, found)]
    if open_ones:
        raise UsageError(
            f"{what} cannot be contained on this machine: {' and '.join(open_ones)} ({found.why_not})",
            hint="install bubblewrap (`apt-get install bubblewrap`), run in a container of your own, or say "
            "allow_uncontained=True if you trust the code",
        )


@contextlib.contextmanager
def contained(
    command: Sequence[str] | Source, cell: Cell, *, found: Means | None = None
) -> Iterator[Contained]:
    """The command with a cell around it, for as long as the block lasts; what is made for it goes with it."""
    found = found or means()
    python = command.python if isinstance(command, Source) else sys.executable
    seen = _seen(python)
    uid = _nobody_else() if _has_own_user(cell, found, seen) else None
    with contextlib.ExitStack() as made:
        if found.way == "bubblewrap":
            scratch, start, rules = bubblewrap.SCRATCH, Path("/"), None
            before = bubblewrap.argv(cell, found, seen, own_user=uid is not None)
            before += ("--chdir", str(cell.cwd or scratch), "--")
        else:
            scratch = made.enter_context(_folder(uid))
            before, start = (), cell.cwd or scratch
            rules = landlock.rules(cell, found, seen, scratch) if found.way == "landlock" else None
        told = {
            "processes": _most_processes(cell, found, uid),
            "uid": uid,
            "powerless": found.root and uid is None and found.way == "landlock",
            "landlock": rules,
            "sockets": cell.network or found.way != "landlock",
        }
        yield Contained(
            argv=(*before, *_behind_the_gate(command, told)),
            env=_environment(scratch),
            cwd=start,
            gaps=gaps_of(cell, found, python=python),
        )


def _seen(python: str) -> tuple[str, ...]:
    """What the interpreters need: the gate's, and the one that is to run."""
    return interpreter_paths(sys.executable) + interpreter_paths(python)


def _has_own_user(cell: Cell, found: Means, seen: Sequence[str]) -> bool:
    """Whether the command can be a user that nobody else is, and still do its work.

    Then its processes are counted for themselves, it can end no others, and nobody's files are its own.
    """
    if not found.root or cell.writable or _users()[1] < _ENOUGH_USERS:
        return False
    # Without namespaces it has to come to its interpreter by the machine's own permissions.
    return found.way == "bubblewrap" or all(map(open_to_others, seen))


def _behind_the_gate(command: Sequence[str] | Source, told: dict[str, Any]) -> tuple[str, ...]:
    shut = ("-c", _text_of(gate.__name__), json.dumps(told))
    if isinstance(command, Source):
        without = () if command.packages else ("-S",)
        modules = (part for name in command.modules for part in (name, _text_of(name)))
        return (command.python, "-I", *without, *shut, "python", *modules)
    return (sys.executable, "-I", "-S", *shut, "run", *command)


@functools.cache
def _text_of(module: str) -> str:
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None, f"{module} is no file"
    return Path(found.origin).read_text(encoding="utf-8")


def _environment(scratch: Path) -> dict[str, str]:
    return {
        "HOME": str(scratch),
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "TMPDIR": str(scratch),
    }


def _most_processes(cell: Cell, found: Means, uid: int | None) -> int | None:
    """What the kernel is told to allow; None where its count would be of something else."""
    if cell.processes is None:
        return None
    if uid is not None or (found.way == "bubblewrap" and found.own_count and not found.root):
        return cell.processes
    if found.root or sys.platform != "linux":
        return None
    return _processes_of_user() + cell.processes + _SLACK


def _processes_of_user() -> int:
    """Threads of all processes of this user."""
    count, user = 0, os.geteuid()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == user:
                    count += len(os.listdir(f"/proc/{entry.name}/task"))  # noqa: PTH208
    return count


def _users() -> tuple[int, int]:
    """The first and the number of the users that there are, in the largest range of them."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            ranges = [(int(first), int(count)) for first, _, count in (line.split() for line in file)]
    except (OSError, ValueError):
        return 0, 0
    return max(ranges, key=lambda each: each[1], default=(0, 0))


def _nobody_else() -> int:
    """The number of a user that nobody is."""
    first, count = _users()
    # In the upper half, and not to its end: -1 is no user at all, and 65534 is nobody.
    half = min(count, 1 << 31) // 2
    return first + half + secrets.randbelow(half - 100)


@contextlib.contextmanager
def _folder(uid: int | None) -> Iterator[Path]:
    """A temporary folder, removed whatever was put into it."""
    path = Path(tempfile.mkdtemp(prefix="paceline-cell-"))
    try:
        if uid is not None:
            os.chown(path, uid, uid)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if path.exists():
            _open_all(path)
            shutil.rmtree(path, ignore_errors=True)


def _open_all(path: Path) -> None:
    """Open folders that their command has closed, none of them through a link."""
    with contextlib.suppress(OSError):
        path.chmod(0o700)
    for folder, folders, _files in os.walk(path):
        for below in (Path(folder, name) for name in folders):
            with contextlib.suppress(OSError):
                if not below.is_symlink():
                    below.chmod(0o700)
