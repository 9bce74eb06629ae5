"""The child's side: what it says to its parent is said in order, whoever interrupts whom."""

from __future__ import annotations

import gc
from multiprocessing.connection import Connection
from typing import Any, cast

from paceline.engine.executors.worker import Mouth, News, Teller


class Pipe:
    """Sends, and lets somebody interrupt it while it does."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.interrupted_by: list[Any] = []

    def send(self, words: object) -> None:
        while self.interrupted_by:
            self.interrupted_by.pop()()
        self.sent.append(words)


def test_an_answer_that_is_forgotten_while_something_is_said_is_told_of_after_that() -> None:
    """A finalizer runs on the thread that is speaking; with a lock it would wait for itself."""
    pipe = Pipe()
    mouth = Mouth(cast(Connection, pipe))

    class Forgotten:
        def __del__(self) -> None:
            Teller(mouth, 3).ended(None)

    forgotten: Any = Forgotten()
    forgotten.itself = forgotten
    pipe.interrupted_by.append(gc.collect)
    del forgotten
    mouth.say("answer")
    assert pipe.sent == ["answer", News(3, "ended")]


def test_a_parent_that_has_gone_is_not_spoken_to_and_nothing_is_raised() -> None:
    pipe = Pipe()

    def gone() -> None:
        raise BrokenPipeError

    pipe.interrupted_by.append(gone)
    mouth = Mouth(cast(Connection, pipe))
    mouth.say("answer")
    mouth.say("later")
    assert pipe.sent == ["later"]
