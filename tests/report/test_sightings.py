"""Sightings: what is on record of each key, a failure and an unknown price as what they are."""

from __future__ import annotations

from paceline import Report
from paceline.report.sightings import Sighting
from tests.report.journals import Lines, begin, called, failed, run, says, scored, yes


def seen(*lines: object) -> dict[str, Sighting]:
    report = Report.read(Lines(run("Equals"), *lines))  # type: ignore[arg-type]  # lines
    return {str(each.key): each for each in report.sightings()}


def test_a_key_has_its_outcome_its_results_and_what_it_asks() -> None:
    found = seen(
        begin("a", repeat=1), scored("a", yes(), says(0.5), repeat=1), begin("b"), failed("b"), begin("c")
    )
    a, b, c = found["a [2]"], found["b"], found["c"]
    assert (a.outcome, a.passed, a.seconds, a.content) == ("scored", True, 1.0, "content of a")
    assert (a.assertions, a.scores) == ({"Equals": True}, {"Similarity": 0.5})
    assert (b.outcome, b.passed, b.seconds, b.assertions) == ("task_error", False, None, {})
    assert (c.outcome, c.passed) == (None, None)


def test_costs_are_those_of_the_task_and_unknown_where_one_of_them_is() -> None:
    found = seen(
        begin("a"),
        called("a", price=0.25),
        called("a", price=0.5),
        called("a", price=9.0, by="Judge"),
        scored("a"),
        begin("b"),
        called("b", price=None),
        called("b", price=1.0),
        scored("b"),
        begin("c"),
        scored("c"),
    )
    assert [each.cost for each in found.values()] == [0.75, None, None]
