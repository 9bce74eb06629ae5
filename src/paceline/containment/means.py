"""What this machine can contain a command with. Found out once, by trying.

    bubblewrap  namespaces of its own: files, network, processes. The whole of what is promised
    landlock    the kernel's own rules, where bubblewrap is missing or, as in most containers, not allowed:
                files by Landlock, sockets by seccomp; a user of its own where we are root
    limits      neither: CPU, memory and the rest are limited, files and network are not

Whether bubblewrap is installed says little: user namespaces may be forbidden. So one is really started.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Final, Literal

from paceline.containment.gate import SYSCALLS_OF

Way = Literal["bubblewrap", "landlock", "limits"]

LANDLOCK_NEEDED: Final = 3
"""Before this version of its interface (Linux 6.2) it lets files be cut short that cannot be written."""
LANDLOCK_SCOPES: Final = 6
"""From this one on (Linux 6.12) it also keeps signals within."""

_PATIENCE_S: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What there is."""

    way: Way
    bwrap: str = ""
    """The program."""
    sizes: bool = False
    """Whether it can bound how much is written to the temporary folder."""
    landlock: int = 0
    """The version of the kernel's interface; 0 where there is none."""
    root: bool = False
    """Whether we run as root, and may become another user."""
    own_count: bool = False
    """Whether the kernel counts the processes of a user namespace for themselves (Linux 5.14)."""
    why_not: str = ""
    """Why it is not bubblewrap."""


@functools.cache
def means() -> Means:
    """What this machine can contain with; tried once for each process."""
    return found_out(shutil.which("bwrap") or "")


def found_out(bwrap: str, *, landlock: int | None = None) -> Means:
    """What there is, given where bubblewrap is (empty: nowhere) and, for another kernel's, a Landlock."""
    version = landlock_version() if landlock is None else landlock
    known = sys.platform == "linux" and os.uname().machine in SYSCALLS_OF
    without = Means(
        way="landlock" if version >= LANDLOCK_NEEDED and known else "limits",
        landlock=version,
        root=os.geteuid() == 0,
        own_count=_kernel() >= (5, 14),
        why_not="there is bubblewrap only on Linux"
        if sys.platform != "linux"
        else "bubblewrap (`bwrap`) is not installed",
    )
    if not bwrap or sys.platform != "linux":
        return without
    if why_not := _tried(bwrap, root=without.root):
        return replace(without, why_not=why_not)
    return replace(without, way="bubblewrap", bwrap=bwrap, sizes="--size" in _help(bwrap), why_not="")


def landlock_version() -> int:
    """The version of the kernel's Landlock; 0 where it has none, or it is switched off."""
    if sys.platform != "linux":
        return 0
    from paceline.containment.gate import system_call

    try:
        return system_call(444, None, 0, 1)
    except (OSError, ImportError, AttributeError):
        return 0


def _kernel() -> tuple[int, int]:
    digits = os.uname().release.split("-")[0].split(".")
    try:
        return int(digits[0]), int(digits[1])
    except (IndexError, ValueError):
        return (0, 0)


def _tried(bwrap: str, *, root: bool) -> str:
    """Why no cell can be made with it; empty where one can."""
    user = [] if root else ["--unshare-user"]
    spaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    files = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    command = [bwrap, *user, *spaces, *files, sys.executable, "-I", "-S", "-c", ""]
    try:
        ended = subprocess.run(command, capture_output=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{bwrap} cannot be started: {error}"
    if ended.returncode == 0:
        return ""
    said = ended.stderr.decode(errors="replace").strip().splitlines()
    return f"bubblewrap is installed and may not do its work here ({said[-1] if said else 'it says nothing'})"


def _help(bwrap: str) -> str:
    try:
        return subprocess.run(
            [bwrap, "--help"], capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
