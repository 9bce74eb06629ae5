"""The house keeps its shape: rooms lean down only, `import paceline` is light, modules stay small.

Reads the source as text; what is found in it decides, not what happens to be imported on some path.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import paceline

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "paceline"
HOME = Path.home()
"""Taken before the tests give themselves an empty one."""

ROOMS = (
    # From the street to the cellar: a room may lean on those after it, never on those before it.
    "__main__",
    "pytest_plugin",
    "cli",
    "service",
    "paceline",  # __init__.py, which exports the facade
    "api",
    "standalone",
    "delivery",
    "cluster",
    "ramp",
    "calibration",
    "suite",
    "view",
    "comparison",
    "gates",
    "conduct",
    "progress",
    "report",
    "pages",
    "options",
    "engine",
    "evaluators",
    "tasks",
    "gateway",
    "trajectory",
    "models",
    "sim",
    "pace",
    "runs",
    "workspaces",
    "containment",
    "processes",
    "journal",
    "dataset",
    "usercode",
    "settings",
    "setting_kinds",
    "values",
    "value_kinds",
    "printable",
    "files",
    "statistics",
    "errors",
)

# Whoever imports the library pays for none of these before it uses what needs them.
OUTER = {
    *("anthropic", "click", "fastapi", "httpx", "httpx2", "numpy", "openai", "opentelemetry", "pydantic"),
    *("ray", "rich", "scipy", "tenacity", "uvicorn", "yaml"),
    *("paceline.cli", "paceline.service", "paceline.cluster"),
}

LONGEST_MODULE = 500
LONGEST_FUNCTION = 60
LONG_FOR_A_REASON: dict[str, str] = {}
"""`module` or `module:function` -> why it may be longer than the others."""


class Import(NamedTuple):
    """One arrow between modules."""

    module: str
    imported: str
    line: int


def modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("paceline", *path.relative_to(PACKAGE).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    return found


MODULES = modules()


def room_of(module: str) -> str:
    """`paceline.journal.writer` is in `journal`; the package's own `__init__` is a room by itself."""
    return module.split(".")[1] if "." in module else module


def imports_of(module: str, tree: ast.Module) -> Iterator[Import]:
    """Every import of a module, in functions and for types included: an arrow is an arrow."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names = [str(first.value) for first in node.args[:1] if isinstance(first, ast.Constant)]
        else:
            continue
        for name in names:
            if target := known_module(name):
                yield Import(module, target, node.lineno)


def known_module(name: str) -> str | None:
    """The module of ours that an imported name is, or is in."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or None


def depth(module: str) -> int:
    """How far down the room of a module lies."""
    assert room_of(module) in ROOMS, f"put the new room {room_of(module)} where it belongs in ROOMS"
    return ROOMS.index(room_of(module))


def test_a_module_leans_only_on_rooms_below_its_own() -> None:
    upward = [
        f"{arrow.module}:{arrow.line} leans up on {arrow.imported}"
        for module, tree in MODULES.items()
        for arrow in imports_of(module, tree)
        if depth(arrow.imported) < depth(module)
    ]
    assert not upward


def test_no_two_modules_lean_on_each_other_when_they_are_loaded() -> None:
    """Within a room, arrows may go either way, but not in a circle of imports at the top of modules."""
    arrows = {name: set(_loaded_with(name, tree)) for name, tree in MODULES.items()}
    while leaves := {name for name, needed in arrows.items() if not needed & arrows.keys()}:
        arrows = {name: needed for name, needed in arrows.items() if name not in leaves}
    assert not arrows, "these wait for each other"


def _loaded_with(name: str, tree: ast.Module) -> Iterator[str]:
    top = ast.Module([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], [])
    yield from (arrow.imported for arrow in imports_of(name, top) if arrow.imported != name)


def loaded_by(program: str) -> set[str]:
    """All modules that an interpreter has loaded after `program`, those of the bare interpreter aside."""
    probe = "import sys; before = set(sys.modules)\n{}\nprint(*(set(sys.modules) - before))"
    run = [sys.executable, "-c", probe.format(program)]
    return set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_library_loads_nothing_but_its_front() -> None:
    loaded = loaded_by("import paceline")
    assert {name for name in loaded if name.startswith("paceline.")} == set()
    assert not {"asyncio", "dataclasses", "inspect", "msgspec"} & loaded


def test_using_all_of_the_public_names_loads_no_outer_room() -> None:
    loaded = loaded_by("from paceline import *")
    assert "paceline.api" in loaded
    assert not OUTER & loaded


def test_every_public_name_is_there_once_and_in_order() -> None:
    assert paceline.__all__ == sorted(set(paceline.__all__))
    assert set(paceline.__all__) <= set(dir(paceline))


@pytest.mark.parametrize("name", paceline.__all__)
def test_a_public_name_leads_to_something(name: str) -> None:
    assert getattr(paceline, name) is not None


def test_the_typing_file_uses_every_public_name() -> None:
    tree = ast.parse((ROOT / "tests" / "typing" / "api.py").read_text(encoding="utf-8"))
    assert {name.id for name in ast.walk(tree) if isinstance(name, ast.Name)} >= set(paceline.__all__)


def test_a_name_that_is_not_public_is_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Manager'"):
        paceline.Manager  # noqa: B018  # the access is what is tested


def test_every_module_opens_by_saying_what_it_is_for() -> None:
    opening = {name: (ast.get_docstring(tree) or "").partition("\n")[0] for name, tree in MODULES.items()}
    assert [name for name, first_line in opening.items() if len(first_line.split()) < 4] == []


def long_parts() -> set[str]:
    """Modules and functions that are longer than the house likes."""
    found = set()
    for module, tree in MODULES.items():
        if (tree.body[-1].end_lineno or 0) > LONGEST_MODULE:
            found.add(module)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    found.add(f"{module}:{node.name}")
    return found


def test_modules_and_functions_are_short_or_listed_with_a_reason() -> None:
    assert long_parts() == set(LONG_FOR_A_REASON)


# ---- what must not stand in any file ----

NOT_OURS = {".git", ".venv", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"}
NOT_OURS |= {"build", "dist", "node_modules", "runs"}


def files() -> Iterator[Path]:
    """The files of the checkout, without what tools and runs put beside them."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_OURS]
        yield from (Path(folder, name) for name in names)


def lines_with(pattern: re.Pattern[bytes]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files()
        for number, line in enumerate(path.read_bytes().splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_file_names_a_path_of_some_machine() -> None:
    places = {str(place) for place in (ROOT, HOME) if len(place.parts) > 1}
    here = "|".join(rf"(?<![\w.~]){re.escape(place)}(?!\w)" for place in sorted(places))
    anywhere = r"/(?:home|Users)/(?!you/|me/)[a-z]\w*/"
    assert lines_with(re.compile(f"{here}|{anywhere}".encode())) == []


def test_no_file_names_the_host_of_a_package_index() -> None:
    # Written so that the patterns do not find themselves.
    assert lines_with(re.compile(rb"\bpyp[i]\.|\bpythonhoste[d]\.|index-ur[l]\W+\w+:")) == []


def test_no_rooms_lean_on_each_other_in_a_circle() -> None:
    judge = ROOT.parent / "shared" / "tools" / "house"
    if not judge.exists():
        pytest.skip("../shared/tools/house is not here")
    seen = subprocess.run(
        [sys.executable, str(judge), "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert seen.returncode == 0, seen.stdout
