"""The benchmarks work: each runs with small sizes, writes what it documents, and its tables reach the page.

What they find is not judged here: `make bench` does that, on a machine that does nothing else.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import results
from bench.__main__ import PROGRAMS
from bench.report import PAGE, PLACE, page_with
from bench.results import at_least, at_most
from bench.shapes import list_schedule, log_normal, longest_first

ROOT = Path(__file__).resolve().parent.parent

KEYS = {"name", "title", "command", "quick", "taken", "machine", "settings", "rows", "more", "bars", "notes"}


def run(*arguments: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=check)


pytestmark = pytest.mark.timeout(900)  # the first of them carries out every program


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What all of them write when they are asked to be quick."""
    folder = tmp_path_factory.mktemp("results")
    ended = run("bench", "--quick", "--results", folder, check=False)
    assert ended.returncode == 0, ended.stderr
    return {file.stem: json.loads(file.read_text()) for file in folder.glob("*.json")}


@pytest.mark.slow
@pytest.mark.xdist_group("bench")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_and_writes_the_documented_keys(name: str, found: dict[str, dict[str, Any]]) -> None:
    result = found[name]
    assert result.keys() == KEYS
    assert result["name"] == name
    assert result["rows"]
    assert all(row.keys() == result["rows"][0].keys() for row in result["rows"])
    assert all(bar.keys() == {"what", "bar", "found", "met"} for bar in result["bars"])


@pytest.mark.slow
@pytest.mark.xdist_group("bench")
def test_a_quick_run_judges_nothing(found: dict[str, dict[str, Any]]) -> None:
    assert {bar["met"] for result in found.values() for bar in result["bars"]} == {None}


@pytest.mark.slow
@pytest.mark.xdist_group("bench")
def test_a_resume_after_a_kill_runs_only_what_has_no_result_on_file(found: dict[str, dict[str, Any]]) -> None:
    ours = found["forloop"]["more"][-1]
    assert ours["what"] == "Paceline"
    assert ours["results_on_file_at_the_kill"] >= 173
    assert ours["run_anew"] == 200 - ours["results_on_file_at_the_kill"]
    assert ours["of_them_on_file_already"] == 0
    assert ours["results_in_the_end"] == 200


@pytest.mark.slow
@pytest.mark.xdist_group("bench")
def test_results_name_no_place_of_this_machine(found: dict[str, dict[str, Any]]) -> None:
    text = json.dumps(found)
    assert str(ROOT) not in text
    assert str(Path.home()) not in text


# ---- the page ----


def test_every_program_has_its_place_on_the_page() -> None:
    places = [place["name"] for place in PLACE.finditer(PAGE.read_text())]
    assert sorted(places) == sorted(PROGRAMS)


def test_the_page_names_the_command_of_every_program() -> None:
    page = PAGE.read_text()
    assert [name for name in PROGRAMS if f"python -m bench.{name}" not in page] == []


RESULT = {
    "name": "noop",
    "title": "Title",
    "command": "python -m bench.noop",
    "quick": False,
    "taken": "2026-01-02",
    "machine": {
        "cores": 2,
        "processor": "P",
        "memory_gb": 8,
        "kernel": "K 1",
        "python": "CPython 3.11.7",
        "uvloop": None,
        "synced_append_ms": 0.123,
    },
    "settings": {},
    "rows": [{"what": "a", "wall_s": 1.234, "times_script": 2.0}],
    "more": [],
    "bars": [{"what": "a", "bar": "≥ 1 ×", "found": 2.0, "met": True}],
    "notes": ["A note."],
}


def test_a_table_takes_the_place_of_the_one_before_and_leaves_the_page_alone() -> None:
    rest = "<!-- /bench:noop -->\nend\n<!-- bench:other -->\nkept\n<!-- /bench:other -->\n"
    page = f"# Top\n<!-- bench:noop -->\nold\n{rest}"
    written = page_with(page, [RESULT])
    assert "old" not in written
    assert "| a    |   1.23 |       2.00 × |" in written
    assert written.startswith(
        "# Top\n<!-- bench:noop -->\nTaken on 2026-01-02 by `python -m bench.noop`: 2 cores"
    )
    assert written.endswith(rest)
    assert page_with(written, [RESULT]) == written


def test_a_result_without_a_place_on_the_page_is_an_error() -> None:
    with pytest.raises(SystemExit, match="no place for noop"):
        page_with("# Top\n", [RESULT])


def test_quick_results_are_not_put_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "noop.json").write_text(json.dumps({**RESULT, "quick": True}))
    before = PAGE.read_text()
    ended = run("bench.report", "--results", tmp_path, check=False)
    assert ended.returncode == 2
    assert "these were quick" in ended.stderr
    assert PAGE.read_text() == before


# ---- what is measured ----


def test_what_could_not_be_measured_is_never_a_bar_that_is_met() -> None:
    assert at_least("x", 2, None).met is False
    assert at_most("x", 2, None, "s").met is False


def test_a_bar_is_met_at_its_very_limit() -> None:
    assert at_least("x", 2, 2.0).met
    assert at_most("x", 2, 2.0, "s").met


def test_a_figure_is_shown_with_three_digits_that_count() -> None:
    shown = [
        results.shown("wall_s", value) for value in (1234567, 12345.6, 123.4, 12.34, 1.234, 0.1234, 0.01234)
    ]
    assert shown == ["1,234,567", "12,346", "123", "12.3", "1.23", "0.12", "0.012"]


def test_a_table_has_as_many_columns_in_every_line() -> None:
    text = results.table([{"what": "a", "wall_s": 1.0}, {"what": "long | er", "wall_s": None}])
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines()}) == 1


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=6), st.integers(1, 3))
def test_longest_first_is_within_a_third_of_the_best_order(durations: list[float], slots: int) -> None:
    best = min(list_schedule(order, slots=slots) for order in permutations(durations))
    assert best - 1e-9 <= longest_first(durations, slots=slots) <= best * 4 / 3 + 1e-9


@given(st.lists(st.floats(0.01, 10), min_size=1), st.integers(1, 50))
def test_a_schedule_is_bounded_by_the_work_and_the_longest_case(durations: list[float], slots: int) -> None:
    takes = list_schedule(durations, slots=slots)
    assert max(*durations, sum(durations) / slots) - 1e-9 <= takes
    assert takes <= sum(durations) / slots + max(durations) + 1e-9


def test_drawn_durations_have_the_mean_that_was_asked_for() -> None:
    durations = log_normal(200, sigma=1.0, mean=0.3, seed=7)
    assert sum(durations) / 200 == pytest.approx(0.3)
    assert durations == log_normal(200, sigma=1.0, mean=0.3, seed=7)
    assert len(set(durations)) == 200
