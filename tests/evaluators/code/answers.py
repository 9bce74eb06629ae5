"""Answers that are code, judged: what PythonTests says of them."""

from __future__ import annotations

import asyncio
from typing import Any

from paceline.evaluators import EvaluationReason, PythonTests
from tests.evaluators.cases import finished

ADD = "assert add(1, 2) == 3\nassert add(-1, 1) == 0\n"
SMALL: dict[str, Any] = {"memory_mb": 256, "processes": 8, "timeout": 10.0}
"""Limits under which a failure of containment harms nothing."""


def judged(
    answer: object, tests: str | list[str] = ADD, *, entry_point: str | None = "add", **more: Any
) -> Any:
    """What the evaluator says: an EvaluationReason, or a mapping of several."""
    evaluator = PythonTests(tests, entry_point, **{**SMALL, **more})
    return asyncio.run(evaluator.evaluate(finished(answer)))


def verdict(answer: object, tests: str | list[str] = ADD, **more: Any) -> EvaluationReason:
    """Whether an answer passes, and why not."""
    said = judged(answer, tests, **more)
    found = said if isinstance(said, EvaluationReason) else said["PythonTests"]
    assert isinstance(found, EvaluationReason)
    return found


def why_not(answer: object, tests: str | list[str] = ADD, **more: Any) -> str:
    """Why an answer does not pass."""
    found = verdict(answer, tests, **more)
    assert found.value is False
    assert found.reason
    return found.reason
