"""What a person sees while a sweep climbs."""

from __future__ import annotations

import io
from typing import Any

import pytest

from paceline.engine.events import Draining, Warned
from paceline.progress import Style
from paceline.ramp.seen import Halt
from paceline.ramp.stage import Now
from paceline.ramp.view import View, standing

NOW = Now(
    level=32,
    paced=None,
    cases=96,
    begun=69,
    done=41,
    in_flight=28,
    answers=102,
    rejected=3,
    failed=0,
    seconds=12.0,
)


class Clock:
    time = 0.0

    def __call__(self) -> float:
        return self.time


def seen(style: Style, *looks: float, **now: Any) -> str:
    """What stands on the stream after looks at these times."""
    stream, clock = io.StringIO(), Clock()
    view = View(style, stream=stream, clock=clock)
    view.say("level 16: fine")
    for clock.time in looks:
        view.look(NOW)
    view.stop()
    return stream.getvalue()


def test_a_level_is_told_in_one_line() -> None:
    assert standing(NOW) == "level 32: 41 of 96 cases · 28 under way · 102 answers · 3 rejected · 0:12"


def test_a_level_at_a_rate_and_one_that_ends_say_so() -> None:
    ending = Now(
        level=20,
        paced=11.54,
        cases=80,
        begun=80,
        done=79,
        in_flight=1,
        answers=79,
        rejected=0,
        failed=2,
        seconds=61.0,
        halt=Halt(kind="enough", reason=""),
    )
    assert standing(ending) == (
        "level 20 at 11.5/s: 79 of 80 cases · 1 under way · 79 answers · 2 failed · 1:01 · finishing"
    )


def test_a_terminal_has_a_line_that_changes_and_nothing_is_left_of_it() -> None:
    shown = seen("bar", 0.2, 0.4)
    assert shown.count("level 32") == 2
    assert shown.endswith("\r\x1b[2K")


def test_elsewhere_such_a_line_comes_every_ten_seconds() -> None:
    assert seen("plain", 1.0, 9.9, 10.0, 12.0, 20.1).count("level 32") == 2


def test_who_wants_nothing_to_be_shown_gets_only_what_has_to_be_said() -> None:
    assert seen("none", 1.0, 20.0) == ""
    stream = io.StringIO()
    view = View("none", stream=stream)
    view(Warned(at=0.0, message="the disk is slow"))
    view(Draining(at=0.0, reason="SIGINT received", in_flight=7))
    view.warn("warning: others are at work")
    assert stream.getvalue().splitlines() == [
        "warning: the disk is slow",
        "SIGINT received: finishing 7 in flight; Ctrl-C again to cancel",
        "warning: others are at work",
    ]


@pytest.mark.parametrize("style", ["auto", "bar", "plain", "none"])
def test_a_stream_that_is_gone_ends_the_view_only(style: Style) -> None:
    stream = io.StringIO()
    view = View(style, stream=stream)
    stream.close()
    view.say("level 1: fine")
    view.look(NOW)
    view.stop()
