"""Rows stream: each becomes a case, and what is wrong with any of them is said before anything runs."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.dataset import streams
from paceline.dataset.case import Case
from paceline.dataset.fields import ALIASES
from paceline.dataset.identity import identify
from paceline.dataset.rows import RowFile, is_row_file
from paceline.dataset.spec import EvaluatorSpec
from paceline.errors import DatasetError

Write = Callable[..., RowFile]


@pytest.fixture
def rows(tmp_path: Path) -> Write:
    """A file of rows: of text, bytes, or objects to be written as JSONL."""

    def write(content: str | bytes | list[Any], name: str = "rows.jsonl", **options: Any) -> RowFile:
        path = tmp_path / name
        if isinstance(content, list):
            content = "".join(json.dumps(row) + "\n" for row in content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return RowFile(path, **options)

    return write


def refusal(file: RowFile) -> str:
    """What `check` says, with the folder of the file left out."""
    with pytest.raises(DatasetError) as caught:
        file.check()
    assert caught.value.hint
    return f"{caught.value}\n{caught.value.hint}".replace(f"{file.path.parent}{os.sep}", "")


# ---- which field is what ----


@pytest.mark.parametrize("part", ["name", "inputs", "expected_output"])
def test_the_names_that_people_have_are_known(rows: Write, part: str) -> None:
    for alias in ALIASES[part]:
        row = {"input": "q"} if part != "inputs" else {}
        (case,) = rows([{**row, alias: "x"}])
        assert getattr(case, part) == "x"
        assert case.metadata is None


def test_all_other_fields_are_metadata(rows: Write) -> None:
    read = rows([{"id": "a", "input": "q", "topic": "t", "metadata": {"k": 1}, "n": 2}])
    assert list(read) == [Case(name="a", inputs="q", metadata={"k": 1, "topic": "t", "n": 2})]


@pytest.mark.parametrize(
    ("row", "metadata"),
    [
        ({}, None),
        ({"metadata": None}, None),
        ({"metadata": "easy"}, "easy"),
        ({"metadata": "easy", "n": 1}, {"metadata": "easy", "n": 1}),
        ({"metadata": None, "n": 1}, {"n": 1}),
        ({"metadata": {}}, {}),
    ],
)
def test_metadata_may_be_anything(rows: Write, row: dict[str, Any], metadata: object) -> None:
    assert [case.metadata for case in rows([{"input": 1, **row}])] == [metadata]


def test_rows_may_differ_in_their_fields(rows: Write) -> None:
    read = rows([{"input": 1, "expected": 2}, {"question": 3, "name": "b", "more": 4}])
    assert list(read) == [Case(inputs=1, expected_output=2), Case(name="b", inputs=3, metadata={"more": 4})]


def test_two_fields_for_one_part_are_not_guessed_about(rows: Write) -> None:
    said = refusal(rows([{"input": 1, "prompt": 2, "id": "a", "name": "b"}]))
    assert "rows.jsonl:1: both 'input' and 'prompt' could be the inputs" in said
    assert "--map inputs=input" in said
    read = rows(
        [{"input": 1, "prompt": 2, "id": "a", "name": "b"}], mapping={"inputs": "prompt", "name": "id"}
    )
    assert list(read) == [Case(name="a", inputs=2, metadata={"input": 1, "name": "b"})]


def test_a_mapping_may_lead_into_fields_and_take_several(rows: Write) -> None:
    row = {"q": "?", "ctx": {"docs": ["d0", "d1"]}, "gold": {"answer": 42, "why": "w"}, "a.b": 1}
    mapping = {"input": "q,ctx.docs.1", "expected": "gold.answer", "id": "a.b"}
    assert list(rows([row], mapping=mapping)) == [
        Case(
            name="1",
            inputs={"q": "?", "ctx.docs.1": "d1"},
            expected_output=42,
            metadata={"ctx": row["ctx"], "gold": row["gold"]},
        )
    ]
    assert list(rows([row], mapping={"inputs": "q", "metadata": "gold.why"})) == [
        Case(inputs="?", metadata="w")
    ]
    assert list(rows([row], mapping={"inputs": "q", "metadata": "q,a.b"})) == [
        Case(inputs="?", metadata={"q": "?", "a.b": 1})
    ]


def test_a_mapped_field_that_some_rows_lack_is_nothing_there_and_an_error_where_all_lack_it(
    rows: Write,
) -> None:
    sparse = [{"input": 1, "gold": {"answer": 2}}, {"input": 3, "gold": {}}, {"input": 4}]
    read = rows(sparse, mapping={"expected_output": "gold.answer"})
    assert [case.expected_output for case in read] == [2, None, None]
    assert read.check().expected == 1
    said = refusal(rows(sparse, mapping={"expected_output": "gold.anser"}))
    assert "'gold.anser', mapped to the expected_output, is there in no row" in said


@pytest.mark.parametrize("row", [{"x": 1}, {"q": {"y": 1}}, {"q": [1]}, {"q": 1}])
def test_mapped_inputs_have_to_be_there_in_every_row(rows: Write, row: dict[str, Any]) -> None:
    said = refusal(rows([{"q": {"x": 1}}, row], mapping={"inputs": "q.x"}))
    assert "rows.jsonl:2: there is no field 'q.x' to be the inputs" in said


@pytest.mark.parametrize(
    "mapping",
    [{"nmae": "x"}, {"inputs": ""}, {"inputs": "a,,b"}, {"inputs": 3}, {"input": "a", "inputs": "b"}],
)
def test_a_mapping_that_makes_no_sense_is_refused_at_once(rows: Write, mapping: Any) -> None:
    with pytest.raises(DatasetError) as caught:
        rows([{"input": 1}], mapping=mapping)
    assert caught.value.hint


def test_evaluators_of_a_row_know_their_line(rows: Write) -> None:
    read = rows([{"input": 1}, {"input": 2, "evaluators": ["EqualsExpected", {"Contains": "x"}]}])
    first, second = read
    assert first.evaluators == ()
    assert second.evaluators == (
        EvaluatorSpec(name="EqualsExpected", keywords={}),
        EvaluatorSpec(name="Contains", positional=("x",), keywords={}),
    )
    assert [getattr(spec, "where", "") for spec in second.evaluators] == [f"{read.path}:2"] * 2


# ---- JSONL ----


def test_blank_lines_marks_and_windows_line_ends_make_no_difference(rows: Write) -> None:
    read = rows(b'\xef\xbb\xbf{"input": 1}\r\n\r\n   \n{"input": 2}')
    assert list(read) == [Case(inputs=1), Case(inputs=2)]
    assert read.check().n == 2


def test_what_python_writes_beyond_json_is_read(rows: Write) -> None:
    read = rows('{"input": Infinity, "expected": "\\ud800"}\n')
    assert list(read) == [Case(inputs=float("inf"), expected_output="\ud800")]


@pytest.mark.parametrize("name", ["rows.jsonl.gz", "rows.jsonl", "rows.ndjson"])
def test_a_compressed_file_is_known_by_its_content(rows: Write, name: str) -> None:
    assert list(rows(gzip.compress(b'{"input": 1}\n{"input": 2}\n'), name)) == [
        Case(inputs=1),
        Case(inputs=2),
    ]


def test_all_that_is_wrong_is_said_at_once_with_line_and_remedy(rows: Write) -> None:
    lines = [
        b'{"input": 1, "id": "same"}',
        b'{"input": "\xff"}',
        b"[1]",
        b'{"input": ',
        b"[" * 3000,
        b'{"id": "a\\nb", "input": 1}',
        b'{"id": 1.5, "input": 1}',
        b'{"input": 1, "evaluators": [1]}',
        b'{"input": 1, "evaluators": "x"}',
        b'{"input": 1, "metadata": {"n": 1}, "n": 2}',
        b'{"inptu": 1}',
        b'{"inptu": 2}',
        b'{"input": 1, "id": "same"}',
    ]
    said = refusal(rows(b"\n".join(lines)))
    expected = [
        "11 problems with the dataset:",
        "rows.jsonl:2: not UTF-8, from byte 12 of the line",
        "rows.jsonl:3: a row is a list, not an object",
        "rows.jsonl:4: not JSON: Expecting value, column 10",
        "rows.jsonl:5: nested too deep to be read",
        "rows.jsonl:6: its name has the character '\\n' in it: 'a\\nb'",
        "rows.jsonl:7: its name is 1.5, not text",
        "rows.jsonl:8: 1 is not an evaluator",
        "rows.jsonl:9: its evaluators are 'x', not a list",
        "rows.jsonl:10: 'n' stands both in the row and in its metadata",
        "rows.jsonl:11: no field is the inputs; its fields: inptu",
        "rows.jsonl:13: a second case is named 'same'; the first: line 1",
    ]
    assert [line for line in expected if line not in said] == []


def test_of_many_problems_the_first_twenty_are_said(rows: Write) -> None:
    said = refusal(rows("{\n" * 1000))
    assert "the first 20 problems" in said
    assert "rows.jsonl:20:" in said
    assert "rows.jsonl:21:" not in said


def test_going_through_an_unchecked_file_stops_at_what_is_wrong(rows: Write) -> None:
    cases = iter(rows('{"input": 1}\n{"x": 1}\n'))
    assert next(cases) == Case(inputs=1)
    with pytest.raises(DatasetError, match=r"rows\.jsonl:2: no field is the inputs"):
        next(cases)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "rows.jsonl: there are no cases"),
        (b"\n \n", "rows.jsonl: there are no cases"),
        (b'[{"input": 1}]', "jq -c '.[]'"),
        (b"\xff\xfe{\x00}\x00", "rows.jsonl:1: not UTF-8"),
        (b"\x1f\x8b\x08\x00nonsense", "rows.jsonl:1: cannot be read further"),
        (gzip.compress(b'{"input": 1}\n' * 9, mtime=0)[:-9], "cannot be read further"),
        (b'{"input": ' + b"9" * 5000 + b"}", "rows.jsonl:1: not readable"),
        (b"\x00" * 100, "rows.jsonl:1: not JSON"),
    ],
)
def test_a_file_that_is_no_rows_is_named(rows: Write, content: bytes, said: str) -> None:
    assert said in refusal(rows(content))


def test_a_file_that_is_not_there_or_of_no_known_kind_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="there is no such file"):
        RowFile(tmp_path / "x.jsonl").check()
    (tmp_path / "d.jsonl").mkdir()
    with pytest.raises(DatasetError, match=r"d\.jsonl"):
        RowFile(tmp_path / "d.jsonl").check()
    with pytest.raises(DatasetError, match="JSONL or CSV"):
        RowFile(tmp_path / "x.parquet")
    assert is_row_file("a/b.jsonl.gz")
    assert is_row_file("b.TSV")
    assert not is_row_file("b.yaml")


def test_a_line_without_end_is_not_taken_into_memory(rows: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_LINE", 1 << 20)
    bomb = gzip.compress(b"x" * (64 << 20))
    file = rows(b'{"input": 1}\n' + b"", "fine.jsonl")
    assert file.check().n == 1
    tracemalloc.start()
    said = refusal(rows(bomb, "bomb.jsonl.gz"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "bomb.jsonl.gz:1: the line has more than 1 MiB" in said
    assert peak < 16 << 20


def test_a_long_line_is_a_row_like_any_other(rows: Write) -> None:
    text = "é" * 5_000_000
    (case,) = rows([{"input": text}])
    assert case.inputs == text


GARBAGE = st.binary(max_size=200) | st.lists(
    st.sampled_from(
        [
            b'{"input":',
            b'"id":"a"',
            b"1",
            b",",
            b"}",
            b"\n",
            b"[",
            b"]",
            b'"',
            b"\\",
            b"\0",
            b"\xff",
            b"null",
            b"\r",
        ]
    ),
    max_size=30,
).map(b"".join)


@given(GARBAGE, st.sampled_from(["jsonl", "csv", "tsv"]), st.booleans())
def test_any_bytes_at_all_give_cases_or_a_dataset_error(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes, fmt: Any, compressed: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "garbage.rows"
    path.write_bytes(gzip.compress(raw)[: len(raw) + 10] if compressed else raw)
    file = RowFile(path, fmt=fmt)
    try:
        summary = file.check()
    except DatasetError as error:
        said = error
    else:
        assert len(list(file.names())) == summary.n > 0
        return
    assert said.hint
    assert str(path) in str(said)


# ---- CSV ----


def test_a_table_becomes_cases(rows: Write) -> None:
    text = 'id,question,answer,topic\r\n1,"What, exactly,\nis it?",,a\r\n\r\n,"He said ""yes""",Paris,\r\n'
    assert list(rows(text, "rows.csv")) == [
        Case(name="1", inputs="What, exactly,\nis it?", metadata={"topic": "a"}),
        Case(inputs='He said "yes"', expected_output="Paris", metadata={"topic": ""}),
    ]


def test_a_table_may_be_separated_by_tabs_and_have_an_index(rows: Write) -> None:
    assert list(rows("\tinput\n0\ta,b\n", "rows.tsv")) == [Case(inputs="a,b", metadata={"column_1": "0"})]


def test_a_cell_may_hold_a_long_text(rows: Write) -> None:
    (case,) = rows(b'\xef\xbb\xbfinput\n"' + b"x" * 300_000 + b'"\n', "rows.csv")
    assert len(case.inputs) == 300_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('id,input\n1,"a\nb"\n2\n', "rows.csv:4: 1 cells, where the first row has 2"),
        ("id,input\n1,a,b\n", "rows.csv:2: 3 cells, where the first row has 2"),
        ('id,input\n1,a\n2,"b\n3,c\n', "rows.csv:3: not CSV: unexpected end of data"),
        ('input\n"a"b\n', "rows.csv:2: not CSV"),
        ("input;id\na;1\n", "rows.csv:1: the cells are not separated by commas"),
        ("input,input\n", "rows.csv:1: two columns are named 'input'"),
        ("id,input\n", "rows.csv: there are no cases"),
        ("id,input\na,1\na,2\n", "rows.csv:3: a second case is named 'a'; the first: line 2"),
        ("input,evaluators\n1,x\n", "rows.csv:2: the cells of a table cannot hold evaluators"),
        (b"input\na\n\xff\n", "rows.csv:3: not UTF-8"),
    ],
)
def test_a_table_that_cannot_be_read_is_named_with_its_line(
    rows: Write, text: str | bytes, said: str
) -> None:
    assert said in refusal(rows(text, "rows.csv"))


# ---- checking, naming, changing ----


def test_a_check_counts_what_there_is(rows: Write) -> None:
    told: list[tuple[int, float]] = []
    read = rows([{"id": n, "input": n, "expected": n} for n in range(30_000)] + [{"input": "x"}])
    summary = read.check(lambda count, share: told.append((count, share)))
    assert (summary.n, summary.named, summary.expected) == (30_001, 30_000, 30_000)
    assert len(read) == 30_001
    assert [count for count, _ in told] == [20_000]
    assert 0 < told[0][1] <= 1


def test_the_digest_is_of_the_content_however_it_is_stored(rows: Write) -> None:
    content = b'{"input": 1}\n'
    assert rows(content).check().digest == rows(gzip.compress(content), "packed.jsonl.gz").check().digest
    assert rows(content).check().digest != rows(content + b"\n", "other.jsonl").check().digest


ROWS = st.lists(
    st.fixed_dictionaries(
        {"input": st.integers(0, 3)}, optional={"id": st.integers(), "expected": st.integers(0, 1)}
    ),
    min_size=1,
    max_size=20,
    unique_by=lambda row: row.get("id", object()),
)


@given(ROWS)
def test_rows_are_known_by_the_same_names_as_the_same_cases_in_memory(
    tmp_path_factory: pytest.TempPathFactory, content: list[dict[str, int]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "named.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in content))
    file = RowFile(path)
    assert list(file.names()) == list(identify(list(file)))


def test_two_names_of_the_same_hash_are_two_names(rows: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    read = rows([{"id": "a", "input": 1}, {"id": "b", "input": 1}])
    monkeypatch.setattr("paceline.dataset.rows.hash", lambda _name: 1, raising=False)
    assert read.check().n == 2


def test_a_file_that_changes_after_its_check_is_an_error_until_it_is_checked_again(rows: Write) -> None:
    read = rows([{"input": 1}])
    read.check()
    rows([{"input": 1}, {"input": 2}])
    assert len(read) == 1
    for cases in (read.names(), iter(read)):
        with pytest.raises(DatasetError, match="the file changed while it was in use"):
            next(cases)
    assert read.check().n == 2
    assert [case.inputs for case in read] == [1, 2]


def test_a_file_that_changes_while_it_is_read_is_an_error(rows: Write) -> None:
    read = rows([{"input": 1}, {"input": 2}])
    cases = iter(read)
    assert next(cases).inputs == 1
    with read.path.open("a") as file:
        file.write('{"input": 3}\n')
    with pytest.raises(DatasetError, match="changed"):
        list(cases)


def test_rows_are_read_as_they_are_asked_for(rows: Write) -> None:
    read = rows('{"input": 1}\n' * 100_000)
    tracemalloc.start()
    assert sum(1 for _ in read) == 100_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20
