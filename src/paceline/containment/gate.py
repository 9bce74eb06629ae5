"""The gate: what runs first inside a cell, gives up what the command must not have, and becomes the command.

    python -I -S -c GATE TOLD run PROGRAM ARGUMENT...     becomes another program
    python -I -S -c GATE TOLD python NAME SOURCE...       goes on as these modules, in this interpreter

It is given to an interpreter as text, so it stands alone: the standard library, and nothing of ours. `TOLD`
is JSON: `processes`, `uid`, `powerless` (give up what root can do), `landlock` (the access rights that are
handled, the paths and what is allowed below each, what is scoped), `sockets` (false refuses them).

Each step is refused by an error, never skipped: a gate that cannot shut does not let the command through.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from types import ModuleType
from typing import Any, NoReturn

NOT_SHUT = 125
"""The exit code for a gate that could not be shut."""

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # the same on every architecture
_CAPABILITY_VERSION_3 = 0x20080522

SYSCALLS_OF = {
    # AUDIT_ARCH of the kernel's names, then: socket, ptrace, process_vm_readv, process_vm_writev
    "x86_64": (0xC000003E, (41, 101, 310, 311)),
    "aarch64": (0xC00000B7, (198, 117, 270, 271)),
}
_IO_URING_SETUP = 425  # opens sockets without the call of that name
_X32 = 0x40000000


def shut(told: dict[str, Any]) -> None:
    """Give up all that was told, in the order in which it can be given up."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ruleset = _ruleset(told["landlock"]) if told["landlock"] else None
    if told["processes"] is not None:
        _limit_processes(told["processes"])
    if told["uid"] is not None:
        os.setgroups([])
        os.setresgid(told["uid"], told["uid"], told["uid"])
        os.setresuid(told["uid"], told["uid"], told["uid"])
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # becoming somebody else has undone that
    if told["powerless"]:
        _give_up_capabilities()
    if ruleset is not None or not told["sockets"]:
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if ruleset is not None:
        system_call(_LANDLOCK_RESTRICT, ruleset, 0)
        os.close(ruleset)
    if not told["sockets"]:
        _refuse_sockets()


def _limit_processes(most: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


# ---- what the standard library has no call for ----


def system_call(*arguments: Any) -> int:
    """Call the kernel; OSError where it refuses."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    asked = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    answer = int(libc.syscall(*asked))
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{os.strerror(code)} (system call {arguments[0]})")
    return answer


def _prctl(option: int, argument: int, pointer: Any = None) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    rest = [ctypes.c_ulong(0) if pointer is None else pointer, ctypes.c_ulong(0), ctypes.c_ulong(0)]
    if libc.prctl(ctypes.c_int(option), ctypes.c_ulong(argument), *rest) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{os.strerror(code)} (prctl {option})")


def _give_up_capabilities() -> None:
    import ctypes

    capset = {"x86_64": 126, "aarch64": 91}[os.uname().machine]
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    system_call(capset, ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def _ruleset(told: dict[str, Any]) -> int:
    """A Landlock ruleset: everything in `handled` is refused, but for what is allowed below some paths."""
    import ctypes
    import struct

    attributes = struct.pack("=QQQ", told["handled"], 0, told["scoped"])
    # Kernels that know no scopes refuse their field.
    size = 24 if told["scoped"] else 8
    ruleset = system_call(_LANDLOCK_CREATE, ctypes.c_char_p(attributes), size, 0)
    for path, allowed in told["paths"]:
        try:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        rule = struct.pack("=Qi", allowed, opened)
        system_call(_LANDLOCK_ADD, ruleset, 1, ctypes.c_char_p(rule), 0)
        os.close(opened)
    return ruleset


def _refuse_sockets() -> None:
    """A seccomp filter under which a socket cannot be made, nor another process looked into.

    In the words of the filter's little machine: another architecture than ours is killed, the calls in the
    list fail with EPERM, all others are allowed.
    """
    import ctypes
    import struct

    machine = os.uname().machine
    architecture, numbers = SYSCALLS_OF[machine]
    refused = (*numbers, _IO_URING_SETUP)
    load, equal, at_least, end = 0x20, 0x15, 0x35, 0x06
    allow, refuse, kill = 0x7FFF0000, 0x00050000 | 1, 0x80000000
    program = [(load, 0, 0, 4), (equal, 1, 0, architecture), (end, 0, 0, kill), (load, 0, 0, 0)]
    if machine == "x86_64":
        program.append((at_least, len(refused) + 1, 0, _X32))
    program += [(equal, len(refused) - place, 0, number) for place, number in enumerate(refused)]
    program += [(end, 0, 0, allow), (end, 0, 0, refuse)]

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    # `H B B I`: code, how far to jump if so, how far if not, the operand.
    text = b"".join(struct.pack("=HBBI", *step) for step in program)
    _prctl(_PR_SET_SECCOMP, 2, ctypes.byref(Program(len(program), text)))


def main() -> NoReturn:
    """Shut the gate, and become what stands behind it."""
    told, how, *rest = sys.argv[1:]
    try:
        shut(json.loads(told))
    except (OSError, ValueError, KeyError, ImportError) as error:
        sys.stderr.write(f"the cell could not be closed: {type(error).__name__}: {error}\n")
        sys.exit(NOT_SHUT)
    if how == "python":
        _go_on(rest[::2], rest[1::2])
        sys.exit(0)
    try:
        os.execvp(rest[0], rest)
    except OSError as error:
        sys.stderr.write(f"{rest[0]}: {error.strerror}\n")
        sys.exit(127 if isinstance(error, FileNotFoundError) else 126)


def _go_on(names: list[str], sources: list[str]) -> None:
    """Load modules from their text; the last one is the program."""
    for name, source in zip(names, sources, strict=True):
        module = sys.modules[name] = ModuleType(name)
        if name == names[-1]:
            module.__dict__["__name__"] = "__main__"
        exec(compile(source, f"<{name}>", "exec"), module.__dict__)  # noqa: S102  # ours


if __name__ == "__main__":
    main()
