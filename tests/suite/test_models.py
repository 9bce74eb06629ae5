"""Models in a suite.yaml: what they are asked is said without Python; mistakes are told with their line."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from paceline.errors import UsageError
from paceline.models import User
from paceline.suite import load_suite, suite_schema
from paceline.tasks import ModelTask

CASES = "cases: [{inputs: {text: cat}}]\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str, name: str = "suite.yaml") -> None:
    Path(name).write_text(textwrap.dedent(text))


def task_of(text: str, **options: Any) -> ModelTask:
    write(CASES + textwrap.dedent(text))
    task = load_suite("suite.yaml", **options).task
    assert isinstance(task, ModelTask)
    return task


def refused(text: str, **options: Any) -> str:
    write(CASES + text)
    with pytest.raises(UsageError) as caught:
        load_suite("suite.yaml", **options)
    assert caught.value.hint
    return f"{caught.value}\n{caught.value.hint}"


def test_a_model_and_a_prompt_are_a_task() -> None:
    task = task_of(
        """
        model: openai:gpt-5.4-mini
        system: You are a translator.
        prompt: "To French: {{ inputs.text }}"
        """
    )
    assert task.model.name == "openai:gpt-5.4-mini"
    assert [each.content for each in task.conversation({"text": "cat"})] == [
        "You are a translator.",
        "To French: cat",
    ]


def test_options_stand_with_the_name_of_the_model() -> None:
    task = task_of("model: {name: anthropic:claude-haiku-5-5, temperature: 0, max_tokens: 50}\nprompt: hm")
    assert task.model.version == "anthropic:claude-haiku-5-5, temperature=0.0, max_tokens=50"


def test_without_a_prompt_the_inputs_are_asked_as_they_are() -> None:
    assert task_of("model: sim").conversation("Who?") == (User("Who?"),)


def test_the_tools_of_a_case_are_offered_and_the_suite_may_offer_its_own() -> None:
    search = {"name": "search", "parameters": {"type": "object", "properties": {}}}
    own = task_of("model: sim\nprompt: hm")
    assert [tool.name for tool in own.tools({"tools": [search]})] == ["search"]
    assert own.tools({"text": "cat"}) == ()
    for_all = task_of("model: sim\nprompt: hm\ntools: [{name: look, description: Look it up.}]")
    assert [tool.name for tool in for_all.tools({"tools": [search]})] == ["look"]
    elsewhere = task_of("model: sim\nprompt: hm\ntools: '{{ inputs.functions }}'")
    assert [tool.name for tool in elsewhere.tools({"functions": [search]})] == ["search"]


def test_prompts_and_schemas_may_lie_in_files_beside_the_suite() -> None:
    Path("prompts").mkdir()
    write("Say {{ inputs.text }}.", "prompts/say.md")
    write("type: object\nproperties: {a: {type: string}}", "answer.yaml")
    task = task_of("model: sim\nprompt: {file: prompts/say.md}\nschema: {file: answer.yaml}")
    assert task.conversation({"text": "cat"}) == (User("Say cat."),)
    assert task.schema == {"type": "object", "properties": {"a": {"type": "string"}}}


def test_another_prompt_is_another_version_so_a_resume_notices() -> None:
    versions = {
        task_of(f"model: sim\n{said}").version
        for said in ("prompt: a", "prompt: b", "system: a\nprompt: a", "prompt: a\ntools: [{name: t}]", "")
    }
    assert len(versions) == 5


def test_variants_are_models_prompts_or_tasks() -> None:
    write("def answer(inputs):\n    return 'no model'\n", "models_app.py")
    write(
        CASES
        + textwrap.dedent(
            """
            model: sim
            prompt: "Briefly: {{ inputs.text }}"
            variants:
              small: openai:gpt-5.4-nano
              cold: {model: {name: openai:gpt-5.4, temperature: 0}}
              wordy: {prompt: "At length: {{ inputs.text }}"}
              rules: models_app.py:answer
            """
        )
    )
    suite = load_suite("suite.yaml")
    assert suite.task is None
    asked = {
        name: (task.model.name, task.conversation({"text": "cat"})[-1].content)
        for name, task in suite.variants.items()
        if isinstance(task, ModelTask)
    }
    assert asked == {
        "small": ("openai:gpt-5.4-nano", "Briefly: cat"),
        "cold": ("openai:gpt-5.4", "Briefly: cat"),
        "wordy": ("sim", "At length: cat"),
    }
    assert suite.variants["rules"]({}) == "no model"


def test_a_model_at_the_call_is_asked_what_the_suite_asks() -> None:
    said = """
    model: {name: openai:gpt-5.4, temperature: 0, base_url: "https://elsewhere/v1", api_key_env: MINE}
    prompt: "To French: {{ inputs.text }}"
    """
    task = task_of(said, models=["anthropic:claude-haiku-5-5"])
    # Where another provider is, and who is let in there, is nothing that this one is told.
    assert task.model.version == "anthropic:claude-haiku-5-5, temperature=0.0"
    assert task.conversation({"text": "cat"}) == (User("To French: cat"),)


def test_several_models_at_the_call_are_variants() -> None:
    write(CASES + "prompt: 'To French: {{ inputs.text }}'")
    suite = load_suite("suite.yaml", models=["sim", "openai:gpt-5.4"])
    assert suite.task is None
    assert list(suite.variants) == ["sim", "openai:gpt-5.4"]


def test_a_dataset_and_a_model_need_no_suite_file() -> None:
    write('{"inputs": "What is 1 + 1?"}\n', "cases.jsonl")
    write("cases: [{inputs: 'What is 1 + 1?'}]", "cases.yaml")
    for target in ("cases.jsonl", "cases.yaml"):
        task = load_suite(target, models=["sim"]).task
        assert isinstance(task, ModelTask)
        assert task.conversation("What is 1 + 1?") == (User("What is 1 + 1?"),)


def test_a_suite_in_python_takes_another_model_too() -> None:
    write(
        """
        from paceline import Dataset, Suite
        from paceline.tasks import ModelTask
        dataset = Dataset(cases=[])
        suite = Suite(dataset=dataset, task=ModelTask("openai:m", prompt="Say {{ inputs }}", temperature=1))
        """,
        "models_evals.py",
    )
    task = load_suite("models_evals.py", models=["sim"]).task
    assert isinstance(task, ModelTask)
    assert (task.model.version, task.conversation("a")) == ("sim, temperature=1.0", (User("Say a"),))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model: gpt-5.4", "suite.yaml:2: there is no model 'gpt-5.4'; did you mean openai:gpt-5.4?"),
        ("model: [a]", "suite.yaml:2: a list is no model"),
        ("model: {temperature: 0}", "suite.yaml:2: a model with options wants a name"),
        (
            "model: {name: sim, temprature: 0}",
            "sim: there is no option 'temprature'; did you mean temperature?",
        ),
        ("model: {name: sim, temperature: -1}", "suite.yaml:2: sim: option temperature: expected"),
        ("prompt: hm", "suite.yaml:2: prompt is for a model, and none is named"),
        ("model: sim\nprompt: '{{ input.x }}'", "suite.yaml:2: prompt"),
        ("model: sim\nprompt: [a]", "suite.yaml:2: prompt wants a text"),
        ("model: sim\nprompt: {file: gone.md}", "gone.md cannot be read"),
        ("model: sim\nmessages: [{role: boss, content: a}]", "message 1 has the role 'boss'"),
        ("model: sim\ntools: [{parameters: {}}]", "tool 1 has no name"),
        ("model: sim\ntask: app.py:answer", "there is a task, and there is a model"),
        ("task: openai:gpt-5.4", "write `model: openai:gpt-5.4` in its place"),
        ("model: sim\nvariants: {a: {promt: b}}", "suite.yaml:3: variant 'a' has no 'promt'"),
        ("prompt: hm\nvariants: {a: {prompt: b}}", "variant 'a' names neither a task nor a model"),
        ("model: sim\nvariants: {a: {prompt: b, temperature: 0}}", "variant 'a' has no 'temperature'"),
        ("model: sim\nvariants: {a: 'openai:'}", "there is no model 'openai:'"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_a_remedy(text: str, said: str) -> None:
    assert said in refused(text)


def test_a_model_at_the_call_that_is_none_is_told_as_a_flag() -> None:
    assert "there is no model 'gpt-5'" in refused("prompt: hm", models=["gpt-5"])
    assert "say two things to run" in refused("", task="app.py:answer", models=["sim"])
    assert "write --model openai:m" in refused("", task="openai:m")


def test_the_schema_for_editors_knows_models() -> None:
    schema = suite_schema()
    good = """
    cases: [{inputs: a}]
    model: {name: openai:gpt-5.4-mini, temperature: 0}
    prompt: {file: prompt.md}
    tools: "{{ inputs.tools }}"
    schema: {type: object}
    variants: {a: openai:m, b: {model: sim}, c: {prompt: hm}, d: {task: app.py:answer, loud: true}}
    """
    jsonschema.validate(yaml.safe_load(good), schema)
    for bad in ("model: 3", "prompt: [a]", "variants: {a: {}}", "variants: {a: {prompt: hm, loud: true}}"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(yaml.safe_load(f"cases: [{{inputs: a}}]\n{bad}"), schema)
