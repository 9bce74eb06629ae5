"""What a contained command sees of the machine's files: its programs and libraries, and nothing of anyone's.

The system's folders can be read, and so can those of the Python interpreter that is to run, wherever it lies.
Homes, other runs, keys and the rest of /etc are not there, unless a path is named.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from paceline.errors import UsageError

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
ETC: Final = (
    "alternatives",
    "ca-certificates",
    "group",
    "host.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki",
    "protocols",
    "services",
    "ssl",
    "timezone",
)
"""What programs look for below /etc, without secrets."""
RESOLVER: Final = ("resolv.conf",)
"""And what those look for that use the network."""
DEVICES: Final = ("null", "zero", "full", "random", "urandom")

_ASK: Final = """
import json, sys, sysconfig
paths = sysconfig.get_paths()
print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix,
                  paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"]]))
"""


def system_paths() -> tuple[str, ...]:
    """The system's folders, as far as they are there."""
    return tuple(path for path in SYSTEM if os.path.lexists(path))


def etc_paths(*, network: bool) -> tuple[str, ...]:
    """Those files below /etc that programs need, as far as they are there."""
    names = ETC + RESOLVER if network else ETC
    return tuple(path for name in names if os.path.exists(path := f"/etc/{name}"))  # noqa: PTH110


def interpreter_paths(python: str = sys.executable) -> tuple[str, ...]:
    """The folders outside the system's in which an interpreter, its library and its packages lie."""
    return tuple(_outermost(path for path in _places_of(python) if not is_below(path, SYSTEM)))


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these folders, or in one."""
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def open_to_others(path: str) -> bool:
    """Whether a user with no rights of their own comes as far as this path, and may read there."""
    place = Path(path)
    try:
        return bool(place.stat().st_mode & 0o004) and all(
            parent.stat().st_mode & 0o001 for parent in place.parents
        )
    except OSError:
        return False


def _outermost(paths: Iterable[str]) -> Iterator[str]:
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not is_below(path, kept):
            kept.append(path)
            yield path


@functools.cache
def _places_of(python: str) -> tuple[str, ...]:
    if python == sys.executable:
        paths = sysconfig.get_paths()
        told = [sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
        told += [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    else:
        told = _asked(python)
    executable, *folders = told
    # An executable may be a link into another place, such as the interpreters that a tool has downloaded.
    steps = [executable]
    while os.path.islink(steps[-1]) and len(steps) < 40:  # noqa: PTH114
        steps.append(os.path.normpath(os.path.join(os.path.dirname(steps[-1]), os.readlink(steps[-1]))))  # noqa: PTH115, PTH118, PTH120
    found = [*steps, *folders]
    found += [os.path.realpath(path) for path in found]
    return tuple(os.path.abspath(path) for path in found if os.path.exists(path))  # noqa: PTH100, PTH110


def _asked(python: str) -> list[str]:
    """Where an interpreter that is not this one has its files."""
    try:
        said = subprocess.run(
            [python, "-I", "-c", _ASK], capture_output=True, text=True, timeout=30, check=True
        ).stdout
        told = json.loads(said)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise UsageError(
            f"{python} is no Python interpreter that can be asked where its files are: {error}",
            hint="name one by its whole path, such as .venv/bin/python",
        ) from error
    return [str(path) for path in told]
