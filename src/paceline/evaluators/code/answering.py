"""The process in which an answer's code runs: it does with that code what its judge asks for, and no more.

Runs in a cell, so it stands alone. Nothing here is trusted by anyone: the code that runs in this process may
change all of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from paceline.evaluators.code.line import Hold, Line, Unspeakable, speak, understand

LONGEST_WORDS = 300
_ANSWER = "answer"


def answer(line: Line) -> None:
    """Do what the judge asks for, until it hangs up."""
    held: list[Any] = []

    def refer(value: Any) -> int:
        held.append(value)
        return len(held) - 1

    def hold(number: int, _kind: str) -> Any:
        return held[number]

    while True:
        asked = line.hear()
        try:
            reply = {"said": speak(_done(asked, held, hold), refer)}
        except RecursionError as error:
            reply = {"raised": ["RecursionError", str(error), ""]}
        except BaseException as error:
            reply = {"raised": [type(error).__name__, words_of(error), _where(error)]}
        try:
            line.say(reply)
        except Unspeakable as why:
            line.say({"unspeakable": str(why)})


def _done(asked: dict[str, Any], held: list[Any], hold: Hold) -> Any:
    what = asked["ask"]
    if what == "run":
        module = ModuleType(_ANSWER)
        sys.modules[_ANSWER] = module
        exec(compile(asked["program"], f"<{_ANSWER}>", "exec"), module.__dict__)  # noqa: S102  # in a cell
        held[:] = [getattr(module, asked["entry_point"], None)]
        return callable(held[0])
    thing = held[asked["of"]]
    if what == "call":
        arguments = [understand(each, hold) for each in asked["arguments"]]
        keywords = {name: understand(each, hold) for name, each in asked["keywords"].items()}
        return thing(*arguments, **keywords)
    if what == "attribute":
        return getattr(thing, asked["name"])
    if what == "item":
        return thing[understand(asked["key"], hold)]
    asks: dict[str, Callable[[Any], Any]] = {"length": len, "iterator": iter, "next": next}
    return asks[what](thing)


def words_of(error: BaseException) -> str:
    """What an exception says, as far as it can be had."""
    try:
        return str(error)[:LONGEST_WORDS]
    except BaseException:
        return ""


def _where(error: BaseException) -> str:
    """The line of the answer in which it was raised."""
    found, at = "", error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == f"<{_ANSWER}>":
            found = f"line {at.tb_lineno}"
        at = at.tb_next
    return found
