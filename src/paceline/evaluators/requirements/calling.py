"""How functions of the user's are called here, and how what a scorer says is read.

    async def check(answer, requirement): ...
    async def check(requirement, inputs, review): ...

Parameters say by their names what they want to see, as in evaluators that are plain functions. Those of other
names get, in this order, what the function is about: a scorer the answer and the requirement, a lone one the
requirement.

What a scorer returns is yes or no in one of few forms. Anything else is an error: "no" is a text, and a text
is true.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from paceline.errors import UsageError
from paceline.evaluators.base import EvaluatorContext
from paceline.evaluators.calls import FIELD_OF, WHOLE
from paceline.evaluators.plain import named_fields
from paceline.evaluators.requirements.results import Verdict
from paceline.evaluators.wording import brief, kind_of

Seen = Mapping[str, Any]
"""What may be asked for, by name."""

ANSWER: Final = "answer"
CONTEXT: Final = "ctx"
_NAMES: Final = {word: field if field != WHOLE else CONTEXT for word, field in FIELD_OF.items()} | {
    "answer": ANSWER,
    "output": ANSWER,
    "requirement": "requirement",
    "results": "results",
    "review": "review",
}
"""Which of the things that may be seen a parameter of this name gets."""


def seen_in(ctx: EvaluatorContext[Any, Any, Any]) -> Seen:
    """What there is to see of a finished case: the answer, the context, and each of its fields."""
    fields = {field: getattr(ctx, field) for field in FIELD_OF.values() if field != WHOLE}
    return {**fields, ANSWER: ctx.output, CONTEXT: ctx}


@dataclass(frozen=True, slots=True)
class ByName:
    """A function, ready to be called with what its parameters ask for."""

    function: Callable[..., Any]
    label: str
    positional: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...]
    """Names of parameters, and of what they get."""

    @property
    def asks_for(self) -> frozenset[str]:
        """What it sees, by name."""
        return frozenset({*self.positional, *(wanted for _, wanted in self.keywords)})

    @property
    def version(self) -> str | None:
        """Its name and the version that it declares; None where it declares none."""
        declared = getattr(self.function, "version", None)
        return f"{self.label}, version={declared!r}" if isinstance(declared, str) else None

    async def __call__(self, seen: Seen) -> Any:
        """What it says."""
        named = {parameter: seen[wanted] for parameter, wanted in self.keywords}
        returned = self.function(*(seen[wanted] for wanted in self.positional), **named)
        if not inspect.isawaitable(returned):
            raise TypeError(
                f"{self.label} has to be async: it returned {kind_of(returned)}, which nobody can wait for"
            )
        return await returned


def by_name(function: object, *, role: str, about: Sequence[str], above_all: str = ANSWER) -> ByName:
    """Look at a function once.

    `about` are the things that parameters of unknown names get, in order; a lone one gets what the function
    has to see `above_all`.
    """
    if inspect.isclass(function) or not callable(function):
        raise UsageError(
            f"{role}={brief(function)} cannot be called",
            hint=f"an async function: `async def {role}({', '.join(about)}): ...`",
        )
    label = _label(function)
    positional, keywords = _wanted(function, role, label, about, above_all)
    found = ByName(function, label, positional, keywords)
    if above_all not in found.asks_for and not (above_all == ANSWER and CONTEXT in found.asks_for):
        raise UsageError(
            f"{role} {label} never asks for the {above_all}",
            hint=f"give it a parameter of that name: `async def {label}({', '.join(about)}): ...`",
        )
    return found


def _label(function: object) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def _wanted(
    function: Callable[..., Any], role: str, label: str, about: Sequence[str], above_all: str
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return tuple(about), ()
    known = {
        one.name: _NAMES[one.name] for one in parameters if one.name in _NAMES and _is_free(one, function)
    }
    unknown = [
        one.name
        for one in parameters
        if one.name not in known and one.default is one.empty and _is_free(one, function)
    ]
    open_still = [thing for thing in about if thing not in known.values()]
    if len(unknown) == 1 and above_all in open_still:
        open_still = [above_all]
    by_order = dict(zip(unknown, open_still, strict=False))
    positional: list[str] = []
    keywords: list[tuple[str, str]] = []
    for place, one in enumerate(parameters):
        if one.kind is one.VAR_POSITIONAL and not positional and not known:
            return tuple(about), ()
        wanted = known.get(one.name) or by_order.get(one.name)
        if wanted is None:
            if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
                raise UsageError(
                    f"{role} {label} asks for {one.name!r}, which nobody can give it",
                    hint=f"it may ask for {', '.join(_NAMES)}; give any other parameter a default",
                )
        elif len(positional) == place and one.kind is not one.KEYWORD_ONLY:
            positional.append(wanted)
        else:
            keywords.append((one.name, wanted))
    return tuple(positional), tuple(keywords)


def _is_free(parameter: inspect.Parameter, function: object) -> bool:
    """Whether nobody has given the parameter a value already."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return False
    while isinstance(function, functools.partial):
        if parameter.name in function.keywords:
            return False
        function = function.func
    return True


# What it says ---------------------------------------------------------------------------------------

_PAIRS: Final = (("fulfilled", "feedback"), ("passed", "reason"), ("value", "reason"))
FORMS: Final = (
    "True or False, (True or False, feedback), an EvaluationReason, "
    "or something with `fulfilled` and `feedback`"
)


def verdict_of(returned: Any) -> Verdict:
    """What a scorer has said, or a TypeError that says what it may say."""
    fulfilled, feedback = _parts(returned)
    if hasattr(fulfilled, "dtype") and callable(getattr(fulfilled, "item", None)):
        fulfilled = fulfilled.item()  # NumPy's bool
    if not isinstance(fulfilled, bool):
        raise TypeError(f"a scorer says {FORMS}; this one said {brief(returned)}")
    if feedback is not None and not isinstance(feedback, str):
        raise TypeError(f"feedback is a text, and this one is {brief(feedback)}")
    # A text proper that UTF-8 has bytes for: it goes on record.
    said = str.__str__(feedback or "").encode("utf-8", "backslashreplace").decode("utf-8")
    return Verdict(fulfilled, said, returned.flags if isinstance(returned, Verdict) else ())


def _parts(returned: Any) -> tuple[Any, Any]:
    if isinstance(returned, tuple) and len(returned) == 2 and not hasattr(returned, "_fields"):
        return returned
    fields = returned if isinstance(returned, Mapping) else named_fields(returned)
    for yes, why in _PAIRS:
        if fields is not None and yes in fields:
            return fields[yes], fields.get(why)
        if fields is None and hasattr(returned, yes):
            return getattr(returned, yes), getattr(returned, why, None)
    return returned, None


__all__ = ["ANSWER", "CONTEXT", "ByName", "Seen", "by_name", "seen_in", "verdict_of"]
