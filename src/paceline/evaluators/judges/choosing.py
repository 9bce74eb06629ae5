"""Which model judges: the one that is named, else the default one, else that of the settings.

There is no model that everybody has and trusts, so none is taken where nobody has said one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, TypeAlias

from paceline.errors import UsageError
from paceline.models import Model, model
from paceline.settings import effective

Which: TypeAlias = str | Model | Callable[..., Any] | Mapping[str, Any]
"""A model by name, with options, as it is, or a function from text to text."""

_default: Model | None = None
_of_the_run: ContextVar[_Setting | None] = ContextVar("paceline_judge_model", default=None)
_named = lru_cache(maxsize=64)(model)
"""The model of a name, made once: a judge asks for it again for every case."""


class _Setting:
    """The setting of a run, looked up where it is first needed."""

    def __init__(self, named: str | None) -> None:
        self._named = named

    @property
    def named(self) -> str | None:
        if self._named is None:
            self._named = effective()["judge_model"]
        return self._named


def judge_model(given: Which | None = None) -> Model:
    """The model that judges; UsageError, which says how to set one, where nobody has."""
    if given is not None:
        return _named(given) if isinstance(given, str) else model(given)
    if _default is not None:
        return _default
    named = (_of_the_run.get() or _Setting(None)).named
    if named is None:
        raise UsageError(
            "no model is set to judge with",
            hint="LLMJudge(..., model='openai:gpt-5.4-mini'), set_default_judge_model('...'), "
            "or the setting judge_model: --judge-model, PACELINE_JUDGE_MODEL, paceline.toml",
        )
    return _named(named)


def set_default_judge_model(which: Which | None) -> None:
    """Judge with this model where no other is named; None: with that of the settings."""
    global _default  # noqa: PLW0603  # one for the process is what a default is
    _default = None if which is None else model(which)


@contextmanager
def judging_with(named: str | None) -> Iterator[None]:
    """Within: the setting `judge_model` of the run that is made here; None where it has none."""
    token = _of_the_run.set(_Setting(named))
    try:
        yield
    finally:
        _of_the_run.reset(token)


__all__ = ["Which", "judge_model", "judging_with", "set_default_judge_model"]
