"""Suites: what a file has to hold to be one, and what is said where it does not."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from paceline.errors import SuiteError, UsageError
from paceline.settings import effective
from paceline.suite import find_suites, load_suite, suite_schema
from paceline.usercode import load_file, load_object, module_name

TASK = """
def answer(inputs):
    return inputs

def shout(inputs, *, loud=False):
    return inputs.upper() if loud else inputs
"""


@dataclass
class Folder:
    """A folder of a user's, which is the current directory."""

    path: Path
    written: list[Path] = field(default_factory=list)

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        self.written.append(path)
        return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield Folder(tmp_path)
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and str(tmp_path) in file:
            del sys.modules[name]


def refused(target: str, **options: Any) -> str:
    """What is said about a suite that cannot be used: message and hint, as one text."""
    with pytest.raises(UsageError) as caught:
        load_suite(target, **options)
    assert caught.value.hint
    return f"{caught.value}\n{caught.value.hint}"


# Python files


def test_a_file_with_a_dataset_and_a_task_is_a_suite(folder: Folder) -> None:
    folder.write("geography.py", "dataset = ['a dataset']\ndef task(inputs): return inputs")
    suite = load_suite("geography.py")
    assert (suite.name, suite.dataset, suite.file) == ("geography", ["a dataset"], "geography.py")
    assert suite.task is not None
    assert suite.task(5) == 5


def test_a_suite_object_goes_first_and_others_are_asked_for_by_name(folder: Folder) -> None:
    folder.write(
        "evals.py",
        """
        from paceline.suite import Suite
        dataset, task = "unused", print
        suite = Suite(dataset="first", task=print, repeat=3, settings={"timeout": "5m"})
        other = Suite(dataset="second", task=print, name="another")
        """,
    )
    first, second = load_suite("evals.py"), load_suite("evals.py:other")
    assert (first.dataset, first.name, second.dataset, second.name) == ("first", "evals", "second", "another")
    chosen = effective({}, {}, folder.path, first)
    assert (chosen["repeat"], chosen["timeout"], chosen.origin("timeout")) == (3, 300.0, "evals.py")


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        (
            "def answer(x): ...",
            "a.py",
            ["a.py holds no `suite`, and no `dataset` and no `task`", "functions: answer"],
        ),
        ("dataset = 1\ndef ask(x): ...", "a.py", ["and no `task`", "task=ask)"]),
        ("suite = 3", "a.py", ["'suite' is a int, not a Suite"]),
        ("dataset = task = 1", "a.py:night", ["there is no 'night' in it"]),
        (
            "from paceline.suite import Suite\nday = night = Suite(dataset=1, task=print)",
            "a.py",
            ["holds no `suite`", "file.py:day, file.py:night"],
        ),
        (
            "class Dataset: ...\ngeo = Dataset()\ndef ask(x): ...",
            "a.py",
            ["datasets: geo", "Suite(dataset=geo, task="],
        ),
    ],
)
def test_a_file_that_is_no_suite_is_told_what_it_holds_and_what_to_write(
    folder: Folder, text: str, target: str, said: list[str]
) -> None:
    folder.write("a.py", text)
    told = refused(target)
    for part in said:
        assert part in told


def test_an_error_in_the_file_shows_the_frames_of_the_user_and_no_others(folder: Folder) -> None:
    folder.write("broken.py", "def inner():\n    return 1 / 0\n\ninner()\n")
    told = refused("broken.py")
    assert "broken.py cannot be loaded, because it raised ZeroDivisionError" in told
    assert "line 4, in <module>" in told
    assert "line 2, in inner" in told
    assert "importlib" not in told
    assert "usercode" not in told
    assert "broken" not in sys.modules


@pytest.mark.parametrize(
    "text",
    ["raise SystemExit(3)", "def (", "import no_such_module_at_all", "class E(BaseException): ...\nraise E"],
)
def test_whatever_a_file_does_while_it_is_loaded_becomes_one_kind_of_error(folder: Folder, text: str) -> None:
    folder.write("broken.py", text)
    assert "broken.py cannot be loaded" in refused("broken.py")


def test_an_error_of_ours_in_the_file_is_passed_on_with_its_own_hint(folder: Folder) -> None:
    folder.write("own.py", "from paceline.errors import SuiteError\nraise SuiteError('odd', hint='do this')")
    assert refused("own.py") == "odd\ndo this"


def test_a_file_is_executed_once_and_finds_its_neighbours(folder: Folder) -> None:
    folder.write("evals/neighbour.py", "loads = []")
    folder.write(
        "evals/beside.py",
        "import neighbour\nneighbour.loads.append(1)\ndataset = neighbour.loads\ntask = print",
    )
    assert load_suite("evals/beside.py").dataset == [1]
    assert load_suite("evals/beside.py").dataset == [1]
    assert load_object("beside.py:dataset", base=folder.path / "evals") == [1]


def test_two_files_of_the_same_name_do_not_mix(folder: Folder) -> None:
    for place in ("one", "two"):
        folder.write(f"{place}/same.py", f"dataset = {place!r}\ntask = print")
    assert load_suite("one/same.py").dataset == "one"
    assert load_suite("two/same.py").dataset == "two"
    assert load_suite("one/same.py").dataset == "one"


@pytest.mark.parametrize(
    ("file", "name"),
    [("geo.py", "geo"), ("my-evals.py", "paceline_suite_my_evals"), ("json.py", "paceline_suite_json")],
)
def test_a_module_is_named_by_its_stem_unless_that_belongs_to_another(
    folder: Folder, file: str, name: str
) -> None:
    assert module_name(folder.path / file) == name


def test_values_of_the_classes_of_a_file_can_be_read_back_in_another_process(folder: Folder) -> None:
    folder.write(
        "shapes.py",
        """
        from dataclasses import dataclass
        @dataclass
        class Point:
            x: int
        dataset, task = Point(3), print
        """,
    )
    pickled = pickle.dumps(load_file(Path("shapes.py")).dataset)
    program = f"""
        import pickle
        from paceline.suite import load_suite
        suite = load_suite("shapes.py")
        assert pickle.loads({pickled!r}) == suite.dataset
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)


# suite.yaml


def test_a_yaml_file_names_dataset_task_evaluators_and_settings(folder: Folder) -> None:
    folder.write("evals/app.py", TASK)
    folder.write(
        "evals/suite.yaml",
        """
        dataset: cases.jsonl
        task: app.py:answer
        map: {inputs: text}
        repeat: 2
        metadata: {team: search}
        settings:
          timeout: 5m
          max_concurrency: 20
        """,
    )
    suite = load_suite("evals/suite.yaml")
    assert suite.name == "evals"
    assert (suite.dataset, suite.folder) == (Path("cases.jsonl"), Path("evals"))
    assert suite.task is not None
    assert suite.task("x") == "x"
    assert (suite.map, suite.metadata) == ({"inputs": "text"}, {"team": "search"})
    chosen = effective({}, {}, folder.path, suite)
    origins = {name: chosen.origin(name) for name in ("repeat", "timeout", "max_concurrency", "order")}
    assert origins == {
        "repeat": "evals/suite.yaml:5",
        "timeout": "evals/suite.yaml:8",
        "max_concurrency": "evals/suite.yaml:9",
        "order": "default",
    }


def test_cases_may_stand_in_the_file_itself(folder: Folder) -> None:
    folder.write("app.py", TASK)
    folder.write(
        "geo.suite.yaml",
        "task: app:answer\ncases:\n- inputs: Paris\n  expected_output: Paris\nevaluators: [EqualsExpected]\n",
    )
    suite = load_suite("geo.suite.yaml")
    assert suite.name == "geo"
    assert suite.dataset == {"cases": [{"inputs": "Paris", "expected_output": "Paris"}]}
    assert [type(each).__name__ for each in suite.evaluators] == ["EqualsExpected"]


def test_a_variant_is_a_task_or_a_task_with_arguments(folder: Folder) -> None:
    folder.write("app.py", TASK)
    folder.write(
        "suite.yaml",
        """
        dataset: cases.csv
        variants:
          calm: app.py:answer
          loud: {task: app.py:shout, loud: true}
        """,
    )
    suite = load_suite("suite.yaml")
    assert {name: task("hm") for name, task in suite.variants.items()} == {"calm": "hm", "loud": "HM"}


def test_the_arguments_of_a_variant_are_part_of_its_version(folder: Folder) -> None:
    """A resume with another model is a resume of another run."""
    folder.write("app.py", TASK + "shout.version = '2'")
    folder.write("suite.yaml", "dataset: a.csv\nvariants: {a: {task: app.py:shout, loud: true}}")
    assert load_suite("suite.yaml").variants["a"].version == "2, loud=True"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "dataset: a.csv\ntaks: app.py:answer",
            "suite.yaml:2: a suite has no key 'taks'; did you mean task?",
        ),
        ("dataset: a.csv\n1: 2", "suite.yaml:2: a suite has no key 1"),
        (
            "dataset: a.csv\nsettings:\n  timeuot: 5m",
            "suite.yaml:3: there is no setting 'timeuot'; did you mean timeout?",
        ),
        ("dataset: a.csv\nrepeat: 2\nrepeat: 3", "suite.yaml:3: repeat stands on line 2 already"),
        ("dataset: a.csv\nrepeat: 2\nsettings: {repeat: 3}", "repeat is said twice"),
        ("dataset: a.csv\nrepeat: often", "suite.yaml:2: repeat wants a whole number"),
        ("dataset: [a, b]", "suite.yaml:1: dataset wants a text"),
        ("dataset: a.csv\ncases: []", "suite.yaml wants either `dataset` or `cases`"),
        ("name: nothing", "suite.yaml wants either `dataset` or `cases`"),
        ("- a\n- b", "suite.yaml holds no keys"),
        ("", "suite.yaml holds no keys"),
        ("a: b: c", "suite.yaml:1 is not YAML"),
        ("dataset: a.csv", "suite.yaml does not say what to run"),
        ("dataset: a.csv\ntask: answer", "suite.yaml:2: task: 'answer' does not name a Python object"),
        (
            "dataset: a.csv\ntask: app.py:anwser",
            "suite.yaml:2: task: app.py has no 'anwser'; did you mean answer?",
        ),
        ("dataset: a.csv\ntask: nowhere:answer", "suite.yaml:2: task: there is no module 'nowhere'"),
        ("dataset: a.csv\ntask: nowhere.py:answer", "suite.yaml:2: task: nowhere.py: there is no such file"),
        (
            "dataset: a.csv\ntask: app:answer\nvariants: {a: app:shout}",
            "there is a task and there are variants",
        ),
        ("dataset: a.csv\nvariants: {a: {}}", "suite.yaml:2: variant 'a' names neither a task nor a model"),
        ("dataset: a.csv\nvariants: {a: 3}", "suite.yaml:2: variant 'a' names neither a task nor a model"),
        (
            "dataset: a.csv\ntask: app:answer\nevaluators: [{a: 1, b: 2}]",
            "suite.yaml:3: {'a': 1, 'b': 2} is not an evaluator",
        ),
        ("dataset: a.csv\ntask: app:answer\nevaluators: [EqualExpected]", "suite.yaml:3"),
    ],
)
def test_a_mistake_in_a_yaml_file_is_named_with_its_line(folder: Folder, text: str, said: str) -> None:
    folder.write("app.py", TASK)
    folder.write("suite.yaml", text)
    assert said in refused("suite.yaml")


def test_a_yaml_file_that_is_no_text_is_an_error(folder: Folder) -> None:
    (folder.path / "suite.yaml").write_bytes(b"\xff\xfe\x00")
    assert "suite.yaml cannot be read" in refused("suite.yaml")


def test_custom_evaluators_may_stand_among_the_evaluators(folder: Folder) -> None:
    folder.write(
        "mine.py",
        """
        from dataclasses import dataclass
        from paceline.evaluators.base import Evaluator
        @dataclass
        class Short(Evaluator):
            limit: int = 10
            def evaluate(self, ctx):
                return len(ctx.output) <= self.limit
        def answer(inputs): return inputs
        """,
    )
    folder.write(
        "suite.yaml",
        "dataset: a.csv\ntask: mine.py:answer\ncustom_evaluators: [mine.py:Short]\nevaluators: [Short: 3]\n",
    )
    (short,) = load_suite("suite.yaml").evaluators
    assert short == load_object("mine:Short", base=folder.path)(3)


# Targets that are not suites by themselves


def test_a_dataset_file_with_a_task_is_a_suite(folder: Folder) -> None:
    folder.write("app.py", TASK)
    folder.write("cases.jsonl", "{}")
    folder.write("cases.yaml", "cases: []")
    for target in ("cases.jsonl", "cases.yaml"):
        suite = load_suite(target, task="app.py:answer", evaluators=["EqualsExpected", "Contains: Paris"])
        assert (suite.name, suite.dataset, len(suite.evaluators)) == ("cases", Path(target), 2)


def test_a_dataset_without_a_task_is_told_what_is_missing(folder: Folder) -> None:
    folder.write("cases.jsonl", "{}")
    folder.write("cases.yaml", "cases: [{inputs: 1}]")
    for target in ("cases.jsonl", "cases.yaml"):
        assert f"{target} does not say what to run on its cases\nname the task" in refused(target)


def test_what_is_said_at_the_call_replaces_what_the_file_says(folder: Folder) -> None:
    folder.write("app.py", TASK)
    folder.write("suite.yaml", "dataset: a.csv\ntask: app.py:answer\nmap: {inputs: q, name: id}")
    suite = load_suite("suite.yaml", task="app.py:shout", dataset="b.csv", field_map={"inputs": "p"})
    assert suite.dataset == folder.path / "b.csv"
    assert suite.map == {"inputs": "p", "name": "id"}
    assert suite.task is not None
    assert suite.task.__name__ == "shout"


def test_a_target_that_is_not_there_names_what_is(folder: Folder) -> None:
    assert "there is no file suite.yaml\nwrite one" in refused("suite.yaml")
    folder.write("geo_suite.py", "")
    folder.write("suite.yaml", "")
    folder.write("other.py", "")
    assert [path.name for path in find_suites(folder.path)] == ["geo_suite.py", "suite.yaml"]
    assert "there is no file nowhere.yaml\nsuites here: geo_suite.py, suite.yaml" in refused("nowhere.yaml")
    assert "nowhere.py: there is no such file" in refused("nowhere.py")
    folder.write("notes.txt", "")
    assert "notes.txt is neither a suite nor a dataset" in refused("notes.txt")


# The schema


def test_the_schema_accepts_what_loads_and_names_every_setting(folder: Folder) -> None:
    schema = suite_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    good = yaml.safe_load(
        "dataset: a.csv\ntask: app.py:answer\nsettings: {timeout: 5m, max_concurrency: 3}\nrepeat: 2"
    )
    jsonschema.validate(good, schema)
    for bad in (
        {"task": "app.py:answer"},
        {**good, "taks": 1},
        {**good, "settings": {"timeuot": 1}},
        {**good, "task": "x"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


def test_an_endpoint_is_what_is_under_test(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(
        "cases: [{inputs: hi}]\nhttp:\n  url: https://example.test/ask\n  body: {q: '{{ inputs }}'}\n"
    )
    suite = load_suite(str(tmp_path / "suite.yaml"))
    assert repr(suite.task) == "HttpTask('POST https://example.test/ask')"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("http: {method: GET}", "http has no url"),
        ("http: {url: 'https://x', ansewr: a}", "no key 'ansewr'; did you mean answer?"),
        ("http: {url: ftp://x}", "url is 'ftp://x'"),
        ("http: {url: 'https://x'}\nmodel: sim", "there is `model`, and there is an endpoint"),
        ("variants: {a: {http: {url: nowhere}}}", "url is 'nowhere'"),
    ],
)
def test_an_endpoint_that_cannot_be_one_is_refused_with_its_place(
    tmp_path: Path, written: str, said: str
) -> None:
    (tmp_path / "suite.yaml").write_text(f"cases: [{{inputs: hi}}]\n{written}\n")
    with pytest.raises(SuiteError, match=re.escape(said)):
        load_suite(str(tmp_path / "suite.yaml"))
