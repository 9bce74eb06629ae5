"""What a judge is: prompt, model, settings. What it is shown is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paceline.evaluators.judges.fingerprint import fingerprint_of, seen_by
from paceline.evaluators.judges.questions import Question, Scale
from paceline.models import model

ASKED: dict[str, Any] = {"rubric": "It is right.", "shown": {"output": "a"}, "answer": "score"}


def of(which: Any = "openai:small", settings: Any = None, **changed: Any) -> str:
    return fingerprint_of(model(which), Question(**{**ASKED, **changed}), settings)


def test_what_is_judged_is_not_part_of_the_judge() -> None:
    assert of() == of(shown={"output": "another"})


@pytest.mark.parametrize(
    "changed",
    [
        {"rubric": "It is wrong."},
        {"shown": {"output": "a", "input": "b"}},
        {"answer": "both"},
        {"scale": Scale(1, 5)},
        {"scale": Scale(1, 5, whole=True)},
        {"answer": "choice", "choices": ("A", "B")},
        {"which": "openai:large"},
        {"which": {"name": "openai:small", "temperature": 0}},
        {"settings": {"temperature": 0}},
    ],
)
def test_whatever_changes_what_a_judge_is_told_or_who_judges_makes_another_judge(changed: Any) -> None:
    assert of(**changed) != of()


def test_it_does_not_depend_on_the_process() -> None:
    here = Path(__file__).resolve().parents[3]
    program = "from tests.evaluators.judges.test_fingerprint import of; print(of())"
    other = subprocess.check_output(
        [sys.executable, "-c", program], cwd=here, env={**os.environ, "PYTHONHASHSEED": "7"}, text=True
    )
    assert other.strip() == of()


def test_what_a_judge_has_seen_is_the_judge_and_what_it_was_shown() -> None:
    assert seen_by("f", {"output": "a"}) == seen_by("f", {"output": "a"})
    assert (
        len({seen_by("f", {"output": "a"}), seen_by("g", {"output": "a"}), seen_by("f", {"output": "b"})})
        == 3
    )
