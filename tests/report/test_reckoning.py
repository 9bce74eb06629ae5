"""Figures: every number with what stands behind it, and no green that is not one."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.journal.records import ErrorFacts, Line, Score
from paceline.report import Report
from paceline.report.figures import Figures
from paceline.report.reading import Reader
from paceline.report.reckoning import figures_of
from paceline.report.table import fold
from paceline.statistics.proportions import wilson
from tests.journal.lines import lines as any_lines
from tests.report.journals import (
    DAMAGED,
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
    passing,
    resumed,
    retried,
    run,
    says,
    scored,
    told,
    yes,
)


def figures(source: Lines) -> Figures:
    table = fold(source)
    return figures_of(table, Reader(source, table).key)


# How far it came


def test_a_run_in_which_all_cases_were_scored_is_complete() -> None:
    found = figures(finished(*passing("a", "b"), begin("c"), scored("c", no()), keys=3))
    assert found.verdict == "complete"
    assert (found.n_expected, found.n_scored, found.n_failed, found.n_open) == (3, 3, 0, 0)
    assert (found.n_passed, found.n_not_passed, found.n_unasserted) == (2, 1, 0)
    assert found.passed.rate == pytest.approx(2 / 3)
    assert found.passed.interval == wilson(2, 3)


def test_of_a_run_that_has_begun_nothing_none_has_passed() -> None:
    found = figures(Lines(run(expected=3)))
    assert (found.passed.count, found.passed.of, found.passed.rate, found.passed.interval) == (
        0,
        3,
        0.0,
        None,
    )


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        (Lines(run()), "empty"),
        (finished(keys=0), "empty"),
        (Lines(), "empty"),
        (Lines(run(expected=3)), "incomplete"),
        (Lines(run(), *passing("a")), "incomplete"),
        (Lines(run(), *passing("a"), ended("interrupted")), "incomplete"),
        (Lines(run(expected=2), *passing("a")), "incomplete"),
        (Lines(run(), *passing("a"), begin("b"), manifest(2)), "incomplete"),
        (finished(*passing("a"), failed("b", "skipped_budget"), keys=2), "incomplete"),
        (finished(*passing("a"), failed("b", "cancelled"), keys=2), "incomplete"),
        (finished(*passing("a"), failed("b", "timeout"), keys=2), "errors"),
        (finished(*passing("a"), failed("b", "infra_error"), keys=2), "errors"),
        (
            finished(*passing("a"), scored("b", outcome="evaluator_error", failures=[mute()]), keys=2),
            "errors",
        ),
        (Lines(run(), *passing("a"), ended("complete")), "complete"),
        (finished(begin("a"), scored("a", no()), keys=1), "complete"),
    ],
)
def test_the_verdict_says_how_far_a_run_came(source: Lines, verdict: str) -> None:
    assert figures(source).verdict == verdict


def test_a_run_that_was_killed_counts_what_it_did_not_get_to() -> None:
    """Killed at 3 of 10: three passed, and that is not 100 %."""
    found = figures(Lines(run("Equals", expected=10), *passing("a", "b", "c"), begin("d"), begin("e")))
    assert found.expected_known
    assert (found.n_expected, found.n, found.n_open, found.n_begun) == (10, 3, 7, 2)
    assert found.passed.rate == 0.3
    assert found.passed_of_scored.rate == 1.0
    assert found.coverage == 0.3


def test_where_the_number_of_keys_is_not_known_the_figures_say_so() -> None:
    found = figures(Lines(run(), *passing("a"), begin("b")))
    assert not found.expected_known
    assert found.n_expected == 2


# Passing


def test_failures_count_as_not_passed() -> None:
    """Nine of ten crash and the one left passes: the rate is 10 %, not 100 %."""
    lines = [line for number in range(9) for line in (begin(f"c{number}"), failed(f"c{number}"))]
    found = figures(finished(*passing("a"), *lines, keys=10))
    assert found.passed.rate == 0.1
    assert (found.passed_of_scored.rate, found.passed_of_scored.of) == (1.0, 1)
    assert found.coverage == 0.1
    assert found.error_rate == 0.9


def test_where_every_case_fails_the_rate_is_0_and_that_of_those_scored_unknown() -> None:
    found = figures(finished(begin("a"), failed("a"), keys=1))
    assert found.passed.rate == 0.0
    assert found.passed_of_scored.rate is None
    assert found.passed_of_scored.interval is None


def test_a_case_without_assertion_is_counted_apart_and_never_passes() -> None:
    found = figures(
        finished(*passing("a"), begin("b"), scored("b", says(0.9)), begin("c"), scored("c"), keys=3)
    )
    assert (found.n_scored, found.n_passed, found.n_unasserted) == (3, 1, 2)
    assert (found.passed.count, found.passed.of) == (1, 1)


def test_where_no_case_asserts_anything_there_is_no_pass_rate() -> None:
    found = figures(finished(begin("a"), scored("a", says(0.9)), begin("b"), failed("b"), keys=2))
    assert found.passed.rate is None
    assert found.passed.interval is None


def test_a_case_whose_judge_is_out_of_quota_does_not_pass() -> None:
    silent = scored("a", yes(), outcome="evaluator_error", failures=[mute("Judge")])
    found = figures(finished(begin("a"), silent, keys=1))
    assert found.passed.rate == 0.0
    assert found.n_failed == 1
    assert found.evaluators.failures == {"Judge": 1}


def test_repeats_of_one_case_do_not_make_the_interval_narrower_than_they_can() -> None:
    def repeated(times: int) -> Figures:
        lines: list[Line] = [run("Equals", repeat=times)]
        for number in range(20):
            for repeat in range(times):
                says_so = yes() if number % 2 else no()
                lines += [begin(f"c{number}", repeat=repeat), scored(f"c{number}", says_so, repeat=repeat)]
        return figures(Lines(*lines, manifest(20 * times), ended()))

    once, tenfold = repeated(1).passed.interval, repeated(10).passed.interval
    assert once is not None
    assert tenfold is not None
    assert tenfold.high - tenfold.low >= once.high - once.low
    assert repeated(10).n_cases == 20


def test_while_keys_are_not_run_the_headline_has_no_interval() -> None:
    """Nothing was observed of them; what was run has its rate and interval beside it."""
    lines = [
        *passing("a", "b"),
        begin("c"),
        failed("c"),
        begin("d"),
        failed("d", "skipped_budget"),
        begin("e"),
    ]
    found = figures(Lines(run("Equals", expected=10), *lines))
    assert (found.passed.count, found.passed.of, found.passed.rate) == (2, 10, 0.2)
    assert found.passed.interval is None
    assert (found.passed_of_run.count, found.passed_of_run.of) == (2, 3)
    assert found.passed_of_run.interval == wilson(2, 3)
    whole = figures(finished(*passing("a"), begin("b"), failed("b"), keys=2))
    assert whole.passed_of_run == whole.passed


def test_what_the_budget_did_not_reach_is_not_run_and_no_error() -> None:
    lines = [*passing("a"), begin("b"), failed("b"), failed("c", "skipped_budget"), failed("d", "cancelled")]
    found = figures(finished(*lines, keys=5))
    assert (found.n_failed, found.n_open, found.n_not_run) == (3, 1, 3)
    assert found.error_rate == 0.5


def test_an_interval_of_variants_waits_for_the_run_to_be_whole() -> None:
    lines = [begin("a"), scored("a", yes()), begin("a", variant="big"), scored("a", no(), variant="big")]
    for keys, whole in ((2, True), (4, False)):
        found = figures(Lines(run(variants=("", "big")), *lines, manifest(keys), ended()))
        assert [variant.passed.rate for variant in found.variants] == [1.0, 0.0]
        assert all((variant.passed.interval is not None) is whole for variant in found.variants)


def test_repeats_of_a_run_that_is_not_whole_have_a_rate_of_those_run() -> None:
    found = figures(
        Lines(
            run(repeat=2, expected=6),
            begin("a"),
            scored("a", yes()),
            begin("a", repeat=1),
            scored("a", yes(), repeat=1),
        )
    )
    assert found.passed.rate == pytest.approx(1 / 3)
    assert found.passed.interval is None
    assert found.passed_of_run.interval is not None
    assert found.passed_of_run.interval.n == 1


def test_variants_are_told_apart() -> None:
    lines = [begin("a", variant="big"), scored("a", yes(), variant="big")]
    found = figures(Lines(run(variants=("", "big")), begin("a"), failed("a"), *lines, manifest(2), ended()))
    by_name = {variant.name: variant for variant in found.variants}
    assert by_name["big"].passed.rate == 1.0
    assert by_name[""].passed.rate == 0.0
    assert by_name[""].n_failed == 1
    assert figures(finished(*passing("a"), keys=1)).variants == []


# Times


def test_latency_is_the_working_time_of_what_gave_an_output() -> None:
    lines: list[Line] = []
    for number in range(1, 101):
        lines += [begin(f"c{number}"), scored(f"c{number}", yes(), seconds=float(number), waited=50.0)]
    lines += [begin("slow"), failed("slow", "timeout", seconds=1800.0)]
    found = figures(finished(*lines, keys=101, wall=100.0))
    assert found.latency.n == 100
    assert (found.latency.p50, found.latency.max) == (50.5, 100.0)
    assert found.latency.p99 == pytest.approx(99.01)
    assert found.waited == 5000.0
    assert found.timeout_rate == pytest.approx(1 / 101)


def test_where_nothing_gave_an_output_latency_is_unknown() -> None:
    latency = figures(finished(begin("a"), failed("a"), keys=1)).latency
    assert latency.n == 0
    assert (latency.p50, latency.mean, latency.max) == (None, None, None)


def test_concurrency_and_speed_up_are_told_against_the_wall() -> None:
    judged = [
        told("a", yes("Judge", seconds=2.0), says(1.0, "Judge", name="depth", seconds=2.0)),
        scored("a", answer=None),
    ]
    found = figures(
        finished(
            begin("a"),
            retried("a", seconds=4.0),
            again("a"),
            output("a"),
            *judged,
            keys=1,
            wall=2.0,
        )
    )
    assert found.work == 4.0  # the outcome told of attempt 1, whose end was on record
    lines = [begin("a"), retried("a", seconds=4.0), again("a"), output("a"), judged[0]]
    found = figures(finished(*lines, scored("a", answer=None, attempt=2), keys=1, wall=2.0))
    assert found.work == 5.0
    assert found.concurrency == 2.5
    assert found.speed_up == 3.5  # a judge that has two things to say answers once
    assert found.attempts == 2
    assert found.retries == {"transient": 1}


def test_a_rescored_run_calls_nothing_and_knows_the_times_that_its_source_knew() -> None:
    lines = [begin("a"), scored("a", yes(), seconds=0.0), begin("b"), scored("b", yes(), seconds=3.0)]
    found = figures(Lines(run("Equals", rescored_from="runs/x", expected=2), *lines, ended(wall=2.0)))
    assert (found.latency.n, found.latency.p50) == (1, 3.0)
    assert (found.concurrency, found.speed_up) == (None, None)
    timeless = figures(Lines(run("Equals", rescored_from="x.jsonl", expected=1), *lines[:2], ended()))
    assert timeless.latency.mean is None
    assert figures(finished(*lines[:2], keys=1)).latency.n == 1  # a task may take no time


def test_the_wall_is_that_of_all_processes() -> None:
    source = Lines(
        run(started=0.0), begin("a", at=3.0), resumed(at=100.0), scored("a", yes(), at=101.0), ended(wall=4.0)
    )
    found = figures(source)
    assert found.wall == 7.0
    assert found.processes == 2


def test_what_was_left_behind_and_damaged_is_counted() -> None:
    found = figures(finished(begin("a"), failed("a", "timeout", abandoned=2), DAMAGED, keys=1))
    assert found.abandoned == 2
    assert found.damaged == 1


# Evaluators


def test_every_evaluator_is_told_with_the_cases_behind_it() -> None:
    lines: list[Line] = [run("Exact", "Similarity", "Tone")]
    for name, exact, similarity, tone in (
        ("a", yes, 0.2, "kind"),
        ("b", no, 0.4, "rude"),
        ("c", yes, 0.9, "kind"),
    ):
        lines += [begin(name), scored(name, exact("Exact"), says(similarity), says(tone, "Tone"))]
    lines += [begin("d"), failed("d"), manifest(4), ended()]
    found = figures(Lines(*lines)).evaluators
    assert [(each.name, each.true.count, each.true.of, each.n_expected) for each in found.assertions] == [
        ("Exact", 2, 3, 4)
    ]
    (score,) = found.scores
    assert (score.values.n, score.n_expected) == (3, 4)
    assert score.values.mean == pytest.approx(0.5)
    assert score.values.p50 == 0.4
    assert (score.values.min, score.values.max) == (0.2, 0.9)
    (label,) = found.labels
    assert label.counts == {"kind": 2, "rude": 1}


def test_an_evaluator_that_never_says_anything_is_told_as_well() -> None:
    lines = [*passing("a"), begin("b"), scored("b", yes(), failures=[mute("Judge")])]
    found = figures(Lines(run("EqualsExpected", "Equals", "Judge"), *lines, manifest(2), ended())).evaluators
    assert found.silent == {"EqualsExpected": 2}
    assert found.failures == {"Judge": 1}


def test_an_evaluator_whose_results_were_all_taken_back_is_silent() -> None:
    lines = [begin("a"), scored("a", yes()), again("a"), scored("a", attempt=2)]
    found = figures(finished(*lines, keys=1)).evaluators
    assert found.assertions == []
    assert found.silent == {"Equals": 1}


def test_where_results_were_left_out_nobody_is_called_silent() -> None:
    lines: list[Line] = []
    for number in range(1001):
        lines += [begin(f"c{number}"), scored(f"c{number}", says(1.0, f"made up {number}"))]
    assert figures(finished(*lines, keys=1001)).evaluators.silent == {}


def test_an_evaluator_of_one_case_is_expected_of_that_case_only() -> None:
    lines = [begin("a"), scored("a", yes(), yes("Own")), begin("b"), scored("b", yes())]
    found = figures(finished(*lines, keys=2)).evaluators.assertions
    assert {each.name: each.n_expected for each in found} == {"Equals": 2, "Own": 1}


def test_results_of_one_name_are_told_apart_in_the_order_of_the_evaluators() -> None:
    """Whichever evaluator answered first, the second one's result is `same_2`."""
    first, second = yes("First", name="same"), no("Second", name="same")
    lines = [begin("a"), output("a"), told("a", second), scored("a", first, answer=None)]
    found = figures(Lines(run("First", "Second"), *lines, manifest(1), ended())).evaluators.assertions
    assert [(each.name, each.by, each.true.count) for each in found] == [
        ("same", "First", 1),
        ("same_2", "Second", 0),
    ]


def test_a_name_per_case_costs_no_column_each_and_is_said_to_be_left_out() -> None:
    lines: list[Line] = []
    for number in range(1200):
        lines += [begin(f"c{number}"), scored(f"c{number}", says(1.0, f"made up {number}"))]
    found = figures(finished(*lines, keys=1200))
    assert len(found.evaluators.scores) == 1000
    assert found.results_left_out == 200


# Causes


def test_failures_are_grouped_by_cause_most_frequent_first() -> None:
    lines: list[Line] = []
    for number in range(8):
        error = ErrorFacts(type="ValueError", message=f"row {number} is bad")
        lines += [begin(f"c{number}"), failed(f"c{number}", error=error)]
    lines += [begin("t"), failed("t", "timeout", ErrorFacts(type="Timeout", message="took longer than 30 s"))]
    found = figures(finished(*lines, keys=9))
    assert [(each.count, each.type, each.message) for each in found.causes] == [
        (8, "ValueError", "row 0 is bad"),
        (1, "Timeout", "took longer than 30 s"),
    ]
    assert found.causes[0].examples == ["c0", "c1", "c2", "c3", "c4"]
    assert found.causes_left_out == 0


def test_a_failure_that_a_resume_has_mended_has_no_cause() -> None:
    lines = [
        begin("a"),
        failed("a", "infra_error"),
        resumed(),
        again("a"),
        scored("a", yes(), attempt=2),
    ]
    assert figures(finished(*lines, keys=1)).causes == []


def test_ten_thousand_causes_are_listed_up_to_a_bound_and_counted_beyond() -> None:
    lines: list[Line] = []
    for number in range(3000):
        word = "".join(chr(97 + number // 26**place % 26) for place in range(3))
        lines += [failed(f"c{number}", error=ErrorFacts(type="ValueError", message=word))]
    found = figures(finished(*lines, keys=3000))
    assert sum(cause.count for cause in found.causes) + found.causes_left_out == 3000
    assert len(found.causes) == 50


# For any journal


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for each in value.values() for number in _numbers(each)]
    if isinstance(value, list):
        return [number for each in value for number in _numbers(each)]
    return [value] if isinstance(value, float) else []


@given(st.lists(any_lines, max_size=30))
def test_the_counts_add_up_and_nothing_is_nan(journal: list[Line]) -> None:
    found = figures(Lines(run("s0"), *journal))
    assert found.n_expected == found.n_scored + found.n_failed + found.n_open
    assert found.n_scored == found.n_passed + found.n_not_passed + found.n_unasserted
    assert found.n == found.n_scored + found.n_failed == sum(found.outcomes.values())
    assert found.n_failed == sum(cause.count for cause in found.causes) + found.causes_left_out
    assert found.n_open >= 0
    assert all(map(math.isfinite, _numbers(msgspec.to_builtins(found))))
    if found.passed.rate is not None:
        assert found.passed.of == found.n_expected - found.n_unasserted
        assert found.passed.rate <= (found.passed_of_scored.rate or 0.0)


def test_calls_that_were_not_made_are_counted_by_evaluator_and_case() -> None:
    def said(spared: int) -> Score:
        return Score(name="Cascade", value=True, by="Cascade", spared=spared)

    rows = [(begin(case), scored(case, said(spared))) for case, spared in (("a", 3), ("b", 0), ("c", 3))]
    told = [line for row in rows for line in row]
    figures = Report.read(finished(*told, keys=3)).figures
    (spared,) = figures.evaluators.spared
    assert (spared.by, spared.n, spared.cases, spared.calls) == ("Cascade", 3, 2, 6)


def test_a_case_that_was_scored_anew_counts_as_it_was_scored_last() -> None:
    said = Score(name="Cascade", value=True, by="Cascade", spared=3)
    again = msgspec.structs.replace(said, spared=0)
    lines = begin("a"), scored("a", said), begin("a", attempt=2), scored("a", again)
    assert Report.read(finished(*lines, keys=1)).figures.evaluators.spared == []
