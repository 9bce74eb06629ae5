"""Suites in YAML: `suite.yaml`, read with the line of each key, so that every complaint can name it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paceline.errors import SuiteError
from paceline.settings import at, nearest
from paceline.suite.commands import CommandsOf, commands_of
from paceline.suite.endpoints import endpoint_of, variant_of
from paceline.suite.evaluators import Place, build_evaluators, evaluator_class
from paceline.suite.models import PARTS, ModelsOf, is_model, on_models_named
from paceline.suite.schema import PROPERTIES, check_shape
from paceline.suite.suite import Suite
from paceline.usercode import load_object


class Document(NamedTuple):
    """A YAML mapping, and the line of each of its keys; keys of nested mappings as `settings.timeout`."""

    values: dict[str, Any]
    lines: dict[str, int]


def read_document(path: Path, shown: str) -> Document:
    """A YAML file that holds a mapping; a key that stands there twice is an error."""
    import yaml

    try:
        loader = yaml.SafeLoader(path.read_text(encoding="utf-8"))
        node = loader.get_single_node()
        values = loader.construct_document(node) if node is not None else None
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(f"{shown} cannot be read: {error}", hint="it is a text file in UTF-8")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = at(shown, mark.line + 1 if mark else 0)
        raise SuiteError(
            f"{where} is not YAML: {getattr(error, 'problem', None) or error}",
            hint="text with `: `, `#` or a leading `{`, `[`, `*`, `&`, `!` wants quotes",
        )
    if not isinstance(values, dict) or not isinstance(node, yaml.MappingNode):
        raise SuiteError(f"{shown} holds no keys", hint="a suite has at least `dataset:` and `task:`")
    lines: dict[str, int] = {}
    _note_lines(node, "", lines, shown)
    return Document(values, lines)


def _note_lines(node: Any, prefix: str, lines: dict[str, int], shown: str) -> None:
    for key, value in node.value:
        path, line = f"{prefix}{key.value}", key.start_mark.line + 1
        if path in lines:
            raise SuiteError(
                f"{at(shown, line)}: {path} stands on line {lines[path]} already",
                hint="YAML would keep the last only",
            )
        lines[path] = line
        if not prefix and type(value).__name__ == "MappingNode":
            _note_lines(value, f"{path}.", lines, shown)


def says_what_to_run(document: Document) -> bool:
    """Whether a file is more than a dataset."""
    return any(key in document.values for key in ("task", "variants", "model", *PARTS, "command", "http"))


def from_document(document: Document, path: Path, shown: str, *, models: Sequence[str] = ()) -> Suite:
    """The suite that a file holds, with `models` in place of what it says of one."""
    values, lines = document
    if models:
        values = on_models_named(values, models)
    for key, value in values.items():
        where = at(shown, lines.get(str(key), 0))
        if key not in PROPERTIES:
            raise SuiteError(
                f"{where}: a suite has no key {key!r}{nearest(str(key), PROPERTIES)}",
                hint=f"its keys are {', '.join(PROPERTIES)}",
            )
        has = values.get("model") is not None or values.get("command") is not None
        check_shape(key, value, where, has_common=has)
    base = path.parent

    def place(key: str) -> str:
        return at(shown, lines.get(key, 0))

    said = _models_of(values, base, place)
    commands = commands_of(values, base, place)

    def load(written: str, key: str) -> Any:
        if is_model(written):
            raise SuiteError(
                f"{at(shown, lines.get(key, 0))}: {key} names a Python object, and {written} is a model",
                hint=f"write `model: {written}` in its place",
            )
        try:
            return load_object(written, base=base)
        except SuiteError as error:
            raise SuiteError(f"{at(shown, lines.get(key, 0))}: {key}: {error}", hint=error.hint)

    custom = tuple(
        evaluator_class(load(written, "custom_evaluators"), written, at(shown, lines["custom_evaluators"]))
        for written in values.get("custom_evaluators") or ()
    )
    settings = values.get("settings") or {}
    setting_lines = {name: lines.get(f"settings.{name}", 0) for name in settings}
    return Suite(
        name=values.get("name") or "",
        dataset=_dataset_of(values, shown),
        task=_task_of(values, load, said, commands, place),
        evaluators=build_evaluators(
            values.get("evaluators") or (),
            custom,
            Place(at(shown, lines.get("evaluators", 0)), base, "your own are named as `file.py:name`"),
        ),
        custom_evaluators=custom,
        lifecycle=load(values["lifecycle"], "lifecycle") if values.get("lifecycle") else None,
        variants=_variants_of(values.get("variants") or {}, load, said, commands, place),
        map=values.get("map") or {},
        metadata=values.get("metadata"),
        repeat=values.get("repeat"),
        check=values.get("check") or {},
        settings=settings,
        file=shown,
        folder=base,
        lines=setting_lines | {key: lines[key] for key in ("repeat", "check") if key in lines},
    )


def _dataset_of(values: Mapping[str, Any], shown: str) -> Path | dict[str, Any]:
    """The path of a dataset file, or what such a file would hold where the suite has the cases itself."""
    if ("dataset" in values) == ("cases" in values):
        raise SuiteError(
            f"{shown} wants either `dataset` or `cases`",
            hint="`dataset: cases.jsonl`, or `cases:` and a list of them",
        )
    if "dataset" in values:
        return Path(values["dataset"])
    return {key: values[key] for key in ("name", "cases") if values.get(key) is not None}


def _models_of(values: Mapping[str, Any], base: Path, where: Callable[[str], str]) -> ModelsOf:
    """What is said of models, which is of no use without one."""
    parts = {name: values[name] for name in PARTS if values.get(name) is not None}
    model = values.get("model")
    if model is not None and values.get("task"):
        raise SuiteError(
            f"{where('model')}: there is a task, and there is a model",
            hint="`task` is a Python object, `model` is asked in its place: keep one of them",
        )
    if parts and model is None and not any(_names_model(said) for said in _said_of_variants(values)):
        part = next(iter(parts))
        raise SuiteError(
            f"{where(part)}: {part} is for a model, and none is named",
            hint="say which: `model: openai:gpt-5.4-mini`",
        )
    return ModelsOf(model, parts, base, where)


def _said_of_variants(values: Mapping[str, Any]) -> list[Any]:
    return list((values.get("variants") or {}).values())


def _names_model(said: object) -> bool:
    if isinstance(said, str):
        return is_model(said)
    return isinstance(said, Mapping) and "model" in said and "task" not in said


def _task_of(
    values: Mapping[str, Any],
    load: Callable[[str, str], Any],
    models: ModelsOf,
    commands: CommandsOf,
    where: Callable[[str], str],
) -> Callable[..., Any] | None:
    if values.get("http") is not None:
        if other := next(
            (name for name in ("task", "model", "command", "variants") if values.get(name)), None
        ):
            raise SuiteError(
                f"{where('http')}: there is `{other}`, and there is an endpoint",
                hint="each of them is what is under test: keep one of them",
            )
        return endpoint_of(values["http"], "http", where)
    if values.get("task"):
        task: Callable[..., Any] = load(values["task"], "task")
        return task
    if values.get("variants"):
        return None  # what is said at the top is what these have in common
    if commands.command is not None:
        return commands.task()
    return None if models.model is None else models.task()


def _variants_of(
    written: Mapping[str, Any],
    load: Callable[[str, str], Any],
    models: ModelsOf,
    commands: CommandsOf,
    where: Callable[[str], str],
) -> dict[str, Callable[..., Any]]:
    """Each variant is a task, a task with some of its arguments given, a command, an endpoint or a model."""
    variants: dict[str, Callable[..., Any]] = {}
    for name, said in written.items():
        key = f"variants.{name}"
        if (endpoint := variant_of(name, said, where)) is not None:
            variants[name] = endpoint
        elif (command := commands.variant(name, said)) is not None:
            variants[name] = command
        elif (task := models.variant(name, said)) is not None:
            variants[name] = task
        elif isinstance(said, str):
            variants[name] = load(said, key)
        else:
            arguments = {argument: value for argument, value in said.items() if argument != "task"}
            variants[name] = _bound(load(said["task"], key), arguments)
    return variants


def _bound(task: Callable[..., Any], arguments: Mapping[str, Any]) -> Callable[..., Any]:
    """A task with arguments given. They are part of its version: a resume with others is not the same run."""
    from functools import partial

    bound = partial(task, **arguments)
    declared = getattr(task, "version", None)
    parts = [declared] if isinstance(declared, str) else []
    bound.version = ", ".join([*parts, *(f"{name}={value!r}" for name, value in arguments.items())])  # type: ignore[attr-defined]  # a partial takes attributes, which the engine reads
    return bound
