"""What limited the run: shares of its wall time over all processes, and one sentence of advice."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.journal.records import LIMITS, EndedLine, PoolEnd
from paceline.report import Report
from paceline.report.advice import Known, advice, leading
from paceline.report.calls import Calls
from paceline.report.figures import PoolFigures
from paceline.report.limits import limits_of
from paceline.report.traffic import pools_of
from tests.report.journals import Lines, begin, called, ended, finished, manifest, resumed, run, scored, yes


def end(wall: float = 10.0, **limited: float) -> EndedLine:
    return EndedLine(at=0.0, how="complete", wall=wall, limited=limited)


def shares(*processes: tuple[float, EndedLine | None]) -> dict[str, float]:
    told = limits_of(processes, [], slowest=lambda: None)
    return {} if told is None else {each.limit: each.seconds for each in told.shares}


def pool(name: str = "openai:m", *, calls: int = 0, **fields: Any) -> PoolFigures:
    folded = Calls()
    for number in range(calls):
        folded.take(number, called(ordinal=number, pool=name, host="", account=""))
    (made,) = pools_of(folded, [PoolEnd(pool=name, **fields)])
    return made


# Shares


def test_the_greatest_comes_first_and_what_took_no_time_is_left_out() -> None:
    told = shares((10.0, end(cases=2.0, requests=8.0, scoring=0.0)))
    assert list(told.items()) == [("requests", 8.0), ("cases", 2.0)]


def test_time_beyond_the_account_is_idle() -> None:
    assert shares((10.0, end(cases=9.0))) == {"cases": 9.0, "idle": 1.0}


def test_a_killed_process_took_its_account_with_it() -> None:
    assert shares((4.0, None), (10.0, end(requests=10.0))) == {"requests": 10.0, "unknown": 4.0}


def test_where_no_process_has_said_nothing_is_said() -> None:
    assert limits_of([(4.0, None), (1.0, end())], [], slowest=lambda: None) is None
    assert limits_of([], [], slowest=lambda: None) is None
    assert Report.read(finished(begin("a"), scored("a", yes()), keys=1)).figures.limited is None


def test_processes_are_added_up_and_the_shares_are_of_all_of_it() -> None:
    lines = [
        run("Equals"),
        begin("a"),
        ended("interrupted", wall=3.0, limited={"requests": 3.0}),
        resumed(),
        scored("a", yes()),
        manifest(1),
        ended(wall=1.0, limited={"requests": 1.0}),
    ]
    limited = Report.read(Lines(*lines)).figures.limited
    assert limited is not None
    assert [(each.limit, each.seconds, each.share) for each in limited.shares] == [("requests", 4.0, 1.0)]


ACCOUNTS = st.dictionaries(st.sampled_from(LIMITS), st.floats(0, 1e6), max_size=6)
PROCESSES = st.lists(
    st.tuples(st.floats(0, 1e6), st.none() | ACCOUNTS.map(lambda account: end(**account))), max_size=4
)


@given(PROCESSES)
def test_shares_are_parts_of_one_and_no_second_is_lost(
    processes: list[tuple[float, EndedLine | None]],
) -> None:
    told = limits_of(processes, [], slowest=lambda: None)
    if told is None:
        return
    assert math.fsum(each.share for each in told.shares) == pytest.approx(1.0)
    assert all(each.seconds > 0 for each in told.shares)
    assert math.fsum(each.seconds for each in told.shares) >= math.fsum(wall for wall, _ in processes) * (
        1 - 1e-9
    )


# Advice


def said(limit: str, **known: Any) -> str:
    return advice(Known(**{"seconds": {limit: 8.0}, "wall": 10.0, **known}))


@pytest.mark.parametrize(
    ("limit", "known", "sentence"),
    [
        ("cases", {"places": 50}, "All 50 places were taken"),
        ("cases", {"places": 1}, "The only place was taken"),
        ("cases", {"places": 50}, "raise -j"),
        (
            "requests",
            {"pools": [pool(rate=10.0, limited={"requests": 8.0})]},
            "about 600 a minute on openai:m",
        ),
        ("requests", {"pools": [pool(calls=100)]}, "600 a minute on openai:m"),
        ("requests", {}, "the pool is not on record"),
        ("tokens", {"pools": [pool(token_rate=500.0)]}, "about 30,000 a minute on openai:m"),
        ("window", {"pools": [pool(window=40.0)]}, "about 40 at once on openai:m"),
        ("window", {"pools": [pool(window=40.0)]}, "raise --window if you have set it"),
        ("window", {"pools": [pool(window=40.0, knee=True)]}, "more at once was tried and brought nothing"),
        (
            "window",
            {"pools": [pool("slot:docs-mcp", window=3.0)]},
            "The slot docs-mcp was taken all the time",
        ),
        ("blocked", {"pools": [pool(rejected=1)]}, "1 try rejected on openai:m"),
        ("outage", {"pools": [pool()]}, "out of order for 8.00 s (openai:m)"),
        ("backoff", {}, "look at the causes first"),
        ("stragglers", {"slowest": lambda: ("Peru", 7.0)}, "the slowest: Peru, 7.00 s"),
        ("stragglers", {}, "more places will not help"),
        ("scoring", {}, "raise evaluator_concurrency"),
        ("loop", {"blocker": "app.py:9 in task"}, "blocked the event loop at app.py:9 in task"),
        ("machine", {}, "--isolation process"),
        ("journal", {}, 'durability = "os"'),
        ("idle", {}, "neither -j nor quotas would have helped"),
    ],
)
def test_each_limit_has_its_sentence(limit: str, known: dict[str, Any], sentence: str) -> None:
    assert sentence in said(limit, **known)


def test_every_limit_there_is_has_one_and_it_is_one() -> None:
    for limit in LIMITS:
        told = said(limit, pools=[pool()], places=5)
        assert told.endswith(".")
        assert ". " not in told.replace("e.g. ", ""), told


def test_what_the_provider_sets_is_one_matter_and_the_greatest_part_of_it_is_spoken_of() -> None:
    assert leading({"requests": 3.0, "tokens": 2.5, "cases": 4.5}) == "requests"
    assert leading({"requests": 3.0, "cases": 4.5}) == "cases"


def test_time_of_which_nobody_knows_says_nothing() -> None:
    assert leading({"unknown": 9.0, "cases": 1.0}) == "cases"
    assert leading({"unknown": 9.0}) == leading({}) == ""
    assert advice(Known(seconds={"unknown": 9.0}, wall=9.0)) == ""


def test_the_pool_that_held_the_run_up_longest_is_named() -> None:
    pools = [pool("openai:busy", calls=50), pool("openai:slow", rate=1.0, limited={"requests": 5.0})]
    assert "about 60 a minute on openai:slow" in said("requests", pools=pools)


# On the terminal and in the document


def test_bars_and_the_advice_are_shown_where_the_run_took_its_time() -> None:
    account = {"requests": 9.0, "stragglers": 1.0}
    report = Report.read(
        Lines(run("Equals"), begin("a"), scored("a", yes()), manifest(1), ended(wall=10.0, limited=account))
    )
    text = report.render(width=100)
    assert "What limited this run" in text
    assert [line.split()[:4] for line in text.splitlines() if "█" in line] == [
        ["requests", "a", "minute", "90.0%"],
        ["last", "cases", "10.0%", "1.00"],
    ]
    document = report.to_dict()
    assert document["limited_by"][0] == {"limit": "requests", "seconds": 9.0, "share": 0.9}
    assert document["limited_advice"].startswith("The provider's requests per minute set the pace")
