"""Options: what cannot be meant is refused before anything runs, with what to write instead."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from paceline.engine.budget import Budget
from paceline.engine.lifecycle import CaseLifecycle
from paceline.engine.retry import Retry
from paceline.errors import UsageError
from paceline.options import Options
from paceline.progress import progress_for
from paceline.settings import BY_NAME


async def listens_later(event: object) -> None: ...


class ListensLater:
    async def __call__(self, event: object) -> None: ...


class CannotBeShown:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def listens(event: object) -> None: ...


REFUSED: list[tuple[str, Any]] = [
    ("name", 5),
    ("max_concurrency", 0),
    ("max_concurrency", -1),
    ("max_concurrency", True),
    ("max_concurrency", 2.5),
    ("max_concurrency", "many"),
    ("limits", 5),
    ("limits", {"rpm": 0}),
    ("limits", {"rpm": "many"}),
    ("limits", {"openai:gpt-5": {"speed": 3}}),
    ("prices", {"m": 3}),
    ("prices", {"m": {"input": 1.0}}),
    ("prices", {"m": {"input": 1.0, "output": -1}}),
    ("pace_http", 1),
    ("share_pools", "no"),
    ("adaptive", None),
    ("rehearse", ""),
    ("progress", object()),
    ("progress", "bar"),
    ("progress", 1),
    ("retry_task", "3"),
    ("retry_task", -1),
    ("retry_task", {"attempts": "3"}),
    ("retry_evaluators", 1.5),
    ("task_name", b"task"),
    ("metadata", [1]),
    ("repeat", 0),
    ("repeat", True),
    ("repeat", 2.0),
    ("lifecycle", 3),
    ("journal", True),
    ("journal", 3),
    ("journal", ""),
    ("timeout", True),
    ("timeout", "5"),
    ("timeout", 0),
    ("case_timeout", float("nan")),
    ("case_timeout", float("inf")),
    ("evaluator_timeout", -1),
    ("hook_timeout", [1]),
    ("drain_timeout", -5),
    ("drain_timeout", float("nan")),
    ("drain_timeout", None),
    ("evaluator_concurrency", 0),
    ("evaluator_concurrency", "auto"),
    ("budget", 5),
    ("budget", {"usd": "5"}),
    ("budget", {"usd": float("nan")}),
    ("budget", {"failures": True}),
    ("order", "alphabetical"),
    ("order", ["given"]),
    ("variants", ["a"]),
    ("variants", {"a": 3}),
    ("variants", {1: listens}),
    ("on_event", 3),
    ("on_event", listens_later),
    ("on_event", functools.partial(listens_later)),
    ("on_event", ListensLater()),
    ("retry_errors", "no"),
    ("isolation", "thraed"),
    ("durability", None),
    ("fail_fast", "no"),
    ("seed", "x"),
    ("seed", True),
    ("accept_changes", 1),
    ("redact", "ssn"),
    ("redact", (1,)),
    ("runs", ""),
    ("debug", None),
    ("timeout", CannotBeShown()),
]


@pytest.mark.parametrize(("name", "given"), REFUSED, ids=lambda value: str(type(value).__name__)[:12])
def test_what_an_option_cannot_be_is_refused_with_its_name_and_a_remedy(name: str, given: Any) -> None:
    with pytest.raises(UsageError, match=f"^{name} is ") as refused:
        Options.of({name: given})  # type: ignore[misc]
    assert refused.value.hint


ACCEPTED: list[tuple[str, Any]] = [
    *[("max_concurrency", given) for given in (1, 50, None, "auto")],
    *[("progress", given) for given in (True, False, progress_for("none"))],
    *[("retry_task", given) for given in (None, True, False, 0, 3, {"attempts": 3}, Retry(attempts=2))],
    ("retry_task", {"stop": object()}),  # tenacity's
    ("lifecycle", None),
    ("lifecycle", CaseLifecycle),
    ("lifecycle", functools.partial(CaseLifecycle)),
    *[("journal", given) for given in (None, False, "runs/a")],
    *[("timeout", given) for given in (None, 5, 0.1)],
    *[("drain_timeout", given) for given in (0, 5)],
    *[("budget", given) for given in (None, {}, {"usd": 5, "failures": None}, Budget(usd=1.0))],
    ("redact", ()),
    ("redact", ("ssn",)),
    ("redact", ["ssn"]),
    ("on_event", None),
    ("on_event", listens),
    ("on_event", [].append),
    ("on_event", progress_for("none")),
    ("variants", {"a": listens}),
]


@pytest.mark.parametrize(("name", "given"), ACCEPTED)
def test_all_that_an_option_may_be_is_taken_as_it_is(name: str, given: Any) -> None:
    assert getattr(Options.of({name: given}), name) is given  # type: ignore[misc]


def test_every_option_says_what_it_may_be() -> None:
    for name in Options.__dataclass_fields__:
        with pytest.raises(UsageError, match=f"^{name} is "):
            Options.of({name: object()})  # type: ignore[misc]


@pytest.mark.parametrize("name", ["order", "isolation", "durability"])
def test_options_and_settings_know_the_same_words(name: str) -> None:
    words = BY_NAME[name].kind.schema["enum"]
    assert [getattr(Options.of({name: word}), name) for word in words] == words  # type: ignore[misc]
