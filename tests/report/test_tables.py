"""Tables and the timeline on a terminal: within their width, with characters that the stream can show."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.journal.records import Line
from paceline.report import Report
from paceline.report.pen import Pen
from paceline.report.tables import sparkline
from tests.report.journals import Lines, begin, called, ended, failed, manifest, no, raw, run, scored, yes


def busy(*, name: str = "case", variant: str = "large") -> Report[Any, Any, Any]:
    """A run with all there is: variants, repeats, slices, calls, errors, waiting."""
    lines: list[Line] = []
    for number in range(12):
        for each in ("small", variant):
            for repeat in range(2):
                case = f"{name} {number}"
                key: dict[str, Any] = {"repeat": repeat, "variant": each}
                lines.append(begin(case, metadata=raw({"topic": f"{name} of {number % 2}"}), **key))
                lines.append(called(case, **key))
                how: dict[str, Any] = {"at": 1001.0 + number, "total": 1.5, "waited": 0.5, **key}
                ends = failed(case, **how) if number == 3 else scored(case, no() if repeat else yes(), **how)
                lines.append(ends)
    end = ended(at=1013.0, wall=13.0)
    return Report(Lines(run("Equals", repeat=2), *lines, manifest(48), end))


@pytest.mark.parametrize("width", [60, 80, 100])
def test_everything_stays_within_its_width(width: int) -> None:
    text = busy(name="a name that is long enough to fold", variant="openai:gpt-5.4-mini").render(
        width, by=["topic"]
    )
    if width >= 80:
        assert max(map(len, text.splitlines())) <= width
    assert "Timeline, 13.0 s" in text


def test_a_stream_that_knows_ascii_only_is_shown_nothing_else() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    busy(variant="größer").print(file=file, by=["topic"])
    file.seek(0)
    text = file.read()
    assert "in progress" in text
    assert "@" in text


def test_no_colour_means_anything_by_itself() -> None:
    assert "\x1b" not in busy().render(by=["topic"])


def test_hostile_names_disturb_no_terminal() -> None:
    text = busy(name="\x1b[31mred\x07", variant="\x1b]0;title\x07").render(by=["topic"])
    assert "\x1b" not in text
    assert "\x07" not in text


@given(st.lists(st.floats(0, 1e9), max_size=60), st.booleans())
def test_a_sparkline_has_a_character_for_each_value_and_rises_with_them(
    values: list[float], fine: bool
) -> None:
    line = sparkline(values, Pen("utf-8" if fine else "ascii"))
    assert len(line) == len(values)
    marks = " ▁▂▃▄▅▆▇█" if fine else " .:-=+*#@"
    heights = [marks.index(mark) for mark in line]
    assert all((height == 0) is (value == 0) for height, value in zip(heights, values, strict=True))
    for (one, low), (other, high) in zip(
        sorted(zip(values, heights, strict=True)), sorted(zip(values, heights, strict=True))[1:], strict=False
    ):
        assert one <= other
        assert low <= high
