"""Where the answer of a command is: what it has printed, a file, JSON at a path, or what it has changed.

    output: stdout                             its text, without the line ends at its end, as a shell has it
    output: diff                               the patch of its workspace
    output: {file: answer.txt}
    output: {json: result.answer}              of what it has printed: all of it, or else its last line
    output: {file: out.json, json: "runs[0].answer"}

An answer that is not there, or cut, is a failure and never an empty answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from paceline.errors import UsageError
from paceline.processes.launch import Ended
from paceline.settings import nearest
from paceline.tasks.command.failures import NoAnswer, OutputFlood
from paceline.tasks.template import MissingField, Place, Template, found
from paceline.workspaces.inside import parts_of, read
from paceline.workspaces.sources import WorkspaceError

_HINT: Final = "output is `stdout`, `diff`, {file: answer.txt}, {json: result.answer} or both of the latter"


@dataclass(frozen=True, slots=True)
class Output:
    """Where the answer is."""

    of: Literal["stdout", "diff", "file"] = "stdout"
    file: str = ""
    path: Place | None = None
    """Within JSON; None where the answer is text."""

    def taken(self, ended: Ended, *, workspace: Path | None, patch: Path | None, most: int) -> Any:
        """The answer."""
        match self.of:
            case "diff":
                if patch is None:
                    return ""
                if (size := patch.stat().st_size) > most:
                    raise OutputFlood(f"its answer is its diff, and has {size:,} bytes: {most:,} are kept")
                return patch.read_bytes().decode(errors="backslashreplace")
            case "stdout":
                if ended.stdout.cut:
                    raise OutputFlood(
                        f"its answer is on stdout, and has {ended.stdout.size:,} bytes: it was cut"
                    )
                raw = ended.stdout.read()
            case "file":
                raw = self._read(workspace, most)
        text = raw.decode(errors="backslashreplace")
        if self.path is None:
            return text.rstrip("\n") if self.of == "stdout" else text
        return self._within(text, self.path)

    def _read(self, workspace: Path | None, most: int) -> bytes:
        assert workspace is not None, "the spec has seen to it"
        try:
            return read(workspace, self.file, most=most)
        except FileNotFoundError:
            raise NoAnswer(f"it has not written {self.file}")
        except (WorkspaceError, OSError) as error:
            raise NoAnswer(f"its answer cannot be read: {error}")

    def _within(self, text: str, path: Place) -> Any:
        value = _json(text, self.file or "stdout")
        try:
            return found(value, path, "the answer")
        except MissingField as error:
            raise NoAnswer(str(error).replace("the answer wants", "the answer was to be at"))


def _json(text: str, where: str) -> Any:
    """All of a text as JSON; or its last line, where programs print progress before their result."""
    last = text.rstrip().rpartition("\n")[2]
    for part in (text, last):
        try:
            return json.loads(part)
        except (ValueError, RecursionError) as error:
            why = error
    shown = f": {text[:200]!r}" if text.strip() else ", it is empty"
    raise NoAnswer(f"{where} is not JSON ({why}){shown}")


def output_of(said: object) -> Output:
    """The output that was said."""
    match said:
        case None | "stdout":
            return Output()
        case "diff":
            return Output("diff")
        case Mapping():
            return _from_keys(said)
    raise UsageError(f"output cannot be {said!r:.100}", hint=_HINT)


def _from_keys(said: Mapping[Any, Any]) -> Output:
    for key in said:
        if key not in ("file", "json"):
            raise UsageError(f"output has no key {key!r}{nearest(str(key), ('file', 'json'))}", hint=_HINT)
    file, path = said.get("file"), said.get("json")
    if (
        (file is None and path is None)
        or not isinstance(file, str | None)
        or not isinstance(path, str | None)
    ):
        raise UsageError("output wants texts for its keys", hint=_HINT)
    if file is not None:
        try:
            parts_of(file, git=True)
        except WorkspaceError as error:
            raise UsageError(f"output: {error}", hint=error.hint)
    place = None if path is None else _place(path)
    return Output("stdout" if file is None else "file", file or "", place)


def _place(path: str) -> Place:
    """`result.answer`, `[0].text` or nothing, as a place in an answer."""
    written = f"answer.{path}" if path and not path.startswith("[") else f"answer{path}"
    place = Template(f"{{{{ {written} }}}}", where="output", roots=("answer",)).only_place()
    if place is None:
        raise UsageError(
            f"output: {path!r} is no path in JSON", hint="such as `result.answer` or `runs[0].text`"
        )
    return place
