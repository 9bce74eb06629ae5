"""Progress: what is worked out from the gauge, what is said in words, and that a view never hurts a run."""

from __future__ import annotations

import io
import os
import pty
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.events import (
    Abandoned,
    AnyEvent,
    CaseFinished,
    CaseStarted,
    Draining,
    Gauge,
    LoopBlocked,
    RunStarted,
    Warned,
)
from paceline.journal.records import ErrorFacts, Key
from paceline.progress import (
    Pace,
    PlainProgress,
    QuietProgress,
    TerminalProgress,
    activity,
    clock_time,
    in_words,
    progress_for,
    seconds_left,
    share,
)

STARTED = RunStarted(
    at=0.0,
    run_id="r",
    suite="geography",
    path="runs/geography/1",
    expected=200,
    done_before=73,
    open_reasons={"new": 100, "interrupted": 27},
    concurrency=50,
    order="longest expected first",
)


class Hands:
    """A clock that moves when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


# What is worked out


def test_the_rate_is_that_of_the_last_while() -> None:
    pace = Pace()
    assert pace.per_second == 0.0
    for second in range(101):
        pace.note(float(second), min(second, 50))
    assert pace.per_second == 0.0, "nothing has ended in the last 30 seconds"
    pace.note(101.0, 81)
    assert pace.per_second == pytest.approx(1.0, rel=0.1)


def test_where_durations_are_known_the_time_left_is_work_by_slots_but_no_less_than_the_longest() -> None:
    gauge = Gauge(expected=100, done=0, expected_work=1000.0, longest_left=30.0)
    assert seconds_left(gauge, slots=10, rate=5.0) == 100.0
    assert seconds_left(gauge, slots=100, rate=5.0) == 30.0
    few = Gauge(expected=100, done=98, expected_work=40.0, longest_left=10.0)
    assert seconds_left(few, slots=50, rate=5.0) == 20.0, "two cases use two slots"
    last = Gauge(expected=100, done=99, expected_work=2.0, longest_left=30.0)
    assert seconds_left(last, slots=50, rate=5.0) == 2.0, "the longest has ended long ago"


def test_where_they_are_not_known_the_rate_has_to_do() -> None:
    assert seconds_left(Gauge(expected=100, done=50), slots=10, rate=5.0) == 10.0
    assert seconds_left(Gauge(expected=100, done=0), slots=10, rate=0.0) is None
    assert seconds_left(Gauge(expected=None, done=5), slots=10, rate=5.0) is None
    assert seconds_left(Gauge(expected=5, done=5), slots=10, rate=0.0) == 0.0
    stragglers = Gauge(expected=100, done=97, in_flight=3)
    assert seconds_left(stragglers, slots=10, rate=5.0) is None, "how long the last ones take, no rate tells"


def test_where_calls_wait_for_limits_work_is_not_what_the_time_goes_by() -> None:
    limited = Gauge(expected=100, done=50, expected_work=50.0, longest_left=1.0, queued=40)
    assert seconds_left(limited, slots=50, rate=5.0) == 10.0
    assert seconds_left(limited, slots=50, rate=0.0) == 1.0
    slow = Gauge(expected=100, done=50, expected_work=5000.0, longest_left=1.0, queued=40)
    assert seconds_left(slow, slots=50, rate=50.0) == 100.0


def test_calls_that_wait_are_told_beside_what_runs() -> None:
    assert activity(Gauge(in_flight=50, queued=38)) == "50 running · 38 calls waiting for limits"
    assert activity(Gauge(in_flight=1, queued=1)) == "1 running · 1 call waiting for limits"


@given(
    expected=st.integers(0, 1000),
    done=st.integers(0, 1000),
    work=st.floats(0, 1e6),
    longest=st.floats(0, 1e4),
    slots=st.integers(1, 100),
    rate=st.floats(0, 1e5),
)
def test_the_time_left_is_never_negative_and_never_less_than_the_longest_case(
    expected: int, done: int, work: float, longest: float, slots: int, rate: float
) -> None:
    gauge = Gauge(expected=expected, done=done, expected_work=work, longest_left=longest)
    left = seconds_left(gauge, slots=slots, rate=rate)
    assert left is None or left >= (min(longest, work) if done < expected else 0)


def test_times_and_shares_read_as_people_write_them() -> None:
    assert [clock_time(seconds) for seconds in (0, 7, 90, 3723)] == ["0:00", "0:07", "1:30", "1:02:03"]
    assert share(Gauge(expected=1200, done=300)) == "300/1,200 (25%)"
    assert (share(Gauge(expected=0)), share(Gauge(done=5))) == ("0/0 (100%)", "5")


# What is said


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (STARTED, "geography: 200 cases; 73 done before, 127 to run (27 interrupted, 100 new); 50 at a time"),
        (
            Draining(at=0, reason="SIGINT received", in_flight=37),
            "finishing 37 in flight; Ctrl-C again",
        ),
        (
            Draining(at=0, reason="the budget of 5 $ is spent", in_flight=3),
            "5 $ is spent: finishing 3 in flight",
        ),
        (LoopBlocked(at=0, seconds=1.2, where="app.py:7 in ask"), "blocked for 1.2 s by app.py:7 in ask"),
        (Abandoned(at=0, key=Key("paris"), what="the task"), "paris: the task ignored its deadline"),
        (Warned(at=0, message="a thing", hint="do this"), "warning: a thing; do this"),
    ],
)
def test_what_a_person_should_know_is_said(event: AnyEvent, said: str) -> None:
    assert said in (in_words(event) or "")


def test_a_case_is_told_only_to_those_who_asked_for_it() -> None:
    passed = CaseFinished(
        at=0, key=Key("paris"), outcome="scored", passed=True, attempts=1, seconds=1.234, waited=0, total=2
    )
    broken = CaseFinished(
        at=0,
        key=Key("rome", 1, "large"),
        outcome="task_error",
        passed=False,
        attempts=2,
        seconds=0.5,
        waited=0,
        total=1,
        error=ErrorFacts(type="ValueError", message="odd"),
    )
    assert in_words(passed) is None
    assert in_words(CaseStarted(at=0, key=Key("paris"), attempt=1), verbose=True) is None
    assert in_words(passed, verbose=True) == "passed  paris  1.23 s"
    assert in_words(broken, verbose=True) == "error (task_error)  large: rome [2]  0.50 s  ValueError: odd"


# The views


def test_plain_lines_come_every_ten_percent_and_every_ten_seconds() -> None:
    stream, clock = io.StringIO(), Hands()
    plain = PlainProgress(stream, clock=clock)
    plain.interval = None  # no thread: this test looks by itself
    gauge = Gauge(expected=100)
    plain.start(gauge)
    for second, done in [(0, 0), (1, 5), (2, 10), (3, 19), (4, 20), (9, 21), (14, 21), (15, 25)]:
        clock.now, gauge.done, gauge.passed, gauge.in_flight = float(second), done, done, 3
        plain.look()
    lines = stream.getvalue().splitlines()
    heads = [line.split(" · ")[0] for line in lines]
    assert heads == ["[0:02] 10/100 (10%)", "[0:04] 20/100 (20%)", "[0:14] 21/100 (21%)"]
    assert lines[0] == "[0:02] 10/100 (10%) · 10 passed · 5.0/s · 0:18 left · 3 running"


def test_a_quiet_view_says_what_must_be_said_and_nothing_else() -> None:
    stream = io.StringIO()
    words = progress_for("none", stream=stream)
    words.start(Gauge(expected=3))
    words(STARTED)
    assert stream.getvalue() == ""
    words(Draining(at=0, reason="SIGINT received", in_flight=1))
    words.stop()
    assert stream.getvalue() == "SIGINT received: finishing 1 in flight; Ctrl-C again to cancel\n"


def test_a_bar_is_shown_on_a_terminal_and_lines_elsewhere() -> None:
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb"), os.fdopen(follower, "w") as terminal:
        assert type(progress_for(stream=terminal)) is TerminalProgress
    assert type(progress_for(stream=io.StringIO())) is PlainProgress
    assert type(progress_for("none")) is QuietProgress


def test_a_bar_draws_the_gauge_and_leaves_the_cursor_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]
    bar = TerminalProgress(stream)
    gauge = Gauge(expected=10, done=4, passed=3, failed=1, errors=0, in_flight=2)
    bar.start(gauge)
    bar(STARTED)
    gauge.done, gauge.passed = 10, 9
    bar.stop()
    drawn = stream.getvalue()
    assert "4/10 (40%)" in drawn
    assert "10/10 (100%)" in drawn
    assert "9 passed" in drawn
    assert "geography: 200 cases" in drawn
    assert "\x1b[?25l" not in drawn


class Gone(io.StringIO):
    """A stream whose reader has gone away."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("style", ["bar", "plain", "none"])
def test_a_view_outlives_its_reader(style: str) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (Gone(), closed):
        shown = progress_for(style, stream=stream)  # type: ignore[arg-type]  # one of the styles
        shown.start(Gauge(expected=3, done=1))
        shown(STARTED)
        shown(Warned(at=0, message="a thing"))
        shown.stop()


def test_a_terminal_that_knows_few_letters_gets_those(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w", encoding="ascii") as stream:
        progress_for("plain", stream=stream)(Warned(at=0, message="Zürich · Genève"))
    assert (tmp_path / "log").read_text(encoding="ascii") == "warning: Z?rich ? Gen?ve\n"


def test_only_a_verbose_view_wants_to_be_told_of_each_case() -> None:
    assert not progress_for("plain", stream=io.StringIO()).wants_cases
    assert progress_for("none", stream=io.StringIO(), verbose=True).wants_cases


def test_looking_ends_with_the_run() -> None:
    plain = PlainProgress(io.StringIO())
    plain.interval = 0.01
    plain.start(Gauge(expected=3))
    ticker = plain._ticker
    assert ticker is not None
    assert ticker.is_alive()
    plain.stop()
    ticker.join(5)
    assert not ticker.is_alive()


def test_a_bar_costs_nothing_for_each_case() -> None:
    """A million changes of the gauge cause no more drawing than time has passed for."""
    stream = io.StringIO()
    bar = TerminalProgress(stream)
    gauge = Gauge(expected=1_000_000)
    began = time.monotonic()
    bar.start(gauge)
    for done in range(200_000):
        gauge.done = done
    bar.stop()
    assert stream.getvalue().count("/1,000,000") <= 4 * (time.monotonic() - began) + 2
