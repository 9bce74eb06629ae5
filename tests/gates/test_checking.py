"""A gate fails closed: green is only what is known to hold."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import check
from paceline.errors import UsageError
from paceline.gates.verdict import Finding, Verdict
from paceline.journal.records import JudgeStanding
from paceline.report import Report
from tests.report.journals import (
    Lines,
    begin,
    called,
    ended,
    failed,
    finished,
    manifest,
    no,
    passing,
    run,
    says,
    scored,
    yes,
)


def report(*lines: Any) -> Report[Any, Any, Any]:
    return Report.read(Lines(*lines))


def of(*lines: Any, keys: int) -> Report[Any, Any, Any]:
    return Report.read(finished(*lines, keys=keys))


def crashed(*cases: str) -> list[Any]:
    return [line for case in cases for line in (begin(case), failed(case))]


def last(verdict: Verdict) -> Finding:
    return verdict.findings[-1]


ONE_OF_TEN = (*passing("0"), *crashed(*"123456789"))


def test_a_suite_of_ten_of_which_nine_crash_is_red() -> None:
    verdict = check(of(*ONE_OF_TEN, keys=10), min={"pass_rate": 0.9})
    assert (verdict.state, verdict.exit_code, bool(verdict)) == ("red", 1, False)
    assert last(verdict).value == 0.1
    assert verdict.n_failing == 9
    assert [each.key for each in verdict.failing] == list("123456789")


def test_a_rule_holds_where_its_figure_is_the_bound_itself() -> None:
    found = of(*passing(*"012345678"), *crashed("9"), keys=10)
    assert check(found, min={"pass_rate": "90%"}, max={"error_rate": "10%"}).green
    assert not check(found, min={"pass_rate": 0.901}).green
    assert not check(found, max={"error_rate": 0.0999}).green


def test_with_confidence_the_bound_of_the_interval_decides() -> None:
    found = of(*passing(*map(str, range(95))), *crashed(*map(str, range(95, 100))), keys=100)
    low = found.figures.passed.interval
    assert low is not None
    assert check(found, min={"pass_rate": 0.9}).green
    verdict = check(found, min={"pass_rate": 0.9}, confidence=0.95)
    assert last(verdict).interval == (low.low, low.high)
    assert not verdict.green
    assert check(found, min={"pass_rate": low.low}, confidence=0.95).green
    assert check(found, min={"pass_rate": 0.9}, confidence=0.5).green, "a lower confidence asks less"


def test_what_is_counted_and_not_estimated_decides_by_itself() -> None:
    found = of(*passing("a"), called("a", price=2.0), keys=1)
    verdict = check(found, max={"cost": 5, "wall": "1h"}, min_coverage=0.98, confidence=0.99)
    assert verdict.green
    assert [each.interval for each in verdict.findings] == [None] * 4


def test_a_bound_that_so_few_cases_do_not_tell_is_red() -> None:
    verdict = check(of(*passing(*"abc"), keys=3), max={"p95": "30s"}, confidence=0.95)
    assert not verdict.green
    assert "not known" in last(verdict).why


def test_enough_cases_tell_the_bound_of_a_percentile() -> None:
    found = of(*passing(*map(str, range(200))), keys=200)
    assert check(found, max={"p95": "30s"}, confidence=0.95).green


# What is never green ---------------------------------------------------------------------------------


def test_a_run_without_cases_is_red() -> None:
    verdict = check(report(run("Equals"), manifest(0), ended()), max={"error_rate": 0.5})
    assert (verdict.state, verdict.exit_code) == ("red", 1)
    assert "no cases" in verdict.findings[0].why


def test_a_run_without_any_score_is_red_whatever_the_rules_ask() -> None:
    verdict = check(of(*crashed("a", "b"), keys=2), max={"n_failed": 10})
    assert [each.verdict for each in verdict.findings] == ["red", "green"]
    assert verdict.exit_code == 1


@pytest.mark.parametrize(
    "lines",
    [
        (run("Equals"), *passing("a"), begin("b"), manifest(2)),
        (run("Equals"), *passing("a")),
        (
            run("Equals"),
            *passing("a"),
            begin("b"),
            failed("b", "cancelled"),
            manifest(2),
            ended("interrupted"),
        ),
        (
            run("Equals"),
            *passing("a"),
            begin("b"),
            failed("b", "skipped_budget"),
            manifest(2),
            ended("budget"),
        ),
        (run("Equals"),),
    ],
    ids=["open", "killed", "cancelled", "out of budget", "killed at once"],
)
def test_a_run_that_is_not_whole_is_incomplete_and_never_green(lines: tuple[Any, ...]) -> None:
    verdict = check(report(*lines), max={"n_failed": 10})
    assert (verdict.state, verdict.exit_code, verdict.green) == ("incomplete", 4, False)


@pytest.mark.parametrize(
    "rule",
    [
        {"min": {"scores.tone.mean": 1}},
        {"max": {"scores.tone.mean": 1}},
        {"min": {"assertions.polite.rate": 0.1}},
        {"max": {"cost": 100}},
        {"max": {"calls.input_tokens.total": 10**9}},
        {"max": {"evaluator_failures.Judge": 3}},
        {"min": {"pass_at_k.3": 0.1}},
        {"min": {"variants.b.pass_rate": 0.1}},
    ],
)
def test_a_figure_that_the_run_does_not_have_is_red(rule: Any) -> None:
    verdict = check(of(*passing("a"), keys=1), **rule)
    assert (verdict.state, last(verdict).value) == ("red", None)
    assert last(verdict).why


def test_a_cost_that_could_not_be_seen_is_red_however_much_is_allowed() -> None:
    found = of(*passing("a"), called("a", price=None), called("a", 1, price=0.5), keys=1)
    verdict = check(found, max={"cost": 10**9})
    assert verdict.state == "red"
    assert "at least $0.5" in last(verdict).why


def test_no_assertion_is_no_pass_rate() -> None:
    found = of(begin("a"), scored("a", says(0.5)), keys=1)
    assert last(check(found, min={"pass_rate": 0.1})).why.startswith("unknown: nothing is asserted")


def test_no_output_is_no_latency() -> None:
    assert last(check(of(*crashed("a"), keys=1), max={"p95": "1h"})).verdict == "red"


def test_a_rehearsal_is_no_result() -> None:
    played = of(*passing("a"), called("a", simulated=True), keys=1)
    assert check(played, min={"pass_rate": 0.5}).state == "red"
    assert check(played, min={"pass_rate": 0.5}, allow_simulated=True).green


def test_no_rule_at_all_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="no rule"):
        check(of(*passing("a"), keys=1))
    with pytest.raises(UsageError, match="no rule"):
        check(of(*passing("a"), keys=1), confidence=0.9)


def test_the_rules_on_record_hold_where_none_are_given() -> None:
    found = report(
        run("Equals", check={"min": {"pass_rate": 0.9}}), *passing("a"), *crashed("b"), manifest(2), ended()
    )
    assert check(found).state == "red"


# Figures by name -------------------------------------------------------------------------------------


def test_scores_assertions_and_variants_are_named_by_their_path() -> None:
    found = of(
        *(begin("a", variant="x"), scored("a", yes("is.polite"), says(0.5, "tone"), variant="x")),
        *(begin("a", variant="y"), scored("a", no("is.polite"), says(1.0, "tone"), variant="y")),
        keys=2,
    )
    verdict = check(
        found,
        min={"assertions.is.polite.rate": 0.5, "scores.tone.mean": 0.75, "variants.x.pass_rate": 1},
        max={"scores.tone.max": 1, "outcomes.timeout": 0},
    )
    assert [each.value for each in verdict.findings[1:]] == [0.5, 0.75, 1.0, 1.0, 0]
    assert verdict.green


def test_repeats_of_a_case_widen_the_interval() -> None:
    lines = [
        line
        for case in range(10)
        for repeat in range(10)
        for line in (
            begin(str(case), repeat=repeat),
            scored(str(case), yes() if case < 9 else no(), repeat=repeat),
        )
    ]
    found = report(run("Equals", repeat=10), *lines, manifest(100), ended())
    shown = found.figures.passed.interval
    assert shown is not None
    assert last(check(found, min={"pass_rate": 0.9})).interval == pytest.approx((shown.low, shown.high))


@given(passed=st.integers(0, 30), crashes=st.integers(0, 30), bound=st.floats(0.001, 1))
def test_green_is_exactly_what_keeps_the_bound(passed: int, crashes: int, bound: float) -> None:
    lines = (*passing(*(f"p{n}" for n in range(passed))), *crashed(*(f"c{n}" for n in range(crashes))))
    verdict = check(of(*lines, keys=passed + crashes), min={"pass_rate": bound})
    assert verdict.green == (passed > 0 and passed / (passed + crashes) >= bound)
    sure = check(of(*lines, keys=passed + crashes), min={"pass_rate": bound}, confidence=0.9)
    assert verdict.green or not sure.green, "to be sure asks for more"


def test_a_finding_never_holds_what_is_no_number() -> None:
    found = check(of(*passing("a"), keys=1), max={"p95": 3, "p99": 3}, confidence=0.9)
    for each in found.findings:
        numbers = (each.value, each.bound, *(each.interval or ()))
        assert all(math.isfinite(number) for number in numbers if number is not None)


# Judges ----------------------------------------------------------------------------------------------


def judged_by(**judges: Any) -> Report[Any, Any, Any]:
    standing = {label: JudgeStanding(state=state, why=f"is {state}") for label, state in judges.items()}
    return report(run("Equals", judges=standing), *passing("a"), manifest(1), ended())


def test_judges_have_to_be_calibrated_every_one() -> None:
    assert check(judged_by(Tone="calibrated"), require_calibrated_judges=True).green
    assert check(judged_by(), require_calibrated_judges=True).green
    for state in ("uncalibrated", "expired"):
        verdict = check(judged_by(Tone="calibrated", Help=state), require_calibrated_judges=True)
        assert verdict.state == "red"
        assert "Help" in last(verdict).why


def test_the_calls_of_a_judge_inside_of_an_evaluator_are_counted_for_that_and_are_its_own() -> None:
    for state, green in (("calibrated", True), ("uncalibrated", False)):
        standing = {"Cascade: Tone": JudgeStanding(state=state, why=f"is {state}")}  # type: ignore[arg-type]
        lines = (*passing("a"), called("a", by="Cascade"), manifest(1), ended())
        verdict = check(report(run("Cascade", judges=standing), *lines), require_calibrated_judges=True)
        assert verdict.green is green


def test_an_evaluator_that_asks_a_model_without_saying_what_it_is_counts_as_not_calibrated() -> None:
    found = of(*passing("a"), called("a", by="my_judge"), keys=1)
    verdict = check(found, require_calibrated_judges=True)
    assert verdict.state == "red"
    assert "my_judge" in last(verdict).why
