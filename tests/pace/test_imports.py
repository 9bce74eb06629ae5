"""A library is met at its import, whoever imports it, and otherwise nothing is changed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from paceline.pace.imports import after_import


@pytest.fixture(autouse=True)
def _a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "lateling").mkdir()
    (tmp_path / "lateling" / "__init__.py").write_text("from lateling.inner import VALUE\n")
    (tmp_path / "lateling" / "inner.py").write_text("VALUE = 7\n")
    (tmp_path / "brokenling.py").write_text("raise ImportError('half installed')\n")
    before = list(sys.meta_path)
    yield
    after_import((), None)
    assert sys.meta_path == before
    for name in [name for name in sys.modules if name.startswith(("lateling", "brokenling"))]:
        del sys.modules[name]


def test_somebody_is_told_once_the_library_is_loaded_whole() -> None:
    told: list[int] = []
    after_import(["lateling"], lambda library: told.append(library.VALUE))
    assert told == []
    library = importlib.import_module("lateling")
    importlib.import_module("lateling.inner")
    assert told == [7]
    assert library.__spec__ is not None
    assert type(library.__spec__.loader).__module__ == "_frozen_importlib_external"
    assert library.__loader__ is library.__spec__.loader


def test_other_libraries_are_nobodys_business_and_after_the_end_none_is() -> None:
    told: list[ModuleType] = []
    after_import(["lateling"], told.append)
    importlib.import_module("lateling.inner")
    assert [library.__name__ for library in told] == ["lateling"], "its package was imported first"
    del sys.modules["lateling"], sys.modules["lateling.inner"]
    after_import((), None)
    importlib.import_module("lateling")
    assert len(told) == 1


def test_a_library_that_is_not_there_or_does_not_load_fails_as_it_would() -> None:
    told: list[ModuleType] = []
    after_import(["brokenling", "noling"], told.append)
    with pytest.raises(ImportError, match="half installed"):
        importlib.import_module("brokenling")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("noling")
    assert told == []


def test_looking_for_a_library_does_not_load_it() -> None:
    told: list[ModuleType] = []
    after_import(["lateling"], told.append)
    assert importlib.util.find_spec("lateling") is not None
    assert "lateling" not in sys.modules
    assert told == []
