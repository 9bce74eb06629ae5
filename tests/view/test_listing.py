"""The list of runs: how each stands, how far it has come, and what is not known of it."""

from __future__ import annotations

import itertools
import re
import time
from pathlib import Path

import pytest

from paceline.journal.encoding import encode_line, seal
from paceline.journal.lock import acquire
from paceline.journal.places import locate
from paceline.journal.records import Line
from paceline.view.listing import Counter, Listed, Listing
from tests.report.html.runs import put
from tests.report.journals import begin, ended, failed, manifest, no, passing, run, scored

THREE = [*passing("a"), begin("b"), scored("b", no()), begin("c"), failed("c"), manifest(3)]


def listed(root: Path, patience: float = 60) -> dict[str, Listed]:
    """The runs, by the name of their folder."""
    return {each.path.name: each for each in Listing(root).runs(patience=patience, now=time.monotonic)}


@pytest.mark.parametrize(
    ("end", "state"),
    [
        ([ended()], "complete"),
        ([ended("interrupted")], "interrupted"),
        ([ended("budget")], "out of budget"),
        ([ended("failed")], "broken off"),
        ([], "killed"),
    ],
)
def test_a_run_that_is_over_says_how_it_came_to_its_end(tmp_path: Path, end: list[Line], state: str) -> None:
    put(tmp_path / "suite" / "one", run(), *THREE, *end)
    assert listed(tmp_path)["one"].state == state


def test_a_run_that_somebody_is_at_is_running_and_says_who(tmp_path: Path) -> None:
    place = put(tmp_path / "one", run(), *THREE)
    lock = acquire(locate(place).lock)
    try:
        found = listed(tmp_path)["one"]
        assert found.state == "running"
        assert found.document()["process"]["pid"] > 0
    finally:
        lock.release()
    assert listed(tmp_path)["one"].state == "killed"


def test_failures_count_as_failures(tmp_path: Path) -> None:
    put(tmp_path / "one", run(), *THREE, ended())
    told = listed(tmp_path)["one"].document()
    assert {name: told[name] for name in ("keys", "passed", "failed", "errors", "not_run")} == {
        "keys": 3,
        "passed": 1,
        "failed": 1,
        "errors": 1,
        "not_run": 0,
    }
    assert told["pass_rate"] == 1 / 3
    assert told["interval"]["low"] < 1 / 3 < told["interval"]["high"]


def test_what_is_not_through_has_no_rate(tmp_path: Path) -> None:
    put(tmp_path / "half", run(expected=4), *passing("a", "b"))
    put(tmp_path / "unknown", run(), *passing("a", "b"))
    put(tmp_path / "silent", run(), begin("a"), scored("a"), manifest(1), ended())
    found = listed(tmp_path)
    half, unknown, silent = (found[name].document() for name in ("half", "unknown", "silent"))
    assert (half["not_run"], half["pass_rate"]) == (2, None)
    assert (unknown["keys"], unknown["not_run"], unknown["pass_rate"]) == (None, None, None)
    assert (silent["unasserted"], silent["pass_rate"]) == (1, None)


def test_repeats_have_no_interval_that_counts_each_for_a_case(tmp_path: Path) -> None:
    put(tmp_path / "one", run(repeat=2), *passing("a"), manifest(1), ended())
    told = listed(tmp_path)["one"].document()
    assert told["pass_rate"] == 1.0
    assert told["interval"] is None


def test_what_was_not_counted_yet_is_not_known(tmp_path: Path) -> None:
    for name in "abc":
        put(tmp_path / name, run(), *THREE, ended())
    clock = itertools.count()
    listing = Listing(tmp_path)
    first = listing.runs(patience=2, now=lambda: next(clock))
    assert [each.state for each in first] == ["complete", None, None]
    assert first[1].document()["passed"] is None
    assert {each.state for each in listing.runs(patience=60, now=time.monotonic)} == {"complete"}


def test_a_journal_that_grows_is_counted_from_where_it_was(tmp_path: Path) -> None:
    place = put(tmp_path / "one", run(expected=3), *passing("a"))
    counter = Counter(place)
    assert counter.count(again=True).passed == 1
    journal = locate(place).journal
    raw = b"".join(seal(encode_line(line)) for line in [*passing("b"), ended("interrupted")])
    for cut in range(0, len(raw), 7):
        with journal.open("ab") as file:
            file.write(raw[cut : cut + 7])
        counter.count(again=True)
    counted = counter.count(again=False)
    assert (counted.passed, counted.how) == (2, "interrupted")
    assert counted == Counter(place).count(again=False)


def test_another_journal_in_the_same_place_is_counted_anew(tmp_path: Path) -> None:
    place = put(tmp_path / "one", run(), *passing(*"abcdef"))
    counter = Counter(place)
    assert counter.count(again=True).passed == 6
    locate(place).journal.unlink()
    put(place, run(), *passing("a"))
    assert counter.count(again=True).passed == 1


def test_one_run_can_be_looked_at_by_itself(tmp_path: Path) -> None:
    place = put(tmp_path / "one", run(), *THREE, ended())
    assert list(listed(place)) == ["one"]


def test_a_folder_without_runs_is_an_empty_list(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("not ours\n")
    (tmp_path / "x").mkdir()
    assert listed(tmp_path) == {}


def test_an_id_tells_nothing_of_the_disk_and_stays_what_it_is(tmp_path: Path) -> None:
    put(tmp_path / "one", run(), *THREE)
    listing = Listing(tmp_path)
    (first,) = listing.runs(patience=60, now=time.monotonic)
    put(tmp_path / "two", run(), *THREE)
    ids = {each.path.name: each.id for each in listing.runs(patience=60, now=time.monotonic)}
    assert ids["one"] == first.id
    assert all(re.fullmatch("[0-9a-f]{12}", name) for name in ids.values())
    assert len(set(ids.values())) == 2


@pytest.mark.parametrize("name", ["", "..", "/etc/passwd", "one", "../one", "0" * 12, "\0"])
def test_a_name_that_was_not_given_out_leads_nowhere(tmp_path: Path, name: str) -> None:
    put(tmp_path / "one", run(), *THREE)
    listing = Listing(tmp_path)
    listing.runs(patience=60, now=time.monotonic)
    assert listing.path_of(name) is None
