"""Variants side by side, and what cases have used: costs of which a part is unknown say so."""

from __future__ import annotations

from typing import Any

import pytest

from paceline.journal.records import Line
from paceline.report import Report
from paceline.report.spending import Amount
from tests.report.journals import (
    Lines,
    begin,
    called,
    ended,
    failed,
    manifest,
    no,
    run,
    scored,
    yes,
)


def report(*lines: Line, keys: int, **fields: Any) -> Report[Any, Any, Any]:
    return Report(Lines(run("Equals", **fields), *lines, manifest(keys), ended()))


def two_variants() -> Report[Any, Any, Any]:
    lines: list[Line] = []
    for number in range(10):
        case = f"c{number}"
        for variant, ends in (
            ("small", yes() if number < 4 else no()),
            ("large", yes() if number < 9 else None),
        ):
            key: dict[str, Any] = {"variant": variant}
            lines.append(begin(case, **key))
            lines.append(called(case, price=0.01 if variant == "small" else 0.05, **key))
            seconds = 1.0 if variant == "small" else 3.0
            lines.append(
                failed(case, seconds=seconds, **key)
                if ends is None
                else scored(case, ends, seconds=seconds, **key)
            )
    return report(*lines, keys=20)


def test_variants_have_rates_errors_times_and_costs_of_their_own() -> None:
    small, large = two_variants().figures.variants
    assert (small.name, small.passed.count, small.passed.of, small.error_rate) == ("small", 4, 10, 0.0)
    assert (large.name, large.passed.count, large.passed.of, large.error_rate) == ("large", 9, 10, 0.1)
    assert (large.passed_of_scored.count, large.passed_of_scored.of) == (9, 9)
    assert (small.latency.p50, large.latency.p50) == (1.0, 3.0)
    assert small.cost is not None
    assert large.cost is not None
    assert small.cost.per_case == Amount(pytest.approx(0.01), 0)  # type: ignore[arg-type]
    assert small.cost.per_pass == Amount(pytest.approx(0.1 / 4), 0)  # type: ignore[arg-type]
    assert large.cost.total.known == pytest.approx(0.5)


def test_variants_stand_side_by_side_in_a_table_of_80_columns() -> None:
    text = two_variants().render(80, include_cases=False)
    (header,) = [line for line in text.splitlines() if line.startswith(" Variant")]
    assert header.split() == [
        "Variant",
        "Pass",
        "rate",
        "95%",
        "interval",
        "Passed",
        "Errors",
        "p50",
        "Cost",
        "per",
        "case",
    ]
    rows = {line.split()[0]: line for line in text.splitlines() if line.startswith((" small", " large"))}
    assert "40.0%" in rows["small"]
    assert "$0.01" in rows["small"]
    assert "$0.05" in rows["large"]
    assert max(map(len, text.splitlines())) <= 80


def test_variants_that_repeat_have_chances_by_tries_of_their_own() -> None:
    lines = [
        line
        for variant, came in (("x", (yes(), no())), ("y", (yes(), yes())))
        for repeat, score in enumerate(came)
        for line in (
            begin("a", repeat=repeat, variant=variant),
            scored("a", score, repeat=repeat, variant=variant),
        )
    ]
    found = report(*lines, keys=4, repeat=2).figures
    assert [(each.name, [at.value for at in each.pass_at]) for each in found.variants] == [
        ("x", [0.5, 1.0]),
        ("y", [1.0, 1.0]),
    ]
    assert [[at.value for at in each.pass_hat] for each in found.variants] == [[0.5, 0.0], [1.0, 1.0]]
    assert (found.pass_at, found.pass_hat) == ([], [])


# Costs


def priced(*prices: float | None, passed: int) -> Report[Any, Any, Any]:
    """A call for each case; the first of them pass."""
    lines = [
        line
        for number, price in enumerate(prices)
        for line in (
            begin(f"c{number}"),
            called(f"c{number}", price=price, input_tokens=100 * (number + 1)),
            scored(f"c{number}", yes() if number < passed else no()),
        )
    ]
    return report(*lines, keys=len(prices))


def test_the_cost_is_told_by_case_and_by_pass() -> None:
    found = priced(0.02, 0.04, 0.06, 0.08, passed=2)
    cost = found.figures.cost
    assert cost is not None
    assert cost.per_case == Amount(pytest.approx(0.05), 0)  # type: ignore[arg-type]
    assert cost.per_pass == Amount(pytest.approx(0.1), 0)  # type: ignore[arg-type]
    assert "$0.05 per case, $0.1 per pass" in " ".join(found.render().split())
    assert found.to_dict()["cost_usd"]["per_pass"] == {
        "total": pytest.approx(0.1),
        "at_least": pytest.approx(0.1),
        "n_unknown": 0,
    }


def test_a_price_that_is_not_known_makes_every_share_of_the_sum_a_lower_bound() -> None:
    found = priced(0.02, None, passed=1)
    cost = found.figures.cost
    assert cost is not None
    assert (cost.per_case.total, cost.per_case.known, cost.per_case.unknown) == (None, 0.01, 1)
    assert "at least $0.01 per case, at least $0.02 per pass" in " ".join(found.render().split())


def test_no_price_at_all_is_unknown_and_not_nothing() -> None:
    found = priced(None, None, passed=1)
    assert "unknown per case, unknown per pass" in " ".join(found.render().split())
    assert found.to_dict()["cost_usd"]["per_case"]["total"] is None


def test_without_a_pass_there_is_no_cost_of_one() -> None:
    cost = priced(0.02, passed=0).figures.cost
    assert cost is not None
    assert cost.per_pass is None


def test_where_no_call_was_seen_the_cost_is_unknown() -> None:
    found = report(begin("a"), scored("a", yes()), keys=1)
    assert (found.figures.cost, found.figures.per_case) == (None, None)
    assert found.to_dict()["cost_usd"] is None


def test_what_was_simulated_has_cost_nothing_and_is_in_no_sum() -> None:
    lines = [begin("a"), called("a", simulated=True, price=1.0), scored("a", yes())]
    found = report(*lines, keys=1).figures
    assert found.cost is None
    assert found.per_case is not None  # what a case would use is what a rehearsal is for
    assert found.per_case.cost.max == 1.0


def test_what_single_cases_use_is_told_as_a_distribution() -> None:
    lines = [begin("a"), called("a", 1), called("a", 2, input_tokens=300), scored("a", yes())]
    lines += [begin("b"), called("b", 1, output_tokens=None), failed("b"), begin("c"), scored("c", yes())]
    found = report(*lines, keys=3).figures.per_case
    assert found is not None
    assert found.n == 2  # one has made no call
    assert (found.calls.min, found.calls.max) == (1, 2)
    assert (found.input_tokens.min, found.input_tokens.max) == (100, 400)
    assert (found.output_tokens.n, found.output_tokens.max) == (1, 20)  # of the other it is not known
    assert found.cost.max == pytest.approx(0.002)


def test_calls_that_were_refused_have_used_nothing_and_leave_nothing_unknown() -> None:
    refused: dict[str, Any] = {"status": 429, "outcome": "rate_limited", "price": None}
    lines = [begin("a"), called("a", 1, input_tokens=None, output_tokens=None, **refused), failed("a")]
    found = report(*lines, keys=1).figures
    assert found.per_case is not None
    assert (found.per_case.input_tokens.max, found.per_case.cost.max) == (0, 0)
    assert found.cost is not None
    assert found.cost.total == Amount(0.0, 0)


def test_a_table_tells_what_cases_use() -> None:
    text = priced(*[0.02] * 30, passed=30).render(80, include_cases=False)
    lines = {line.split("  ")[0].strip(): line for line in text.splitlines()}
    assert lines["Per case"].split() == ["Per", "case", "Mean", "p50", "p95", "Max", "Cases"]
    assert lines["tokens in"].split() == ["tokens", "in", "1,550", "1,550", "2,855", "3,000", "30"]
    assert lines["cost"].split()[-2:] == ["$0.02", "30"]
