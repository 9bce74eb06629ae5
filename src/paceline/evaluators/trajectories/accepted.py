"""AcceptedCalls: the calls of a case are those accepted, as the BFCL benchmark judges them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator, Verdict
from paceline.evaluators.plain import named_fields
from paceline.evaluators.trajectories.accepting import Accepted, same_name, why_not
from paceline.evaluators.trajectories.arguments import told_arguments
from paceline.evaluators.trajectories.calls import Called
from paceline.evaluators.trajectories.sources import tool_calls
from paceline.evaluators.wording import brief
from paceline.models.plain import NotUnderstood, tools_of

TOOL_FIELDS: Final = ("tools", "functions", "function")
"""Where the inputs or the metadata of a case declare its tools."""
_FORM: Final = (
    "a list of calls, each with the values accepted for its arguments: [{'f': {'x': [5], 'y': ['']}}]"
)


class Wanted(NamedTuple):
    """A call that is accepted."""

    name: str
    arguments: Accepted


@dataclass
class AcceptedCalls(Evaluator[object, object, object]):
    """The tools called are those accepted, one for one, in any order.

    `accepted`, or else the expected output, is a list of calls, `[{"name": {"argument": [values]}}]`, in
    which `""` among the values says that the argument may be left out. Tools are declared by `tools`, or by
    the inputs or the metadata of a case (`tools`, `functions` or `function`); their types are kept to.
    """

    accepted: list[dict[str, dict[str, list[Any]]]] | None = None
    tools: list[dict[str, Any]] | None = None
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        try:
            self._accepted = None if self.accepted is None else wanted_in(self.accepted)
            self._schemas = None if self.tools is None else schemas_of(self.tools)
        except ValueError as error:
            raise UsageError(f"AcceptedCalls: {error}", hint=_FORM) from error

    def evaluate(self, ctx: AnyContext) -> Verdict:
        wanted = self._accepted
        if wanted is None:
            if ctx.expected_output is None:
                return {}
            wanted = wanted_in(ctx.expected_output)
        schemas = self._schemas if self._schemas is not None else _declared_in(ctx)
        return _compared(tool_calls(ctx), wanted, schemas)


def _compared(
    calls: Sequence[Called], wanted: Sequence[Wanted], schemas: Mapping[str, Mapping[str, Any]]
) -> EvaluationReason:
    if len(calls) != len(wanted):
        called = ", ".join(call.name for call in calls[:20]) or "none"
        return EvaluationReason(False, f"{len(calls)} calls ({called}), and {len(wanted)} are accepted")
    for call in calls:
        told_arguments(call)
    problems = [
        [why_not(call, each.name, each.arguments, _schema(each.name, schemas)) for call in calls]
        for each in wanted
    ]
    unmet = first_unmet([[why is None for why in row] for row in problems])
    if unmet is None:
        return EvaluationReason(True)
    if len(calls) == 1:
        return EvaluationReason(False, problems[0][0])
    # The most telling of the reasons is about a call of the same tool.
    about = [why for call, why in zip(calls, problems[unmet], strict=True) if call.name == wanted[unmet].name]
    told = next((why for why in about if why is not None), "no call is left for it")
    return EvaluationReason(
        False, f"accepted call {unmet + 1}, of {wanted[unmet].name}, was not made: {told}"
    )


def _schema(name: str, schemas: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """What is declared of a tool, be it under the name that providers take."""
    return next((schema for declared, schema in schemas.items() if same_name(declared, name)), None)


def first_unmet(fits: Sequence[Sequence[bool]]) -> int | None:
    """Of rows that each want a column of their own, the first one that has to go without; None if none has.

    Columns are handed on along a chain of rows where that helps (a maximum matching), so that no row takes
    the only column of another.
    """
    taken: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        fitting = [column for column, fit in enumerate(fits[row]) if fit and column not in tried]
        free = next((column for column in fitting if column not in taken), None)
        if free is not None:
            taken[free] = row
            return True
        for column in fitting:
            if column not in tried:
                tried.add(column)
                if place(taken[column], tried):
                    taken[column] = row
                    return True
        return False

    return next((row for row in range(len(fits)) if not place(row, set())), None)


# How accepted calls and tools are written ---------------------------------------------------------------


def wanted_in(written: object) -> list[Wanted]:
    """Accepted calls in our form; ValueError says what is wrong with them."""
    if isinstance(written, Mapping):
        written = [written]
    if not isinstance(written, Sequence) or isinstance(written, str):
        raise ValueError(f"accepted calls are not {brief(written)}, but {_FORM}")
    wanted = []
    for each in written:
        if not isinstance(each, Mapping) or len(each) != 1:
            raise ValueError(f"{brief(each)} is not one call with its arguments, as in {_FORM}")
        ((name, arguments),) = each.items()
        if not isinstance(arguments, Mapping):
            raise ValueError(f"the arguments of {name} are {brief(arguments)}, and not by name as in {_FORM}")
        for argument, values in arguments.items():
            if not isinstance(values, list | tuple):
                raise ValueError(
                    f"{argument} of {name} is {brief(values)}, and not a list of the values accepted for it"
                )
        wanted.append(Wanted(name, arguments))
    return wanted


def schemas_of(tools: object) -> dict[str, Mapping[str, Any]]:
    """What tools declare of their arguments, by name; ValueError where that cannot be read."""
    listed = [tools] if isinstance(tools, Mapping) else tools
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise ValueError(
            f"tools are not {brief(tools)}, but a list, as OpenAI, Anthropic or BFCL writes them"
        )
    return {tool.name: tool.parameters for tool in tools_of(listed)}


def _declared_in(ctx: AnyContext) -> dict[str, Mapping[str, Any]]:
    """The tools that a case declares."""
    for place in (ctx.inputs, ctx.metadata):
        fields = place if isinstance(place, Mapping) else named_fields(place) or {}
        for field in TOOL_FIELDS:
            if fields.get(field):
                try:
                    return schemas_of(fields[field])
                except NotUnderstood as error:
                    raise ValueError(f"{field} of the case: {error}") from error
    return {}
