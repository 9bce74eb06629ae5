"""Evaluators as a suite.yaml and a command line write them, the user's own by `file.py:name` among them.

What cannot be made is an error that begins with the place where it is written. A dataset file cannot do the
same: it is data, and reading data executes no code that it names.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paceline.errors import SuiteError
from paceline.usercode import load_object

if TYPE_CHECKING:
    from paceline.dataset.spec import EvaluatorSpec


class Place(NamedTuple):
    """Where evaluators are written down."""

    where: str
    """As errors name it."""
    base: Path
    """What files and modules are relative to."""
    own: str
    """How one of the user's own is named there, in words."""


def build_evaluators(specs: Iterable[Any], custom: Sequence[type[Any]], place: Place) -> tuple[object, ...]:
    """The evaluators that specs name: built-in ones, those of a suite, and `file.py:name`."""
    from paceline.dataset.spec import EvaluatorSpec

    parsed = [EvaluatorSpec.parse(spec, where=place.where) for spec in specs]
    if not parsed:
        return ()
    from paceline.evaluators.registry import build

    return tuple(
        _own_evaluator(spec, place)
        if ":" in spec.name
        else build(spec, custom, where=place.where, own=place.own)
        for spec in parsed
    )


def _own_evaluator(spec: EvaluatorSpec, place: Place) -> object:
    """The user's evaluator that `file.py:name` names: a function as it is, an object of a class."""
    try:
        found = load_object(spec.name, base=place.base)
    except SuiteError as error:
        raise SuiteError(f"{place.where}: {error}", hint=error.hint)
    if inspect.isclass(found):
        from paceline.evaluators.registry import build, types_by_name

        kind = evaluator_class(found, spec.name, place.where)
        (name,) = (name for name, each in types_by_name([kind]).items() if each is kind)
        return build(dataclasses.replace(spec, name=name), [kind], where=place.where)
    if not callable(found) and not callable(getattr(found, "evaluate", None)):
        raise SuiteError(
            f"{place.where}: {spec.name} is a {type(found).__name__}, not an evaluator",
            hint="an evaluator is a function, or a class with a method `evaluate(self, ctx)`",
        )
    if spec.positional or spec.keywords:
        raise SuiteError(
            f"{place.where}: {spec.name} is a function, and takes no arguments here",
            hint="it is given what its parameters name: output, expected_output, inputs, metadata or ctx; "
            "an evaluator with arguments is a class",
        )
    return found


def evaluator_class(found: Any, written: str, where: str) -> type[Any]:
    """What was named, if it is a class of evaluators."""
    if inspect.isclass(found) and callable(getattr(found, "evaluate", None)):
        return found
    what = "a class without `evaluate`" if inspect.isclass(found) else f"a {type(found).__name__}"
    hint = "a class of evaluators has a method `evaluate(self, ctx)`"
    if inspect.isroutine(found):
        hint += f"; a function is named among the evaluators: `evaluators: [{written}]`"
    raise SuiteError(f"{where}: {written} is {what}, not a class of evaluators", hint=hint)


def built_evaluators(written: Sequence[str], custom: Sequence[type[Any]] = ()) -> tuple[object, ...]:
    """The evaluators that specs on a command line name."""
    place = Place("--evaluator", Path.cwd(), "your own is named as `--evaluator file.py:name`")
    return build_evaluators([_spec_of(text) for text in written], custom, place)


def _spec_of(text: str) -> Any:
    """An evaluator spec from the command line: YAML, so `EqualsExpected` and `Contains: Paris` both are."""
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise SuiteError(
            f"--evaluator {text!r} cannot be read",
            hint="such as EqualsExpected, 'Contains: Paris' or file.py:name",
        )
