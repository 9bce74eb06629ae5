"""What a task does to its inputs ends with the attempt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import Case, CaseLifecycle, Dataset
from paceline.engine.inputs import own_copy

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


@given(plain)
def test_a_copy_is_equal_and_of_the_same_types(value: Any) -> None:
    assert repr(own_copy(value)) == repr(value)


@given(plain)
def test_nothing_that_can_be_changed_is_shared(value: Any) -> None:
    assert not changeable(own_copy(value)) & changeable(value)


def changeable(value: Any) -> set[int]:
    """Identities of the lists and dicts in a value."""
    if isinstance(value, dict):
        return {id(value)}.union(*map(changeable, value.values()))
    if isinstance(value, list | tuple):
        return ({id(value)} if isinstance(value, list) else set()).union(*map(changeable, value))
    return set()


def test_other_objects_are_handed_on_as_they_are() -> None:
    class Client:
        pass

    client, own = Client(), type("Own", (list,), {})([1])
    assert own_copy(client) is client
    assert own_copy(own) is own
    assert own_copy({"client": client})["client"] is client


def test_what_holds_itself_is_no_reason_to_fail() -> None:
    ring: list[Any] = []
    ring.append(ring)
    assert own_copy(ring) is ring


def chat(repeat_of: str) -> Dataset[Any, str, Any]:
    """Cases as chats are: a list of messages each."""
    return Dataset(
        name="chat",
        cases=[Case(name=f"{repeat_of}-{n}", inputs=[{"role": "user", "content": str(n)}]) for n in range(3)],
        evaluators=[lambda inputs: len(inputs) == 1],
    )


@pytest.mark.parametrize("concurrency", [1, 6])
@pytest.mark.parametrize("with_hooks", [False, True])
def test_tries_repeats_evaluators_and_a_resume_see_what_the_dataset_has(
    tmp_path: Path, concurrency: int, with_hooks: bool
) -> None:
    seen: list[int] = []
    failed: set[str] = set()

    async def task(messages: list[dict[str, str]]) -> str:
        seen.append(len(messages))
        messages.append({"role": "assistant", "content": "thinking"})
        messages[0]["content"] += "!"
        if messages[0]["content"] not in failed:
            failed.add(messages[0]["content"])
            raise ConnectionError("the first try of each question")
        return messages[0]["content"]

    options: dict[str, Any] = {
        "journal": tmp_path / "run",
        "repeat": 2,
        "max_concurrency": concurrency,
        "retry_task": {"attempts": 3, "base": 0.0},
        "lifecycle": CaseLifecycle if with_hooks else None,
        "progress": False,
    }
    report = chat("q").evaluate_sync(task, **options)
    assert set(seen) == {1}
    assert report.pass_rate == 1.0
    assert {case.output for case in report.cases} == {"0!", "1!", "2!"}
    seen.clear()
    assert chat("q").evaluate_sync(task, **options).pass_rate == 1.0
    assert seen == [], "nothing has changed, so nothing is paid for again"


def test_what_setup_puts_into_the_inputs_reaches_the_task(tmp_path: Path) -> None:
    class Workspace(CaseLifecycle[Any, Any, Any]):
        async def setup(self) -> None:
            self.case.inputs["folder"] = tmp_path

    def task(inputs: dict[str, Any]) -> bool:
        folder = inputs.pop("folder")
        return folder is tmp_path

    dataset = Dataset(
        name="spaces",
        cases=[Case(name=str(n), inputs={"n": n}) for n in range(2)],
        evaluators=[lambda output: output],
    )
    options: dict[str, Any] = {"lifecycle": Workspace, "repeat": 2, "progress": False}
    assert dataset.evaluate_sync(task, journal=tmp_path / "run", **options).pass_rate == 1.0
    fresh = Dataset(
        name="spaces",
        cases=[Case(name=str(n), inputs={"n": n}) for n in range(2)],
        evaluators=[lambda output: output],
    )
    report = fresh.evaluate_sync(task, journal=tmp_path / "run", **options)
    assert report.figures.attempts == 4, "a case that a hook has added to is not another case"
