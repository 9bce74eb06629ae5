"""What can be under test: a Python callable, sync or async, a command, an HTTP endpoint, or a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.tasks.callable import CallableTask
from paceline.tasks.notes import increment_eval_metric, set_eval_attribute, tells_tool_calls, tool_call

if TYPE_CHECKING:
    from paceline.tasks.command import CommandTask
    from paceline.tasks.http import HttpTask
    from paceline.tasks.model import ModelTask

__all__ = [
    "CallableTask",
    "CommandTask",
    "HttpTask",
    "ModelTask",
    "increment_eval_metric",
    "set_eval_attribute",
    "tells_tool_calls",
    "tool_call",
]


def __getattr__(name: str) -> object:
    if name == "ModelTask":
        from paceline.tasks.model import ModelTask  # whoever tests no model loads no models

        return ModelTask
    if name == "HttpTask":
        from paceline.tasks.http import HttpTask

        return HttpTask
    if name == "CommandTask":
        from paceline.tasks.command import CommandTask

        return CommandTask
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
