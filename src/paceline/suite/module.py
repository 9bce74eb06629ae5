"""Suites in Python: a module that holds a `Suite`, or a `dataset` and a `task`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paceline.errors import SuiteError
from paceline.suite.suite import Suite


def from_module(defined: Mapping[str, Any], target: str, name: str, *, needs_task: bool = True) -> Suite:
    """The suite that a module holds: the object that was asked for, `suite`, or `dataset` with `task`."""
    folder = Path(target).parent
    wanted = name or "suite"
    found = defined.get(wanted)
    if isinstance(found, Suite):
        return dataclasses.replace(found, file=target, folder=folder)
    if name or found is not None:
        raise SuiteError(f"{target}: {_what_is(wanted, found)}", hint=_found_hint(defined))
    if "dataset" in defined and ("task" in defined or not needs_task):
        return Suite(
            dataset=defined["dataset"],
            task=defined.get("task"),
            check=_check_in(defined),
            file=target,
            folder=folder,
        )
    missing = [part for part in ("dataset", "task") if part not in defined]
    raise SuiteError(
        f"{target} holds no `suite`, and no {' and no '.join(f'`{part}`' for part in missing)}",
        hint=_found_hint(defined),
    )


def _check_in(defined: Mapping[str, Any]) -> Mapping[str, Any]:
    """The rules of a module, where `check` is that and no function of somebody's."""
    check = defined.get("check")
    return check if isinstance(check, Mapping) else {}


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
