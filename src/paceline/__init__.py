"""Paceline runs evaluations of LLM applications and coding agents, in parallel. Nothing paid for is lost or
paid for twice; it is as fast as the provider allows, and no faster; no green is a false one.

What `__all__` names is public, here and in `paceline.evaluators`; what is not there is private. Each name is
loaded when it is first asked for, so `import paceline` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paceline.api import Dataset, evaluate, evaluate_sync, rescore, verify
    from paceline.comparison import Comparison, compare
    from paceline.dataset.case import Case
    from paceline.delivery import RunInterrupted
    from paceline.engine.events import (
        Abandoned,
        AttemptFailed,
        CaseFinished,
        CaseStarted,
        Draining,
        LoopBlocked,
        RunEnded,
        RunStarted,
        Warned,
    )
    from paceline.engine.lifecycle import CaseLifecycle
    from paceline.errors import PacelineError
    from paceline.evaluators import EvaluationReason, Evaluator, EvaluatorContext, score_requirements
    from paceline.evaluators.templates.listing import templates
    from paceline.gates import check
    from paceline.pace.clients import paced_client
    from paceline.pace.slots import slot
    from paceline.ramp.report import RampInterrupted, RampReport
    from paceline.report import EvaluationReport, Report
    from paceline.standalone import EvalResult, aevaluate
    from paceline.suite import Suite
    from paceline.tasks import (
        CommandTask,
        HttpTask,
        increment_eval_metric,
        set_eval_attribute,
        tells_tool_calls,
        tool_call,
    )
    from paceline.tasks.command.returning import workspace_of

__version__ = "0.1.0.dev0"

__all__ = [
    "Abandoned",
    "AttemptFailed",
    "Case",
    "CaseFinished",
    "CaseLifecycle",
    "CaseStarted",
    "CommandTask",
    "Comparison",
    "Dataset",
    "Draining",
    "EvalResult",
    "EvaluationReason",
    "EvaluationReport",
    "Evaluator",
    "EvaluatorContext",
    "HttpTask",
    "LoopBlocked",
    "PacelineError",
    "RampInterrupted",
    "RampReport",
    "Report",
    "RunEnded",
    "RunInterrupted",
    "RunStarted",
    "Suite",
    "Warned",
    "aevaluate",
    "check",
    "compare",
    "evaluate",
    "evaluate_sync",
    "increment_eval_metric",
    "paced_client",
    "rescore",
    "score_requirements",
    "set_eval_attribute",
    "slot",
    "tells_tool_calls",
    "templates",
    "tool_call",
    "verify",
    "workspace_of",
]

_HOMES = {
    "Abandoned": "paceline.engine.events",
    "AttemptFailed": "paceline.engine.events",
    "Case": "paceline.dataset.case",
    "CaseFinished": "paceline.engine.events",
    "CaseLifecycle": "paceline.engine.lifecycle",
    "CaseStarted": "paceline.engine.events",
    "CommandTask": "paceline.tasks.command",
    "Comparison": "paceline.comparison",
    "HttpTask": "paceline.tasks.http",
    "Dataset": "paceline.api",
    "Draining": "paceline.engine.events",
    "EvalResult": "paceline.standalone",
    "EvaluationReason": "paceline.evaluators",
    "EvaluationReport": "paceline.report",
    "Evaluator": "paceline.evaluators",
    "EvaluatorContext": "paceline.evaluators",
    "LoopBlocked": "paceline.engine.events",
    "PacelineError": "paceline.errors",
    "RampInterrupted": "paceline.ramp.report",
    "RampReport": "paceline.ramp.report",
    "Report": "paceline.report",
    "RunEnded": "paceline.engine.events",
    "RunInterrupted": "paceline.delivery",
    "RunStarted": "paceline.engine.events",
    "Suite": "paceline.suite",
    "Warned": "paceline.engine.events",
    "aevaluate": "paceline.standalone",
    "check": "paceline.gates",
    "compare": "paceline.comparison",
    "evaluate": "paceline.api",
    "evaluate_sync": "paceline.api",
    "increment_eval_metric": "paceline.tasks",
    "paced_client": "paceline.pace.clients",
    "rescore": "paceline.api",
    "score_requirements": "paceline.evaluators",
    "set_eval_attribute": "paceline.tasks",
    "tells_tool_calls": "paceline.tasks",
    "tool_call": "paceline.tasks",
    "slot": "paceline.pace.slots",
    "templates": "paceline.evaluators.templates.listing",
    "verify": "paceline.api",
    "workspace_of": "paceline.tasks.command.returning",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found  # the next access is a plain one
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
