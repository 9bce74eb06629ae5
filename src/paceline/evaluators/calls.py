"""How a plain function is called as an evaluator: its parameters say by their names what it wants to see.

    def is_short(output): ...
    async def grade(output, expected_output, metadata): ...
    def careful(ctx): ...

A lone parameter of any other name gets the whole context, and so does one annotated `EvaluatorContext`. What
a function asks for and nobody can give is an error before anything runs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from paceline.errors import UsageError
from paceline.evaluators.base import EvaluatorContext

WHOLE = ""
"""Stands for the context itself where the name of one of its fields could stand."""

FIELD_OF = {
    "output": "output",
    "expected_output": "expected_output",
    "expected": "expected_output",
    "inputs": "inputs",
    "input": "inputs",
    "metadata": "metadata",
    "ctx": WHOLE,
    "context": WHOLE,
    "name": "name",
    "duration": "duration",
    "attributes": "attributes",
    "metrics": "metrics",
    "trajectory": "trajectory",
}
"""Which field of the context a parameter of this name gets."""

Call = Callable[[EvaluatorContext], object]


def call_by_name(function: Callable[..., object], *, label: str) -> Call:
    """A call that takes the context and gives the function what its parameters ask for."""
    positional, keywords = _wanted(function, label)
    if not keywords and positional == (WHOLE,):
        return function
    if not keywords and len(positional) == 1:
        (only,) = positional
        return lambda ctx: function(getattr(ctx, only))

    def call(ctx: EvaluatorContext) -> object:
        given = [getattr(ctx, field) if field else ctx for field in positional]
        named = {key: getattr(ctx, field) if field else ctx for key, field in keywords.items()}
        return function(*given, **named)

    return call


def _wanted(function: Callable[..., object], label: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Fields for the positional arguments, and those for keywords."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"the parameters of evaluator {label} cannot be read",
            hint="wrap it in a function of your own, such as `lambda ctx: ...`",
        ) from error
    fixed = _already_bound(function)
    free = [parameter for parameter in parameters if parameter.name not in fixed]
    lone = _lone(free)
    positional: list[str] = []
    keywords: dict[str, str] = {}
    for place, parameter in enumerate(parameters):
        if parameter.name in fixed:
            continue
        field = WHOLE if parameter is lone or _is_annotated_as_context(parameter) else _field_of(parameter)
        if field is None:
            if parameter.default is parameter.empty and parameter.kind not in _VARIADIC:
                raise _unknown(parameter.name, label)
        elif parameter.kind in _BY_POSITION and len(positional) == place:
            positional.append(field)
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            raise _unknown(parameter.name, label)
        else:
            keywords[parameter.name] = field
    if not positional and not keywords:
        raise UsageError(
            f"evaluator {label} takes no argument, so it cannot look at the case",
            hint=f"give it one or more of: {', '.join(FIELD_OF)}",
        )
    return tuple(positional), keywords


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_BY_POSITION = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
)


def _field_of(parameter: inspect.Parameter) -> str | None:
    # `*output` and `**metadata` gather the rest; their names ask for nothing.
    return None if parameter.kind in _VARIADIC else FIELD_OF.get(parameter.name)


def _already_bound(function: Callable[..., object]) -> set[str]:
    """Keywords that a partial has given already; the signature shows them as defaults."""
    bound: set[str] = set()
    while isinstance(function, functools.partial):
        bound.update(function.keywords)
        function = function.func
    return bound


def _lone(parameters: list[inspect.Parameter]) -> inspect.Parameter | None:
    """The parameter that gets the context because nothing else is asked for.

    Only under a name that means it: `def check(answer)` wants the output, and would be green for any.
    """
    if any(_field_of(one) is not None for one in parameters):
        return None
    asked = [one for one in parameters if one.default is one.empty and one.kind in _BY_POSITION]
    if len(asked) == 2 and asked[1].kind is asked[1].VAR_POSITIONAL:
        asked.pop()
    if len(asked) != 1:
        return None
    (only,) = asked
    # `ctx` and `context` are known by name already; a lambda over the context is often written so.
    meant = only.name in ("c", "x", "_") and only.annotation is only.empty
    return only if meant or only.kind is only.VAR_POSITIONAL else None


def _is_annotated_as_context(parameter: inspect.Parameter) -> bool:
    annotation: Any = parameter.annotation
    if isinstance(annotation, str):
        spelled = annotation.partition("[")[0].strip("'\" ")
        return spelled.rpartition(".")[2] == EvaluatorContext.__name__
    kind = getattr(annotation, "__origin__", annotation)
    # By name, so that the context class of another library is recognised without importing it.
    return getattr(kind, "__name__", None) == EvaluatorContext.__name__


def _unknown(parameter: str, label: str) -> UsageError:
    return UsageError(
        f"evaluator {label} asks for {parameter!r}, which nobody can give it",
        hint=f"its parameters may be: {', '.join(FIELD_OF)}; give any other a default",
    )
