"""Slices: a run by what its cases say in a field, each with what stands behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from paceline import Case, Dataset
from paceline.errors import UsageError
from paceline.journal.records import Line
from paceline.report import Report
from paceline.report.figures import FieldFigures, SliceFigures
from paceline.statistics.proportions import clustered, wilson
from paceline.statistics.several import benjamini_hochberg
from paceline.statistics.unpaired import fisher
from tests.report.journals import Lines, begin, ended, failed, manifest, no, raw, run, says, scored, yes


def asked(case: str, metadata: object = None, **fields: Any) -> Line:
    return begin(case, **({} if metadata is None else {"metadata": raw(metadata)}), **fields)


def case(name: str, metadata: object, *, passed: bool = True, **fields: Any) -> list[Line]:
    return [asked(name, metadata, **fields), scored(name, yes() if passed else no(), **fields)]


def report(*lines: Line, keys: int, repeat: int = 1) -> Report[Any, Any, Any]:
    return Report(Lines(run("Equals", repeat=repeat), *lines, manifest(keys), ended()))


def topics(**numbers: tuple[int, int]) -> Report[Any, Any, Any]:
    """So many of so many passed, by topic."""
    lines = [
        line
        for topic, (passed, n) in numbers.items()
        for number in range(n)
        for line in case(f"{topic} {number}", {"topic": topic}, passed=number < passed)
    ]
    return report(*lines, keys=sum(n for _, n in numbers.values()))


def by_value(found: FieldFigures) -> dict[str | None, SliceFigures]:
    return {each.value: each for each in found.slices}


def test_each_slice_has_its_rate_and_interval() -> None:
    found = by_value(topics(algebra=(9, 12), logic=(5, 20)).by("topic"))
    assert list(found) == ["algebra", "logic"]
    assert (found["algebra"].passed.count, found["algebra"].passed.of) == (9, 12)
    assert found["algebra"].passed.interval == wilson(9, 12)
    assert found["logic"].passed.interval == wilson(5, 20)


def test_failures_count_as_failures_in_every_slice() -> None:
    lines = [*case("a", {"topic": "x"}), asked("b", {"topic": "x"}), failed("b"), asked("c", {"topic": "x"})]
    (found,) = report(*lines, keys=3).by("topic").slices
    assert (found.passed.count, found.passed.of, found.passed.interval) == (1, 3, None)
    assert (found.n, found.n_scored, found.n_failed, found.n_open, found.n_not_run) == (2, 1, 1, 1, 1)
    assert found.error_rate == 0.5


def test_slices_of_fewer_than_ten_cases_are_marked_and_not_tested() -> None:
    found = by_value(topics(many=(10, 10), few=(0, 9)).by("topic"))
    assert (found["many"].few, found["few"].few) == (False, True)
    assert found["few"].p is None
    assert found["many"].p is not None


def test_ten_tries_of_two_cases_are_few() -> None:
    lines = [line for repeat in range(5) for name in "ab" for line in case(name, {"t": "x"}, repeat=repeat)]
    (found,) = report(*lines, keys=10, repeat=5).by("t").slices
    assert (found.n, found.n_cases, found.few) == (10, 2, True)


def test_each_slice_is_held_against_the_others_and_adjusted_for_how_many_there_are() -> None:
    found = by_value(topics(a=(5, 20), b=(18, 20), c=(17, 20)).by("topic"))
    ps = [fisher(5, 20, 35, 40), fisher(18, 20, 22, 40), fisher(17, 20, 23, 40)]
    assert [each.p for each in found.values()] == pytest.approx(ps)
    assert [each.p_adjusted for each in found.values()] == pytest.approx(benjamini_hochberg(ps))


def test_repeats_hang_together_in_slices_too() -> None:
    lines = [
        line
        for repeat in range(4)
        for number in range(20)
        for line in case(f"c{number}", {"half": number % 2}, passed=number % 4 == 0, repeat=repeat)
    ]
    found = by_value(report(*lines, keys=80, repeat=4).by("half"))
    assert found["0"].passed.interval == clustered([(4, 4)] * 5 + [(0, 4)] * 5)
    assert found["0"].p == pytest.approx(fisher(5, 10, 0, 10))


def test_variants_are_sliced_apart_and_held_against_their_own() -> None:
    lines = [
        line
        for variant, least in (("small", 15), ("large", 0))
        for number in range(20)
        for line in case(f"c{number}", {"half": number // 10}, passed=number >= least, variant=variant)
    ]
    found = report(*lines, keys=40).by("half").slices
    assert [(each.variant, each.value, each.passed.count) for each in found] == [
        ("small", "0", 0),
        ("small", "1", 5),
        ("large", "0", 10),
        ("large", "1", 10),
    ]
    assert found[0].p == pytest.approx(fisher(0, 10, 5, 10))
    assert found[2].p == 1.0


def test_scores_have_a_mean_and_an_interval_in_each_slice() -> None:
    lines = [
        line
        for number, value in enumerate([0.2, 0.4, 0.6])
        for line in (asked(f"c{number}", {"topic": "x"}), scored(f"c{number}", says(value)))
    ]
    (found,) = report(*lines, keys=3).by("topic").slices
    assert found.scores["Similarity"].n == 3
    assert found.scores["Similarity"].mean == pytest.approx(0.4)
    assert found.scores["Similarity"].interval is not None
    assert found.passed.rate is None


def test_a_slice_in_which_nothing_is_asserted_has_no_pass_rate_whatever_failed() -> None:
    lines = [
        *case("a", {"topic": "x"}),
        *(asked("b", {"topic": "y"}), scored("b")),
        *(asked("c", {"topic": "y"}), failed("c")),
    ]
    found = by_value(report(*lines, keys=3).by("topic"))
    assert (found["x"].passed.rate, found["y"].passed.rate) == (1.0, None)
    assert (found["y"].n_scored, found["y"].n_failed) == (1, 1)


# Fields


def test_values_of_any_kind_are_words_in_their_natural_order() -> None:
    values = [10, 2, True, None, "ten", [1, 2], {"deep": 1}]
    lines = [line for number, value in enumerate(values) for line in case(f"c{number}", {"v": value})]
    found = report(*lines, keys=len(values)).by("v")
    assert [each.value for each in found.slices] == ["2", "10", "[1,2]", "ten", "true", '{"deep":1}', None]
    assert found.n_values == 6


def test_a_dotted_name_goes_into_mappings_unless_it_is_a_name_itself() -> None:
    lines = [
        *case("a", {"origin": {"year": 2024}}),
        *case("b", {"origin.year": "by name"}),
        *case("c", {"origin": "a word"}),
    ]
    assert list(by_value(report(*lines, keys=3).by("origin.year"))) == ["2024", "by name", None]


def test_metadata_of_a_class_is_read_by_its_fields() -> None:
    @dataclass
    class Meta:
        topic: str

    dataset = Dataset[str, str, Meta](
        cases=[Case(name=name, inputs=name, metadata=Meta(topic=name.upper())) for name in "ab"]
    )
    found = dataset.evaluate_sync(lambda text: text, journal=False, progress=False).by("topic")
    assert [each.value for each in found.slices] == ["A", "B"]


def test_a_field_that_no_case_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no case says anything in the field 'topics'") as refused:
        topics(algebra=(1, 1)).by("topics")
    assert refused.value.hint == "there is topic"
    with pytest.raises(UsageError) as refused:
        report(*case("a", None), keys=1).by("topic")
    assert refused.value.hint == "the cases of this run have no metadata with fields"


def test_more_values_than_are_listed_are_counted() -> None:
    lines = [line for number in range(60) for line in case(f"c{number}", {"id": number})]
    found = report(*lines, keys=60).by("id")
    assert (len(found.slices), found.n_values, found.n_left_out) == (50, 60, 10)


# Clusters


def test_intervals_go_by_a_field_where_one_asks_for_it() -> None:
    """Four questions on each of six passages: they pass or fail together."""
    lines = [
        line
        for number in range(24)
        for line in case(f"c{number}", {"passage": number // 4}, passed=number // 4 < 3)
    ]
    plain = report(*lines, keys=24)
    careful = plain.clustered("passage")
    assert plain.figures.passed.interval == wilson(12, 24)
    assert careful.figures.passed.interval == clustered([(4, 4)] * 3 + [(0, 4)] * 3)
    assert careful.figures.passed.rate == plain.figures.passed.rate
    assert careful.to_dict()["clustered_by"] == "passage"
    assert plain.to_dict()["clustered_by"] is None
    assert "Intervals go by passage" in careful.render()


def test_cases_that_say_nothing_in_the_field_stand_for_themselves() -> None:
    lines = [
        *case("a", {"passage": 1}),
        *case("b", {"passage": 1}, passed=False),
        *case("c", None),
        *case("d", None),
    ]
    interval = report(*lines, keys=4).clustered("passage").figures.passed.interval
    assert interval == clustered([(1, 2), (1, 1), (1, 1)])


# As told


def test_the_document_has_the_slices_that_were_asked_for() -> None:
    found = topics(algebra=(9, 12), logic=(5, 20))
    told = found.to_dict(by=["topic"])["slices"]
    assert list(told) == ["topic"]
    assert [each["value"] for each in told["topic"]["slices"]] == ["algebra", "logic"]
    assert told["topic"]["slices"][0]["pass_rate"] == 0.75
    assert found.to_dict()["slices"] == {}
    assert found.to_dict(by="topic") == found.to_dict(by=["topic"])
    assert found.render(by="topic") == found.render(by=["topic"])


def test_the_table_marks_what_is_few_and_what_differs() -> None:
    text = topics(algebra=(2, 20), logic=(18, 20), other=(3, 4)).render(80, by=["topic"], include_cases=False)
    lines = [line for line in text.splitlines() if line.startswith((" algebra", " logic", " other"))]
    assert [line.split()[-2:] for line in lines] == [["*", "<0.001"], ["*", "<0.001"], ["3/4", "few"]]
    words = " ".join(text.split())
    assert "few: fewer than 10 different cases" in words
    assert "* differs from the other cases; p for the 2 slices tested, adjusted" in words
    assert max(map(len, text.splitlines())) <= 80


def test_the_table_says_where_nothing_differs() -> None:
    text = " ".join(topics(a=(8, 12), b=(9, 12)).render(by=["topic"]).split())
    assert "No slice differs from the other cases by more than chance may do" in text
