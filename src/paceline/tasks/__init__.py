"""What can be under test. So far: a Python callable, sync or async."""

from __future__ import annotations

from paceline.tasks.callable import CallableTask
from paceline.tasks.notes import increment_eval_metric, set_eval_attribute

__all__ = ["CallableTask", "increment_eval_metric", "set_eval_attribute"]
