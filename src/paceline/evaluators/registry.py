"""The evaluators that files know by name: from a spec to an evaluator, back, and to a schema for editors.

There are the built-in ones, and whatever classes a suite names besides; one of those may take the place of a
built-in of the same name. Pydantic Evals' classes, and any other with `evaluate(ctx)`, serve as well as ours.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

import paceline.evaluators as room
from paceline.dataset.spec import EvaluatorSpec, Spec
from paceline.errors import DatasetError, PacelineError, UsageError
from paceline.evaluators.spelling import spell
from paceline.evaluators.wording import brief

BUILT_IN = (
    "Cascade",
    "AcceptedCalls",
    "ArgumentCorrectness",
    "CalledBefore",
    "CommandPasses",
    "Contains",
    "Equals",
    "EqualsExpected",
    "FilesChanged",
    "ForbiddenTools",
    "IsInstance",
    "JSONEquals",
    "JSONSchema",
    "LLMJudge",
    "Matches",
    "MaxDuration",
    "MaxModelRequests",
    "MaxToolCalls",
    "NoFailedTools",
    "Normalized",
    "NumericClose",
    "OneOf",
    "Pairwise",
    "PatchApplies",
    "PythonTests",
    "Requirements",
    "Template",
    "TestsPass",
    "TextSimilarity",
    "ToolCorrectness",
    "TrajectoryMatch",
)


OWN_ONES = "types of your own are given as `custom_evaluator_types`, in a suite.yaml as `custom_evaluators`"


def types_by_name(custom: Sequence[type] = ()) -> dict[str, type]:
    """All classes that a spec may name."""
    named: dict[str, type] = {}
    for kind in custom:
        name = _name_of(kind)
        if named.setdefault(name, kind) is not kind:
            raise UsageError(
                f"two evaluator types are called {name}: {_full_name(named[name])} and {_full_name(kind)}",
                hint="give one of them another `get_serialization_name`",
            )
    return {name: getattr(room, name) for name in BUILT_IN} | named


def _name_of(kind: Any) -> str:
    if not inspect.isclass(kind) or not callable(getattr(kind, "evaluate", None)):
        raise UsageError(
            f"{brief(kind)} is not an evaluator type", hint="a class with a method `evaluate(self, ctx)`"
        )
    own = getattr(kind, "get_serialization_name", None)
    name = own() if callable(own) else kind.__name__
    return name if isinstance(name, str) else kind.__name__


def _full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def build(spec: EvaluatorSpec, custom: Sequence[type] = (), *, where: str = "", own: str = OWN_ONES) -> Any:
    """The evaluator that a spec names; DatasetError, which begins with `where`, if it cannot be made.

    `own` is what its hint says of evaluators that are not built in.
    """
    place = f"{where}: " if where else ""
    types = types_by_name(custom)
    kind = types.get(spec.name)
    if kind is None:
        raise _no_such_evaluator(spec.name, sorted(types), place, own)
    if getattr(kind, "nests", False) is True:
        spec = _with_nested(spec, lambda each: build(each, custom, where=where, own=own), where)
    positional, keywords = _checked_arguments(kind, spec, place)
    try:
        return kind(*positional, **keywords)
    except PacelineError as error:
        raise DatasetError(f"{place}{error}", hint=error.hint) from error
    except Exception as error:
        raise DatasetError(
            f"{place}{spec.name} cannot be made of {brief(spec.written())}: {type(error).__name__}: {error}",
            hint=_takes(kind, spec.name),
        ) from error


def _with_nested(spec: EvaluatorSpec, build_one: Callable[[EvaluatorSpec], Any], where: str) -> EvaluatorSpec:
    """The evaluators within an evaluator, in place of how they are written."""

    def made(written: Any) -> Any:
        if not isinstance(written, list | tuple):
            return written
        return [
            build_one(EvaluatorSpec.parse(each, where=where)) if isinstance(each, str | dict) else each
            for each in written
        ]

    keywords = {name: made(each) if name == "evaluators" else each for name, each in spec.keywords.items()}
    return replace(spec, positional=tuple(map(made, spec.positional)), keywords=keywords)


def _no_such_evaluator(name: str, known: list[str], place: str, own: str) -> DatasetError:
    by_lower_case = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=0.5)
    meant = f"did you mean {by_lower_case[near[0]]}? " if near else ""
    return DatasetError(
        f"{place}there is no evaluator {brief(name)}",
        hint=f"{meant}there are {', '.join(known)}; {own}",
    )


def _checked_arguments(kind: type, spec: EvaluatorSpec, place: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, held against the names and, where these are plain, the types of the parameters."""
    try:
        signature = inspect.signature(kind)
        for name in spec.keywords:
            if name not in signature.parameters and not _takes_any_keyword(signature):
                raise TypeError(f"there is no argument {brief(name)}")
        bound = signature.bind(*spec.positional, **spec.keywords)
    except TypeError as error:
        raise DatasetError(f"{place}{spec.name}: {error}", hint=_takes(kind, spec.name)) from error
    except ValueError:
        # Not written in Python, and without a signature: its constructor will say.
        return spec.positional, spec.keywords
    for name, hint in _hints(kind).items():
        if name not in bound.arguments or not _schema_of_hint(hint):
            continue
        try:
            bound.arguments[name] = _converted(bound.arguments[name], hint)
        except msgspec.ValidationError as error:
            problem = f"{name} is {brief(bound.arguments[name])}: {error}"
            raise DatasetError(f"{place}{spec.name}: {problem}", hint=_takes(kind, spec.name)) from error
    return bound.args, bound.kwargs


def _takes_any_keyword(signature: inspect.Signature) -> bool:
    return any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values())


def _converted(value: Any, hint: Any) -> Any:
    converted = msgspec.convert(value, hint)
    # 5 for a float stays 5, and is written so again.
    return value if converted == value else converted


def _takes(kind: type, name: str) -> str:
    parameters = _parameters(kind)
    if not parameters:
        return f"{name} takes no arguments"
    told = [
        one.name if one.default is one.empty else f"{one.name}={brief(one.default)}" for one in parameters
    ]
    return f"{name} takes {', '.join(told)}; by keyword: `{name}: {{{parameters[0].name}: ...}}`"


def _parameters(kind: type) -> list[inspect.Parameter]:
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return []
    return [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]


def _hints(kind: Any) -> dict[str, Any]:
    """The types of the parameters; nothing where their annotations cannot be resolved."""
    try:
        return typing.get_type_hints(kind if dataclasses.is_dataclass(kind) else kind.__init__)
    except Exception:
        # Names under TYPE_CHECKING, or any code at all: annotations are a help and no more.
        return {}


def spec_of(evaluator: object) -> Spec:
    """How a file says this evaluator; UsageError where it cannot."""
    try:
        return spell(evaluator)
    except Exception as error:
        name = getattr(evaluator, "__name__", type(evaluator).__name__)
        raise UsageError(
            f"evaluator {name} cannot be written to a file: {error}",
            hint="one in a file is a dataclass derived from `Evaluator`, with plain values for arguments",
        ) from error


def schema_of(custom: Sequence[type] = ()) -> dict[str, Any]:
    """A JSON schema (2020-12) of what may stand for an evaluator, to be put into that of a dataset file."""
    forms: list[dict[str, Any]] = []
    for name, kind in sorted(types_by_name(custom).items()):
        forms += _forms(name, kind)
    return {"anyOf": forms}


def _forms(name: str, kind: type) -> list[dict[str, Any]]:
    """The short forms of one evaluator that its parameters allow."""
    parameters, hints = _parameters(kind), _hints(kind)
    described = {"description": inspect.cleandoc(kind.__doc__ or name).split("\n\n")[0]}
    schemas = {one.name: _schema_of_hint(hints.get(one.name, Any)) for one in parameters}
    required = [one.name for one in parameters if one.default is one.empty]
    forms: list[dict[str, Any]] = [] if required else [{"const": name, **described}]
    arguments: list[dict[str, Any]] = []
    first = parameters[0] if parameters and parameters[0].kind is not inspect.Parameter.KEYWORD_ONLY else None
    if first is not None and set(required) <= {first.name}:
        # A mapping would be read as keywords.
        arguments.append({"allOf": [schemas[first.name], {"not": {"type": "object"}}]})
    by_keyword: dict[str, Any] = {"type": "object", "properties": schemas, "additionalProperties": False}
    arguments.append(by_keyword | ({"required": required} if required else {}))
    forms.append(
        {
            "type": "object",
            "properties": {name: {"anyOf": arguments, **described}},
            "required": [name],
            "additionalProperties": False,
        }
    )
    return forms


def _schema_of_hint(hint: Any) -> dict[str, Any]:
    """The schema of a plain type; empty, which allows all, for any other."""
    try:
        schema = msgspec.json.schema(hint)
    except Exception:
        # Type variables, callables, classes of anyone's: what JSON says of them is for their constructors.
        return {}
    return {} if "$defs" in schema else schema
