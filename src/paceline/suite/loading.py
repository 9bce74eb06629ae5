"""Finding and loading suites: which file is meant, what kind it is, and what it is called."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from paceline.errors import SuiteError
from paceline.suite.document import from_document, read_document, says_what_to_run
from paceline.suite.evaluators import built_evaluators
from paceline.suite.module import from_module
from paceline.suite.suite import Suite
from paceline.usercode import load_file, load_object

YAML: Final = (".yaml", ".yml")


def load_suite(
    target: str,
    *,
    task: str | None = None,
    models: Sequence[str] = (),
    dataset: str | None = None,
    evaluators: Sequence[str] = (),
    field_map: Mapping[str, str] | None = None,
    needs_task: bool = True,
) -> Suite:
    """The suite that `file.py`, `file.py:name`, `suite.yaml` or, with a task, a dataset file names.

    `task` and `dataset` replace what the file says, and so do `models`: what the file asks one, these are
    asked, each a variant where there are several. `evaluators` (specs) are added to its own. Paths and
    modules in these are relative to the current directory, those in the file to its folder.
    """
    here = Path.cwd()
    suite = _load(target, has_task=task is not None, models=models)
    changes: dict[str, Any] = {}
    if task is not None:
        changes |= {"task": _task_at_the_call(task, models, here), "variants": {}}
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
            hint="name the task: `--task app.py:answer`, or `task: app.py:answer` in a suite.yaml; "
            "or a model: `--model openai:gpt-5.4-mini`",
        )
    return suite


def _task_at_the_call(task: str, models: Sequence[str], here: Path) -> Any:
    if models:
        raise SuiteError(
            "--task and --model say two things to run", hint="keep one; several models are variants"
        )
    if ":" in task and not task.partition(":")[0].endswith(".py"):
        from paceline.suite.models import is_model

        if is_model(task):
            raise SuiteError(f"{task} is a model, not a Python object", hint=f"write --model {task}")
    return load_object(task, base=here)


def _load(target: str, *, has_task: bool, models: Sequence[str]) -> Suite:
    file, colon, name = target.rpartition(":")
    if not (colon and file.endswith(".py")):
        file, name = target, ""
    path = Path(file)
    if path.is_dir():
        path = _only_suite(path)
        file = target = str(path)
    if path.suffix == ".py":
        asked_for = "" if name == "suite" else name
        suite = from_module(vars(load_file(path, shown=file)), target, name, needs_task=not models)
        return _named(_on(models, suite), path, asked_for)
    if not path.is_file():
        raise SuiteError(f"there is no file {target}", hint=candidates_hint(Path.cwd()))
    from paceline.dataset.rows import is_row_file

    if path.suffix == ".json" or is_row_file(path):
        return _named(_on(models, Suite(dataset=path, file=file)), path)
    if path.suffix not in YAML:
        raise SuiteError(
            f"{target} is neither a suite nor a dataset",
            hint="a suite ends in .py or .yaml, a dataset in .jsonl, .csv, .json or .yaml",
        )
    if has_task and _is_blank(path):
        raise SuiteError(
            f"{target} has no cases", hint="write `cases:` and a list below it, each with `inputs:`"
        )
    document = read_document(path, file)
    runs_something_else = has_task or bool(models)
    if runs_something_else and "cases" in document.values and not says_what_to_run(document):
        return _named(_on(models, Suite(dataset=path, file=file)), path)
    return _named(from_document(document, path, file, models=models), path)


def _on(models: Sequence[str], suite: Suite) -> Suite:
    """The same suite with these models in place of what it runs, if there are any."""
    if not models:
        return suite
    from paceline.suite.models import on_models

    one, several = on_models(suite.task, models)
    return dataclasses.replace(suite, task=one, variants=several)


def find_suites(folder: Path) -> list[Path]:
    """The files in a folder that look like suites, by the names that people give them."""
    patterns = ("suite.yaml", "suite.yml", "suite.py", "*_suite.py", "*_suite.y*ml", "*.suite.y*ml")
    return sorted({found for pattern in patterns for found in folder.glob(pattern)})


def _only_suite(folder: Path) -> Path:
    """The one suite that a folder holds."""
    found = find_suites(folder)
    if len(found) == 1:
        return found[0]
    where = "this directory" if folder.resolve() == Path.cwd() else str(folder)
    what = f"there are {len(found)} suites in {where}" if found else f"there is no suite in {where}"
    raise SuiteError(f"{what}: say what to run", hint=candidates_hint(folder))


def candidates_hint(folder: Path) -> str:
    """What could have been meant, in words."""
    if found := [path.name for path in find_suites(folder)]:
        where = "here" if folder.resolve() == Path.cwd() else f"in {folder}"
        return f"suites {where}: {', '.join(found)}"
    return "write one: a `suite.py` with a `dataset` and a `task`, or a `suite.yaml`"


def _named(suite: Suite, path: Path, asked_for: str = "") -> Suite:
    """With a name: its own, its dataset's, the one that was asked for by, the file's.

    Where the file is only `suite`, the folder's.
    """
    if suite.name:
        return suite
    match suite.dataset:
        case str() | Path() as file:
            own = _name_in(suite.folder / file)
        case dataset:
            own = getattr(dataset, "name", None)
    stem = path.stem.removesuffix(".suite")
    plain = path.resolve().parent.name if stem == "suite" else stem
    name = own if isinstance(own, str) and own else asked_for or plain or "suite"
    return dataclasses.replace(suite, name=name)


_TOP_LEVEL_NAME: Final = re.compile(r"^(?:name|\"name\"|'name')[ \t]*:[ \t].*$", re.MULTILINE)


def _name_in(dataset: Path) -> object:
    """The name that a dataset file gives itself. Whether the file is any good, its own room finds out.

    Only that line of YAML is read: the whole would be read a second time for it.
    """
    import json

    import yaml

    try:
        if dataset.suffix not in (*YAML, ".json"):
            return None
        text = dataset.read_text(encoding="utf-8-sig")
        if dataset.suffix == ".json" or text.lstrip().startswith("{"):
            read = json.loads(text) if dataset.suffix == ".json" else yaml.safe_load(text)
        else:
            line = _TOP_LEVEL_NAME.search(text)
            read = yaml.safe_load(line[0]) if line else None
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return None
    return read.get("name") if isinstance(read, dict) else None


def _is_blank(path: Path) -> bool:
    """Whether nothing but space and comments is in a YAML file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return all(not line.strip() or line.lstrip().startswith("#") for line in lines)
