"""Stability: which cases come out the same each time, and whose doing it is where they do not."""

from __future__ import annotations

from typing import Any

import pytest

from paceline.journal.records import Line
from paceline.report import Report
from paceline.report.figures import RepeatFigures
from tests.report.journals import Lines, begin, ended, failed, manifest, mute, no, run, scored, yes


def a_try(case: str, repeat: int, came: str, variant: str = "") -> list[Line]:
    """How one try of a case came out: `+` passed, `-` not, `e` task error, `t` timeout, `i` infrastructure,
    `j` a judge that broke, `?` nothing asserted, `x` not run."""
    key: dict[str, Any] = {"repeat": repeat, "variant": variant}
    ends: dict[str, Line] = {
        "+": scored(case, yes(), **key),
        "-": scored(case, no(), **key),
        "e": failed(case, **key),
        "t": failed(case, "timeout", **key),
        "i": failed(case, "infra_error", **key),
        "j": scored(case, outcome="evaluator_error", failures=[mute()], **key),
        "?": scored(case, **key),
        "x": failed(case, "skipped_budget", **key),
    }
    return [begin(case, **key), ends[came]]


def report(cases: dict[str, str], variant: str = "") -> Report[Any, Any, Any]:
    lines = [
        line
        for case, tries in cases.items()
        for repeat, came in enumerate(tries)
        for line in a_try(case, repeat, came, variant)
    ]
    keys = sum(map(len, cases.values()))
    most = max(map(len, cases.values()))
    return Report(Lines(run("Equals", repeat=most), *lines, manifest(keys), ended()))


def repeats(cases: dict[str, str]) -> RepeatFigures:
    found = report(cases).figures.repeats
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("tries", "stability"),
    [
        ("+++", "stable_pass"),
        ("---", "stable_fail"),
        ("-et", "stable_fail"),
        ("+-+", "flaky"),
        ("++e", "flaky"),
        ("++t", "flaky"),
        ("++i", "infrastructure"),
        ("++j", "infrastructure"),
        ("--i", "infrastructure"),
        ("iii", "infrastructure"),
        ("+-i", "flaky"),
        ("+??", "unknown"),
        ("+xx", "unknown"),
        ("???", "unknown"),
    ],
)
def test_a_case_is_what_its_tries_say(tries: str, stability: str) -> None:
    classes = repeats({"a": tries, "b": "+++"}).classes
    assert classes[stability] == 1 + (stability == "stable_pass")
    assert sum(classes.values()) == 2


def test_each_case_tells_how_many_of_its_tries_passed() -> None:
    groups = report({"a": "+-+", "b": "+ij"}).case_groups()
    assert groups is not None
    told = [(group.name, group.passed, group.tries, group.stability) for group in groups]
    assert told == [("a", 2, 3, "flaky"), ("b", 1, 1, "infrastructure")]


def test_the_most_evenly_split_cases_come_first() -> None:
    found = repeats({"mostly": "+++-", "evenly": "+-+-", "never": "----", "rarely": "---+"})
    assert [(each.case, each.passed, each.tries) for each in found.flaky] == [
        ("evenly", 2, 4),
        ("mostly", 3, 4),
        ("rarely", 1, 4),
    ]


def test_flaky_cases_that_are_not_listed_are_counted() -> None:
    found = repeats({f"c{number}": "+-" for number in range(60)})
    assert (len(found.flaky), found.n_left_out) == (50, 10)


def test_two_tries_differ_as_often_as_is_estimated_without_bias() -> None:
    found = repeats({"a": "++--", "b": "++++", "c": "+"})
    assert found.n_flip == 2
    assert found.flip_rate == pytest.approx((2 * 2 * 2 / (4 * 3) + 0) / 2)


def test_variants_are_told_apart() -> None:
    lines = [
        *a_try("a", 0, "+", "x"),
        *a_try("a", 1, "+", "x"),
        *a_try("a", 0, "-", "y"),
        *a_try("a", 1, "-", "y"),
    ]
    found = Report(Lines(run("Equals", repeat=2), *lines, manifest(4), ended())).figures.repeats
    assert found is not None
    assert (found.classes["stable_pass"], found.classes["stable_fail"], found.flaky) == (1, 1, [])


def test_without_repeats_nothing_is_said() -> None:
    assert report({"a": "+", "b": "-"}).figures.repeats is None
    once = [*a_try("a", 0, "+", "x"), *a_try("a", 0, "-", "y")]
    assert Report(Lines(run("Equals"), *once, manifest(2), ended())).figures.repeats is None


def test_a_report_says_how_stable_the_cases_are() -> None:
    text = report({"a": "+++", "b": "+-+", "c": "---", "d": "+i+"}).render()
    assert "1 stable pass, 1 flaky, 1 stable fail, 1 infrastructure, of 4 cases" in " ".join(text.split())
    assert " b           2 of 3 tries" in text
