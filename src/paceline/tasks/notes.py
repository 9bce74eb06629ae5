"""What a task notes about its own work while it runs: attributes, metrics and steps of the current attempt.

The note-book hangs on a context variable, so it is found again from threads and child tasks that the
task starts with a copied context, and two cases that run at once never write into each other's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Any, Final

import msgspec


class Notes(msgspec.Struct, eq=False):
    """Attributes, metrics and steps of one attempt.

    A `Struct` because each attempt has one and most write nothing into it: making it costs a third of what
    a plain class does.
    """

    attributes: dict[str, Any] = {}
    metrics: dict[str, int | float] = {}
    steps: list[dict[str, Any]] = []
    """Messages, tool calls and their results, where the task tells them itself."""
    tells: bool = False
    """Whether it has said that it does, so that no step means that there was none."""
    over: bool = False
    """Whether the attempt has ended. What it has left behind may still run, and is no longer listened to."""

    @property
    def told(self) -> list[dict[str, Any]] | None:
        """The steps; None where the task leaves telling them to others."""
        return self.steps if self.steps or self.tells else None


current_notes: ContextVar[Notes | None] = ContextVar("paceline_notes", default=None)

_adding: Final = threading.Lock()
"""Reading a sum and writing it back are two steps, and threads of one task may share a note-book."""


def set_eval_attribute(name: str, value: Any) -> None:
    """Attach a value to the case that is being run; evaluators see it as `ctx.attributes[name]`.

    Outside a run it does nothing, so that the same code can serve in production.
    """
    notes = current_notes.get()
    if notes is not None and not notes.over:
        notes.attributes[name] = value


def increment_eval_metric(name: str, amount: int | float) -> None:
    """Add to a number that is counted for the case that is being run; `ctx.metrics[name]`, 0 at first.

    The names `cost` (US dollars) and `tokens` are what a budget counts. Outside a run it does nothing.
    """
    notes = current_notes.get()
    if notes is not None and not notes.over:
        with _adding:
            notes.metrics[name] = notes.metrics.get(name, 0) + amount


def note_messages(messages: Iterable[Mapping[str, Any]]) -> None:
    """Add messages to the trajectory of the case that is being run, as OpenAI's chat has them."""
    notes = current_notes.get()
    if notes is not None and not notes.over:
        notes.steps.extend(dict(message) for message in messages)


def tool_call(
    name: str,
    arguments: Mapping[str, Any] | None = None,
    result: object = None,
    *,
    error: str | None = None,
) -> None:
    """Tell that a tool was called, with what came of it; evaluators see it in `ctx.trajectory`.

    For agents whose model calls cannot be seen. Who tells of one tells of all: what was seen otherwise does
    not count then. Outside a run it does nothing.
    """
    notes = current_notes.get()
    if notes is None or notes.over:
        return
    with _adding:
        called = f"call-{len(notes.steps)}"
        call = {"id": called, "name": name, "arguments": _plain(arguments or {})}
        notes.steps.append({"role": "assistant", "content": "", "tool_calls": [call]})
        told = {
            "role": "tool",
            "tool_call_id": called,
            "content": error if error is not None else _told(result),
        }
        notes.steps.append({**told, "is_error": error is not None})


def tells_tool_calls() -> None:
    """Say that this task tells all its tool calls with `tool_call`, so that none told means none made.

    Without it, a case in which `tool_call` was never called is one of which nothing is known. Outside a run
    it does nothing.
    """
    notes = current_notes.get()
    if notes is not None and not notes.over:
        notes.tells = True


def _plain(value: object) -> Any:
    """The same in what JSON has words for; of anything else, what it looks like."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(name): _plain(each) for name, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(each) for each in value]
        case _:
            return repr(value)


def _told(result: object) -> str:
    return result if isinstance(result, str) else "" if result is None else repr(result)
