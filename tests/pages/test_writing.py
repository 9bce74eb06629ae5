"""A page is written whole or not at all, to whatever place it is meant for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.errors import UsageError
from paceline.pages.packing import block
from paceline.pages.writing import write_page

MAIN = "report/main.mjs"


def test_what_the_program_needs_stands_before_it_and_the_rest_behind(tmp_path: Path) -> None:
    path = write_page(
        tmp_path / "x.html",
        MAIN,
        title="A run",
        facts=[("Pass rate", "50 %")],
        before=[b"<!--1-->"],
        after=[b"<!--2-->"],
    )
    text = path.read_text()
    places = [
        text.index(part) for part in ("<title>A run", "50 %", "<!--1-->", "<script>", "<!--2-->", "</html>")
    ]
    assert places == sorted(places)


def test_a_page_that_cannot_be_finished_leaves_the_one_before_alone(tmp_path: Path) -> None:
    place = tmp_path / "report.html"
    place.write_text("before")

    def blocks() -> Iterator[bytes]:
        yield block("a", b"x")
        raise OSError(28, "No space left on device")

    with pytest.raises(UsageError, match="No space left on device"):
        write_page(place, MAIN, title="", after=blocks())
    assert place.read_text() == "before"
    assert list(tmp_path.iterdir()) == [place]


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    def blocks() -> Iterator[bytes]:
        yield block("a", b"x")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_page(tmp_path / "report.html", MAIN, title="", before=blocks())
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere" / "report.html"):
        with pytest.raises(UsageError, match="cannot be written"):
            write_page(place, MAIN, title="")


def test_the_file_may_be_read_by_whom_the_umask_allows(tmp_path: Path) -> None:
    path = write_page(tmp_path / "report.html", MAIN, title="")
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_link_is_followed_and_a_device_written_to(tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to(tmp_path / "there.html")
    write_page(tmp_path / "link.html", MAIN, title="")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "there.html").read_text().endswith("</html>\n")
    write_page(Path(os.devnull), MAIN, title="")
    assert Path(os.devnull).is_char_device()
