"""Evaluators made ready: looked at once, before anything runs, so that scoring a case is only a call.

An evaluator is an object with `evaluate(ctx)` (ours, or Pydantic Evals' own, known by its shape and never
imported) or a plain function. `prepare` says of each how it is called, where it may run and by which label
its results are known. `scores_of` turns what one returned into results, or says what is wrong with it:
whatever an evaluator returns, nothing but finite numbers, bools and text is ever a score.

Knows nothing of threads, deadlines or retries: `mode` says where a call belongs, the engine takes it there.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from paceline.dataset.spec import Spec
from paceline.errors import UsageError
from paceline.evaluators.base import EvaluationReason, EvaluationScalar, Evaluator, Spared
from paceline.evaluators.calls import Call, call_by_name
from paceline.evaluators.spelling import spell_for_record
from paceline.evaluators.wording import brief, kind_of
from paceline.journal.records import Score

Mode = Literal["instant", "thread", "loop"]
"""In place; a sync call on a scoring thread; a coroutine on the loop."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An evaluator, ready to be called."""

    label: str
    """Unique among the evaluators of a case: `Equals`, `Equals_2`."""
    written: Spec | None
    """As in a file, of plain JSON values, for the journal; None for functions and what has no such form."""
    version: str | None
    mode: Mode
    call: Call
    """May return an awaitable whatever the mode: then that is what has to be awaited."""
    default_name: str
    """Name of a result that comes without one."""
    keeps_time: bool = False
    """Whether it ends by itself in a time of its own, and is set no deadline."""


def prepare(evaluators: Iterable[object], *, after: Sequence[Prepared] = ()) -> tuple[Prepared, ...]:
    """Look at each evaluator once; labels are unique among these and those that come `after`."""
    taken = {earlier.label for earlier in after}
    return tuple(_prepare(evaluator, taken) for evaluator in evaluators)


def _prepare(evaluator: object, taken: set[str]) -> Prepared:
    if inspect.isclass(evaluator):
        raise UsageError(
            f"{evaluator.__name__} is a class, and an evaluator is an instance of one",
            hint=f"write `{evaluator.__name__}(...)`, with its arguments",
        )
    if callable(getattr(evaluator, "evaluate", None)):
        name, function = _default_name(evaluator), _method(evaluator)
        call: Call = function
    elif callable(evaluator):
        name, function = _function_name(evaluator), evaluator
        call = call_by_name(evaluator, label=name)
    else:
        raise UsageError(
            f"{evaluator!r:.200} is not an evaluator",
            hint="an evaluator is a function, or an object with a method `evaluate(ctx)`",
        )
    if isinstance(evaluator, Evaluator):
        evaluator.check_ready()
    label = _first_free(name, taken)
    taken.add(label)
    return Prepared(
        label=label,
        written=spell_for_record(evaluator),
        version=_version(evaluator),
        mode=_mode(function, evaluator),
        call=call,
        default_name=name,
        keeps_time=isinstance(evaluator, Evaluator) and evaluator.keeps_time,
    )


def _method(evaluator: Any) -> Any:
    """What is called: `evaluate`, or an `evaluate_async` that a class of Pydantic Evals' has overridden."""
    owners = [kind for kind in type(evaluator).__mro__ if "evaluate_async" in vars(kind)]
    # Their base class has it beside an abstract `evaluate`, and their engine calls that one.
    theirs = bool(owners) and getattr(vars(owners[-1]).get("evaluate"), "__isabstractmethod__", False)
    return evaluator.evaluate_async if theirs and len(owners) > 1 else evaluator.evaluate


def _mode(function: Any, evaluator: Any) -> Mode:
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        return "loop"
    marked = evaluator.func if isinstance(evaluator, functools.partial) else evaluator
    return "instant" if getattr(marked, "instant", False) is True else "thread"


def _default_name(evaluator: Any) -> str:
    get = getattr(evaluator, "get_default_evaluation_name", None)
    name = get() if callable(get) else type(evaluator).__name__
    if not isinstance(name, str) or not name.strip():
        raise UsageError(
            f"evaluator {type(evaluator).__name__} has {name!r} for a name",
            hint="its `evaluation_name` or `get_default_evaluation_name()` has to be some text",
        )
    return _plain_text(name)


def _function_name(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return type(function).__name__
    return "lambda" if name == "<lambda>" else name


def _version(evaluator: Any) -> str | None:
    get = getattr(evaluator, "get_evaluator_version", None)
    version = get() if callable(get) else getattr(evaluator, "evaluator_version", None)
    return version if isinstance(version, str) else None


def scores_of(prepared: Prepared, returned: object, *, seconds: float) -> list[Score]:
    """The results in what an evaluator returned; TypeError or ValueError says what is wrong with it."""
    if returned is True or returned is False:
        return [Score(name=prepared.default_name, value=returned, by=prepared.label, seconds=seconds)]
    try:
        named = returned if isinstance(returned, Mapping) else {prepared.default_name: returned}
        return [_score(prepared, name, one, seconds) for name, one in named.items()]
    except (TypeError, ValueError):
        raise
    except Exception as error:
        # What is returned is foreign: looking at it may raise anything.
        what = f"{type(error).__name__} on looking at it"
        raise TypeError(f"{prepared.label} returned something that cannot be read: {what}") from error


def _score(prepared: Prepared, name: object, returned: object, seconds: float) -> Score:
    if not isinstance(name, str) or not name.strip():
        raise TypeError(f"{prepared.label} named a result {brief(name)}; names are text, and not empty")
    name = _plain_text(name)
    value, reason = _value_and_reason(returned)
    return Score(
        name=name,
        value=_scalar(prepared, name, value),
        reason=_reason(prepared, name, reason),
        by=prepared.label,
        seconds=seconds,
        spared=returned.calls if isinstance(returned, Spared) else 0,
    )


def _value_and_reason(returned: Any) -> tuple[object, object]:
    if isinstance(returned, EvaluationReason) or (
        # By shape, so that the class of another library is recognised without importing it.
        not inspect.isclass(returned) and hasattr(returned, "value") and hasattr(returned, "reason")
    ):
        return returned.value, returned.reason
    return returned, None


def _scalar(prepared: Prepared, name: str, value: Any) -> EvaluationScalar:
    """The value as a plain bool, int, float or str; subclasses of these and NumPy's scalars count as such."""
    if not isinstance(value, bool | int | float | str) and hasattr(value, "dtype") and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _plain_text(value)
    if isinstance(value, int | float):
        return _finite(prepared, name, value)
    raise TypeError(
        f"{prepared.label} returned {kind_of(value)}{_for(prepared, name)}; return a bool, a number, a str, "
        "an EvaluationReason, a mapping from names to any of these, or {} to say nothing"
    )


def _finite(prepared: Prepared, name: str, value: float) -> int | float:
    plain = int.__index__(value) if isinstance(value, int) else float.__float__(value)
    try:
        if math.isfinite(plain):
            return plain
        said = str(plain)
    except OverflowError:
        said = "an integer beyond what a float holds"
    raise ValueError(f"{prepared.label} returned {said}{_for(prepared, name)}; a score is a finite number")


def _reason(prepared: Prepared, name: str, reason: object) -> str | None:
    if reason is None:
        return None
    if not isinstance(reason, str):
        raise TypeError(f"{prepared.label} gave {kind_of(reason)} for a reason{_for(prepared, name)}")
    return _plain_text(reason)


def _plain_text(text: str) -> str:
    """A str proper (no subclass) that UTF-8 has bytes for; a lone surrogate is written as an escape."""
    text = str.__str__(text)
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _for(prepared: Prepared, name: str) -> str:
    return "" if name == prepared.default_name else f" for {name!r}"


def merge_names(scores: Iterable[Score], *, order: Sequence[str] = ()) -> list[Score]:
    """The results of one case, each under a name of its own: repeated ones get `_2`, `_3`.

    `order` holds the labels of the evaluators. Results are put in that order first, so that names do not
    depend on which evaluator was done first. Merging what is merged changes nothing.
    """
    place_of = {label: place for place, label in enumerate(order)}
    merged = sorted(scores, key=lambda score: place_of.get(score.by, len(order)))
    if len({score.name for score in merged}) == len(merged):
        return merged
    taken: set[str] = set()
    for place, score in enumerate(merged):
        name = _first_free(score.name, taken)
        taken.add(name)
        if name != score.name:
            merged[place] = msgspec.structs.replace(score, name=name)
    return merged


def _first_free(name: str, taken: set[str]) -> str:
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


__all__ = ["Mode", "Prepared", "merge_names", "prepare", "scores_of"]
