"""The alarm on a thread: it rings at the earliest time that was set, and not when it was stopped."""

from __future__ import annotations

import math
import threading
import time

from paceline.pace.alarm import ThreadAlarm


class Bell:
    """Counts how often it rang, and can be waited for."""

    def __init__(self) -> None:
        self.rung = threading.Semaphore(0)
        self.times: list[float] = []

    def __call__(self) -> None:
        self.times.append(time.monotonic())
        self.rung.release()


def test_it_rings_when_its_time_has_come_and_once_for_each() -> None:
    bell = Bell()
    alarm = ThreadAlarm(bell)
    wanted = time.monotonic() + 0.02
    alarm.set(wanted)
    assert bell.rung.acquire(timeout=30)
    assert bell.times[0] >= wanted
    alarm.set(time.monotonic())
    assert bell.rung.acquire(timeout=30)
    alarm.stop()
    assert len(bell.times) == 2


def test_an_earlier_time_takes_the_place_of_a_later_one() -> None:
    bell = Bell()
    alarm = ThreadAlarm(bell)
    alarm.set(time.monotonic() + 3_600.0)
    alarm.set(time.monotonic())
    assert bell.rung.acquire(timeout=30)
    alarm.stop()


def test_a_time_without_end_is_waited_for_without_complaint() -> None:
    bell = Bell()
    alarm = ThreadAlarm(bell)
    alarm.set(math.inf)
    alarm.set(1e300)
    alarm.set(time.monotonic())
    assert bell.rung.acquire(timeout=30)
    alarm.stop()


def test_what_was_stopped_rings_no_more_and_leaves_no_thread() -> None:
    bell = Bell()
    alarm = ThreadAlarm(bell)
    alarm.stop()  # before anything was set
    alarm = ThreadAlarm(bell)
    alarm.set(time.monotonic() + 3_600.0)
    thread = next(each for each in threading.enumerate() if each.name == "paceline-desk")
    alarm.stop()
    assert not thread.is_alive()
    assert bell.times == []


def test_its_own_ring_may_stop_it() -> None:
    ended = threading.Event()

    def ring() -> None:
        alarm.stop()
        ended.set()

    alarm = ThreadAlarm(ring)
    alarm.set(time.monotonic())
    assert ended.wait(30)
