"""The parts of the manual that are written from the code are what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = loaded(ROOT / "scripts" / "reference.py")
PARTS = {name: part() for name, part in SCRIPT.PARTS.items()}


@pytest.mark.parametrize("page", SCRIPT.PAGES)
def test_a_page_is_up_to_date(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert SCRIPT.page_with(text, PARTS) == text, "`.venv/bin/python scripts/reference.py` writes it anew"


def test_every_part_has_its_place_on_one_page() -> None:
    pages = [(ROOT / page).read_text(encoding="utf-8") for page in SCRIPT.PAGES]
    places = [place["name"] for text in pages for place in SCRIPT.PLACE.finditer(text)]
    assert sorted(places) == sorted(PARTS)
