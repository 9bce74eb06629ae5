"""A run that is followed: what a page is told bit by bit is what it would be told at once."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.journal.encoding import encode_line, seal
from paceline.journal.lock import acquire
from paceline.journal.places import locate
from paceline.journal.records import Line
from paceline.report import Report
from paceline.view.following import STEP, Followed
from tests.journal.lines import lines as any_lines
from tests.report.html.runs import everyday, put
from tests.report.html.written import read_body, read_pack, read_page
from tests.report.journals import again, begin, ended, manifest, no, passing, raw, run, scored, yes


class Page:
    """What a page knows, from the packs that it was sent: a mirror of its sheet."""

    def __init__(self, followed: Followed) -> None:
        self.followed = followed
        self.seen = 0
        self.columns: dict[str, dict[int, Any]] = {}
        self.head: dict[str, Any] = {}

    def ask(self) -> dict[str, Any]:
        self.followed.advance()
        head, columns = read_pack(self.followed.pack(self.seen))
        if head["fresh"]:
            rows = columns.pop("/row", None)
            if rows is None:
                self.columns, rows = {}, list(range(head["rows"]))
            for name, values in columns.items():
                self.columns.setdefault(name, {}).update(zip(rows, values, strict=True))
            self.head = head
        self.seen = head["seen"]
        return head

    def known(self) -> dict[str, dict[int, Any]]:
        """Columns without what stands for nothing."""
        nothing = (None, "", -1, 0)
        told = {
            name: {row: value for row, value in column.items() if value not in nothing and value == value}  # noqa: PLR0124  # NaN is not itself
            for name, column in self.columns.items()
        }
        return {name: column for name, column in told.items() if column}


def append(place: Path, *lines: Line | bytes) -> None:
    with locate(place).journal.open("ab") as file:
        file.writelines(line if isinstance(line, bytes) else seal(encode_line(line)) for line in lines)


@settings(max_examples=60)
@given(st.lists(any_lines, max_size=30), st.lists(st.integers(0, 30), max_size=5))
def test_what_was_told_bit_by_bit_is_what_is_told_at_once(lines: list[Line], cuts: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = put(Path(folder), run("s0"))
        page = Page(Followed(place))
        places = sorted({0, len(lines), *(cut for cut in cuts if cut < len(lines))})
        for start, end in pairwise(places):
            page.ask()
            append(place, *lines[start:end])
        page.ask()
        late = Page(Followed(place))
        late.ask()
        assert page.known() == late.known()
        assert page.head["report"] == late.head["report"]
        assert page.head["overview"] == late.head["overview"]


def test_the_figures_are_those_of_the_report(tmp_path: Path) -> None:
    place = everyday(tmp_path / "run", cases=60)
    page = Page(Followed(place))
    page.ask()
    assert page.head["report"] == Report.read(place).to_dict()


def test_a_body_is_the_one_that_a_file_has(tmp_path: Path) -> None:
    place = everyday(tmp_path / "run", cases=40)
    followed = Followed(place)
    followed.advance()
    written = read_page(Report.read(place).to_html(tmp_path / "report.html"))
    assert [read_body(line) for line in followed.bodies(0).split(b"\n")] == written.bodies


def test_bodies_are_handed_out_in_steps(tmp_path: Path) -> None:
    place = put(tmp_path, run(), *passing(*(f"case {n}" for n in range(STEP + 3))))
    followed = Followed(place)
    followed.advance()
    assert len(followed.bodies(0).split(b"\n")) == STEP
    assert len(followed.bodies(STEP).split(b"\n")) == 3
    assert followed.bodies(10 * STEP) == b""


def test_nothing_new_is_told_in_a_few_bytes(tmp_path: Path) -> None:
    page = Page(Followed(put(tmp_path, run(), *passing("a", "b"))))
    assert page.ask()["fresh"]
    assert not page.ask()["fresh"]
    assert len(page.followed.pack(page.seen)) < 300


def test_only_rows_that_have_changed_are_told_again(tmp_path: Path) -> None:
    place = put(tmp_path, run(), *passing("a", "b"), begin("c"))
    page = Page(Followed(place))
    page.ask()
    append(place, scored("c", no()), begin("d"))
    page.followed.advance()
    _, columns = read_pack(page.followed.pack(page.seen))
    assert columns["/row"] == [2, 3]
    assert columns["/case"] == ["c", "d"]


def test_a_line_that_is_half_written_is_not_there_yet(tmp_path: Path) -> None:
    place = put(tmp_path, run(), *passing("a"))
    page = Page(Followed(place))
    raw_line = seal(encode_line(begin("b")))
    append(place, raw_line[:20])
    assert page.ask()["rows"] == 1
    append(place, raw_line[20:])
    assert page.ask()["rows"] == 2


def test_a_case_that_is_opened_again_loses_what_was_said_of_it(tmp_path: Path) -> None:
    place = put(tmp_path, run(), *passing("a"))
    page = Page(Followed(place))
    page.ask()
    append(place, again("a"))
    page.ask()
    assert page.columns["/outcome"][0] == 0
    assert page.columns["assertion/Equals"][0] == -1


def test_a_field_of_numbers_that_meets_a_word_is_told_as_a_whole(tmp_path: Path) -> None:
    many = [
        line
        for n in range(1100)
        for line in (begin(f"{n}", metadata=raw({"level": n})), scored(f"{n}", yes()))
    ]
    place = put(tmp_path, run(), *many)
    page = Page(Followed(place))
    page.ask()
    assert page.columns["metadata/level"][5] == 5.0
    append(place, begin("last", metadata=raw({"level": "high"})))
    page.ask()
    assert page.columns["metadata/level"][5] == "5"
    assert len(page.columns["/case"]) == 1101


def test_another_run_in_the_same_place_is_told_as_another(tmp_path: Path) -> None:
    place = put(tmp_path, run(), *passing("a", "b", "c"))
    page = Page(Followed(place))
    before = page.ask()["epoch"]
    locate(place).journal.unlink()
    put(place, run(run_id="r2"), *passing("x"))
    told = page.ask()
    assert told["epoch"] != before
    assert page.columns["/case"] == {0: "x"}
    assert told["report"]["run_id"] == "r2"


def test_it_says_whether_somebody_is_at_it(tmp_path: Path) -> None:
    place = put(tmp_path, run(), *passing("a"))
    page = Page(Followed(place))
    lock = acquire(locate(place).lock)
    try:
        assert page.ask()["running"]
    finally:
        lock.release()
    assert not page.ask()["running"]


def test_the_end_of_a_run_is_news_although_no_row_has_changed(tmp_path: Path) -> None:
    place = put(tmp_path, run(), *passing("a"))
    page = Page(Followed(place))
    page.ask()
    append(place, manifest(1), ended())
    told = page.ask()
    assert told["fresh"]
    assert told["report"]["verdict"] == "complete"
    assert page.columns["/case"] == {0: "a"}


def test_a_run_that_was_removed_is_an_error_that_says_so(tmp_path: Path) -> None:
    place = put(tmp_path / "run", run(), *passing("a"))
    followed = Followed(place)
    followed.advance()
    locate(place).journal.unlink()
    with pytest.raises(FileNotFoundError):
        followed.advance()
