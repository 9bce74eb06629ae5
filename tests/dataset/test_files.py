"""Dataset files read with care, and are written to read back."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import jsonschema
import pydantic
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from paceline.dataset.case import Case
from paceline.dataset.files import (
    DatasetSpec,
    Format,
    dataset_from_dict,
    dataset_schema,
    parse_dataset,
    read_dataset,
    write_dataset,
)
from paceline.dataset.spec import EvaluatorSpec
from paceline.errors import DatasetError

# As Pydantic Evals 2.62 writes it.
YAML = """\
# yaml-language-server: $schema=capitals_schema.json
name: capitals
cases:
- name: France
  inputs: 'What is the capital

    of France?

    '
  metadata:
    k:
    - 1
  expected_output: Paris
  evaluators:
  - Contains: P
- name: null
  inputs:
    q: 1
    day: '2024-01-02'
  metadata: null
  expected_output: null
  evaluators: []
evaluators:
- EqualsExpected
- IsInstance: str
- Contains:
    value:
      a: 1
- Contains:
    value:
    - a
    as_strings: true
- name: Equals
  arguments:
  - a: 1
report_evaluators:
- ConfusionMatrixEvaluator
"""
DATASET = DatasetSpec(
    name="capitals",
    cases=(
        Case(
            name="France",
            inputs="What is the capital\nof France?\n",
            metadata={"k": [1]},
            expected_output="Paris",
            evaluators=(EvaluatorSpec(name="Contains", positional=("P",), keywords={}),),
        ),
        Case(inputs={"q": 1, "day": "2024-01-02"}),
    ),
    evaluators=(
        EvaluatorSpec(name="EqualsExpected", keywords={}),
        EvaluatorSpec(name="IsInstance", positional=("str",), keywords={}),
        EvaluatorSpec(name="Contains", keywords={"value": {"a": 1}}),
        EvaluatorSpec(name="Contains", keywords={"value": ["a"], "as_strings": True}),
        EvaluatorSpec(name="Equals", positional=({"a": 1},), keywords={}),
    ),
    report_evaluators=("ConfusionMatrixEvaluator",),
)


def content(dataset: DatasetSpec) -> tuple[object, ...]:
    return dataset.name, dataset.cases, dataset.evaluators, dataset.report_evaluators


def refusal(text: str, fmt: Format = "yaml") -> DatasetError:
    with pytest.raises(DatasetError) as caught:
        parse_dataset(text, fmt)
    assert caught.value.hint
    return caught.value


# ---- reading ----


def test_a_file_of_pydantic_evals_reads_as_it_is_meant() -> None:
    assert content(parse_dataset(YAML)) == content(DATASET)


def test_every_evaluator_knows_its_line(tmp_path: Path) -> None:
    path = tmp_path / "capitals.yaml"
    path.write_text(YAML)
    read = read_dataset(path)
    assert [spec.where for spec in read.evaluators] == [f"{path}:{line}" for line in (24, 25, 26, 29, 33)]
    (own,) = read.cases[0].evaluators
    assert isinstance(own, EvaluatorSpec)
    assert own.where == f"{path}:15"


def test_report_evaluators_are_kept_and_said_to_have_no_effect() -> None:
    read = parse_dataset(YAML)
    assert read.report_evaluators == ("ConfusionMatrixEvaluator",)
    assert read.notes == (
        "line 36: report evaluators have no effect here; `paceline report` has figures of its own",
    )


def test_a_dataset_without_a_name_is_called_as_its_file_is(tmp_path: Path) -> None:
    path = tmp_path / "sums.yml"
    path.write_text("cases: [{inputs: 1}]")
    assert read_dataset(path).name == "sums"
    assert parse_dataset("cases: [{inputs: 1}]").name is None


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "marked.json"
    path.write_bytes(b'\xef\xbb\xbf{"cases": [{"inputs": 1}]}')
    assert read_dataset(path).cases == (Case(inputs=1),)
    assert parse_dataset("\ufeffcases: [{inputs: 1}]").cases == (Case(inputs=1),)


def test_nan_is_read_as_python_and_pydantic_write_it() -> None:
    (case,) = parse_dataset('{"cases": [{"inputs": NaN}]}', "json").cases
    assert case.inputs != case.inputs


def test_a_number_will_do_for_a_name() -> None:
    assert parse_dataset("cases: [{name: 17, inputs: 1}]").cases[0].name == "17"


def test_data_is_read_as_a_file_is_and_errors_name_the_place_in_it() -> None:
    assert dataset_from_dict({"cases": [{"inputs": 1}]}, default_name="x") == DatasetSpec(
        name="x", cases=(Case(inputs=1),)
    )
    with pytest.raises(
        DatasetError, match=r"cases\[1\]\.input: a case has no field 'input'; did you mean inputs\?"
    ):
        dataset_from_dict({"cases": [{"inputs": 1}, {"inputs": 1, "input": 1}]})


def test_words_that_yaml_reads_as_something_else_are_noted() -> None:
    read = parse_dataset(
        "cases:\n- inputs: no\n  expected_output: 12:30\n- inputs: 'no'\n- inputs: yes\n- inputs: true"
    )
    assert [case.inputs for case in read.cases] == [False, "no", True, True]
    assert read.cases[0].expected_output == 750
    assert read.notes == (
        "line 2: `no` is read as false; put it in quotes if the word is meant",
        "line 3: `12:30` is read as a number to the base of 60; put it in quotes if the text is meant",
        "line 5: `yes` is read as true; put it in quotes if the word is meant",
    )


def test_everything_that_is_wrong_is_said_at_once_with_its_line_and_remedy() -> None:
    text = """\
case: 3
evaluators:
- [a]
cases:
- nmae: x
  input: y
- name: "17"
  inputs: 1
- name: 17
  inputs: 2
- name: no
  inputs: 1
- 4
- name: ""
  inputs: null
  evaluators: Foo
"""
    error = refusal(text)
    hint = (
        "write a name (`EqualsExpected`), a name with its argument (`Contains: Paris`), "
        "or a name with keywords (`Contains: {value: Paris}`)"
    )
    assert str(error).splitlines() == [
        "10 problems with the dataset:",
        "  line 1: a dataset has no field 'case'; did you mean cases?",
        "      the fields of a dataset: name, cases, evaluators, report_evaluators",
        "  line 5: a case has no field 'nmae'; did you mean name?",
        "      the fields of a case: name, inputs, metadata, expected_output, evaluators",
        "  line 6: a case has no field 'input'; did you mean inputs?",
        "  line 5: a case has no inputs",
        "      add `inputs:`, what the task is given",
        "  line 9: a second case is named '17'; the first: line 7",
        "      rename one of them, or leave the names out: cases without a name are known by their content",
        "  line 11: the name of a case is False, not text",
        "      put the name in quotes",
        "  line 13: a case is a number, not a mapping",
        "      each case is a mapping with `inputs:`, and what else there is to say",
        "  line 14: the name of a case is empty",
        "      leave the name out, and the case is known by its content, or give it a name",
        "  line 16: `evaluators` is text, not a list",
        "      write a list, even of one: `evaluators: [...]`",
        "  line 3: ['a'] is not an evaluator",
        f"      {hint}",
    ]


def test_json_problems_have_their_lines_too() -> None:
    cases = '{"cases": [{"inputs": 1,\n"name": "a"},\n{"inputs": [2, {"}": "]"}],\n"name":"a", "x": 1}],'
    text = cases + '\n"evaluators":\n[1,\n"a"]}'
    lines = str(refusal(text, "json")).splitlines()
    assert [line.strip().partition(":")[0] for line in lines if "line" in line[:8]] == [
        "line 4",
        "line 4",
        "line 6",
    ]
    assert any("the first: line 2" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cases:\n- inputs: 1\n  inputs: 2", "line 3: the key 'inputs' stands twice, first on line 2"),
        ("cases:\n- &a [*a]", "line 2: an alias inside of what it stands for"),
        ("cases:\n- inputs: 2024-13-45", "line 2: not readable as YAML: '2024-13-45': month must be in"),
        ("cases: [", "line 1: not readable as YAML"),
        ("cases:\n- a\n---\nb", "line 3: not readable as YAML: expected a single document"),
        ("a: !!python/object:os.system x", "line 1: not readable as YAML: could not determine a constructor"),
        ("a: \x01", "line 1: not readable as YAML: it has '\\x01' in it"),
        ("a: 1\nb: \ud800", "line 2: not readable as YAML"),
        ("[" * 100_000, "line 1: nested more than 100 levels deep"),
        ("- " * 100_000, "line 1: nested more than 100 levels deep"),
        ("", "the dataset is empty, not a mapping"),
        ("- inputs: 1", "the dataset is a list, not a mapping"),
        ("name: x", "there are no cases"),
        ("cases: []", "line 1: there are no cases"),
        ("cases: {a: 1}", "line 1: `cases` is a mapping, not a list"),
        ("name: 3\ncases: [{inputs: 1}]", "line 1: the name is 3, not text"),
        ("report_evaluators: x\ncases: [{inputs: 1}]", "line 1: `report_evaluators` is text, not a list"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text: str, said: str) -> None:
    assert said in str(refusal(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1,\n "b": {"c": [{"d": 1,\n"d": 2}]}}', "line 3: the key 'd' stands twice, first on line 2"),
        ('{"a": 1,\n}', "line 2: not readable as JSON"),
        ("[" * 100_000, "nested more than 100 levels deep"),
        ("9" * 5000, "not readable as JSON"),
        ("", "line 1: not readable as JSON"),
        ('"x"', "the dataset is text, not a mapping"),
    ],
)
def test_json_that_cannot_be_read_is_named_with_its_line(text: str, said: str) -> None:
    assert said in str(refusal(text, "json"))


def test_yaml_is_read_the_same_without_the_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert content(parse_dataset(YAML)) == content(DATASET)
    assert parse_dataset("cases:\n- inputs: no").notes != ()
    assert "nested more than 100 levels deep" in str(refusal("[" * 5000))
    assert "line 1: not readable as YAML: it has '\\x01' in it" in str(refusal("a: \x01"))
    assert "line 2: the key 'a' stands twice" in str(refusal("a: 1\na: 2"))


def test_aliases_are_followed_but_not_without_measure() -> None:
    read = parse_dataset(
        "x: &x {a: 1}\ncases: [{inputs: 1}]".replace("x: &x {a: 1}\n", "") + "\nevaluators: []"
    )
    assert read.cases == (Case(inputs=1),)
    merged = "cases:\n- &base {inputs: 1, metadata: {a: 1}}\n- {<<: *base, name: b, metadata: 2}"
    assert parse_dataset(merged).cases[1] == Case(name="b", inputs=1, metadata=2)
    bomb = "a: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
    )
    assert "stand for more than" in str(refusal(bomb))


def test_files_that_are_not_there_or_not_text_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="there is no such file"):
        read_dataset(tmp_path / "nowhere.yaml")
    with pytest.raises(DatasetError, match=str(tmp_path)):
        read_dataset(tmp_path, fmt="yaml")
    (tmp_path / "latin.yaml").write_bytes("cases:\n- inputs: é".encode("latin-1"))
    with pytest.raises(DatasetError, match=r"latin\.yaml:2: not UTF-8"):
        read_dataset(tmp_path / "latin.yaml")
    (tmp_path / "wide.yaml").write_text("cases: []", encoding="utf-16")
    with pytest.raises(DatasetError) as caught:
        read_dataset(tmp_path / "wide.yaml")
    assert "UTF-16" in caught.value.hint
    with pytest.raises(DatasetError, match="YAML or JSON"):
        read_dataset(tmp_path / "rows.jsonl")
    with pytest.raises(DatasetError, match="no format 'toml'"):
        parse_dataset("", "toml")  # type: ignore[arg-type]


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_at_all_give_a_dataset_or_a_dataset_error(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes
) -> None:
    for suffix in (".yaml", ".json"):
        path = tmp_path_factory.getbasetemp() / f"garbage{suffix}"
        path.write_bytes(raw)
        with pytest.raises(DatasetError):
            read_dataset(path)


PIECES = (
    """cases: \n -  ? : , [ ] { } ' " &a *a << !!set !!int # | > \t --- no 1 2024-13-01 .nan ~ = % \\u \\"""
)
BITS = st.sampled_from(
    [*PIECES.split(" "), " ", "inputs: ", "name: ", '"inputs":', '"name":', "\ud800", "\x85"]
)


@given(st.lists(BITS, max_size=25).map("".join))
def test_pieces_of_a_file_in_any_order_give_a_dataset_or_a_dataset_error(text: str) -> None:
    attempts: tuple[tuple[str, Format], ...] = (
        ("cases:\n- inputs: " + text, "yaml"),
        ('{"cases": [{"inputs": ' + text, "json"),
    )
    for attempt, fmt in attempts:
        with suppress(DatasetError):
            assert parse_dataset(attempt, fmt).cases


# ---- writing ----

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
TEXTS = st.sampled_from(
    [
        "no",
        "12:30",
        "=",
        "<<",
        " a\n b",
        "\n",
        "a\n",
        "\n\n a",
        "- x",
        "2024-01-01",
        "1e3",
        "0o7",
        "~",
        "#",
        "a: b",
    ]
)
DATA = st.recursive(
    SCALARS | TEXTS | st.text(" \n\ta:#'\"-\u0085\u2028é", max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | TEXTS, inner, max_size=3)
    ),
    max_leaves=6,
)
CASES = st.lists(st.builds(Case, inputs=DATA, metadata=DATA, expected_output=DATA), min_size=1, max_size=2)


@given(CASES)
def test_what_is_written_reads_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, cases: list[Case[Any, Any, Any]]
) -> None:
    for suffix in (".yaml", ".json"):
        path = tmp_path_factory.getbasetemp() / f"written{suffix}"
        write_dataset(path, DatasetSpec(cases=tuple(cases)), schema_path=None)
        assert repr(read_dataset(path).cases) == repr(tuple(cases))


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_dataset_is_written_short_with_its_schema_beside_it(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"capitals{suffix}"
    write_dataset(path, DATASET)
    assert content(read_dataset(path)) == content(DATASET)
    text = path.read_text()
    assert "null" not in text
    schema = json.loads((tmp_path / "capitals_schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    if suffix == ".json":
        assert json.loads(text)["$schema"] == "capitals_schema.json"
        jsonschema.validate(json.loads(text), schema)
    else:
        assert text.startswith("# yaml-language-server: $schema=capitals_schema.json\nname: capitals\n")
        assert "  inputs: |\n    What is the capital\n    of France?\n" in text


def test_a_schema_that_has_not_changed_is_left_alone(tmp_path: Path) -> None:
    schema = tmp_path / "schemas" / "one.json"
    write_dataset(tmp_path / "one.yaml", DATASET, schema_path=schema)
    assert (
        (tmp_path / "one.yaml").read_text().startswith("# yaml-language-server: $schema=schemas/one.json\n")
    )
    before = schema.stat().st_ino
    write_dataset(tmp_path / "one.yaml", DATASET, schema_path=schema)
    assert schema.stat().st_ino == before
    write_dataset(tmp_path / "one.yaml", DATASET, schema_path=schema, evaluator_schema={"type": "string"})
    assert schema.stat().st_ino != before


def test_the_schema_knows_cases_and_the_evaluators_it_is_told() -> None:
    told = {"$ref": "#/$defs/Equals", "$defs": {"Equals": {"const": "Equals"}}}
    schema = dataset_schema(told)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"cases": [{"inputs": 1, "evaluators": ["Equals"]}]}, schema)
    wrongs: tuple[dict[str, Any], ...] = (
        {"cases": [{"inputs": 1, "evaluators": ["Equal"]}]},
        {"cases": [{"input": 1}]},
        {"cases": []},
        {"name": "x"},
    )
    for wrong in wrongs:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


class Colour(Enum):
    RED = "red"


@dataclass
class Question:
    text: str
    colours: tuple[Colour, ...]


class Answer(pydantic.BaseModel):
    on: date


def test_objects_are_written_as_data(tmp_path: Path) -> None:
    case = Case(
        inputs=Question("q", (Colour.RED,)),
        expected_output=Answer(on=date(2026, 1, 2)),
        metadata=date(2026, 1, 3),
    )
    for suffix, metadata in ((".yaml", date(2026, 1, 3)), (".json", "2026-01-03")):
        path = tmp_path / f"objects{suffix}"
        write_dataset(path, DatasetSpec(cases=(case,)))
        assert read_dataset(path).cases == (
            Case(
                inputs={"text": "q", "colours": ["red"]},
                expected_output={"on": "2026-01-02"},
                metadata=metadata,
            ),
        )


def test_a_moment_in_a_zone_stays_the_same_moment(tmp_path: Path) -> None:
    moment = datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    write_dataset(tmp_path / "moment.yaml", DatasetSpec(cases=(Case(inputs=moment),)))
    assert read_dataset(tmp_path / "moment.yaml").cases[0].inputs == moment


def test_json_holds_half_a_surrogate_pair_and_yaml_says_that_it_cannot(tmp_path: Path) -> None:
    dataset = DatasetSpec(cases=(Case(inputs="\ud800 é"),))
    write_dataset(tmp_path / "half.json", dataset)
    assert read_dataset(tmp_path / "half.json").cases == dataset.cases
    with pytest.raises(DatasetError) as caught:
        write_dataset(tmp_path / "half.yaml", dataset)
    assert "json" in caught.value.hint
    assert not (tmp_path / "half.yaml").exists()


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (Case(name="a", inputs=object()), "case 'a': its inputs cannot be written"),
        (Case(inputs=1, expected_output=lambda: 1), "case 1: its expected output cannot be written"),
        (Case(inputs=1, evaluators=[len]), "built-in function len"),
        (
            Case(inputs=1, evaluators=[EvaluatorSpec(name="X", positional=(object(),), keywords={})]),
            "case 1: ",
        ),
    ],
)
def test_what_is_not_data_is_refused_and_the_file_left_as_it_was(
    tmp_path: Path, case: Case[Any, Any, Any], said: str
) -> None:
    path = tmp_path / "kept.json"
    path.write_text("before")
    with pytest.raises(DatasetError, match=said) as caught:
        write_dataset(path, DatasetSpec(cases=(case,)))
    assert caught.value.hint
    assert path.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept.json"]


def test_what_would_not_read_back_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="would not read back"):
        write_dataset(tmp_path / "keys.yaml", DatasetSpec(cases=(Case(inputs={(1, 2): 3}),)))


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetError) as caught:
        write_dataset(tmp_path / "file" / "x.yaml", DATASET)
    assert caught.value.hint
