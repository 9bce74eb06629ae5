"""Files of labels: four formats, and everything that can be wrong with one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from paceline.calibration.labels import Columns, Labels, read_labels
from paceline.errors import UsageError

BOTH = Columns(human=("human",), judge="judge")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def scores(labels: Labels) -> list[tuple[float, float | None]]:
    return [(item.human, item.judge) for item in labels.items]


def test_json_jsonl_csv_and_tsv_say_the_same(write: Callable[[str, str], Path]) -> None:
    rows = [{"human": 4, "judge": 3.5}, {"human": 2, "judge": 1}]
    files = [
        write("a.json", json.dumps(rows)),
        write("a.jsonl", "\n".join(map(json.dumps, rows))),
        write("a.csv", "human,judge\n4,3.5\n2,1\n"),
        write("a.tsv", "human\tjudge\n4\t3.5\n2\t1\n"),
    ]
    for file in files:
        assert scores(read_labels(file, BOTH)) == [(4.0, 3.5), (2.0, 1.0)]


def test_the_label_of_several_people_is_their_mean_and_a_missing_one_is_left_out(
    write: Callable[[str, str], Path],
) -> None:
    file = write("a.csv", "anna,ben,judge\n4,2,3\n5,,4\n,,1\n")
    labels = read_labels(file, Columns(human=("anna", "ben"), judge="judge"))
    assert scores(labels) == [(3.0, 3.0), (5.0, 4.0)]
    assert [item.humans for item in labels.items] == [(4.0, 2.0), (5.0, None)]
    assert labels.rows == 3
    assert "1 of 3 rows have no human label" in labels.notes[0]


def test_all_that_is_no_number_is_told_at_once_with_line_and_remedy(
    write: Callable[[str, str], Path],
) -> None:
    file = write("a.jsonl", '{"human": 3}\n{"human": "good"}\n{"human": NaN}\n{"human": [1]}\n')
    with pytest.raises(UsageError) as refused:
        read_labels(file, Columns(human=("human",)))
    told = str(refused.value)
    assert f"{file}:2: human is 'good', not a number" in told
    assert f"{file}:3: human is nan, which is no label" in told
    assert f"{file}:4: human is [1], not a number" in told
    assert "--levels bad,fair,good" in told
    assert "leave the cell empty" in told


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.json", "{}", "not a list"),
        ("a.json", "[1]", "item 1 is a number, not an object"),
        ("a.json", "[", "not JSON"),
        ("a.json", "[]", "has no rows"),
        ("a.jsonl", '{"human": 1\n', "not JSON"),
        ("a.csv", "human,judge\n1\n", "1 cells, where the first row has 2"),
        ("a.txt", "1", "does not say what it is"),
        ("a.jsonl", '{"human": null, "judge": 1}\n', "is empty in every row"),
        ("a.jsonl", '{"people": 1, "judge": 1}\n', "no row has the column 'human'"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_a_remedy(
    write: Callable[[str, str], Path], name: str, text: str, told: str
) -> None:
    with pytest.raises(UsageError) as refused:
        read_labels(write(name, text), BOTH)
    assert told in str(refused.value)
    assert refused.value.hint


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for name in ("a.json", "a.csv"):
        with pytest.raises(UsageError, match="there is no such file"):
            read_labels(tmp_path / name, BOTH)


def test_a_column_cannot_be_a_person_and_the_judge(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'human' is named twice"):
        read_labels(tmp_path / "a.csv", Columns(human=("human",), judge="human"))


def test_rows_that_stand_twice_and_questions_that_are_shared_are_noted(
    write: Callable[[str, str], Path],
) -> None:
    row = '{"question": "why?", "human": 1, "judge": 2}\n'
    file = write("a.jsonl", row + '{"question": "how?", "human": 2, "judge": 2}\n' + row)
    notes = read_labels(file, BOTH).notes
    assert "the 3 items have 2 different values of 'question'" in notes[0]
    assert "--cluster question" in notes[0]
    assert f"line 3 is the item of {file}:1 again: leave one" in notes[1]
    clustered = read_labels(file, Columns(human=("human",), judge="judge", cluster="question"))
    assert len({item.cluster for item in clustered.items}) == 2
    assert not [note for note in clustered.notes if "--cluster" in note]


def test_an_item_without_its_cluster_is_refused(write: Callable[[str, str], Path]) -> None:
    file = write("a.jsonl", '{"human": 1, "topic": "a"}\n{"human": 2, "topic": null}\n')
    with pytest.raises(UsageError, match=r":2: topic is empty"):
        read_labels(file, Columns(human=("human",), cluster="topic"))


@pytest.mark.parametrize(
    ("by", "undeclared"),
    [
        (["human", "human: anna"], ""),
        (["human", None], "does not say who has labelled it"),
        (["human", "gpt-5.4"], "was labelled by 'gpt-5.4'"),
    ],
)
def test_a_field_says_whose_labels_they_are(
    write: Callable[[str, str], Path], by: list[str | None], undeclared: str
) -> None:
    rows = [{"human": place, **({"labelled_by": who} if who else {})} for place, who in enumerate(by)]
    file = write("a.jsonl", "\n".join(map(json.dumps, rows)))
    found = read_labels(file, Columns(human=("human",))).undeclared
    assert undeclared in found
    assert bool(found) is bool(undeclared)


def test_the_digest_is_of_what_the_file_holds(write: Callable[[str, str], Path]) -> None:
    one = read_labels(write("a.csv", "human\n1\n2\n"), Columns(human=("human",)))
    other = read_labels(write("a.csv", "human\n1\n3\n"), Columns(human=("human",)))
    assert one.digest != other.digest
