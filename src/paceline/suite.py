"""Suites: a dataset, a task and settings that belong together, in `suite.py` or in `suite.yaml`.

A Python file is a suite if it holds a `Suite` object named `suite` (or `file.py:name` says which), or a
`dataset` and a `task`. A YAML file is one if its keys are those of `suite_schema()`; `docs/suite-file.md`
explains them. A dataset file becomes one by naming a task for it.

Loading is all or nothing: what cannot be used is a `SuiteError` with file, line and remedy, before anything
has run. Knows what a suite consists of; whether dataset and task are any good, their own rooms find out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from paceline.errors import SuiteError
from paceline.settings import SETTINGS, Written, at, check_names, nearest
from paceline.usercode import load_file, load_object

YAML: Final = (".yaml", ".yml")


@dataclass(frozen=True, kw_only=True)
class Suite:
    """What to run on what, and how."""

    dataset: Any
    """A `Dataset`, the path of a dataset file (from `folder`), or a mapping such as a dataset file holds."""
    task: Callable[..., Any] | None = None
    name: str = ""
    evaluators: Sequence[object] = ()
    """For all cases, in addition to those of the dataset."""
    custom_evaluators: Sequence[type[Any]] = ()
    """Classes that a dataset file may name beside the built-in ones."""
    lifecycle: Any = None
    variants: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Several tasks to compare in one run, by name, in place of the one in `task`."""
    map: Mapping[str, str] = field(default_factory=dict)
    """For rows in JSONL and CSV: which of their fields is our `inputs`, `expected_output`, `name`."""
    metadata: Mapping[str, Any] | None = None
    repeat: int | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    file: str = ""
    """The file that this was loaded from, as it was named; with `:name` where that was said."""
    folder: Path = field(default_factory=Path)
    lines: Mapping[str, int] = field(default_factory=dict)
    """Where in the file each setting stands."""

    def __post_init__(self) -> None:
        place = self.file or "Suite"
        check_names(self.settings, place, lines=self.lines)
        if self.repeat is not None and "repeat" in self.settings:
            raise SuiteError(f"{place}: repeat is said twice", hint="keep `repeat`, drop it from `settings`")
        if self.task is not None and self.variants:
            raise SuiteError(
                f"{place}: there is a task and there are variants",
                hint="each variant is a task: name it among them",
            )

    def written_settings(self) -> Mapping[str, Written]:
        """The settings that the suite brings along, with the places where they are written."""
        place = self.file or "the suite"
        values = dict(self.settings) if self.repeat is None else {**self.settings, "repeat": self.repeat}
        return {
            name: Written(value, at(place, self.lines.get(name, 0)), self.folder)
            for name, value in values.items()
        }


# Finding and loading ------------------------------------------------------------------------------


def load_suite(
    target: str,
    *,
    task: str | None = None,
    dataset: str | None = None,
    evaluators: Sequence[str] = (),
    field_map: Mapping[str, str] | None = None,
    needs_task: bool = True,
) -> Suite:
    """The suite that `file.py`, `file.py:name`, `suite.yaml` or, with a task, a dataset file names.

    `task` and `dataset` replace what the file says; `evaluators` (specs) are added to its own. Paths and
    modules in these are relative to the current directory, those in the file to its folder.
    """
    here = Path.cwd()
    suite = _load(target, has_task=task is not None)
    changes: dict[str, Any] = {}
    if task is not None:
        changes |= {"task": load_object(task, base=here), "variants": {}}
    if dataset is not None:
        changes["dataset"] = here / dataset
    if evaluators:
        built = built_evaluators(evaluators, suite.custom_evaluators)
        changes["evaluators"] = (*suite.evaluators, *built)
    if field_map:
        changes["map"] = {**suite.map, **field_map}
    suite = dataclasses.replace(suite, **changes)
    if needs_task and suite.task is None and not suite.variants:
        raise SuiteError(
            f"{target} does not say what to run on its cases",
            hint="name the task: `--task app.py:answer`, or `task: app.py:answer` in a suite.yaml",
        )
    return suite


def _load(target: str, *, has_task: bool) -> Suite:
    file, colon, name = target.rpartition(":")
    if not (colon and file.endswith(".py")):
        file, name = target, ""
    path = Path(file)
    if path.suffix == ".py":
        return _named(_from_module(vars(load_file(path, shown=file)), target, name), path)
    if not path.is_file():
        raise SuiteError(f"there is no suite {target}", hint=candidates_hint(Path.cwd()))
    from paceline.dataset.rows import is_row_file

    if path.suffix == ".json" or is_row_file(path):
        return _named(Suite(dataset=path, file=file), path)
    if path.suffix not in YAML:
        raise SuiteError(
            f"{target} is neither a suite nor a dataset",
            hint="a suite ends in .py or .yaml, a dataset in .jsonl, .csv, .json or .yaml",
        )
    document = read_document(path, file)
    if has_task and "cases" in document.values and "task" not in document.values:
        return _named(Suite(dataset=path, file=file), path)
    return _named(_from_document(document, path, file), path)


def find_suites(folder: Path) -> list[Path]:
    """The files in a folder that look like suites, by the names that people give them."""
    patterns = ("suite.yaml", "suite.yml", "suite.py", "*_suite.py", "*_suite.y*ml", "*.suite.y*ml")
    return sorted({found for pattern in patterns for found in folder.glob(pattern)})


def candidates_hint(folder: Path) -> str:
    """What could have been meant, in words."""
    if found := [path.name for path in find_suites(folder)]:
        return f"suites here: {', '.join(found)}"
    return "write one: a `suite.py` with a `dataset` and a `task`, or a `suite.yaml`"


def _named(suite: Suite, path: Path) -> Suite:
    """With a name: its own, its dataset's, the file's, or the folder's where the file is only `suite`."""
    if suite.name:
        return suite
    own = getattr(suite.dataset, "name", None) if not isinstance(suite.dataset, Path) else None
    stem = path.stem.removesuffix(".suite")
    plain = path.resolve().parent.name if stem == "suite" else stem
    return dataclasses.replace(suite, name=own if isinstance(own, str) and own else plain or "suite")


# Python -------------------------------------------------------------------------------------------


def _from_module(defined: Mapping[str, Any], target: str, name: str) -> Suite:
    """The suite that a module holds: the object that was asked for, `suite`, or `dataset` with `task`."""
    folder = Path(target).parent
    wanted = name or "suite"
    found = defined.get(wanted)
    if isinstance(found, Suite):
        return dataclasses.replace(found, file=target, folder=folder)
    if name or found is not None:
        raise SuiteError(f"{target}: {_what_is(wanted, found)}", hint=_found_hint(defined))
    if "dataset" in defined and "task" in defined:
        return Suite(dataset=defined["dataset"], task=defined["task"], file=target, folder=folder)
    missing = [part for part in ("dataset", "task") if part not in defined]
    raise SuiteError(
        f"{target} holds no `suite`, and no {' and no '.join(f'`{part}`' for part in missing)}",
        hint=_found_hint(defined),
    )


def _what_is(name: str, found: object) -> str:
    if found is None:
        return f"there is no {name!r} in it"
    return f"{name!r} is a {type(found).__name__}, not a Suite"


def _found_hint(defined: Mapping[str, Any]) -> str:
    """What the module does hold, and what to write so that it is a suite."""
    own = {name: value for name, value in defined.items() if not name.startswith("_")}
    suites = [name for name, value in own.items() if isinstance(value, Suite)]
    if suites:
        return f"say which: {', '.join(f'file.py:{name}' for name in suites)}"
    datasets = [name for name, value in own.items() if type(value).__name__ == "Dataset"]
    module = defined.get("__name__")
    functions = [
        name for name, value in own.items() if callable(value) and getattr(value, "__module__", 0) == module
    ]
    parts = [f"datasets: {', '.join(datasets)}"] if datasets else []
    parts += [f"functions: {', '.join(functions)}"] if functions else []
    say = f"suite = Suite(dataset={(*datasets, '...')[0]}, task={(*functions, '...')[0]})"
    return f"it holds {'; '.join(parts) or 'neither'}. Name them `dataset` and `task`, or write `{say}`"


# YAML ---------------------------------------------------------------------------------------------


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


def _from_document(document: Document, path: Path, shown: str) -> Suite:
    values, lines = document
    for key, value in values.items():
        where = at(shown, lines.get(str(key), 0))
        if key not in _PROPERTIES:
            raise SuiteError(
                f"{where}: a suite has no key {key!r}{nearest(str(key), _PROPERTIES)}",
                hint=f"its keys are {', '.join(_PROPERTIES)}",
            )
        _check_shape(key, value, where)
    base = path.parent

    def load(written: str, key: str) -> Any:
        try:
            return load_object(written, base=base)
        except SuiteError as error:
            raise SuiteError(f"{at(shown, lines.get(key, 0))}: {key}: {error}", hint=error.hint)

    custom = tuple(load(written, "custom_evaluators") for written in values.get("custom_evaluators") or ())
    settings = values.get("settings") or {}
    setting_lines = {name: lines.get(f"settings.{name}", 0) for name in settings}
    return Suite(
        name=values.get("name") or "",
        dataset=_dataset_of(values, shown),
        task=load(values["task"], "task") if values.get("task") else None,
        evaluators=_build_evaluators(
            values.get("evaluators") or () if "dataset" in values else (),
            custom,
            at(shown, lines.get("evaluators", 0)),
        ),
        custom_evaluators=custom,
        lifecycle=load(values["lifecycle"], "lifecycle") if values.get("lifecycle") else None,
        variants=_variants_of(values.get("variants") or {}, load),
        map=values.get("map") or {},
        metadata=values.get("metadata"),
        repeat=values.get("repeat"),
        settings=settings,
        file=shown,
        folder=base,
        lines=setting_lines | {"repeat": lines.get("repeat", 0)} if "repeat" in lines else setting_lines,
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
    return {key: values[key] for key in ("name", "cases", "evaluators") if values.get(key) is not None}


def _variants_of(
    written: Mapping[str, Any], load: Callable[[str, str], Any]
) -> dict[str, Callable[..., Any]]:
    """Each variant is a task, or a task with some of its arguments given."""
    variants: dict[str, Callable[..., Any]] = {}
    for name, said in written.items():
        key = f"variants.{name}"
        if isinstance(said, str):
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


def built_evaluators(written: Sequence[str], custom: Sequence[type[Any]] = ()) -> tuple[object, ...]:
    """The evaluators that specs on a command line name."""
    return _build_evaluators([_spec_of(text) for text in written], custom, "--evaluator")


def _spec_of(text: str) -> Any:
    """An evaluator spec from the command line: YAML, so `EqualsExpected` and `Contains: Paris` both are."""
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise SuiteError(
            f"--evaluator {text!r} cannot be read", hint="such as EqualsExpected or 'Contains: Paris'"
        )


def _build_evaluators(specs: Iterable[Any], custom: Sequence[type[Any]], where: str) -> tuple[object, ...]:
    from paceline.dataset.spec import EvaluatorSpec

    parsed = [EvaluatorSpec.parse(spec, where=where) for spec in specs]
    if not parsed:
        return ()
    from paceline.evaluators.registry import build

    return tuple(build(spec, custom, where=where) for spec in parsed)


# What a suite.yaml may hold -----------------------------------------------------------------------

_OBJECT: Final = {"type": "string", "pattern": r"^.+:[A-Za-z_][\w.]*$"}
_SPEC: Final = {
    "anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 2}],
    "description": "`Name`, `Name: argument` or `Name: {keyword: argument}`.",
}
_PROPERTIES: Final[dict[str, dict[str, Any]]] = {
    "$schema": {"type": "string", "description": "Where editors find this schema."},
    "name": {
        "type": "string",
        "description": "Names the suite's folder below `runs/`. Default: the file's name.",
    },
    "dataset": {
        "type": "string",
        "description": "Path of a dataset file (YAML, JSON, JSONL, CSV), from this file.",
    },
    "cases": {
        "type": "array",
        "items": {"type": "object", "required": ["inputs"]},
        "description": "The cases themselves, in place of `dataset`, written as in a dataset file.",
    },
    "evaluators": {"type": "array", "items": _SPEC, "description": "Evaluators for all cases."},
    "custom_evaluators": {
        "type": "array",
        "items": _OBJECT,
        "description": "Classes of your own to use as evaluators: `module:Class` or `file.py:Class`.",
    },
    "task": {**_OBJECT, "description": "What is under test: `module:function` or `file.py:function`."},
    "variants": {
        "type": "object",
        "additionalProperties": {
            "anyOf": [_OBJECT, {"type": "object", "properties": {"task": _OBJECT}, "required": ["task"]}]
        },
        "description": "Several tasks by name, in place of `task`; each may have keyword arguments.",
    },
    "lifecycle": {**_OBJECT, "description": "A CaseLifecycle: `module:Class` or `file.py:Class`."},
    "map": {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "description": "Which field of a JSONL or CSV row is our `inputs`, `expected_output`, `name`.",
    },
    "metadata": {"type": "object", "description": "Facts about the run, kept in its journal and report."},
    "repeat": {"type": "integer", "minimum": 1, "description": "How often each case is run."},
    "settings": {
        "type": "object",
        "description": "Settings of the run, by the names that `paceline config` lists.",
    },
}

_SHAPES: Final[Mapping[str, tuple[type, str]]] = {
    "string": (str, "a text"),
    "array": (list, "a list"),
    "object": (dict, "keys with values"),
    "integer": (int, "a whole number"),
}


def _check_shape(key: str, value: object, where: str) -> None:
    kind, words = _SHAPES[_PROPERTIES[key]["type"]]
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise SuiteError(f"{where}: {key} wants {words}", hint=_PROPERTIES[key]["description"])
    if key == "variants" and isinstance(value, dict):
        for name, said in value.items():
            if not isinstance(said, str) and not (
                isinstance(said, dict) and isinstance(said.get("task"), str)
            ):
                raise SuiteError(
                    f"{where}: variant {name!r} names no task",
                    hint=f"`{name}: app.py:answer`, or `{name}: {{task: app.py:answer, model: large}}`",
                )


def suite_schema() -> dict[str, Any]:
    """The JSON schema of a suite.yaml, for editors."""
    settings = {setting.name: {**setting.kind.schema, "description": setting.help} for setting in SETTINGS}
    from paceline.evaluators.registry import schema_of

    properties = dict(_PROPERTIES)
    # Those of the user's own may have any name, so the built-in ones help an editor and forbid nothing.
    known = {"anyOf": [*schema_of()["anyOf"], _SPEC]}
    properties["evaluators"] = {**_PROPERTIES["evaluators"], "items": known}
    properties["settings"] = {
        **_PROPERTIES["settings"],
        "properties": settings,
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A suite of Paceline",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "oneOf": [{"required": ["dataset"]}, {"required": ["cases"]}],
    }
