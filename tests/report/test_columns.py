"""Columns and the index behave like dicts and cost less."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from paceline.report.columns import Column, RowIndex

writes = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 5)), max_size=300)


@given(writes, st.booleans())
def test_a_column_holds_what_was_put_into_it(writes: list[tuple[int, int]], many: bool) -> None:
    column: Column[int] = Column("I", 0)
    expected: dict[int, int] = {}
    for row, value in [*((row, 9) for row in range(200 if many else 0)), *writes]:
        column[row] = value
        expected[row] = value
    assert [column[row] for row in range(400)] == [expected.get(row, 0) for row in range(400)]
    assert list(column.present()) == sorted((row, value) for row, value in expected.items() if value)


def test_a_value_that_is_discarded_is_missing_again() -> None:
    column: Column[float] = Column("d", 0.0)
    column[3] = 1.5
    column.discard(3)
    column.discard(99)
    assert list(column.present()) == []


def test_a_name_that_few_rows_have_does_not_cost_an_array() -> None:
    column: Column[float] = Column("d", 0.0)
    for row in range(0, 1_000_000, 50_000):
        column[row] = 1.0
    assert column._cells is None
    assert list(column.values()) == [1.0] * 20


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), max_size=2000))
def test_the_index_numbers_keys_in_the_order_they_come(hashes: list[int]) -> None:
    index, known = RowIndex(), dict[int, int]()
    for hashed in hashes:
        assert index.find(hashed) == known.get(hashed)
        assert index.find_or_add(hashed) == known.setdefault(hashed, len(known))
    assert len(index) == len(known)
    assert list(index.hashes) == list(known)


def test_the_index_stays_right_and_small_as_it_grows() -> None:
    index = RowIndex()
    hashes = [hash((f"case-{number}", 0, "")) for number in range(30_000)]
    assert [index.find_or_add(hashed) for hashed in hashes] == list(range(30_000))
    assert [index.find(hashed) for hashed in hashes] == list(range(30_000))
    assert sys.getsizeof(index._slots) + sys.getsizeof(index.hashes) < 30_000 * 30
