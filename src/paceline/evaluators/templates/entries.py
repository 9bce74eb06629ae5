"""Entries of the catalogue: what a template is called, what it needs, what comes out, and who judges.

    Computed      a function of its inputs: the same finding for the same inputs, everywhere
    Judged        a question for a model, see `judged`
    Embedded      a function of its inputs and of vectors that a model of embeddings gives to texts
    Unsupported   a name that is known, and why nothing here answers to it

A computed template is a plain function: its arguments by position are the inputs, its keywords the
parameters, and its docstring says what it is about, so that none of this is written twice.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, get_type_hints

from paceline.evaluators.templates.findings import PASSES_FROM, Finding, OutputType
from paceline.evaluators.templates.kinds import ANYTHING, TEXT, Kind, kind_of_hint

HAS_TO_BE_GIVEN: Final = object()
"""Stands for the default of what has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An input, which is judged, or a parameter, which says how."""

    name: str
    kind: Kind
    default: Any = HAS_TO_BE_GIVEN

    @property
    def is_required(self) -> bool:
        return self.default is HAS_TO_BE_GIVEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """A template that code judges."""

    name: str
    about: str
    inputs: tuple[Argument, ...]
    parameters: tuple[Argument, ...]
    output: OutputType
    compute: Callable[..., Finding]
    threshold: float | None = PASSES_FROM
    """The score from which it passes; None where no such number means anything for all users of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A template that a model judges."""

    name: str
    about: str
    inputs: tuple[Argument, ...]
    parameters: tuple[Argument, ...] = ()
    output: OutputType
    rubric: str
    """What the model is asked; "" where the caller says it."""
    choices: tuple[str, ...] = ()
    ranks: tuple[float, ...] = ()
    """The scores of the choices, in their order; none where no choice is better than another."""
    takes_more: bool = False
    """Whether any other input may be shown besides."""
    threshold: float | None = PASSES_FROM


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported:
    """A template that is known by name only."""

    name: str
    inputs: tuple[Argument, ...]
    why: str
    instead: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A template that code judges, by the vectors of texts that it asks for as it goes."""

    name: str
    about: str
    inputs: tuple[Argument, ...]
    parameters: tuple[Argument, ...]
    output: OutputType
    compute: Callable[..., Generator[list[str], Sequence[Sequence[float]], Finding]]
    threshold: float | None = PASSES_FROM


Entry: TypeAlias = Computed | Judged | Embedded | Unsupported
Supported: TypeAlias = Computed | Judged | Embedded


def computed(
    compute: Callable[..., Finding], output: OutputType, *, threshold: float | None = PASSES_FROM
) -> Computed:
    """The entry of a function."""
    return Computed(compute=compute, output=output, threshold=threshold, **_read_from(compute))


def embedded(
    compute: Callable[..., Generator[list[str], Sequence[Sequence[float]], Finding]], output: OutputType
) -> Embedded:
    """The entry of a generator, which yields texts and gets their vectors."""
    return Embedded(compute=compute, output=output, **_read_from(compute))


def _read_from(compute: Callable[..., object]) -> dict[str, Any]:
    """Name, arguments and what it is about, as the function itself says."""
    signature, hints = inspect.signature(compute), get_type_hints(compute, include_extras=True)

    def argument(of: inspect.Parameter) -> Argument:
        default = HAS_TO_BE_GIVEN if of.default is of.empty else of.default
        return Argument(name=of.name, kind=kind_of_hint(hints[of.name]), default=default)

    arguments = list(signature.parameters.values())
    return {
        "name": compute.__name__,
        "about": (inspect.getdoc(compute) or "").replace("\n", " "),
        "inputs": tuple(argument(each) for each in arguments if each.kind is not each.KEYWORD_ONLY),
        "parameters": tuple(argument(each) for each in arguments if each.kind is each.KEYWORD_ONLY),
    }


def shown(*names: str) -> tuple[Argument, ...]:
    """Inputs of a judge, by name; `context?` need not be there."""
    return tuple(
        Argument(name=name.removesuffix("?"), kind=ANYTHING, default=None)
        if name.endswith("?")
        else Argument(name=name, kind=ANYTHING)
        for name in names
    )


def named(*names: str) -> tuple[Argument, ...]:
    """Inputs of which only the names matter."""
    return tuple(Argument(name=name, kind=TEXT) for name in names)


def by_name(*entries: Entry) -> Mapping[str, Entry]:
    """Entries under their names."""
    table = {entry.name: entry for entry in entries}
    assert len(table) == len(entries), "two templates of one name"
    return table
