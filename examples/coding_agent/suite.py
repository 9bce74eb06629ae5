"""Ten tasks for a coding agent in a small repository, judged by tests that it never sees.

paceline run suite.py --rehearse model.yaml      a scripted model, nothing is paid for
paceline run suite.py                            a real one; AGENT_MODEL says which
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repository import commit_of

from paceline import Case, CommandTask, Dataset, Suite
from paceline.evaluators import FilesChanged, TestsPass

HERE = Path(__file__).resolve().parent
PROJECT, REPOSITORY = HERE / "project", HERE / "build" / "kit.git"
PYTEST = "pytest -q -p no:cacheprovider"
MODEL = os.environ.get("AGENT_MODEL", "scripted-coder")


def tests_in(file: Path, place: str) -> list[str]:
    """The tests of a file, as pytest names them where it stands at `place`."""
    names = re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    return [f"{place}::{name}" for name in names]


def case_of(row: dict[str, str]) -> Case[str, Any, dict[str, Any]]:
    """A task. Its hidden tests are where only evaluators look, named as SWE-bench names them."""
    hidden, visible = HERE / "hidden" / f"test_{row['name']}.py", PROJECT / "tests" / "test_kit.py"
    return Case(
        name=row["name"],
        inputs=row["task"],
        metadata={
            "test_files": {f"hidden/{hidden.name}": hidden.read_text(encoding="utf-8")},
            "FAIL_TO_PASS": tests_in(hidden, f"hidden/{hidden.name}"),
            "PASS_TO_PASS": tests_in(visible, "tests/test_kit.py"),
        },
    )


def tool_calls(trajectory: Sequence[Mapping[str, Any]]) -> int:
    """How many tools the model has called. A number is no verdict: it is shown, and averaged."""
    return sum(len(message.get("tool_calls", ())) for message in trajectory)


def cost(metrics: Mapping[str, float]) -> dict[str, float]:
    """What the calls of the model cost, in US dollars; nothing is said where that is not known."""
    return {"cost": metrics["cost"]} if "cost" in metrics else {}


agent = CommandTask(
    [sys.executable, str(HERE / "agent.py"), "{{ inputs }}", "--model", MODEL],
    # Part of what is under test: with another agent.py, a resume is not the same run.
    env={"AGENT": hashlib.sha256((HERE / "agent.py").read_bytes()).hexdigest()[:12]},
    workspace={"repository": str(REPOSITORY), "commit": commit_of(PROJECT, REPOSITORY)},
    timeout="10m",
    output="diff",
    allow={"calls": 25, "usd": 0.50, "models": [MODEL]},
)

suite = Suite(
    name="coding-agent",
    dataset=Dataset(
        name="coding-agent",
        cases=[case_of(json.loads(line)) for line in (HERE / "tasks.jsonl").read_text().splitlines()],
    ),
    task=agent,
    evaluators=[
        TestsPass(f"{sys.executable} -m {PYTEST} --junit-xml={{junit}} hidden tests", timeout=120),
        FilesChanged(only=["kit/"], never=["tests/"]),
        tool_calls,
        cost,
    ],
    settings={
        "max_concurrency": 10,
        # What the scripted model would cost. Those of real models are known, or said here.
        "prices": {"scripted-coder": {"input": 1.25, "output": 10.0}},
        # The agent shows its model what pytest prints, and how long that took is not the same twice.
        "replay_ignore": [r"in \d+\.\d+s"],
    },
)
