"""How a forked child becomes a command: its session, files, folder and limits, and then the program.

Here the warden has just forked, and whatever of its memory is touched is copied first: as much as can be is
done by the warden itself, before or beside.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from paceline.processes.tree import die_with_parent

OOM_SCORE: Final = b"500"
_FAILED: Final = 127
_LIMITS: Final = {
    "cpu_s": resource.RLIMIT_CPU,
    "file_size": resource.RLIMIT_FSIZE,
    "address_space": resource.RLIMIT_AS,
    "open_files": resource.RLIMIT_NOFILE,
    "own_processes": resource.RLIMIT_NPROC,
}


def become(request: Mapping[str, Any], files: Sequence[int], word: int) -> NoReturn:
    """Become the command. What goes wrong is said on `word`, which the start of the program closes."""
    try:
        os.setsid()
        die_with_parent()
        for target, fd in enumerate(files):
            os.dup2(fd, target)
        os.chdir(request["cwd"])
        _limit(request["limits"])
        os.execvpe(request["argv"][0], request["argv"], request["env"])
    except OSError as error:
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR) and error.filename != request["cwd"]
        about = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        why = f"{'not found' if missing else 'not started'}: {about}{error.strerror}"
    except BaseException as error:
        why = f"not started: {type(error).__name__}: {error}"
    with contextlib.suppress(BaseException):
        os.write(word, why.encode("utf-8", "backslashreplace")[:4096])
    os._exit(_FAILED)


def _limit(limits: Mapping[str, int]) -> None:
    for name, kind in _LIMITS.items():
        if name in limits:
            hard = resource.getrlimit(kind)[1]
            most = limits[name] if hard == resource.RLIM_INFINITY else min(limits[name], hard)
            # A second between the two is what makes the kernel say why (XCPU), and not only kill.
            room = 1 if kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else 0
            resource.setrlimit(kind, (most, most + room))


def offer_to_oom(pid: int) -> None:
    """Where the system runs out of memory, it is to end commands rather than whoever looks after them."""
    with contextlib.suppress(OSError):  # there is no such thing here
        file = os.open(f"/proc/{pid}/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(file, OOM_SCORE)
        finally:
            os.close(file)
