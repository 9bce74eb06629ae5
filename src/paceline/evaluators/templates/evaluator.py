"""Template: a template as an evaluator, whose inputs are parts of a case.

    Template("groundedness")                            the output, and a context among the data of the case
    Template("groundedness", inputs={"context": "{{ metadata.passages }}"})
    Template("contains", config={"keyword": "Paris"})

An input that nothing is said of is looked for under its own name in the metadata and in the inputs of the
case; else it is the part of the case that such an input means: the output, the expected output, or the
inputs, of which a `question`, `query` or `prompt` is enough.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, assert_never, cast

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, Asks, EvaluationReason, Evaluator, EvaluatorOutput
from paceline.evaluators.judges.choosing import judge_model
from paceline.evaluators.judges.fingerprint import fingerprint_of
from paceline.evaluators.judges.self_grading import refuse_own_answer
from paceline.evaluators.judges.settings import settings_for, written_model
from paceline.evaluators.templates.asking import Said, ask, compute, embed, embedder_for, question_of
from paceline.evaluators.templates.catalogue import template_of
from paceline.evaluators.templates.entries import Computed, Embedded, Judged, Supported
from paceline.evaluators.templates.findings import Finding
from paceline.evaluators.templates.given import Given, inputs_of, parameters_of, threshold_of, usage_of
from paceline.evaluators.wording import brief
from paceline.tasks.template import Template as Text
from paceline.tasks.template import fields_of, found

if TYPE_CHECKING:
    from paceline.models import Model

ROOTS: Final = ("output", "inputs", "expected_output", "metadata")
"""What a place in `inputs` may begin with."""
MEANT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("output", "response", "hypothesis", "generated_value"), "output"),
    **dict.fromkeys(("text", "actual_json", "conversation"), "output"),
    **dict.fromkeys(("expected", "reference", "expected_text", "expected_value"), "expected_output"),
    **dict.fromkeys(("expected_response", "expected_json"), "expected_output"),
    **dict.fromkeys(("input", "prompt"), "inputs"),
}
"""Which part of a case an input of this name means, where the case has nothing of that very name."""

QUESTIONS: Final = ("question", "query", "prompt")
"""Fields of a case's inputs that are its input, where there is one of them and none of that name."""


@dataclass
class Template(Evaluator[object, object, object]):
    """A template of the catalogue, such as groundedness or bleu_score, about parts of the case.

    `inputs` says where the template's inputs come from: `{{ metadata.passages }}`, or a text that is the same
    for all cases. `config` holds its parameters. With a `threshold` there is an assertion besides the score.
    """

    name: str
    inputs: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    model: Any = None
    """By name, with options, or an object; None: the default one (`judge_model`). Code asks none."""
    model_settings: Mapping[str, Any] | None = None
    """Options of the model for this judge: `{"temperature": 0}`."""
    threshold: float | None = None
    allow_self_grading: bool = field(default=False, kw_only=True)
    calibration: str | None = field(default=None, kw_only=True)
    """The certificate that says how far its judge agrees with people."""
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        self._template = template = template_of(self.name)
        known = {argument.name for argument in template.inputs}
        takes_more = isinstance(template, Judged) and template.takes_more
        if (unknown := [name for name in self.inputs if name not in known]) and not takes_more:
            raise UsageError(
                f"{self.name} has no input {', '.join(map(brief, unknown))}", hint=usage_of(template)
            )
        if isinstance(template, Computed) and self.model is not None:
            raise UsageError(f"{self.name} is judged by code and asks no model", hint="leave `model` out")
        self._parameters = parameters_of(template, self.config)
        self._threshold = threshold_of(template, self.threshold)
        self._sources = {name: _source(given, self.name, name) for name, given in self.inputs.items()}

    def judge(self) -> Model:
        """The model that judges."""
        return judge_model(self.model)

    @property
    def fingerprint(self) -> str | None:
        """Prompt, model and settings of its judge as one digest; None where it has none."""
        if not isinstance(self._template, Judged):
            return None
        shown = {argument.name: "" for argument in self._template.inputs} | dict.fromkeys(self.inputs, "")
        question = question_of(self._template, self._given(shown))
        return fingerprint_of(self.judge(), question, settings_for(self.judge(), self.model_settings))

    def asks(self) -> tuple[Asks, ...]:
        match self._template:
            case Judged():
                return (Asks(self.judge(), self.allow_self_grading),)
            case Embedded() as template:
                # It does not answer messages; a run looks at its name and its key only.
                places = cast("Model", embedder_for(template, self.model))
                return (Asks(places, may_be_the_task=True),)
            case _:
                return ()

    def get_evaluator_version(self) -> str | None:
        """The fingerprint of its judge, and which model that is: a change of it is a change of the suite."""
        match self._template:
            case Judged():
                return f"{self.fingerprint} {self.judge().version}"
            case Embedded() as template:
                return embedder_for(template, self.model).version
            case _:
                return None

    def get_default_evaluation_name(self) -> str:
        """The name of the template, if no other is given."""
        return self.evaluation_name or self.name

    def build_serialization_arguments(self) -> dict[str, Any]:
        arguments = super().build_serialization_arguments()
        if "model" in arguments:
            arguments["model"] = written_model(self.model)
        return arguments

    def evaluate(self, ctx: AnyContext) -> EvaluatorOutput | Awaitable[EvaluatorOutput]:
        """What the template finds; nothing about a case without the expected output that it needs."""
        template, inputs = self._template, self._inputs(ctx)
        if any(MEANT.get(name) == "expected_output" for name in _missing(template, inputs)):
            return {}
        given = self._given(inputs_of(template, inputs))
        match template:
            case Computed():
                return self._said(compute(template, given))
            case Judged():
                return self._asked(template, given, ctx)
            case Embedded():
                return self._located(template, given)
            case _:
                assert_never(template)

    async def _located(self, template: Embedded, given: Given) -> EvaluatorOutput:
        return self._said((await embed(template, given, embedder_for(template, self.model))).finding)

    async def _asked(self, template: Judged, given: Given, ctx: AnyContext) -> EvaluatorOutput:
        model = self.judge()
        if not self.allow_self_grading:
            refuse_own_answer(model, ctx)
        said = await ask(template, given, model, settings_for(model, self.model_settings))
        return self._said(_with_flags(said))

    def _given(self, inputs: Mapping[str, Any]) -> Given:
        return Given(inputs=inputs, parameters=self._parameters, threshold=self._threshold)

    def _inputs(self, ctx: AnyContext) -> dict[str, object]:
        parts = {root: getattr(ctx, root) for root in ROOTS}
        names = dict.fromkeys((*(argument.name for argument in self._template.inputs), *self._sources))
        return {name: self._input(name, parts) for name in names}

    def _input(self, name: str, parts: Mapping[str, object]) -> object:
        if name in self._sources:
            return _value(self._sources[name], parts, f"{self.name}, input {name}")
        for part in ("metadata", "inputs"):
            fields = fields_of(parts[part]) or {}
            if fields.get(name) is not None:
                return fields[name]
        asked = fields_of(parts["inputs"]) or {}
        if name == "input" and len(found_among := [asked[each] for each in QUESTIONS if each in asked]) == 1:
            return found_among[0]
        return parts.get(MEANT.get(name, ""))

    def _said(self, finding: Finding) -> EvaluatorOutput:
        name, reason = self.get_default_evaluation_name(), finding.reason or None
        value = EvaluationReason(finding.value, reason)
        if self.threshold is None:
            return value
        passed = finding.passes(self.threshold)
        return {name: value, f"{name}_pass": EvaluationReason(bool(passed), reason)}


def _with_flags(said: Said) -> Finding:
    """What was found, with the attempts to steer the judge that stand in what was judged."""
    flags = said.judgement.flags
    if not flags:
        return said.finding
    steers = f"[what was judged tries to steer the judge: {'; '.join(flags)}]"
    return replace(said.finding, reason=f"{said.finding.reason} {steers}".strip())


def _source(given: Any, template: str, name: str) -> Any:
    if not isinstance(given, str):
        return given
    text = Text(given, where=f"{template}, input {name}", roots=ROOTS)
    return text if text.places else given


def _value(source: Any, parts: Mapping[str, object], where: str) -> object:
    if not isinstance(source, Text):
        return source
    place = source.only_place()
    return source.fill_from(parts) if place is None else found(parts[place.root], place, where)


def _missing(template: Supported, inputs: Mapping[str, object]) -> list[str]:
    return [
        argument.name
        for argument in template.inputs
        if argument.is_required and inputs.get(argument.name) is None
    ]


__all__ = ["Template"]
