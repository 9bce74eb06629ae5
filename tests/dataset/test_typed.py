"""Datasets whose type parameters say what the data in their file stands for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paceline import Dataset
from paceline.errors import DatasetError
from paceline.evaluators import EqualsExpected


@dataclass(frozen=True)
class Question:
    text: str
    difficulty: int = 1


YAML = """
name: typed
cases:
- name: france
  inputs: {text: "Capital of France?"}
  expected_output: Paris
  metadata: {tag: geo}
evaluators: [EqualsExpected]
"""


def test_inputs_become_what_the_type_parameter_says() -> None:
    dataset = Dataset[Question, str, dict[str, str]].from_text(YAML)
    assert isinstance(dataset.cases, list)
    assert dataset.cases[0].inputs == Question("Capital of France?")
    assert dataset.cases[0].metadata == {"tag": "geo"}


def test_a_typed_dataset_runs_and_is_a_dataset() -> None:
    dataset = Dataset[Question, str, Any].from_text(YAML)
    assert isinstance(dataset, Dataset)

    def answer(question: Question) -> str:
        return "Paris" if question.text.startswith("Capital of France") else "?"

    assert dataset.evaluate_sync(answer, journal=False, progress=False).pass_rate == 1.0


def test_rows_of_a_stream_are_typed_too(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "a", "input": {"text": "x", "difficulty": 3}, "expected": 3}\n')
    dataset = Dataset[Question, int, Any].from_file(rows)
    dataset.evaluators.append(EqualsExpected())
    report = dataset.evaluate_sync(lambda question: question.difficulty, journal=False, progress=False)
    assert report.pass_rate == 1.0


def test_models_of_pydantic_are_validated() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Asked", text=(str, ...))
    dataset = Dataset[model, str, Any].from_text(YAML)  # type: ignore[valid-type]
    assert isinstance(dataset.cases, list)
    assert dataset.cases[0].inputs == model(text="Capital of France?")


def test_what_does_not_fit_is_refused_with_the_case() -> None:
    with pytest.raises(DatasetError, match=r"case france: its inputs cannot be read as Question"):
        Dataset[Question, str, Any].from_text(YAML.replace("text:", "words:"))
