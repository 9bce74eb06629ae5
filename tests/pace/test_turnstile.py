"""The turnstile: errands are done once, in their order, with the lock held, and leaving one never waits."""

from __future__ import annotations

import sys
import threading

import pytest

from paceline.pace.turnstile import Turnstile


def test_an_errand_is_done_at_once_where_nobody_is_in() -> None:
    done: list[int] = []
    told: list[int] = []
    turnstile: Turnstile[int] = Turnstile(done.append, lambda: told.append(len(done)))
    turnstile.leave(1)
    assert (done, told) == ([1], [1])


def test_an_errand_that_is_left_inside_is_done_on_the_way_out() -> None:
    done: list[int] = []
    turnstile: Turnstile[int] = Turnstile(done.append, lambda: None)
    with turnstile:
        turnstile.leave(1)
        turnstile.leave(2)
        assert done == []
    assert done == [1, 2]


def test_an_errand_may_leave_another() -> None:
    done: list[int] = []

    def run(errand: int) -> None:
        done.append(errand)
        if errand < 5:
            turnstile.leave(errand + 1)

    turnstile: Turnstile[int] = Turnstile(run, lambda: None)
    turnstile.leave(1)
    assert done == [1, 2, 3, 4, 5]


def test_what_they_led_to_is_told_without_the_lock() -> None:
    seen: list[bool] = []

    def after() -> None:
        with turnstile:  # would wait for itself for good
            seen.append(True)

    turnstile: Turnstile[int] = Turnstile(lambda _: None, after)
    turnstile.leave(1)
    assert seen == [True]


def test_an_errand_that_goes_wrong_leaves_the_lock_free_and_the_others_to_be_done() -> None:
    done: list[int] = []

    def run(errand: int) -> None:
        if errand == 1:
            raise ValueError("wrong")
        done.append(errand)

    turnstile: Turnstile[int] = Turnstile(run, lambda: None)
    with pytest.raises(ValueError, match="wrong"):
        turnstile.leave(1)
    turnstile.leave(2)
    assert done == [2]


def test_from_many_threads_every_errand_is_done_once_and_never_two_at_a_time() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    inside, most, done = 0, 0, []

    def run(errand: int) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        done.append(errand)
        inside -= 1

    turnstile: Turnstile[int] = Turnstile(run, lambda: None)

    def work(first: int) -> None:
        for number in range(first, first + 500):
            if number % 7 == 0:
                with turnstile:
                    turnstile.leave(number)
            else:
                turnstile.leave(number)

    threads = [threading.Thread(target=work, args=(1_000 * number,)) for number in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert most == 1
    assert sorted(done) == sorted(
        number for first in range(4) for number in range(1_000 * first, 1_000 * first + 500)
    )
