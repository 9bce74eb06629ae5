"""A small coding agent: it is given a task, and changes the files of the folder it is started in.

    python agent.py "Make slugify collapse runs of separators."

It talks to a model through OpenAI's SDK, which finds address and key in `OPENAI_BASE_URL` and
`OPENAI_API_KEY`, and it offers the model five tools. It ends when the model calls none, or after `--turns`.
It knows nothing of Paceline: any program that asks a model can stand in its place.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai

SYSTEM = (
    "You are a careful programmer. Do the task in the repository you are in: look at the files, change what "
    "has to be changed and nothing else, and run the tests. Do not change tests. Say in one sentence what "
    "you have done when you are done."
)
TEXT = {"type": "string"}
TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "list_files": ("List all files.", {}),
    "read_file": ("Read a file.", {"path": TEXT}),
    "write_file": ("Write a file, whole.", {"path": TEXT, "content": TEXT}),
    "edit_file": (
        "Replace a text that stands in a file exactly once.",
        {"path": TEXT, "old": TEXT, "new": TEXT},
    ),
    "run_tests": ("Run the tests of the repository.", {}),
}
LONGEST = 20_000
"""Characters of a result that the model is shown."""
PATIENCE_S = 120


class Refused(Exception):
    """A tool cannot do what it was asked to; the model is told why."""


# Tools ------------------------------------------------------------------------------------------------


def inside(path: str) -> Path:
    """A path of the repository, and of nothing else on this machine."""
    root = Path.cwd().resolve()
    found = (root / path).resolve()
    if root not in found.parents or ".git" in found.relative_to(root).parts:
        raise Refused(f"{path} is not a file of this repository")
    return found


def list_files() -> str:
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def read_file(path: str) -> str:
    try:
        return inside(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path} cannot be read: {error.__class__.__name__}") from None


def write_file(path: str, content: str) -> str:
    file = inside(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    return f"wrote {path}"


def edit_file(path: str, old: str, new: str) -> str:
    text = read_file(path)
    if (times := text.count(old)) != 1:
        raise Refused(f"the text to replace stands {times} times in {path}, and has to stand there once")
    inside(path).write_text(text.replace(old, new), encoding="utf-8")
    return f"edited {path}"


def run_tests() -> str:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", "tests"],
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Refused(f"the tests did not end within {PATIENCE_S} s") from None
    return done.stdout.strip()


DOES: dict[str, Callable[..., str]] = {
    "list_files": list_files,
    "read_file": read_file,
    "write_file": write_file,
    "edit_file": edit_file,
    "run_tests": run_tests,
}


def result_of(name: str, arguments: str) -> str:
    """What a call of a tool comes to; what went wrong is said to the model, which may try again."""
    try:
        given = json.loads(arguments or "{}")
        result = DOES[name](**given)
    except Refused as error:
        return f"error: {error}"
    except (KeyError, TypeError, ValueError, OSError) as error:
        return f"error: this call cannot be carried out: {error}"
    return result if len(result) <= LONGEST else f"{result[:LONGEST]}\n... cut off"


# The conversation -------------------------------------------------------------------------------------


def offered() -> list[Any]:
    """The tools, in the words of chat completions."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": about,
                "parameters": {
                    "type": "object",
                    "properties": parameters,
                    "required": list(parameters),
                    "additionalProperties": False,
                },
            },
        }
        for name, (about, parameters) in TOOLS.items()
    ]


def work(task: str, *, model: str, turns: int) -> str | None:
    """Do a task; what the model says at the end of it, or None where it came to no end."""
    client = openai.OpenAI()
    said: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task}]
    for turn in range(1, turns + 1):
        answer = client.chat.completions.create(model=model, messages=said, tools=offered())
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content or ""
        said.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            assert call.type == "function", "no other kind is offered"
            result = result_of(call.function.name, call.function.arguments)
            print(f"{turn}. {call.function.name}: {_first_line(result)}", file=sys.stderr)
            said.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return None


def _first_line(text: str) -> str:
    return re.sub(r"\s.*", " ...", text, count=1, flags=re.DOTALL) if len(text) > 60 else text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("task", help="what is to be done, in words")
    parser.add_argument("--model", default="gpt-5.4-mini")
    parser.add_argument("--turns", type=int, default=20, help="calls of the model at most")
    given = parser.parse_args()
    try:
        said = work(given.task, model=given.model, turns=given.turns)
    except openai.APIError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if said is None:
        print(f"error: not done after {given.turns} turns", file=sys.stderr)
        return 1
    print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
