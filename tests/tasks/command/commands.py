"""Commands under test, in runs and without one."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, CommandTask, Dataset
from paceline.report import Report

PYTHON = sys.executable


def called(command: str | list[str], inputs: Any = "", **more: Any) -> Any:
    """What a command answers outside a run."""
    return asyncio.run(CommandTask(command, **more)(inputs))


def python(program: str, *arguments: str) -> list[str]:
    """A program of ours, which no shell reads and in which nothing is a place."""
    return [PYTHON, "-c", program.replace("{{", "\\{{"), *arguments]


def run_of(
    tmp_path: Path, task: Any, *cases: Case[Any, Any, Any], evaluators: Any = (), **options: Any
) -> Report[Any, Any, Any]:
    """A run of these cases, recorded at `tmp_path / "run"`."""
    dataset = Dataset[Any, Any, Any](name="commands", cases=list(cases), evaluators=list(evaluators))
    options.setdefault("journal", tmp_path / "run")
    return dataset.evaluate_sync(task, progress=False, **options)


def grounds(elsewhere: Path) -> list[Path]:
    """What lies where workspaces are made."""
    return sorted((elsewhere / "grounds").glob("paceline-*/*"))


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where stores and grounds lie in this test, which works in a folder of its own."""
    monkeypatch.setenv("PACELINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PACELINE_WORKSPACES", str(tmp_path / "grounds"))
    (tmp_path / "suite").mkdir()
    monkeypatch.chdir(tmp_path / "suite")
    os.environ.pop("TRACEPARENT", None)
    return tmp_path
