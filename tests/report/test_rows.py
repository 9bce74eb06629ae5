"""Rows: a case as a person looks at it, by the names that Pydantic Evals' users know."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Raw

from paceline.dataset.case import Case
from paceline.dataset.spec import EvaluatorSpec
from paceline.engine.ports import Attempted, Turn
from paceline.journal.records import BeginLine, ErrorFacts, EvaluatorFacts, Key, Score
from paceline.report import Report, ReportCase, ReportCaseFailure
from paceline.report.rows import row_maker
from paceline.values import Opaque
from tests.report.journals import (
    Lines,
    again,
    begin,
    ended,
    failed,
    finished,
    manifest,
    mute,
    no,
    output,
    raw,
    retried,
    run,
    says,
    scored,
    told,
    yes,
)


@dataclass
class Visit:
    city: str


def test_a_case_has_what_was_asked_what_came_back_and_what_was_said_of_it() -> None:
    lines = [
        begin("a", inputs=Visit("Paris"), expected={"x": 1}, metadata=raw(["easy"])),
        retried("a", error_class="rate_limited"),
        again("a"),
        output("a", Visit("Rome"), attempt=2, metrics={"tokens": 12}, attributes=raw({"model": "m"})),
        told("a", says(0.5), says("kind", "Tone", reason="it says please")),
        scored("a", yes(), answer=None, attempt=2, seconds=2.0, total=5.0, waited=1.0),
    ]
    (case,) = Report(finished(*lines, keys=1)).cases
    assert (case.name, case.inputs, case.expected_output, case.metadata) == (
        "a",
        Visit("Paris"),
        {"x": 1},
        ["easy"],
    )
    assert case.output == Visit("Rome")
    assert case.metrics == {"tokens": 12}
    assert case.attributes == {"model": "m"}
    assert case.scores["Similarity"].value == 0.5
    assert case.labels["Tone"].reason == "it says please"
    assert case.assertions["Equals"].value is True
    assert (case.task_duration, case.total_duration, case.waited, case.attempts) == (2.0, 5.0, 1.0, 2)
    assert case.evaluator_failures == []
    assert case.source_case_name is None
    assert case.key == Key("a")
    assert case.passed is True


def test_a_failure_says_what_went_wrong_where_and_how_long_it_took() -> None:
    error = ErrorFacts(type="ValueError", message="no such city", trace="File ...", stage="setup")
    lines = [begin("a", inputs="Q", expected="A"), failed("a", error=error, seconds=3.0, attempt=2)]
    (failure,) = Report(finished(*lines, keys=1)).failures
    assert (failure.name, failure.inputs, failure.expected_output) == ("a", "Q", "A")
    assert (failure.error_type, failure.error_message) == ("ValueError", "no such city")
    assert (failure.error_stacktrace, failure.error_stage) == ("File ...", "setup")
    assert (failure.outcome, failure.attempts, failure.duration) == ("task_error", 2, 3.0)
    assert failure.passed is False


def test_repeats_are_named_as_pydantic_evals_names_them() -> None:
    lines = [begin("a", repeat=1), scored("a", yes(), repeat=1)]
    (case,) = Report(Lines(run(repeat=3), *lines)).cases
    assert (case.name, case.source_case_name, case.key.repeat) == ("a [2/3]", "a", 1)


def test_a_result_names_its_evaluator_as_a_file_would_and_its_version() -> None:
    facts = EvaluatorFacts(label="Contains", spec={"Contains": "Paris"}, version="2")
    source = Lines(run(evaluators=[facts]), begin("a"), scored("a", yes("Contains"), yes("Own")))
    (case,) = Report(source).cases
    assert case.assertions["Contains"].source == EvaluatorSpec.parse({"Contains": "Paris"})
    assert case.assertions["Contains"].evaluator_version == "2"
    assert case.assertions["Own"].source == EvaluatorSpec(name="Own", keywords={})


def test_a_spec_that_nobody_can_parse_leaves_the_label() -> None:
    source = Lines(
        run(evaluators=[EvaluatorFacts(label="Odd", spec=[1, 2])]), begin("a"), scored("a", yes("Odd"))
    )
    assert Report(source).cases[0].assertions["Odd"].source.name == "Odd"


def test_an_evaluator_that_could_not_say_anything_is_told_with_its_error() -> None:
    lines = [begin("a"), scored("a", yes(), outcome="evaluator_error", failures=[mute("Judge", "quota")])]
    report = Report(finished(*lines, keys=1))
    (case,) = report.cases
    assert [(each.name, each.error_type, each.error_message) for each in case.evaluator_failures] == [
        ("Judge", "RuntimeError", "quota")
    ]
    assert case.outcome == "evaluator_error"
    assert case.passed is False
    assert report.failures == []


def test_whether_a_case_passed_is_unknown_without_an_assertion() -> None:
    lines = [begin("a"), scored("a", says(1.0)), begin("b"), scored("b", yes(), no("Other"))]
    assert [case.passed for case in Report(finished(*lines, keys=2)).cases] == [None, False]


def test_a_key_that_was_skipped_before_it_began_has_no_content() -> None:
    (failure,) = Report(Lines(run(), failed("a", "skipped_budget", attempt=0), manifest(1), ended())).failures
    assert (failure.inputs, failure.attempts, failure.outcome) == (None, 0, "skipped_budget")


def test_a_value_that_is_lost_says_so_and_does_not_end_the_report() -> None:
    lost = BeginLine(case="a", at=1000.0, hash="", inputs=Raw(b'{"$paceline":{"blob":"00","bytes":1}}'))
    (case,) = Report(finished(lost, scored("a", yes()), keys=1)).cases
    assert isinstance(case.inputs, Opaque)
    assert case.inputs.lossy


def test_the_row_for_a_teardown_is_the_row_that_the_report_will_have() -> None:
    facts = [EvaluatorFacts(label="Equals", spec="Equals")]
    make = row_maker(2, facts)
    turn = Turn(
        Key("a", 1),
        Case(name="a", inputs="Q"),
        hash="",
        inputs_raw=b"",
        expected_raw=b"",
        metadata_raw=b"",
    )
    turn.tries = 1
    results = [yes("Other", name="same"), yes("Equals", name="same")]
    case = make(turn, Attempted(output="A", seconds=1.0), "scored", results, [])
    assert isinstance(case, ReportCase)
    assert (case.name, case.output, case.attempts) == ("a [2/2]", "A", 1)
    assert {name: result.by for name, result in case.assertions.items()} == {
        "same": "Equals",
        "same_2": "Other",
    }
    failure = make(turn, Attempted(error=ErrorFacts(type="E", message="m")), "task_error", [], [])
    assert isinstance(failure, ReportCaseFailure)
    assert failure.error_message == "m"


def test_a_number_that_is_not_text_nor_truth_is_a_score() -> None:
    (case,) = Report(finished(begin("a"), scored("a", Score(name="n", value=3, by="n")), keys=1)).cases
    assert case.scores["n"].value == 3
    assert case.assertions == case.labels == {}
