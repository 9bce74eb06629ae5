"""JSONSchema: the output is JSON of a given shape.

The checking is done by the `jsonschema` package, an extra, loaded when such an evaluator is made. Nothing is
ever fetched: a schema that refers to what it does not hold is refused at construction. Regular expressions
in a schema are bounded like those of `Matches`, for they meet whatever a model writes.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator
from paceline.evaluators.matching import Pattern
from paceline.evaluators.structure import NotJSON, as_json
from paceline.evaluators.wording import brief

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

FAULTS_TOLD = 3
_MESSAGE_LENGTH = 300

_NOT_SCHEMAS = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are data, in which `$ref` means nothing."""


@dataclass
class JSONSchema(Evaluator[object, object, object]):
    """The output, or the JSON in it if it is text, is valid under `schema`."""

    schema: dict[str, Any] | bool
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        self._validator = _validator(self.schema)

    def __reduce__(self) -> tuple[object, ...]:
        # The validator's class is made here, and would not be found in another process.
        return type(self), (self.schema, self.evaluation_name)

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        try:
            output = as_json(ctx.output)
        except NotJSON as error:
            return EvaluationReason(False, f"the output is not JSON: {error}")
        faults = list(itertools.islice(self._validator.iter_errors(output), FAULTS_TOLD + 1))
        if not faults:
            return EvaluationReason(True)
        told = [f"{fault.json_path}: {_shortened(fault.message)}" for fault in faults[:FAULTS_TOLD]]
        more = ["and more"] if len(faults) > FAULTS_TOLD else []
        return EvaluationReason(False, "; ".join(told + more))


def _shortened(message: str) -> str:
    half = _MESSAGE_LENGTH // 2
    return message if len(message) <= _MESSAGE_LENGTH else f"{message[:half]}...{message[-half:]}"


def _validator(schema: Any) -> Validator:
    try:
        import jsonschema
        from jsonschema import validators
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it carries no types
    except ImportError as error:
        raise UsageError(
            "JSONSchema needs the package jsonschema", hint="pip install 'paceline[jsonschema]'"
        ) from error
    given: object = schema
    if not isinstance(given, dict | bool):
        raise UsageError(f"{brief(schema)} is not a JSON schema", hint='JSONSchema({"type": "object"})')
    dialect = validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        dialect.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise UsageError(
            f"the schema is not valid at {error.json_path}: {_shortened(error.message)}",
            hint="https://json-schema.org/understanding-json-schema explains each keyword",
        ) from error
    _refuse_costly_names(schema)
    _refuse_missing_references(schema, REGISTRY)
    if isinstance(schema, dict):
        # Where a part refers to the root, `$schema` would bring back the dialect's own, unbounded, `pattern`.
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    bounded: Any = validators.extend(dialect, {"pattern": _pattern})  # type: ignore[no-untyped-call]
    # With a registry given, nothing is fetched; the default one goes to the network.
    validator: Validator = bounded(schema, registry=REGISTRY)
    return validator


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    import jsonschema

    if validator.is_type(instance, "string") and not _compiled(pattern).matches(instance):
        yield jsonschema.ValidationError(f"{brief(instance)} does not match {brief(pattern)}")


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> Pattern:
    return Pattern(pattern, whole=False)


def _refuse_costly_names(schema: object) -> None:
    """Names of properties are matched by `re` itself: their patterns must not be such that could hang."""
    for part in _parts(schema):
        patterns = part.get("patternProperties")
        for pattern in patterns if isinstance(patterns, Mapping) else ():
            if not _compiled(pattern).is_bounded:
                raise UsageError(
                    f"patternProperties has {brief(pattern)}, which could take for ever on some names",
                    hint="take out repeats within repeats",
                )


def _refuse_missing_references(schema: object, registry: Any) -> None:
    import referencing
    import referencing.exceptions
    from referencing.jsonschema import DRAFT202012

    parts = list(_parts(schema))
    if any("$id" in part for part in parts[1:]):
        # References are relative to the nearest `$id`: those that lead nowhere fail when they are followed.
        return
    root = referencing.Resource.from_contents(schema, default_specification=DRAFT202012)
    base = root.id() or ""
    resolver = registry.with_resource(base, root).resolver(base)
    for part in parts:
        reference = part.get("$ref")
        if not isinstance(reference, str):
            continue
        try:
            resolver.lookup(reference)
        except referencing.exceptions.Unresolvable as error:
            raise UsageError(
                f"the schema refers to {brief(reference)}, which is not in it",
                hint="put it under `$defs`; nothing is fetched from elsewhere",
            ) from error


def _parts(schema: object) -> Iterator[Mapping[str, Any]]:
    """Every mapping in a schema, the whole first."""
    if isinstance(schema, Mapping):
        yield schema
        for key, value in schema.items():
            if key not in _NOT_SCHEMAS:
                yield from _parts(value)
    elif isinstance(schema, list | tuple):
        for item in schema:
            yield from _parts(item)
