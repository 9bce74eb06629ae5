"""The catalogue as a list: of each template what it needs, what it takes besides, and what comes out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from paceline.evaluators.templates.catalogue import catalogue, entry_of
from paceline.evaluators.templates.entries import (
    Argument,
    Computed,
    Embedded,
    Entry,
    Judged,
    Supported,
    Unsupported,
)
from paceline.evaluators.templates.findings import OutputType

JudgedBy = Literal["code", "model", "vectors", "nobody"]
"""`vectors`: code, by a model of embeddings. `nobody`: it is not supported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateInfo:
    """What there is to know of one template. Where it is not supported, `about` says why."""

    name: str
    about: str
    judged_by: JudgedBy
    output: OutputType | None
    required: tuple[str, ...]
    """Inputs and parameters that have to be given."""
    optional: tuple[str, ...]
    """Those that may be."""
    kinds: dict[str, str]
    """What each of them has to be."""
    choices: tuple[str, ...] = ()
    rubric: str = ""
    """What a model is asked."""
    instead: str = ""
    """What to do where it is not supported."""

    @property
    def is_supported(self) -> bool:
        return self.judged_by != "nobody"

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def templates() -> list[TemplateInfo]:
    """All templates, in alphabetical order: names, inputs, what comes out, and who judges."""
    return [_info(entry) for entry in catalogue().values()]


def template_info(name: str) -> TemplateInfo:
    """The one of this name; UsageError where there is none."""
    return _info(entry_of(name))


def _info(entry: Entry) -> TemplateInfo:
    match entry:
        case Computed():
            return _supported(entry, "code")
        case Embedded():
            return _supported(entry, "vectors")
        case Judged():
            return _supported(entry, "model", choices=entry.choices, rubric=entry.rubric)
        case Unsupported():
            return TemplateInfo(
                name=entry.name,
                about=f"Not supported: {entry.why}.",
                judged_by="nobody",
                output=None,
                required=tuple(argument.name for argument in entry.inputs),
                optional=(),
                kinds={},
                instead=entry.instead,
            )


def _supported(entry: Supported, judged_by: JudgedBy, **more: Any) -> TemplateInfo:
    arguments: tuple[Argument, ...] = (*entry.inputs, *entry.parameters)
    return TemplateInfo(
        name=entry.name,
        about=entry.about,
        judged_by=judged_by,
        output=entry.output,
        required=tuple(argument.name for argument in arguments if argument.is_required),
        optional=tuple(argument.name for argument in arguments if not argument.is_required),
        kinds={argument.name: argument.kind.name for argument in arguments},
        **more,
    )
