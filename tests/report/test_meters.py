"""The table of pools: what is unknown is told so, what is simulated too, and empty columns are left out."""

from __future__ import annotations

from typing import Any

from paceline.journal.records import PoolEnd
from paceline.report import Report
from tests.report.journals import Lines, begin, called, ended, manifest, run, scored, yes


def table(*calls: Any, pools: tuple[PoolEnd, ...] = (), width: int = 120) -> list[str]:
    """The lines of the table, of a run of one case."""
    lines = [run("Equals"), begin("a"), *calls, scored("a", yes()), manifest(1), ended(pools=list(pools))]
    text = Report.read(Lines(*lines)).render(width=width)
    rows = text.splitlines()
    start = next((number for number, row in enumerate(rows) if row.startswith("  Pool ")), len(rows))
    return (
        [" ".join(row.split()) for row in rows[start : rows.index("", start)] if "─" not in row]
        if rows[start:]
        else []
    )


def test_without_calls_and_slots_there_is_no_table() -> None:
    assert table() == []


def test_a_pool_is_told_with_calls_tokens_cost_and_latency() -> None:
    assert table(called(), called(ordinal=1)) == [
        "Pool Calls Tokens in out Cost Latency",
        "openai:m 2 200 20 $0.002 2.00 s",
    ]


def test_columns_appear_with_what_there_is_to_tell() -> None:
    calls = [called(ordinal=number, first_token=0.5) for number in range(20)]
    assert table(
        *calls, pools=(PoolEnd(pool="openai:m", host="https://api.openai.com", account="k1", rejected=4),)
    ) == [
        "Pool Calls Rejected Tokens in out Cost 1st token p95 Latency p95",
        "openai:m 20 4 2,000 200 $0.02 500 ms 500 ms 2.00 s 2.00 s",
    ]


def test_what_is_not_known_is_told_so_and_a_part_is_told_as_a_part() -> None:
    unknown = called(ordinal=1, input_tokens=None, output_tokens=None, price=None)
    assert table(unknown)[1:] == ["openai:m 1 unknown unknown unknown 2.00 s"]
    assert table(called(), unknown)[1:] == ["openai:m 2 ≥ 100 ≥ 10 ≥ $0.001 2.00 s"]


def test_a_simulated_pool_is_marked_and_its_cost_stands_in_brackets() -> None:
    assert table(called(simulated=True))[1:] == ["openai:m 1 100 10 ($0.001) 2.00 s", "(simulated)"]


def test_a_slot_has_no_tokens_and_no_cost() -> None:
    assert table(pools=(PoolEnd(pool="slot:docs-mcp", accepted=7),)) == ["Pool Calls", "slot:docs-mcp 7"]


def test_tokens_from_a_cache_are_told_where_there_were_any() -> None:
    assert table(called(cached_tokens=64))[0] == "Pool Calls Tokens in cached out Cost Latency"
    assert table(called(cached_tokens=64))[1] == "openai:m 1 100 64 10 $0.001 2.00 s"
    assert table(called(cached_tokens=0))[0] == "Pool Calls Tokens in out Cost Latency"
