"""The room's front: every public name is there, and nothing is loaded before it is asked for."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys

import pytest

import paceline.evaluators as room
from paceline.evaluators.registry import BUILT_IN


def test_importing_the_room_loads_none_of_its_evaluators() -> None:
    probe = "import sys, paceline.evaluators; print(*(name for name in sys.modules if 'paceline' in name))"
    loaded = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    assert set(loaded.split()) == {"paceline", "paceline.evaluators"}


@pytest.mark.parametrize("name", room.__all__)
def test_a_public_name_leads_to_something(name: str) -> None:
    assert getattr(room, name) is getattr(room, name)
    assert name in dir(room)


def test_every_built_in_is_public() -> None:
    assert set(BUILT_IN) <= set(room.__all__)


def test_type_checkers_are_told_of_the_same_names() -> None:
    (told,) = (node for node in ast.parse(inspect.getsource(room)).body if isinstance(node, ast.If))
    imports = [node for node in told.body if isinstance(node, ast.ImportFrom)]
    names = {alias.name: node.module for node in imports for alias in node.names}
    assert set(names) == set(room.__all__)
    for name, module in names.items():
        assert module is not None
        assert getattr(importlib.import_module(module), name) is getattr(room, name)


def test_a_name_that_is_not_there_is_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Judge'"):
        room.Judge  # noqa: B018  # the access is what is tested
