"""What a template is given, held against what it needs before anybody judges anything.

All that is wrong is told with what would be right: a judge that is asked without its context answers too, and
a score of it would look like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from paceline.errors import UsageError
from paceline.evaluators.templates.entries import Argument, Embedded, Judged, Supported
from paceline.evaluators.templates.kinds import ANYTHING
from paceline.evaluators.wording import brief, kind_of

MEANT: Final[Mapping[str, tuple[str, ...]]] = {
    "output": ("response", "answer", "generated", "actual_output", "completion", "text"),
    "input": ("query", "question", "user_input", "prompt"),
    "context": ("contexts", "documents", "passages", "source", "retrieved_contexts"),
    "expected": ("expected_output", "expected_response", "ground_truth", "reference", "label"),
    "reference": ("expected", "expected_output", "expected_response", "ground_truth"),
    "hypothesis": ("output", "response", "text"),
    "text": ("output", "content", "response"),
    "conversation": ("messages", "chat", "transcript"),
    "prompt": ("input", "instruction", "system_prompt"),
    "system_prompt": ("prompt", "instruction"),
    "agent_prompt": ("prompt", "system_prompt"),
    "generated_value": ("output", "response", "hypothesis"),
    "expected_value": ("expected", "expected_output", "reference"),
    "expected_text": ("expected", "expected_output", "reference"),
    "keyword": ("keywords", "substring"),
    "keywords": ("keyword",),
    "substring": ("keyword", "prefix", "suffix"),
    "k": ("top_k",),
}
"""What people call an input elsewhere. It is told, and not taken: which one is meant would be a guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a template was given, read as it needs it."""

    inputs: Mapping[str, Any]
    parameters: Mapping[str, Any]
    threshold: float | None
    """The score from which it passes; None where nobody can say."""


def given_to(template: Supported, given: Mapping[str, object], *, threshold: object = None) -> Given:
    """Inputs and parameters, all by name, as the template needs them; a UsageError lists what is wrong."""
    names = {argument.name for argument in template.parameters}
    read = _read_all(template, (*template.inputs, *template.parameters), given, _takes_more(template))
    return Given(
        inputs={name: value for name, value in read.items() if name not in names},
        parameters={name: value for name, value in read.items() if name in names},
        threshold=threshold_of(template, threshold),
    )


def parameters_of(template: Supported, given: Mapping[str, object]) -> Mapping[str, Any]:
    """The parameters alone, where the inputs are still to come."""
    return _read_all(template, template.parameters, given)


def inputs_of(template: Supported, given: Mapping[str, object]) -> Mapping[str, Any]:
    """The inputs alone."""
    return _read_all(template, template.inputs, given, _takes_more(template))


def _takes_more(template: Supported) -> bool:
    return isinstance(template, Judged) and template.takes_more


def _read_all(
    template: Supported,
    arguments: tuple[Argument, ...],
    given: Mapping[str, object],
    takes_more: bool = False,
) -> dict[str, Any]:
    present = {name: value for name, value in given.items() if value is not None}
    known = {argument.name: argument for argument in arguments}
    if takes_more:
        known = {name: Argument(name=name, kind=ANYTHING) for name in present} | known
    missing = [name for name, argument in known.items() if argument.is_required and name not in present]
    if takes_more and not set(known) - {argument.name for argument in arguments}:
        missing.append("what is to be judged")
    unknown = [name for name in present if name not in known]
    if missing or unknown:
        raise UsageError(_wrong(template, missing, unknown), hint=usage_of(template))
    return {name: _read(template, known[name], value) for name, value in present.items()}


def _wrong(template: Supported, missing: list[str], unknown: list[str]) -> str:
    left = list(unknown)
    told = []
    for name in missing:
        meant = next((other for other in MEANT.get(name, ()) if other in left), None)
        told.append(f"{name} is missing" + (f" (write {name}= for {meant}=)" if meant else ""))
        if meant is not None:
            left.remove(meant)
    told += [f"there is no input {brief(name)}" for name in left]
    return f"{template.name}: {'; '.join(told)}"


def _read(template: Supported, argument: Argument, value: object) -> Any:
    try:
        return argument.kind.read(value)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        shown = kind_of(value) if isinstance(value, list | dict | tuple) else brief(value)
        raise UsageError(
            f"{template.name}: {argument.name} is {shown}, and wants {argument.kind.name}",
            hint=usage_of(template),
        ) from None


def threshold_of(template: Supported, asked: object) -> float | None:
    """The score from which it passes."""
    if asked is None:
        return template.threshold
    if not _has_scores(template):
        given_back = "yes or no" if template.output == "Pass/Fail" else "a label"
        raise UsageError(
            f"{template.name} has no score to hold a threshold against: it gives {given_back}",
            hint="leave `threshold` out",
        )
    if isinstance(asked, bool) or not isinstance(asked, int | float) or not 0 <= asked <= 1:
        raise UsageError(
            f"{brief(asked)} is no threshold", hint="it is held against the score: a number from 0 to 1"
        )
    return float(asked)


def _has_scores(template: Supported) -> bool:
    if template.output == "Choices":
        return isinstance(template, Judged) and bool(template.ranks)
    return template.output != "Pass/Fail"


def usage_of(template: Supported) -> str:
    """How a template is asked: what it needs, and what may be said besides."""
    required = [argument.name for argument in _all(template) if argument.is_required]
    optional = [_optional(argument) for argument in _all(template) if not argument.is_required]
    if isinstance(template, Judged):
        optional.append("model")
        if template.takes_more:
            required.append("output")  # or whatever else is to be judged
    elif isinstance(template, Embedded):
        required.append("model")
    call = ", ".join(f"{name}=..." for name in required)
    besides = f"; it also takes {', '.join(optional)}" if optional else ""
    return f'evaluate("{template.name}", {call}){besides}'


def _all(template: Supported) -> tuple[Argument, ...]:
    return (*template.inputs, *template.parameters)


def _optional(argument: Argument) -> str:
    return argument.name if argument.default is None else f"{argument.name}={argument.default!r}"
