"""Self-grading: a model that judges its own answers likes them. So it is refused, unless that is wanted.

Where the task is a model, that is seen before anything runs. Where it is code, each case tells by the calls
that were seen. A simulated model is nobody, and may play both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext
from paceline.models.messages import Model
from paceline.models.simulated import NAME as SIM

_SNAPSHOT: Final = re.compile(r"[-@](?:\d{4}-?\d\d-?\d\d|latest)$")
_HINT: Final = "judge with another model, or write allow_self_grading=True"


class SelfGrading(UsageError):
    """A judge stands on the model whose answers it is to judge."""


def check_other(judge: Model, tasks: Iterable[object]) -> None:
    """Refuse a judge that is the model under test."""
    for task in tasks:
        tested = getattr(task, "model", None)
        name = getattr(tested, "name", None)
        if isinstance(name, str) and _is_same(judge, name, getattr(tested, "model", name)):
            raise SelfGrading(f"{judge.name} would judge its own answers", hint=_HINT)


def refuse_own_answer(judge: Model, ctx: AnyContext) -> None:
    """Refuse a case whose answer comes from the judge's own model, as far as its calls were seen."""
    for name in _asked_for(ctx):
        if _is_same(judge, name):
            raise SelfGrading(
                f"{judge.name} would judge its own answer, since the task has asked {name}: {_HINT}",
                hint=_HINT,
            )


def _asked_for(ctx: AnyContext) -> set[str]:
    """The models that the task has asked, as their providers call them."""
    seen: list[Any] = [ctx.attributes.get("model")]
    seen += [message.get("model") for message in ctx.trajectory or ()]
    return {name for name in seen if isinstance(name, str)}


def _is_same(judge: Model, *names: object) -> bool:
    if judge.name.partition(":")[0] == SIM:
        return False
    called = {judge.name, _SNAPSHOT.sub("", getattr(judge, "model", judge.name))}
    return any(isinstance(name, str) and _SNAPSHOT.sub("", name) in called for name in names)


__all__ = ["SelfGrading", "check_other", "refuse_own_answer"]
