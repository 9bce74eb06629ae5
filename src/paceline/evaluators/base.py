"""What an evaluator is: it looks at one finished case and says something about it.

The type of what it returns decides: a bool is an assertion, a number a score, a string a label; with
a reason if wrapped in `EvaluationReason`; several at once as a mapping from name to any of these.
The shape is that of Pydantic Evals on purpose: their evaluator objects work here unchanged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeAlias

from paceline.dataset.case import InputsT, MetadataT, OutputT
from paceline.dataset.spec import EvaluatorSpec
from paceline.journal.records import Key

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from paceline.models import Model

    CallT = TypeVar("CallT", bound=Callable[..., object])

EvaluationScalar = bool | int | float | str


@dataclass(frozen=True, slots=True)
class EvaluationReason:
    """A value and why."""

    value: EvaluationScalar
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Spared(EvaluationReason):
    """A value that was found without asking a model, where one would have been asked otherwise."""

    calls: int = 0
    """How many calls of models that has saved."""


EvaluatorOutput = EvaluationScalar | EvaluationReason | Mapping[str, EvaluationScalar | EvaluationReason]

Verdict: TypeAlias = EvaluationReason | dict[str, EvaluationReason]
"""What most of the built-in ones return: yes or no and why, or `{}`, which says nothing."""


class SpanTreeRecordingError(Exception):
    """Spans were asked for, and none were recorded."""


@dataclass(slots=True, kw_only=True)
class EvaluatorContext(Generic[InputsT, OutputT, MetadataT]):
    """All that an evaluator may know about a case."""

    name: str
    inputs: InputsT
    metadata: MetadataT | None = None
    expected_output: OutputT | None = None
    output: OutputT
    duration: float = 0.0
    """Seconds that the task worked, waiting for limits not counted."""
    attributes: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, int | float] = field(default_factory=dict)
    trajectory: list[dict[str, Any]] | None = None
    """Messages and tool calls, where the task recorded any."""
    recorded_spans: Any = None
    key: Key | None = None
    """What the record calls this: case, repeat and variant."""

    @property
    def span_tree(self) -> Any:
        """The OpenTelemetry spans of the attempt, where they were recorded."""
        if self.recorded_spans is None:
            raise SpanTreeRecordingError(
                "no spans were recorded for this case: evaluators that look at spans need a recorder of spans"
            )
        return self.recorded_spans


AnyContext: TypeAlias = EvaluatorContext[object, object, object]
"""The context of a case of which nothing is known: what evaluators for any task look at."""


class Asks(NamedTuple):
    """A model that an evaluator asks."""

    model: Model
    may_be_the_task: bool = False
    """Whether it may grade what it has said itself."""
    calls: int = 1
    """How often it is asked about a case."""


@dataclass
class Evaluator(ABC, Generic[InputsT, OutputT, MetadataT]):
    """Base for evaluators; subclasses are dataclasses whose fields are their arguments.

    `evaluate` may be sync or async. Sync ones run on a thread, so that a slow one delays nobody;
    `instant = True` promises that a call takes microseconds, and then it runs in place.
    """

    instant: ClassVar[bool] = False
    keeps_time: ClassVar[bool] = False
    """Whether it comes to its end by itself, in a time of its own: then the run sets it no deadline."""

    @abstractmethod
    def evaluate(
        self, ctx: EvaluatorContext[InputsT, OutputT, MetadataT]
    ) -> EvaluatorOutput | Awaitable[EvaluatorOutput]:
        """Say something about the case in `ctx`."""

    def check_ready(self) -> None:
        """Raise a UsageError, with the remedy, if this can say nothing here; asked before anything runs."""

    def asks(self) -> tuple[Asks, ...]:
        """The models that it asks: looked at before a run, for keys that are missing and for a model that
        would grade itself."""
        return ()

    def get_default_evaluation_name(self) -> str:
        """The name of a result that comes without one."""
        chosen = getattr(self, "evaluation_name", None)
        return chosen if isinstance(chosen, str) else self.get_serialization_name()

    def get_evaluator_version(self) -> str | None:
        """A version to write beside each result; a change of it is a change of the suite."""
        version = getattr(self, "evaluator_version", None)
        return version if isinstance(version, str) else None

    @classmethod
    def get_serialization_name(cls) -> str:
        """The name that files know this evaluator by."""
        return cls.__name__

    def build_serialization_arguments(self) -> dict[str, Any]:
        """The arguments to write to a file: every field that is not at its default."""
        return {
            spec.name: value
            for spec in fields(self)
            if spec.init and (value := getattr(self, spec.name)) != _default_of(spec)
        }

    def as_spec(self) -> EvaluatorSpec:
        """This evaluator as it is written in a file."""
        arguments = self.build_serialization_arguments()
        name = self.get_serialization_name()
        first = next((spec.name for spec in fields(self) if spec.init and not spec.kw_only), None)
        # A mapping stands under its keyword: alone it would read as keywords itself.
        if len(arguments) == 1 and first in arguments and not isinstance(arguments[first], dict):
            return EvaluatorSpec(name=name, positional=(arguments[first],), keywords={})
        return EvaluatorSpec(name=name, keywords=arguments)


def _default_of(spec: Any) -> object:
    if spec.default is not MISSING:
        return spec.default
    return spec.default_factory() if spec.default_factory is not MISSING else MISSING


def instant(evaluator: CallT) -> CallT:
    """Mark an evaluator function as quick enough to run on the event loop: microseconds, no waiting."""
    evaluator.instant = True  # type: ignore[attr-defined]  # functions take attributes; Callable does not say so
    return evaluator


__all__ = [
    "AnyContext",
    "Asks",
    "EvaluationReason",
    "EvaluationScalar",
    "Evaluator",
    "EvaluatorContext",
    "EvaluatorOutput",
    "SpanTreeRecordingError",
    "Spared",
    "Verdict",
    "instant",
]
