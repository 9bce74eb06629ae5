"""The window that is learned: how it opens, what it makes of rounds and rejections, and where it settles."""

from __future__ import annotations

import heapq
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.windows import (
    FULL_HOLD_S,
    GROWTH,
    KNEE_HOLD_S,
    LEAST,
    MOST,
    OPENING_S,
    START,
    Window,
)


def window_with(*, most: float | None = None, start: float | None = None) -> Window:
    return Window(most=most, start=start, now=0.0)


class Server:
    """Answers in `seconds`, and above `knee` calls at once the later the more there are."""

    def __init__(
        self, window: Window, *, knee: float, waiting: bool = True, seed: int = 1, seconds: float = 1.0
    ) -> None:
        self.window = window
        self.seconds = seconds
        self.knee = knee
        self.waiting = waiting
        """Whether calls wait for the window."""
        self.now = 0.0
        self.in_flight = 0
        self.most = 0
        self.answered = 0
        self._ends: list[float] = []
        self._dice = random.Random(seed)

    def work(self, seconds: float) -> None:
        until = self.now + seconds
        while True:
            while self.in_flight + 1 <= self.window.at(self.now):
                self._begin()
            if self.waiting:
                self.window.limited = True
            if self._ends[0] > until:
                break
            self.now = heapq.heappop(self._ends)
            self.in_flight -= 1
            self.answered += 1
            self.window.answered(self.now)
        self.now = until

    def _begin(self) -> None:
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        slower = max(1.0, self.in_flight / self.knee)
        heapq.heappush(self._ends, self.now + self.seconds * slower * self._dice.uniform(0.7, 1.3))


@pytest.mark.parametrize("seconds", [0.01, 0.1, 0.5])
def test_quick_calls_do_not_judge_a_window_before_it_has_opened(seconds: float) -> None:
    """A whole round of them comes back within the moments that it takes to open."""
    window = window_with()
    server = Server(window, knee=10_000, seconds=seconds)
    server.work(16.0)
    assert window.at(server.now) == MOST
    assert not window.knee


def test_it_begins_with_a_few_and_doubles_while_that_brings_more() -> None:
    window = window_with()
    assert window.at(0.0) == START
    server = Server(window, knee=10_000)
    server.work(30.0)
    assert window.at(server.now) == MOST


def test_it_opens_over_a_while_and_not_at_a_stroke() -> None:
    window = window_with()
    server = Server(window, knee=10_000)
    while window.opening(server.now) is None:
        server.work(0.05)
    just_before = window.at(server.now)
    assert just_before < 2 * START
    assert window.at(server.now + OPENING_S) == 2 * START
    room = window.opening(server.now)
    assert room is not None
    assert int(window.at(room)) == int(just_before) + 1


def test_it_does_not_grow_while_nobody_waits_for_it() -> None:
    window = window_with()
    server = Server(window, knee=10_000, waiting=False)
    server.work(60.0)
    assert window.at(server.now) == START


def test_a_ceiling_that_somebody_has_set_holds() -> None:
    window = window_with(most=30)
    server = Server(window, knee=10_000)
    server.work(60.0)
    assert server.most == 30


def test_what_an_earlier_run_has_learned_is_where_it_begins() -> None:
    assert window_with(start=80).at(0.0) == 80
    assert window_with(start=80, most=50).at(0.0) == 50
    assert window_with(start=0.2).at(0.0) == LEAST


def test_on_a_server_that_does_one_thing_at_a_time_it_comes_down_to_one_and_never_to_none() -> None:
    window = window_with(start=3)
    server = Server(window, knee=1)
    for _ in range(3_000):
        server.work(1.0)
        assert window.at(server.now) >= 1
    assert window.at(server.now) < 3


def test_once_settled_a_rate_that_binds_does_not_move_it() -> None:
    window = window_with()
    server = Server(window, knee=40)
    while not window.knee:
        server.work(0.5)
    server.work(5.0)
    settled = window.at(server.now)
    for _ in range(4_000):
        window.paced = True
        server.work(0.05)
    assert window.at(server.now) == settled


def test_another_ceiling_narrows_it_at_once_and_lets_it_open_again_when_it_is_gone() -> None:
    window = window_with(start=80)
    window.limit(10, 1.0)
    assert window.at(1.0) == 10
    assert window.learned == 80, "what the provider bears is known all the same"
    window.limit(50, 2.0)
    assert window.at(2.0 + OPENING_S) == 50
    window.limit(None, 5.0)
    assert window.at(5.0 + OPENING_S) == 80


@pytest.mark.parametrize("knee", [8, 40, 150])
def test_it_settles_where_more_brings_nothing_although_nothing_is_rejected(knee: int) -> None:
    window = window_with()
    server = Server(window, knee=knee)
    server.work(300.0)
    before = server.answered
    server.work(100.0)
    assert window.knee
    assert (server.answered - before) / 100 >= 0.85 * knee, "it brings what there is to be had"
    assert window.at(server.now) <= 2 * knee, "and makes no long queue"


def test_it_follows_a_knee_that_comes_down_and_one_that_goes_up() -> None:
    window = window_with()
    server = Server(window, knee=80)
    server.work(200.0)
    server.knee = 25
    server.work(600.0)
    assert window.at(server.now) <= 2 * 25
    server.knee = 100
    server.work(600.0)
    assert window.at(server.now) >= 0.75 * 100


def test_a_rejection_for_calls_at_once_says_exactly_how_many_fit() -> None:
    window = window_with(start=60)
    window.rejected(43, 1.0, sure=True)
    assert window.at(1.0) == 43
    assert window.knee


def test_it_looks_for_room_above_a_cap_by_a_little_and_more_and_more_seldom() -> None:
    window = window_with(start=60)
    server = Server(window, knee=10_000)
    tries, narrowed = [], 0.0
    for _ in range(4):
        window.rejected(50, server.now, sure=True)
        narrowed = server.now
        while window.at(server.now) <= 50:
            server.work(0.25)
        tries.append(server.now - narrowed)
        server.work(OPENING_S)
        assert window.at(server.now) <= 50 * (1 + GROWTH) + 1
    assert tries == sorted(tries)
    assert FULL_HOLD_S <= tries[0] < tries[-1]


def test_what_was_narrowed_on_a_suspicion_is_won_back_answer_by_answer() -> None:
    window = window_with(start=60)
    server = Server(window, knee=10_000)
    server.work(1.0)
    window.rejected(30, server.now, sure=False)
    assert window.at(server.now) == 30
    server.work(2 * FULL_HOLD_S + 3.0)
    assert window.at(server.now) >= 60


def test_a_few_failures_do_not_keep_it_from_growing_but_many_do() -> None:
    few, many = window_with(), window_with()
    for window, one_in in ((few, 20), (many, 2)):
        server = Server(window, knee=10_000)
        for second in range(60):
            server.work(0.5)
            for _ in range(int(window.at(server.now)) // one_in):
                window.failed()
            assert second >= 0
    assert few.at(30.0) > 10 * START
    assert many.at(30.0) == START


def test_a_rate_that_binds_says_nothing_about_the_window() -> None:
    """It goes on growing, in case it is needed later, and finds no knee in what is the rate's doing."""
    window = window_with()
    server = Server(window, knee=30)
    for _ in range(1_000):
        window.paced = True
        server.work(0.05)
    assert not window.knee
    assert window.at(server.now) > START


def test_after_an_outage_half_of_it_is_open_at_once_and_the_rest_within_moments() -> None:
    window = window_with(start=80)
    window.resume(600.0)
    assert window.at(600.0) == 40
    assert window.at(600.0 + OPENING_S) == 80


def test_an_outage_that_comes_while_another_width_is_tried_leaves_the_one_it_had_settled_at() -> None:
    window = window_with()
    server = Server(window, knee=40)
    while not window.knee:
        server.work(0.5)
    home = window.at(server.now + OPENING_S)
    server.work(OPENING_S)
    while window.at(server.now) in (home, START):
        server.work(0.25)
    window.resume(server.now)
    assert window.at(server.now + OPENING_S) == home
    assert KNEE_HOLD_S > OPENING_S


moves = st.lists(
    st.tuples(
        st.floats(0.0, 20.0),
        st.sampled_from(["answered", "failed", "sure", "unsure", "resume", "limited", "paced"]),
        st.integers(0, 400),
    ),
    max_size=200,
)


@given(moves, st.one_of(st.none(), st.integers(1, 300)), st.one_of(st.none(), st.floats(0.1, 2_000)))
def test_whatever_happens_it_stays_between_one_and_the_most(
    story: list[tuple[float, str, int]], most: int | None, start: float | None
) -> None:
    window = Window(most=most, start=start, now=0.0)
    now = 0.0
    for passes, what, number in story:
        now += passes
        match what:
            case "answered":
                for _ in range(number):
                    window.answered(now)
            case "failed":
                window.failed()
            case "sure" | "unsure":
                window.rejected(number, now, sure=what == "sure")
            case "resume":
                window.resume(now)
            case "limited":
                window.limited = True
            case _:
                window.paced = True
        assert LEAST <= window.at(now) <= (most or MOST)
        opening = window.opening(now)
        assert opening is None or (opening > now and window.at(opening) >= int(window.at(now)) + 1 - 1e-6)
