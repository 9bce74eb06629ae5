"""Evaluators: what looks at a finished case and says something about it.

    from paceline.evaluators import Contains, EqualsExpected, Evaluator, EvaluatorContext

The built-in ones are deterministic, but for those that ask a model: the same output gets the same answer
everywhere. Those that need an expected output say nothing about a case without one, which therefore does not
pass. Each is loaded when it is first asked for, so that importing this room costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paceline.dataset.spec import EvaluatorSpec as EvaluatorSpec
    from paceline.evaluators.base import EvaluationReason as EvaluationReason
    from paceline.evaluators.base import EvaluationScalar as EvaluationScalar
    from paceline.evaluators.base import Evaluator as Evaluator
    from paceline.evaluators.base import EvaluatorContext as EvaluatorContext
    from paceline.evaluators.base import EvaluatorOutput as EvaluatorOutput
    from paceline.evaluators.base import SpanTreeRecordingError as SpanTreeRecordingError
    from paceline.evaluators.base import instant as instant
    from paceline.evaluators.cascade import Cascade as Cascade
    from paceline.evaluators.code.changes import FilesChanged as FilesChanged
    from paceline.evaluators.code.changes import PatchApplies as PatchApplies
    from paceline.evaluators.code.commands import CommandPasses as CommandPasses
    from paceline.evaluators.code.judging import NotJudged as NotJudged
    from paceline.evaluators.code.python_tests import PythonTests as PythonTests
    from paceline.evaluators.code.suites import TestsPass as TestsPass
    from paceline.evaluators.containment import Contains as Contains
    from paceline.evaluators.equality import Equals as Equals
    from paceline.evaluators.equality import EqualsExpected as EqualsExpected
    from paceline.evaluators.equality import OneOf as OneOf
    from paceline.evaluators.facts import IsInstance as IsInstance
    from paceline.evaluators.facts import MaxDuration as MaxDuration
    from paceline.evaluators.judges.choosing import set_default_judge_model as set_default_judge_model
    from paceline.evaluators.judges.llm_judge import LLMJudge as LLMJudge
    from paceline.evaluators.judges.llm_judge import OutputConfig as OutputConfig
    from paceline.evaluators.judges.pairwise import Pairwise as Pairwise
    from paceline.evaluators.matching import Matches as Matches
    from paceline.evaluators.matching import PatternTooSlow as PatternTooSlow
    from paceline.evaluators.normalizing import Normalized as Normalized
    from paceline.evaluators.numeric import NumericClose as NumericClose
    from paceline.evaluators.requirements.alone import score_requirements as score_requirements
    from paceline.evaluators.requirements.evaluator import Requirements as Requirements
    from paceline.evaluators.requirements.evaluator import RequirementsUnchecked as RequirementsUnchecked
    from paceline.evaluators.requirements.results import RequirementResult as RequirementResult
    from paceline.evaluators.requirements.results import RequirementScores as RequirementScores
    from paceline.evaluators.results import EvaluationResult as EvaluationResult
    from paceline.evaluators.results import EvaluatorFailure as EvaluatorFailure
    from paceline.evaluators.schema import JSONSchema as JSONSchema
    from paceline.evaluators.similarity import TextSimilarity as TextSimilarity
    from paceline.evaluators.structure import JSONEquals as JSONEquals
    from paceline.evaluators.templates.evaluator import Template as Template
    from paceline.evaluators.trajectories.accepted import AcceptedCalls as AcceptedCalls
    from paceline.evaluators.trajectories.arguments import ArgumentCorrectness as ArgumentCorrectness
    from paceline.evaluators.trajectories.calls import Called as Called
    from paceline.evaluators.trajectories.limits import MaxModelRequests as MaxModelRequests
    from paceline.evaluators.trajectories.limits import MaxToolCalls as MaxToolCalls
    from paceline.evaluators.trajectories.matching import TrajectoryMatch as TrajectoryMatch
    from paceline.evaluators.trajectories.sources import NoTrajectory as NoTrajectory
    from paceline.evaluators.trajectories.sources import tool_calls as tool_calls
    from paceline.evaluators.trajectories.tools import CalledBefore as CalledBefore
    from paceline.evaluators.trajectories.tools import ForbiddenTools as ForbiddenTools
    from paceline.evaluators.trajectories.tools import NoFailedTools as NoFailedTools
    from paceline.evaluators.trajectories.tools import ToolCorrectness as ToolCorrectness

_ROOM_OF = {
    "AcceptedCalls": "trajectories.accepted",
    "ArgumentCorrectness": "trajectories.arguments",
    "Called": "trajectories.calls",
    "CalledBefore": "trajectories.tools",
    "Cascade": "cascade",
    "CommandPasses": "code.commands",
    "Contains": "containment",
    "Equals": "equality",
    "EqualsExpected": "equality",
    "EvaluationReason": "base",
    "EvaluationResult": "results",
    "EvaluationScalar": "base",
    "Evaluator": "base",
    "EvaluatorContext": "base",
    "EvaluatorFailure": "results",
    "EvaluatorOutput": "base",
    "FilesChanged": "code.changes",
    "ForbiddenTools": "trajectories.tools",
    "IsInstance": "facts",
    "JSONEquals": "structure",
    "JSONSchema": "schema",
    "LLMJudge": "judges.llm_judge",
    "Matches": "matching",
    "MaxDuration": "facts",
    "MaxModelRequests": "trajectories.limits",
    "MaxToolCalls": "trajectories.limits",
    "NoFailedTools": "trajectories.tools",
    "NoTrajectory": "trajectories.sources",
    "Normalized": "normalizing",
    "NotJudged": "code.judging",
    "NumericClose": "numeric",
    "OneOf": "equality",
    "OutputConfig": "judges.llm_judge",
    "Pairwise": "judges.pairwise",
    "PatchApplies": "code.changes",
    "PatternTooSlow": "matching",
    "PythonTests": "code.python_tests",
    "RequirementResult": "requirements.results",
    "RequirementScores": "requirements.results",
    "Requirements": "requirements.evaluator",
    "RequirementsUnchecked": "requirements.evaluator",
    "SpanTreeRecordingError": "base",
    "Template": "templates.evaluator",
    "TestsPass": "code.suites",
    "TextSimilarity": "similarity",
    "ToolCorrectness": "trajectories.tools",
    "TrajectoryMatch": "trajectories.matching",
    "instant": "base",
    "score_requirements": "requirements.alone",
    "set_default_judge_model": "judges.choosing",
    "tool_calls": "trajectories.sources",
}

__all__ = [  # noqa: PLE0604
    "EvaluatorSpec",
    *_ROOM_OF,
]


def __getattr__(name: str) -> Any:
    if name == "EvaluatorSpec":
        from paceline.dataset.spec import EvaluatorSpec

        return EvaluatorSpec
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_ROOM_OF[name]}"), name)
    # Found directly from now on.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
