"""Asking git, in two ways: on this machine only, or for what has to come from somewhere.

On this machine it is asked without anybody's settings: no hooks, filters, monitors or programs that a
workspace or a home folder names are run. What comes from elsewhere is fetched as the user would, with their
settings and credentials, and never asks a question.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from paceline.processes.launch import Launch
from paceline.processes.running import run_blocking
from paceline.workspaces.sources import WorkspaceError

LOCAL_S: Final = 300.0
REMOTE_S: Final = 1800.0
"""For a clone of something big over a slow line."""
SHOWN: Final = 2_000
ANY_NAME: Final = ("-c", "core.protectNTFS=false")
"""`git~1` is a file like any other where nobody takes it for `.git`."""
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Every git knows it, whether it is stored or not."""


def require() -> None:
    """Raise a `WorkspaceError` where there is no git."""
    if shutil.which("git") is None:
        raise WorkspaceError(
            "there is no git on this machine, by which workspaces are made and compared",
            hint="install it: `apt-get install git`, `brew install git`",
        )


def git(
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    stdout: IO[bytes] | None = None,
) -> bytes:
    """Have something done on this machine; what was printed, where no file takes it."""
    program = ["git", *map(str, arguments)]
    try:
        done = subprocess.run(
            program,
            env={**_alone(), **(env or {})},
            input=stdin,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            timeout=LOCAL_S,
            check=False,
        )
    except FileNotFoundError:
        require()
        raise
    except subprocess.TimeoutExpired:
        raise WorkspaceError(f"`git {_verb(arguments)}` did not end within {LOCAL_S:g} s")
    if done.returncode:
        raise _failed(arguments, done.stderr)
    return done.stdout or b""


def fetch(*arguments: str | Path) -> bytes:
    """Have something fetched from wherever it is."""
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        env.pop(name, None)
    argv = ("git", *map(str, arguments))
    ended = run_blocking(Launch(argv=argv, env=env, cwd=Path("/"), timeout_s=REMOTE_S))
    if ended.how == "not found":
        require()
    if ended.how == "timeout":
        raise WorkspaceError(f"git did not get an answer within {REMOTE_S:g} s")
    if not ended.ok:
        raise _failed(arguments, ended.stderr.read() or ended.error.encode())
    return ended.stdout.read()


def _failed(arguments: tuple[str | Path, ...], said: bytes) -> WorkspaceError:
    words = said.decode(errors="backslashreplace").strip() or "it said nothing"
    return WorkspaceError(f"`git {_verb(arguments)}` failed: {words[-SHOWN:]}")


def _verb(arguments: Sequence[str | Path]) -> str:
    """What git was to do."""
    words = iter(map(str, arguments))
    for word in words:
        if word in ("-C", "-c", "--git-dir"):
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""


def _alone() -> dict[str, str]:
    """An environment in which nobody's settings count."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def make_repository(place: Path, *, head: str = "ref: refs/heads/main\n", bare: bool) -> None:
    """An empty repository, without asking git: these few files are what one is."""
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        (place / folder).mkdir(parents=True, exist_ok=True)
    flag = "true" if bare else "false"
    (place / "config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = {flag}\n"
        f"{'' if bare else chr(9) + 'logallrefupdates = true' + chr(10)}"
    )
    (place / "HEAD").write_text(head)


def make_comparing(place: Path, *, literal: bool) -> None:
    """A repository with nothing but settings, to compare a folder by. `literal`: a file is its bytes,
    whatever a `.gitattributes` says of how it is to be written."""
    make_repository(place, bare=False)
    with (place / "config").open("a") as config:
        config.write("\tprotectNTFS = false\n")
    if literal:
        (place / "info" / "attributes").write_text(_LITERAL)


_LITERAL: Final = "* -text !eol -ident !filter !working-tree-encoding !diff\n"
