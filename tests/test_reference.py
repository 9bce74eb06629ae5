"""The reference says what the code says: tables are up to date, no field, event or option is missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from click.testing import CliRunner

from paceline.cli.group import COMMANDS
from paceline.cli.group import paceline as program
from paceline.engine import events
from paceline.journal import records
from scripts import reference

DOCS = Path(__file__).resolve().parent.parent / "docs"
JOURNAL = (DOCS / "reference" / "journal.md").read_text(encoding="utf-8")
EVENTS = (DOCS / "how-to" / "events.md").read_text(encoding="utf-8")
LINES = {line.__struct_config__.tag: line for line in get_args(records.Line)}
COMMON = "Lines about a key"


def section(page: str, title: str) -> str:
    """A page from one heading to the next."""
    found = re.search(rf"^### {re.escape(title)}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"there is no heading {title!r}"
    return found[1]


def in_code(text: str) -> set[str]:
    """What stands in backticks."""
    return set(re.findall(r"`([^`\n]+)`", text))


@pytest.mark.parametrize("page", reference.PAGES)
def test_what_is_written_by_the_code_is_up_to_date(page: str) -> None:
    text = (reference.ROOT / page).read_text(encoding="utf-8")
    parts = {name: part() for name, part in reference.PARTS.items()}
    assert reference.page_with(text, parts) == text, "run scripts/reference.py"


def test_every_part_has_a_place_on_some_page() -> None:
    pages = [(reference.ROOT / page).read_text(encoding="utf-8") for page in reference.PAGES]
    places = [place["name"] for page in pages for place in reference.PLACE.finditer(page)]
    assert sorted(places) == sorted(reference.PARTS)


def test_a_part_is_put_into_its_place_and_nothing_else_is_touched() -> None:
    page = "before\n<!-- reference:x -->\nold\n<!-- /reference:x -->\nafter\n"
    assert reference.page_with(page, {"x": "new"}) == page.replace("old", "new")


def test_every_option_that_help_shows_is_in_the_reference() -> None:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    settings = (DOCS / "settings.md").read_text(encoding="utf-8")
    known = {option for code in in_code(page) for option in re.findall(r"--[a-z-]+", code)}
    known |= {f"--{name.replace('_', '-')}" for name in in_code(settings)}
    for name in COMMANDS:
        shown = CliRunner().invoke(program, [name, "--help"]).output
        options = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", shown, re.MULTILINE))
        assert "--help" in options, shown
        assert options - known <= {"--help"}, name


@pytest.mark.parametrize("kind", LINES)
def test_every_field_of_a_line_is_explained(kind: str) -> None:
    explained = in_code(section(JOURNAL, kind)) | in_code(section(JOURNAL, COMMON))
    assert set(LINES[kind].__struct_fields__) <= explained


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("attempt", records.ErrorFacts),
        ("scores", records.Score),
        ("scores", records.EvaluatorFailure),
        ("run", records.EvaluatorFacts),
    ],
)
def test_every_field_of_what_lines_hold_is_explained(kind: str, part: type[msgspec.Struct]) -> None:
    assert set(part.__struct_fields__) <= in_code(section(JOURNAL, kind))


def test_every_outcome_and_every_class_of_error_is_named() -> None:
    assert set(records.OUTCOMES) <= in_code(section(JOURNAL, "outcome"))
    assert set(get_args(records.ErrorClass)) <= in_code(section(JOURNAL, "attempt"))
    assert set(records.OUTCOMES) <= in_code((DOCS / "concepts.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("event", get_args(events.AnyEvent), ids=lambda event: str(event.__name__))
def test_every_event_is_listed_with_its_fields(event: type[msgspec.Struct]) -> None:
    (row,) = re.findall(rf"^\| `{event.__name__}` \|.*", EVENTS, re.MULTILINE)
    assert {*event.__struct_fields__} - {"at"} <= in_code(row)
