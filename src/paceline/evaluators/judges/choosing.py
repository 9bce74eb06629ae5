"""Which model judges: the one that is named, else the default one, else that of the settings.

There is no model that everybody has and trusts, so none is taken where nobody has said one. A name may be an
alias, which the settings map to a model (`judge_aliases`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Final, TypeAlias

from paceline.errors import UsageError
from paceline.models import Model, model
from paceline.settings import effective

Which: TypeAlias = str | Model | Callable[..., Any] | Mapping[str, Any]
"""A model by name, with options, as it is, or a function from text to text."""

_default: Model | None = None
_of_the_run: ContextVar[_Settings | None] = ContextVar("paceline_judge_model", default=None)
_named = lru_cache(maxsize=64)(model)
"""The model of a name, made once: a judge asks for it again for every case."""


ALIASES: Final = ("turing_flash", "turing_small", "turing_large")
"""Names of judges elsewhere. What they stand for here, nobody but the user can say."""


class _Settings:
    """The settings of a run, looked up where they are first needed."""

    def __init__(self, named: str | None = None, aliases: Mapping[str, str] | None = None) -> None:
        self._named = named
        self._aliases = aliases

    @property
    def named(self) -> str | None:
        if self._named is None:
            self._named = effective()["judge_model"]
        return self._named

    @property
    def aliases(self) -> Mapping[str, str]:
        if self._aliases is None:
            self._aliases = effective()["judge_aliases"]
        return self._aliases


def _here() -> _Settings:
    return _of_the_run.get() or _Settings()


def _called(name: str) -> Model:
    """The model of a name, or of what the name stands for."""
    if ":" in name:
        return _named(name)
    if (behind := _here().aliases.get(name)) is not None:
        return _named(behind)
    if name in ALIASES:
        raise UsageError(
            f"{name} is an alias, and nothing says which model it stands for",
            hint=f'paceline.toml: [judge_aliases] {name} = "openai:gpt-5.4-mini"; or '
            f'PACELINE_JUDGE_ALIASES=\'{{"{name}": "sim"}}\'; or name a model: model="openai:gpt-5.4-mini"',
        )
    return _named(name)


def judge_model(given: Which | None = None) -> Model:
    """The model that judges; UsageError, which says how to set one, where nobody has."""
    if given is not None:
        return _called(given) if isinstance(given, str) else model(given)
    if _default is not None:
        return _default
    if (named := _here().named) is None:
        raise UsageError(
            "no model is set to judge with",
            hint="say model='openai:gpt-5.4-mini', call set_default_judge_model('...'), "
            "or the setting judge_model: --judge-model, PACELINE_JUDGE_MODEL, paceline.toml",
        )
    return _called(named)


def set_default_judge_model(which: Which | None) -> None:
    """Judge with this model where no other is named; None: with that of the settings."""
    global _default  # noqa: PLW0603  # one for the process is what a default is
    _default = None if which is None else judge_model(which)


@contextmanager
def judging_with(named: str | None, aliases: Mapping[str, str] | None = None) -> Iterator[None]:
    """Within: the settings `judge_model` and `judge_aliases` of the run that is made here; None where it has
    none."""
    token = _of_the_run.set(_Settings(named, aliases))
    try:
        yield
    finally:
        _of_the_run.reset(token)


__all__ = ["Which", "judge_model", "judging_with", "set_default_judge_model"]
