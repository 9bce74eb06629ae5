"""Comparing: what is better, what is worse, and what cannot be told; a crash is a failure on either side."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paceline
from paceline import Case, Dataset, Report, compare
from paceline.comparison import Side
from paceline.errors import UsageError
from paceline.statistics.paired import mcnemar
from tests.comparison.sides import crashed, graded, lettered, missed, passed, side
from tests.report.journals import Lines, begin, failed, run, scored, yes

OPPOSITE = {"better": "worse", "worse": "better", "cannot tell": "cannot tell"}


def names(found: object) -> list[str]:
    return [str(each.key) for each in found]  # type: ignore[attr-defined]  # changes have keys


def test_it_says_who_got_better_worse_is_new_gone_and_crashes_now() -> None:
    before = side(passed("a"), missed("b"), passed("c"), passed("d"), crashed("e"), missed("g"))
    after = side(passed("a"), passed("b"), missed("c"), crashed("d"), missed("e"), passed("f"))
    found = compare(before, after).pairs[0].changes
    assert {change: names(keys) for change, keys in found.items()} == {
        "better": ["b"],
        "worse": ["c", "d"],
        "crashed": ["d"],
        "recovered": ["e"],
        "new": ["f"],
        "gone": ["g"],
        "not_run": [],
    }
    assert (found["crashed"][0].first, found["crashed"][0].second) == ("passed", "task_error")


def test_the_p_value_is_that_of_the_paired_test() -> None:
    metric = (
        compare(lettered("p" * 15 + "f" * 5 + "p" * 30), lettered("f" * 15 + "p" * 35)).pairs[0].metrics[0]
    )
    assert metric.found is not None
    assert (metric.found.only_first, metric.found.only_second) == (15, 5)
    assert metric.found.p == metric.p_adjusted == mcnemar(15, 5)
    assert (metric.found.first, metric.found.second) == (0.9, 0.7)
    assert metric.verdict == "worse"


@pytest.mark.parametrize("outcome", ["task_error", "timeout", "infra_error", "evaluator_error"])
def test_a_suite_of_which_nine_in_ten_crash_is_worse_however_good_the_tenth_is(outcome: str) -> None:
    whole = side(*(passed(f"case {n}") for n in range(10)))
    broken = side(passed("case 0"), *(crashed(f"case {n}", outcome) for n in range(1, 10)))
    found = compare(whole, broken)
    rate, assertion = found.pairs[0].metrics[:2]
    assert rate.found is not None
    assert assertion.found is not None
    assert (rate.found.n, rate.found.second, found.verdict) == (10, 0.1, "worse")
    assert (assertion.name, assertion.found.n, assertion.found.second) == ("assertions.Right", 10, 0.1)
    assert len(found.pairs[0].changes["crashed"]) == 9


def test_a_run_that_was_never_scored_has_failed_in_all_that_was_asked_of_it() -> None:
    before = side(*(passed(f"case {n}", scores={"tone": 1.0}) for n in range(10)))
    after = side(*(crashed(f"case {n}") for n in range(10)))
    for first, second, verdict in ((before, after, "worse"), (after, before, "better")):
        metrics = {each.name: each.verdict for each in compare(first, second).pairs[0].metrics}
        assert metrics == dict.fromkeys(("pass_rate", "assertions.Right", "scores.tone"), verdict)


def test_what_crashed_in_both_counts_as_false_in_both() -> None:
    found = compare(lettered("pxxx"), lettered("fxxx")).pairs[0].metric("assertions.Right").found
    assert found is not None
    assert (found.n, found.first, found.second) == (4, 0.25, 0.0)


def test_a_key_that_was_not_run_is_told_and_is_in_no_figure() -> None:
    before = side(*(passed(f"case {n}") for n in range(3)))
    after = side(passed("case 0"), crashed("case 1", "cancelled"), crashed("case 2", "skipped_budget"))
    pair = compare(before, after).pairs[0]
    assert names(pair.changes["not_run"]) == ["case 1", "case 2"]
    assert (pair.n_shared, pair.changes["worse"], pair.changes["crashed"]) == (1, [], [])


def test_repeats_of_a_case_hang_together() -> None:
    one = side(*(passed("a", repeat=n) for n in range(8)), *(passed("b", repeat=n) for n in range(8)))
    other = side(*(missed("a", repeat=n) for n in range(8)), *(missed("b", repeat=n) for n in range(8)))
    metric = compare(one, other).pairs[0].metrics[0]
    assert metric.found is not None
    assert (metric.found.n, metric.found.units, metric.found.p) == (16, 2, 0.5)
    assert metric.verdict == "cannot tell"


def test_taking_the_evaluators_away_does_not_make_a_run_better() -> None:
    bare = side(*(graded(f"case {n}", 1.0) for n in range(12)))
    assert compare(side(*(passed(f"case {n}") for n in range(12))), bare).verdict == "worse"


# Scores, latency, cost


def test_a_failure_counts_as_0_in_a_score_that_is_never_below_0() -> None:
    before = side(*(graded(f"case {n}", 0.5) for n in range(10)))
    after = side(graded("case 0", 0.9), *(crashed(f"case {n}") for n in range(1, 10)))
    metric = compare(before, after).pairs[0].metric("scores.tone")
    assert metric.found is not None
    assert (metric.found.n, round(metric.found.second, 3), metric.verdict) == (10, 0.09, "worse")


def test_a_score_that_can_be_negative_leaves_failures_out_and_rests_no_verdict_on_that() -> None:
    before = side(*(graded(f"case {n}", -1.0 if n < 10 else 1.0) for n in range(20)))
    after = side(
        *(graded(f"case {n}", 0.5) for n in range(10)), *(crashed(f"case {n}") for n in range(10, 20))
    )
    metric = compare(before, after).pairs[0].metric("scores.tone")
    assert metric.found is not None
    assert (metric.found.n, metric.failed_second) == (10, 10)
    assert metric.found.p < 0.05
    assert (metric.verdict, metric.turned_by_failures) == ("cannot tell", True)


def test_a_run_that_fails_on_what_is_slow_is_not_called_faster() -> None:
    before = side(*(passed(f"case {n}", seconds=2.0) for n in range(20)))
    quick = [passed(f"case {n}", seconds=1.0) for n in range(10)]
    after = side(*quick, *(crashed(f"case {n}", "timeout") for n in range(10, 20)))
    metric = compare(before, after).pairs[0].metric("latency_s")
    assert (metric.verdict, metric.failed_second) == ("cannot tell", 10)
    alright = side(*(passed(f"case {n}", seconds=1.0) for n in range(20)))
    assert compare(before, alright).pairs[0].metric("latency_s").verdict == "better"


def test_less_is_better_of_a_score_that_is_said_to_be_so() -> None:
    before = side(*(graded(f"case {n}", 5.0 + n) for n in range(12)))
    after = side(*(graded(f"case {n}", 3.0 + n) for n in range(12)))
    assert compare(before, after).pairs[0].metric("scores.tone").verdict == "worse"
    assert compare(before, after, lower=["tone"]).pairs[0].metric("scores.tone").verdict == "better"
    with pytest.raises(UsageError, match="no score 'tune'"):
        compare(before, after, lower=["tune"])


def test_what_costs_an_unknown_sum_is_left_out_of_the_costs_and_counted() -> None:
    before = side(passed("a", cost=0.1), passed("b", cost=0.1), passed("c"))
    after = side(passed("a", cost=0.2), passed("b"), passed("c"))
    metric = compare(before, after).pairs[0].metric("cost_usd")
    assert metric.found is not None
    assert (metric.found.n, metric.unknown) == (1, 1)
    assert "cost_usd" not in {each.name for each in compare(lettered("p"), lettered("p")).pairs[0].metrics}


def test_the_pass_rate_stands_by_its_own_p_and_the_others_are_looked_at_together() -> None:
    first = [passed(f"case {n}", seconds=1.0, scores={"tone": 1.0, "wit": 1.0}) for n in range(8)]
    second = [
        missed(f"case {n}", seconds=2.0 + n, scores={"tone": 2.0 + n, "wit": 1.0 + n / 10}) for n in range(8)
    ]
    rate, *others = compare(side(*first), side(*second)).pairs[0].metrics
    assert rate.found is not None
    assert rate.p_adjusted == rate.found.p
    assert {each.name for each in others} == {"assertions.Right", "scores.tone", "scores.wit", "latency_s"}
    assert all(each.found and each.p_adjusted and each.p_adjusted > each.found.p for each in others)


# Promises

runs = st.text("pfx", min_size=1, max_size=30)


@given(runs)
def test_a_run_compared_with_itself_finds_nothing(letters: str) -> None:
    pair = compare(lettered(letters), lettered(letters)).pairs[0]
    assert not any(pair.changes.values())
    for metric in pair.metrics:
        assert metric.verdict == "cannot tell"
        assert metric.found is None or (metric.found.difference, metric.found.p) == (0.0, 1.0)


@st.composite
def two_runs(draw: st.DrawFn) -> tuple[Side, Side]:
    kind = st.sampled_from(["p", "f", "x", "-"])
    made: list[list[object]] = [[], []]
    for case in range(draw(st.integers(1, 12))):
        for seen in made:
            for repeat in range(draw(st.integers(1, 2))):
                tone = draw(st.integers(-2, 5)) / 4
                more = {"repeat": repeat, "seconds": draw(st.integers(1, 4)) / 2, "scores": {"tone": tone}}
                match draw(kind):
                    case "p":
                        seen.append(passed(f"case {case}", **more))
                    case "f":
                        seen.append(missed(f"case {case}", **more))
                    case "x":
                        seen.append(crashed(f"case {case}", repeat=repeat))
    return side(*made[0]), side(*made[1])  # type: ignore[arg-type]  # sightings


@settings(deadline=None)
@given(two_runs())
def test_swapping_the_runs_swaps_signs_and_verdicts(runs: tuple[Side, Side]) -> None:
    first, second = runs
    there, back = compare(first, second).pairs[0], compare(second, first).pairs[0]
    for one, other in zip(there.metrics, back.metrics, strict=True):
        assert one.name == other.name
        assert other.verdict == OPPOSITE[one.verdict]
        assert (one.failed_first, one.failed_second) == (other.failed_second, other.failed_first)
        if one.found is not None:
            assert other.found is not None
            assert other.found.difference == pytest.approx(-one.found.difference)
            assert other.found.p == pytest.approx(one.found.p)
    swapped = {"better": "worse", "new": "gone", "crashed": "recovered", "not_run": "not_run"}
    for change, its_opposite in swapped.items():
        if change == "better":
            assert names(there.changes["better"]) == names(back.changes[its_opposite])  # type: ignore[index]
        assert len(there.changes[change]) == len(back.changes[its_opposite])  # type: ignore[index]


@given(
    st.lists(st.tuples(st.sampled_from("pfx"), st.sampled_from("pfx")), min_size=1, max_size=40), st.data()
)
def test_a_key_that_crashes_in_b_never_improves_b(pairs: list[tuple[str, str]], data: st.DataObject) -> None:
    before, after = ("".join(letters) for letters in zip(*pairs, strict=True))
    place = data.draw(st.integers(0, len(pairs) - 1))
    worsened = after[:place] + "x" + after[place + 1 :]
    was, now = (compare(lettered(before), lettered(each)).pairs[0] for each in (after, worsened))
    ranks = ["worse", "cannot tell", "better"]
    for metric in now.metrics:
        earlier = next((each for each in was.metrics if each.name == metric.name), None)
        if earlier is None or earlier.found is None or metric.found is None:
            continue
        assert metric.found.difference <= earlier.found.difference
        assert metric.found.n == earlier.found.n
        assert ranks.index(metric.verdict) <= ranks.index(earlier.verdict)


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), min_size=2, max_size=20), st.data())
def test_nor_does_its_score_improve_by_it(scores: list[tuple[float, float]], data: st.DataObject) -> None:
    before = side(*(graded(f"case {n}", one) for n, (one, _) in enumerate(scores)))
    after = [graded(f"case {n}", other) for n, (_, other) in enumerate(scores)]
    place = data.draw(st.integers(0, len(after) - 1))
    worsened = [crashed(f"case {place}") if n == place else each for n, each in enumerate(after)]
    was, now = (
        compare(before, side(*each)).pairs[0].metric("scores.tone").found for each in (after, worsened)
    )
    assert was is not None
    assert now is not None
    assert now.difference <= was.difference + 1e-12


def test_a_sample_so_large_that_it_shows_everything_does_not_say_nothing() -> None:
    assert "show differences of less than 0.1 points and more" in str(compare(*[lettered("p" * 20_000)] * 2))


# More than two


def test_more_than_two_runs_are_compared_each_with_each_and_holm_puts_their_ps_right() -> None:
    found = compare(lettered("p" * 20), lettered("p" * 12 + "f" * 8), lettered("p" * 13 + "f" * 7))
    assert [(pair.first, pair.second) for pair in found.pairs] == [("A", "B"), ("A", "C"), ("B", "C")]
    rates = [pair.metrics[0] for pair in found.pairs]
    assert [each.verdict for each in rates] == ["worse", "worse", "cannot tell"]
    assert [round(each.p_adjusted or 0, 6) for each in rates] == [0.023438, 0.03125, 1.0]
    assert "the column against the row" in str(found)
    with pytest.raises(UsageError, match="no one verdict on 3 runs"):
        _ = found.verdict


def test_variants_of_one_run_are_compared_among_themselves() -> None:
    cases = [f"case {n}" for n in range(12)]
    both = side(
        *(passed(case, variant="small") for case in cases), *(missed(case, variant="large") for case in cases)
    )
    found = compare(both, variants=True)
    assert [each.name for each in found.sides.values()] == ["small", "large"]
    assert (found.verdict, found.pairs[0].n_shared) == ("worse", 12)
    with pytest.raises(UsageError, match="no variants"):
        compare(lettered("pf"), variants=True)


def test_runs_of_one_variant_each_are_matched_whatever_that_is_called() -> None:
    one = side(passed("a", variant="small"), missed("b", variant="small"))
    other = side(passed("a", variant="large"), passed("b", variant="large"))
    assert compare(one, other).pairs[0].n_shared == 2


@pytest.mark.parametrize("number", [0, 1, 27])
def test_fewer_than_two_and_more_than_26_runs_are_refused(number: int) -> None:
    with pytest.raises(UsageError, match="cannot be compared"):
        compare(*[lettered("p")] * number)


# From runs


def test_runs_are_compared_from_their_reports_in_memory_or_on_disk() -> None:
    cases = [Case(name=f"case {n}", inputs=n, expected_output=n) for n in range(10)]
    dataset = Dataset(name="echo", cases=cases, evaluators=[paceline.evaluators.EqualsExpected()])

    def broken(number: int) -> int:
        if number:
            raise ValueError(number)
        return number

    good = dataset.evaluate_sync(lambda number: number, progress=False)
    bad = dataset.evaluate_sync(broken, progress=False, journal=False)
    assert good.path is not None
    for first in (good, good.path, str(good.path)):
        found = compare(first, bad)
        rate = found.pairs[0].metrics[0].found
        assert rate is not None
        assert (rate.first, rate.second, found.verdict) == (1.0, 0.1, "worse")
    assert json.loads(found.to_json()) == json.loads(json.dumps(found.to_dict()))


def test_an_unfinished_run_is_said_to_be_so() -> None:
    journal = Lines(run(expected=3), begin("a"), scored("a", yes("Right")), begin("b"))
    whole = Lines(run(expected=2), begin("a"), scored("a", yes("Right")), begin("b"), failed("b"))
    pair = compare(Report.read(whole), Report.read(journal)).pairs[0]
    assert names(pair.changes["not_run"]) == ["b"]
    assert "B is not whole" in [each.text.partition(":")[0] for each in pair.differing]
