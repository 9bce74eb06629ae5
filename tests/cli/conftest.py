"""A folder with a suite in it, and the command line: within this process, or as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import paceline

SUITE = """
    import asyncio, os
    from paceline import Case, Dataset
    from paceline.evaluators import EqualsExpected

    dataset = Dataset(
        name="doubles",
        cases=[Case(name=f"case-{n}", inputs=n, expected_output=2 * n) for n in range(6)],
        evaluators=[EqualsExpected()],
    )

    async def task(n):
        with open("calls.log", "a") as log:
            log.write(f"case-{n}\\n")
        if n == int(os.environ.get("RAISES", -1)):
            raise ValueError("odd")
        return 0 if n == int(os.environ.get("WRONG", -1)) else 2 * n
"""


@dataclass
class Shell:
    """The current directory of a user, and what they type there."""

    folder: Path

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def types(self, *arguments: str, **environ: str) -> Result:
        """`paceline ARGUMENTS`, within this process."""
        from paceline.cli.group import paceline as program

        return CliRunner().invoke(program, list(arguments), env=dict(environ), prog_name="paceline")

    def python(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        """`python ARGUMENTS`, as a process that can import what this one tests."""
        home = str(Path(paceline.__file__).parents[1])
        path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
        usual = {
            "cwd": self.folder,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }
        environ = {**os.environ, "PYTHONPATH": path, **options.pop("environ", {})}
        return subprocess.Popen([sys.executable, *arguments], env=environ, text=True, **{**usual, **options})

    def starts(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        """`paceline ARGUMENTS`, as a process."""
        return self.python("-m", "paceline.cli", *arguments, **options)

    def runs(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """`paceline ARGUMENTS`, as a process, to its end."""
        process = self.starts(*arguments, **options)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    @property
    def calls(self) -> list[str]:
        """The cases that the task was called for, in order."""
        log = self.folder / "calls.log"
        return log.read_text().split() if log.exists() else []


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield Shell(tmp_path)
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def suite(shell: Shell) -> Path:
    return shell.write("doubles.py", SUITE)
