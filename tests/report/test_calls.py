"""Calls, folded: each counts once, under its pool and its key; simulated ones are never mixed with real."""

from __future__ import annotations

from paceline.journal.records import CallLine, Key, PoolEnd
from paceline.report import Report
from paceline.report.calls import Calls
from paceline.report.figures import Figures
from paceline.report.traffic import calls_in_all, pools_of
from tests.report.journals import (
    Lines,
    begin,
    called,
    ended,
    failed,
    finished,
    manifest,
    resumed,
    run,
    scored,
    yes,
)


def folded(*lines: CallLine) -> Calls:
    calls = Calls()
    for offset, line in enumerate(lines):
        calls.take(offset, line)
    return calls


def figures(*lines: CallLine) -> Figures:
    """Of a run of one case."""
    return Report.read(finished(begin("a"), *lines, scored("a", yes()), keys=1)).figures


def test_a_call_counts_once_however_often_its_line_is_there() -> None:
    calls = folded(called(), called(), called(ordinal=1))
    assert len(calls) == 2
    assert calls.of(Key("a")) == [0, 2]


def test_each_key_has_its_calls_in_the_order_of_the_journal() -> None:
    calls = folded(called("a"), called("b"), called("a", 1), called("a", repeat=1), called("a", 2, attempt=2))
    assert calls.of(Key("a")) == [0, 2, 4]
    assert calls.of(Key("a", 1)) == [3]
    assert calls.of(Key("nobody")) == []


def test_pools_are_told_apart_by_name_host_and_key() -> None:
    told = pools_of(
        folded(called(), called(ordinal=1), called(ordinal=2, account="k2"), called(ordinal=3, host="h")), []
    )
    assert [
        (pool.pool, pool.host, pool.account, pool.calls and pool.calls.spending.calls) for pool in told
    ] == [
        ("openai:m", "https://api.openai.com", "k1", 2),
        ("openai:m", "h", "k1", 1),
        ("openai:m", "https://api.openai.com", "k2", 1),
    ]


def test_what_a_simulated_provider_answered_is_never_added_to_what_a_real_one_has() -> None:
    told = figures(called(), called(ordinal=1, simulated=True, price=5.0))
    assert told.calls is not None
    assert told.simulated is not None
    assert (told.calls.spending.calls, told.calls.spending.cost.total) == (1, 0.001)
    assert (told.simulated.spending.calls, told.simulated.spending.cost.total) == (1, 5.0)
    assert [pool.simulated for pool in told.pools] == [False, True]


def test_without_calls_their_figures_are_none_and_not_nought() -> None:
    assert figures().calls is None
    assert figures().simulated is None
    assert calls_in_all(Calls(), simulated=False) is None


def test_latency_and_first_token_are_of_calls_that_were_answered() -> None:
    told = figures(
        called(seconds=1.0, first_token=0.2),
        called(ordinal=1, seconds=3.0),
        called(ordinal=2, seconds=99.0, outcome="transient", status=None),
    )
    assert told.calls is not None
    assert (told.calls.latency.n, told.calls.latency.p50, told.calls.latency.max) == (2, 2.0, 3.0)
    assert (told.calls.first_token.n, told.calls.first_token.p50) == (1, 0.2)


def test_a_call_of_a_case_that_failed_is_paid_for_all_the_same() -> None:
    told = Report.read(finished(begin("a"), called("a"), failed("a"), keys=1)).figures
    assert told.calls is not None
    assert told.calls.spending.cost.total == 0.001


def test_of_a_pool_counts_are_of_all_processes_and_its_window_is_the_last() -> None:
    first = PoolEnd(
        pool="openai:m", window=8, rate=2, accepted=10, rejected=3, by_cause={"requests": 3}, peak=9
    )
    second = PoolEnd(pool="openai:m", window=20, accepted=5, rejected=1, by_cause={"tokens": 1}, peak=4)
    last = [manifest(1), ended(pools=[second])]
    lines = [run("Equals"), begin("a"), ended("interrupted", pools=[first]), resumed(), scored("a", yes())]
    (pool,) = Report.read(Lines(*lines, *last)).figures.pools
    assert pool.calls is None
    assert pool.end is not None
    assert (pool.end.accepted, pool.end.rejected, pool.end.peak, pool.end.window) == (15, 4, 9, 20)
    assert pool.end.by_cause == {"requests": 3, "tokens": 1}
    assert pool.end.rate is None


def test_the_document_keeps_unknown_unknown() -> None:
    cut = called(ordinal=1, input_tokens=None, price=None, cached_tokens=None)
    document = Report.read(finished(begin("a"), called(), cut, scored("a", yes()), keys=1)).to_dict()
    calls = document["calls"]
    assert (calls["n"], calls["cost_usd"]["total"], calls["cost_usd"]["at_least"]) == (2, None, 0.001)
    assert calls["cost_usd"]["n_unknown"] == 1
    assert calls["input_tokens"] == {"total": None, "at_least": 100, "n_unknown": 1}
    assert calls["first_token_s"]["p50"] is None
    assert document["calls_simulated"] is None
    assert document["simulated"] is False
    assert document["pools"][0]["window"] is None


def test_a_call_that_was_turned_away_before_it_was_sent_is_in_no_pool() -> None:
    told = figures(called(), called(ordinal=1, tries=0, outcome="fatal", status=None, price=None))
    assert [pool.calls and pool.calls.spending.calls for pool in told.pools] == [1]
    assert told.calls is not None
    assert told.calls.spending.cost.total == 0.001


def test_a_call_that_was_answered_from_the_record_is_told_though_nobody_was_asked() -> None:
    told = figures(called(tries=0, replayed=True, simulated=True))
    assert told.simulated is not None
    assert (told.simulated.spending.calls, told.simulated.spending.cost.total) == (0, 0.0)


def test_what_judging_has_cost_stands_apart_from_what_the_task_has() -> None:
    told = figures(
        called(ordinal=1, price=1.0),
        called(ordinal=1, by="LLMJudge", at=5.0, price=0.25),
        called(ordinal=2, by="LLMJudge", at=6.0, price=0.25),
        called(ordinal=1, by="Pairwise", at=5.0, price=0.5),
    ).calls
    assert told is not None
    assert (told.spending.calls, told.spending.cost.total) == (4, 2.0)
    assert (told.of_task.calls, told.of_task.cost.total) == (1, 1.0)
    assert {by: each.cost.total for by, each in told.judging.items()} == {"LLMJudge": 0.5, "Pairwise": 0.5}


def test_a_run_without_judges_has_no_cost_of_judging() -> None:
    told = figures(called()).calls
    assert told is not None
    assert (told.judging, told.of_task) == ({}, told.spending)


def test_evaluators_that_call_at_the_same_moment_are_told_apart() -> None:
    calls = folded(called(by="one"), called(by="other"), called(by="one"))
    assert len(calls) == 2
