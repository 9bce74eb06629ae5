"""Columns: paths into rows, and what counts as a number."""

from __future__ import annotations

from typing import Any

import pytest

from paceline.calibration.columns import (
    NOTHING,
    as_number,
    check_column,
    columns_of,
    reach,
    read_levels,
    without,
)
from paceline.dataset.fields import Refused
from paceline.errors import UsageError

ROW: dict[str, Any] = {"scores": {"overall": 4, "by": [1, None]}, "a.b": 2, "text": "hello"}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("scores.overall", 4),
        ("scores.by.0", 1),
        ("scores.by.1", None),
        ("a.b", 2),
        ("scores.by.2", NOTHING),
        ("scores.none", NOTHING),
        ("text.x", NOTHING),
    ],
)
def test_a_column_is_a_field_or_a_path_into_one(column: str, value: object) -> None:
    assert reach(ROW, column) is value


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        (3, 3.0),
        (0.5, 0.5),
        (True, 1.0),
        (False, 0.0),
        ("4", 4.0),
        (" 4.5 ", 4.5),
        ("yes", 1.0),
        ("Fail", 0.0),
        ("", None),
        ("  ", None),
        (None, None),
    ],
)
def test_numbers_truths_and_empty_cells_are_understood(cell: object, number: float | None) -> None:
    assert as_number(cell, {}) == number


@pytest.mark.parametrize(
    "cell", ["nan", "inf", float("nan"), float("-inf"), 10**400, "good", [3], {"x": 1}, "n/a"]
)
def test_anything_else_is_refused_with_a_remedy(cell: object) -> None:
    with pytest.raises(Refused) as refused:
        as_number(cell, {})
    assert refused.value.hint


def test_words_in_an_order_are_their_places_in_it() -> None:
    levels = read_levels("bad, fair,good")
    assert [as_number(word, levels) for word in ("bad", "fair", "good")] == [0.0, 1.0, 2.0]
    with pytest.raises(Refused, match="not among the levels"):
        as_number("great", levels)
    for written in ("good", "a,a", "a,,b", ""):
        with pytest.raises(UsageError, match="no scale"):
            read_levels(written)
    assert read_levels(None) == {}


def test_a_column_that_no_row_has_is_refused_and_the_nearest_is_named() -> None:
    rows = [("labels.json, item 1", ROW)]
    with pytest.raises(UsageError) as refused:
        check_column("scores.overal", "--human-column", rows, "labels.json")
    assert "did you mean scores.overall?" in str(refused.value)
    assert refused.value.hint.startswith("--human-column names one of: scores.overall, a.b")


def test_columns_of_numbers_are_named_first() -> None:
    assert columns_of([{"text": "a", "score": 1}, {"deep": {"er": 2.0}}]) == ["score", "deep.er", "text"]


def test_a_row_without_some_columns_is_a_copy() -> None:
    left = without(ROW, ["scores.overall", "a.b", "nowhere.at.all"])
    assert left == {"scores": {"by": [1, None]}, "text": "hello"}
    assert ROW["scores"]["overall"] == 4
    assert without(ROW, ["scores.by.0"])["scores"]["by"] == [None, None]
