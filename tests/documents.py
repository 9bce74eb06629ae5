"""Pages of documentation as programs: what a page shows is carried out, in its order, in an empty folder.

    python tests/documents.py PAGE        run it here, in the current folder; the exit code tells

A page's blocks share one namespace and one folder, as they would for a reader who follows along:

    ```python                       executed, with the page's own line numbers in tracebacks
    ```python title="capitals.py"   written to that file, and loaded once; so are yaml, toml, csv, jsonl, json
    ```console                      `$ paceline ...` and `$ python ...` are run, other commands are not; what
                                    stands below one has to be in its output, whatever the numbers and spaces
    ```console exit=4               ... and the last of them has to end with 4 instead of 0
    ```python no-run="why"          left alone; without a reason it is an error

Knows Markdown and processes, and only the standard library, so that an interpreter with nothing but Paceline
installed can run a page. Knows nothing of Paceline.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`\n]*)$")
MARK = re.compile(r"""(?P<name>[\w-]+)(?:=(?:"(?P<quoted>[^"]*)"|(?P<bare>\S+)))?""")
FILES = {"python", "yaml", "toml", "csv", "jsonl", "json"}
PROGRAMS = ("paceline", "python")
PATIENCE_S = 60


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    language: str
    marks: dict[str, str]
    line: int
    """Where its text starts on the page, from 1."""
    text: str

    @property
    def title(self) -> str | None:
        return self.marks.get("title")

    @property
    def steps(self) -> list[Step]:
        """The commands of a console block that are to be run; `\\` at a line's end continues one."""
        whole = re.sub(r"\\\n(?:> )?", "", self.text)
        typed = re.split(r"^\$ +", whole, flags=re.MULTILINE)[1:]
        steps = [Step(*(entry.split("\n", 1))) for entry in typed]
        return [step for step in steps if step.command.split(maxsplit=1)[0] in PROGRAMS]


class Step(NamedTuple):
    """A command, and what a page shows of its output."""

    command: str
    shown: str

    def missing_from(self, output: str) -> list[str]:
        """The lines shown that the output does not have. `...` and rulers stand for anything."""
        said = _gist(output)
        lines = (line.replace("...", "").strip() for line in self.shown.splitlines())
        return [line for line in lines if re.search(r"\w", line) and _gist(line) not in said]


def _gist(text: str) -> str:
    """A text without its numbers and its spacing, which differ between runs and between terminals."""
    return " ".join(re.sub(r"\d+(?:\.\d+)?", "0", text).split())


class PageError(Exception):
    """A page does not do what it shows."""


def blocks_of(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = iter(enumerate(page.splitlines(), start=1))
    for number, line in lines:
        if not (fence := FENCE.match(line)):
            continue
        language, _, rest = fence["info"].strip().partition(" ")
        inside = []
        for _, text in lines:
            if text.strip() == fence["ticks"]:
                break
            inside.append(text)
        else:
            raise PageError(f"line {number}: the block is never closed")
        marks = {mark["name"]: mark["quoted"] or mark["bare"] or "" for mark in MARK.finditer(rest)}
        yield Block(language, marks, number + 1, textwrap.dedent("\n".join(inside)) + "\n")


def run_page(path: Path) -> None:
    """Carry out a page in the current folder; raise at the first thing that is not as it says."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    for block in blocks_of(path.read_text(encoding="utf-8")):
        where = f"{path}:{block.line}"
        if "no-run" in block.marks:
            if not block.marks["no-run"]:
                raise PageError(f"{where}: no-run needs a reason")
        elif block.title and block.language in FILES:
            write(block, block.title)
        elif block.language == "python":
            padded = "\n" * (block.line - 1) + block.text
            exec(compile(padded, str(path), "exec", dont_inherit=True), main.__dict__)
        elif block.language == "console":
            run_console(block, where)


def write(block: Block, title: str) -> None:
    """Write a block to the file that its title names; one that is Python has to load, too."""
    path = Path(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")
    if block.language == "python":
        runpy.run_path(str(path), run_name=path.stem)


def run_console(block: Block, where: str) -> None:
    """Run the commands of a console block, each in a shell, as a reader would."""
    expected = [0] * len(block.steps)
    if "exit" in block.marks:
        expected[-1] = int(block.marks["exit"])
    search = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    for step, code in zip(block.steps, expected, strict=True):
        ended = subprocess.run(
            ["/bin/sh", "-c", step.command],
            env={**os.environ, "PATH": search},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE_S,
            check=False,
        )
        said = ended.stdout.decode(errors="replace")
        if ended.returncode != code:
            raise PageError(f"{where}: `{step.command}` ended with {ended.returncode}, not {code}:\n{said}")
        if missing := step.missing_from(said):
            raise PageError(f"{where}: `{step.command}` does not print {missing}, but:\n{said}")


if __name__ == "__main__":
    sys.path[0] = str(Path.cwd())  # as for `python file.py` of a reader, and not the folder of this file
    run_page(Path(sys.argv[1]).resolve())
