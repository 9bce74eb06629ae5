"""Files of Pydantic Evals read here, and ours read there, as the same dataset."""

from __future__ import annotations

import inspect
import warnings
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from paceline import Dataset, Report
from paceline.dataset.case import Case
from paceline.dataset.files import DatasetSpec, Format, read_dataset, write_dataset
from paceline.dataset.spec import EvaluatorSpec
from paceline.options import EvaluateOptions
from paceline.report.averages import ReportCaseAggregate, ReportCaseGroup
from paceline.report.rows import ReportCase, ReportCaseFailure

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    theirs: Any = pytest.importorskip("pydantic_evals", reason="pydantic-evals is not installed")
    evaluators: Any = pytest.importorskip("pydantic_evals.evaluators")

pytestmark = pytest.mark.filterwarnings("ignore")
FORMATS = ("yaml", "json")


def their_dataset() -> Any:
    return theirs.Dataset(
        name="capitals",
        cases=[
            theirs.Case(
                name="France",
                inputs="What is the capital\nof France?",
                expected_output="Paris",
                metadata={"k": [1, None, 2.5, True]},
                evaluators=(evaluators.Contains(value="P"),),
            ),
            theirs.Case(inputs={"q": "no", "on": "2024-01-02", "at": "12:30"}, expected_output=None),
        ],
        evaluators=[
            evaluators.EqualsExpected(),
            evaluators.IsInstance(type_name="str"),
            evaluators.Contains(value={"a": 1}),
            evaluators.Contains(value=["a"], as_strings=True),
            evaluators.Equals(value=[1]),
            evaluators.MaxDuration(seconds=2.0),
        ],
    )


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_dataset_of_theirs_survives_a_stay_here(tmp_path: Path, fmt: Format) -> None:
    given = their_dataset()
    given.to_file(tmp_path / f"given.{fmt}")
    read = read_dataset(tmp_path / f"given.{fmt}")
    assert [case.name for case in read.cases] == ["France", None]
    assert read.cases[1].inputs == {"q": "no", "on": "2024-01-02", "at": "12:30"}
    write_dataset(tmp_path / f"returned.{fmt}", read)
    assert theirs.Dataset.from_file(tmp_path / f"returned.{fmt}") == given


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_dataset_of_ours_survives_a_stay_there(tmp_path: Path, fmt: Format) -> None:
    given = DatasetSpec(
        name="ours",
        cases=(
            Case(name="a", inputs="no", metadata={"n": 1}, expected_output="12:30\n  b"),
            Case(inputs=[date(2026, 1, 2).isoformat(), 1.0, None]),
        ),
        evaluators=(
            EvaluatorSpec(name="EqualsExpected", keywords={}),
            EvaluatorSpec(name="Contains", positional=("x",), keywords={}),
            EvaluatorSpec(name="Contains", keywords={"value": ["x"], "case_sensitive": False}),
            EvaluatorSpec(name="Equals", positional=({"a": 1},), keywords={}),
        ),
    )
    write_dataset(tmp_path / f"given.{fmt}", given)
    stayed = theirs.Dataset.from_file(tmp_path / f"given.{fmt}")
    assert [type(evaluator).__name__ for evaluator in stayed.evaluators] == [
        "EqualsExpected",
        "Contains",
        "Contains",
        "Equals",
    ]
    assert stayed.evaluators[2].value == ["x"]
    assert stayed.evaluators[3].value == {"a": 1}
    stayed.to_file(tmp_path / f"returned.{fmt}")
    returned = read_dataset(tmp_path / f"returned.{fmt}")
    assert (returned.name, returned.cases) == (given.name, given.cases)
    assert len(returned.evaluators) == len(given.evaluators)


def test_what_their_report_and_its_rows_have_ours_have() -> None:
    reporting: Any = pytest.importorskip("pydantic_evals.reporting")
    for ours, other in (
        (Report, reporting.EvaluationReport),
        (ReportCase, reporting.ReportCase),
        (ReportCaseFailure, reporting.ReportCaseFailure),
        (ReportCaseGroup, reporting.ReportCaseGroup),
        (ReportCaseAggregate, reporting.ReportCaseAggregate),
    ):
        there = {name for name in dir(ours) if not name.startswith("_")}
        there |= getattr(ours, "__dataclass_fields__", {}).keys()
        wanted = getattr(other, "model_fields", None) or other.__dataclass_fields__
        assert wanted.keys() <= there, ours


@pytest.mark.parametrize(
    "method",
    [
        "add_case",
        "add_evaluator",
        "evaluate",
        "evaluate_sync",
        "from_dict",
        "from_file",
        "from_text",
        "model_json_schema_with_evaluators",
        "to_file",
    ],
)
def test_calls_written_for_theirs_are_taken_here(method: str) -> None:
    """Each parameter of theirs, in its place if it has one; ours may come besides."""
    ours, other = (inspect.signature(getattr(kind, method)) for kind in (Dataset, theirs.Dataset))
    taken = set(ours.parameters)
    if "options" in taken:
        assert ours.parameters["options"].kind is inspect.Parameter.VAR_KEYWORD
        taken |= EvaluateOptions.__annotations__.keys()
    assert other.parameters.keys() <= taken
    places = [name for name, one in other.parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert list(ours.parameters)[: len(places)] == places
