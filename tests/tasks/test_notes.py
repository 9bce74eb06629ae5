"""What a task notes about its own work while it runs."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextvars import copy_context

import pytest

from paceline.tasks import increment_eval_metric, set_eval_attribute
from paceline.tasks.notes import Notes, current_notes


@pytest.fixture
def notes() -> Iterator[Notes]:
    """A note-book as an executor opens one for an attempt."""
    notes = Notes()
    token = current_notes.set(notes)
    yield notes
    current_notes.reset(token)


def test_outside_a_run_it_does_nothing() -> None:
    set_eval_attribute("colour", "red")
    increment_eval_metric("calls", 1)
    assert current_notes.get() is None


def test_attributes_are_set_and_metrics_are_summed(notes: Notes) -> None:
    set_eval_attribute("colour", "red")
    set_eval_attribute("colour", "blue")
    increment_eval_metric("calls", 1)
    increment_eval_metric("calls", 2)
    increment_eval_metric("cost", 0.25)
    assert notes.attributes == {"colour": "blue"}
    assert notes.metrics == {"calls": 3, "cost": 0.25}


def test_child_tasks_and_threads_with_a_copied_context_write_into_the_same_book(notes: Notes) -> None:
    async def main() -> None:
        async def child() -> None:
            increment_eval_metric("calls", 1)

        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(child())
        await asyncio.to_thread(increment_eval_metric, "calls", 1)

    asyncio.run(main())
    assert notes.metrics == {"calls": 6}


def test_a_thread_without_the_context_writes_nowhere(notes: Notes) -> None:
    thread = threading.Thread(target=increment_eval_metric, args=("calls", 1))
    thread.start()
    thread.join()
    assert notes.metrics == {}


def test_threads_that_add_at_once_lose_no_cent(notes: Notes) -> None:
    def add() -> None:
        for _ in range(5_000):
            increment_eval_metric("cost", 1)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=copy_context().run, args=(add,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert notes.metrics == {"cost": 20_000}


def test_a_book_that_is_closed_takes_nothing_more(notes: Notes) -> None:
    increment_eval_metric("calls", 1)
    notes.over = True
    increment_eval_metric("calls", 1)
    set_eval_attribute("late", True)
    assert notes.metrics == {"calls": 1}
    assert notes.attributes == {}


def test_what_cannot_be_added_is_the_tasks_own_error(notes: Notes) -> None:
    with pytest.raises(TypeError):
        increment_eval_metric("calls", "one")  # type: ignore[arg-type]
    increment_eval_metric("calls", 1)
    assert notes.metrics == {"calls": 1}
