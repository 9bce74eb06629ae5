"""The curve, on a terminal and as a picture: what is drawn, and that it can be read wherever it is shown."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.ramp.chart import chart, nice
from paceline.ramp.rows import Row
from paceline.ramp.svg import STYLE, picture
from paceline.ramp.verdict import Verdict, judge
from tests.ramp.rows import row

SVG = "{http://www.w3.org/2000/svg}"
CLIMB = [row(1), row(4), row(16), row(32, 9.0, rejected=40, rejected_share=0.4)]


def texts(drawn: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(drawn).iter(f"{SVG}text")]


def test_the_terminal_shows_each_level_at_its_throughput_and_its_failures() -> None:
    lines = chart(CLIMB)
    assert lines[0] == "share of calls that failed or were rejected, by level"
    assert any("40%" in line and "● 32" in line for line in lines)
    (bottom,) = [line for line in lines if "● 16" in line]
    assert "0%" in bottom
    assert bottom.index("● 4") < bottom.index("● 16")
    assert lines[-1].endswith("ok/s")
    assert max(map(len, lines)) <= 80


def test_where_nothing_fails_the_terminal_shows_how_long_answers_take() -> None:
    assert chart([row(1), row(2), row(4)])[0] == "p95 of an answer; no call failed, by level"


def test_plain_characters_are_enough() -> None:
    assert "".join(chart(CLIMB, fine=False)).isascii()


def test_one_level_is_no_curve() -> None:
    assert chart([row(1)]) == []
    assert chart([row(1), row(1, 0.5, paced=0.5)]) == []


def test_the_picture_has_a_point_and_a_name_for_each_level_and_marks_the_ceiling() -> None:
    verdict = judge(CLIMB)
    root = ET.fromstring(picture(CLIMB, verdict, suite="sums"))
    dots = [each for each in root.iter(f"{SVG}circle") if each.get("class") == "failed-dot"]
    assert len(dots) == 4
    highest = min(dots, key=lambda dot: float(dot.get("cy", "inf")))
    assert highest is dots[-1], "the only one with rejections"
    words = texts(picture(CLIMB, verdict, suite="sums"))
    assert {"1", "4", "16", "32", "Ramp of sums"} <= set(words)
    capped = Verdict(kind="concurrency", ceiling=16.0, window=16, ok_rate=8.0, measure="at once")
    assert "ceiling 8/s" in texts(picture(CLIMB, capped, suite="sums"))


def test_the_picture_is_readable_on_light_and_on_dark_paper() -> None:
    """Text against its paper, by the contrast that WCAG wants: 4.5 to 1."""
    light, _, dark = STYLE.partition("@media (prefers-color-scheme: dark)")
    for style in (light, dark):
        colours = {
            rule.split("{")[0].strip(): rule.split("fill: ")[1].split(";")[0]
            for rule in style.splitlines()
            if "fill: #" in rule
        }
        paper = colours[".paper"]
        for what in ("text", ".quiet", ".failed-text", ".slow-text", ".ceiling-text"):
            assert contrast(colours[what], paper) >= 4.5, what


def contrast(one: str, other: str) -> float:
    """As WCAG 2 reckons it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (
            each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_picture_needs_nothing_from_elsewhere() -> None:
    drawn = picture(CLIMB, judge(CLIMB), suite="sums")
    assert "<script" not in drawn
    assert drawn.count("http") == 1, "the name of the format itself"


@pytest.mark.parametrize(
    "suite", ['<script>alert("x")</script>', "a & b", "]]>", "\x1b[31m\x00", "\ud800", "…" * 500]
)
def test_names_of_others_do_no_harm_in_a_picture(suite: str) -> None:
    drawn = picture(CLIMB, judge(CLIMB), suite=suite)
    assert "<script" not in drawn
    ET.fromstring(drawn.encode())


@given(suite=st.text(), evidence=st.text())
def test_whatever_is_written_in_it_the_picture_is_xml(suite: str, evidence: str) -> None:
    verdict = Verdict(kind="concurrency", window=3, ceiling=3.0, ok_rate=1.5, evidence=evidence)
    ET.fromstring(picture(CLIMB, verdict, suite=suite).encode())


rates = st.just(0.0) | st.floats(1e-6, 1e6)
shares = st.floats(0, 1)


@given(
    st.lists(
        st.tuples(st.integers(1, 1000), rates, shares, shares), max_size=10, unique_by=lambda each: each[0]
    )
)
def test_whatever_was_measured_can_be_drawn(levels: list[tuple[int, float, float, float]]) -> None:
    rows: list[Row] = [
        row(level, rate or 0.01, error_share=errors, rejected_share=rejected)
        for level, rate, errors, rejected in sorted(levels)
    ]
    ET.fromstring(picture(rows, judge(rows), suite="any").encode())
    lines = chart(rows)
    assert all(len(line) <= 90 for line in lines)


@given(st.floats(1e-6, 1e9))
def test_an_axis_ends_at_or_a_little_above_what_it_shows(value: float) -> None:
    assert value * 0.999 <= nice(value) <= value * 10
