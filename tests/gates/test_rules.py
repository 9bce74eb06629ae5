"""What is a rule, and what is refused for saying nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from paceline.errors import UsageError
from paceline.gates.rules import KEYS, Rules, pairs_of, rules_from, rules_written
from paceline.suite.schema import CHECK


def bound(name: str, written: object) -> float:
    return rules_from(max={name: written}).bounds[0].bound


@pytest.mark.parametrize(
    ("name", "written", "means"),
    [
        ("error_rate", 0.02, 0.02),
        ("error_rate", "0.02", 0.02),
        ("error_rate", "2%", 0.02),
        ("error_rate", "2.3%", 0.023),
        ("p95", "30s", 30.0),
        ("p95", "1m30s", 90.0),
        ("p95_latency_s", 1.5, 1.5),
        ("cost", 5, 5.0),
        ("cost", "$2.50", 2.5),
        ("scores.tone.mean", "-0.5", -0.5),
        ("n_failed", 3, 3.0),
    ],
)
def test_a_bound_is_written_in_the_unit_of_its_figure(name: str, written: object, means: float) -> None:
    assert bound(name, written) == means


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("error_rate", 2),
        ("error_rate", -0.1),
        ("error_rate", "nan"),
        ("error_rate", "inf"),
        ("error_rate", "30s"),
        ("error_rate", True),
        ("error_rate", None),
        ("error_rate", 1),
        ("error_rate", "100%"),
        ("p95", "fast"),
        ("p95", "nan"),
        ("cost", "-1"),
        ("cost", "5 apples"),
        ("n_failed", float("nan")),
    ],
)
def test_a_bound_that_says_nothing_is_refused(name: str, written: object) -> None:
    with pytest.raises(UsageError, match=name):
        bound(name, written)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("passrate", "pass_rate"),
        ("pass-rate", "pass_rate"),
        ("eror_rate", "error_rate"),
        ("p95_latency", "p95_latency_s"),
        ("scores.tone.maen", "scores.tone.mean"),
        ("assertions.polite.rat", "assertions.polite.rate"),
        ("calls.cost_usd.totl", "calls.cost_usd.total"),
    ],
)
def test_a_figure_that_nobody_knows_is_refused_with_what_was_meant(name: str, meant: str) -> None:
    with pytest.raises(UsageError) as refused:
        rules_from(min={name: 0.9})
    assert f"did you mean {meant}?" in str(refused.value)


@pytest.mark.parametrize("name", ["", "scores", "scores.", "tone", "verdict", "name", "pass_at_k.0"])
def test_what_is_no_number_is_no_figure(name: str) -> None:
    with pytest.raises(UsageError, match="no figure"):
        rules_from(min={name: 0.9})


def test_one_figure_by_two_names_is_refused() -> None:
    with pytest.raises(UsageError, match="two things of p95_latency_s"):
        rules_from(max={"p95": "30s", "p95_latency_s": 3})


def test_the_later_rules_prevail_figure_by_figure() -> None:
    of_the_suite = rules_from(min={"pass_rate": 0.9}, max={"p95": 30}, require_calibrated_judges=True)
    given = rules_from(min={"pass_rate": 0.5}, confidence=0.9)
    both = of_the_suite.and_then(given)
    assert {(rule.side, rule.figure): rule.bound for rule in both.bounds} == {
        ("min", "pass_rate"): 0.5,
        ("max", "p95_latency_s"): 30.0,
    }
    assert (both.require_calibrated_judges, both.confidence) == (True, 0.9)


def test_rules_that_are_written_and_read_again_are_the_same() -> None:
    rules = rules_from(
        min={"pass_rate": 0.9, "scores.a.b.mean": 4},
        max={"error_rate": 0.5},
        min_coverage=0.98,
        no_regression="b.json",
        require_calibrated_judges=True,
        confidence=0.95,
    )
    again = rules_written(rules.written())
    assert again.written() == rules.written()
    assert [rule.bound for rule in again.bounds] == [rule.bound for rule in rules.bounds]


def test_a_baseline_of_a_suite_is_looked_for_from_its_folder() -> None:
    assert rules_written({"no_regression": "b.json"}, folder=Path("evals")).no_regression == "evals/b.json"


@pytest.mark.parametrize(
    "written",
    [
        {"mim": {"pass_rate": 0.9}},
        {"min": ["pass_rate"]},
        {"min": 0.9},
        {"no_regression": 3},
        {"require_calibrated_judges": "yes"},
        {"confidence": 95},
        {"confidence": 0},
        ["pass_rate"],
        "pass_rate",
    ],
)
def test_what_is_no_set_of_rules_is_refused_with_its_place(written: object) -> None:
    with pytest.raises(UsageError, match=r"^suite.yaml:3: "):
        rules_written(written, where="suite.yaml:3")


def test_the_schema_for_editors_has_the_keys_that_are_read() -> None:
    assert tuple(sorted(CHECK)) == tuple(sorted(KEYS))


@pytest.mark.parametrize("written", ["pass_rate", "=0.9", "pass_rate=", ""])
def test_a_flag_that_is_no_rule_is_refused(written: str) -> None:
    with pytest.raises(UsageError, match="--min"):
        pairs_of([written], "--min")


def test_a_flag_given_twice_for_one_figure_is_refused() -> None:
    with pytest.raises(UsageError, match="two things"):
        pairs_of(["pass_rate=0.9", "pass_rate=0.1"], "--min")


def test_no_rules_are_none() -> None:
    assert not Rules()
    assert not rules_from(confidence=0.9)
