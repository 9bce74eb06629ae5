"""Calling a template: what is given is checked, somebody judges, and what is found gets one form."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

from paceline.errors import UsageError
from paceline.evaluators.judges.asking import JudgeUnreadable
from paceline.evaluators.judges.choosing import judge_model
from paceline.evaluators.templates.asking import ask, compute
from paceline.evaluators.templates.catalogue import template_of
from paceline.evaluators.templates.entries import Computed, Judged, Supported
from paceline.evaluators.templates.findings import Finding
from paceline.evaluators.templates.given import Given, given_to, usage_of
from paceline.evaluators.wording import kind_of
from paceline.pace.clients import paced_here
from paceline.standalone.background import background
from paceline.standalone.result import EvalResult

if TYPE_CHECKING:
    from paceline.evaluators.judges.asking import Judgement
    from paceline.evaluators.judges.choosing import Which
    from paceline.evaluators.templates.asking import Said
    from paceline.models import Model

FILES: Final = (".yaml", ".yml", ".json", ".jsonl", ".csv", ".py")
"""What a path to a dataset or a suite ends with."""
READINGS: Final = 3
"""How often a judge is asked whose answers cannot be read."""


def evaluate_template(
    template: str,
    *more: object,
    model: Which | None = None,
    config: Mapping[str, Any] | None = None,
    threshold: float | None = None,
    **inputs: Any,
) -> EvalResult:
    """Ask a template, and wait for what it says. Works inside a running loop too, which waits as well."""
    _refuse_what_is_no_template(template, more)
    asked, given = _prepared(template, config, threshold, inputs, instead="await paceline.aevaluate(...)")
    judge = _judge(asked, model)
    if isinstance(asked, Computed):
        return _computed(asked, given)
    return background.run(lambda: _judged(asked, given, judge))


async def aevaluate(
    template: str,
    *,
    model: Which | None = None,
    config: Mapping[str, Any] | None = None,
    threshold: float | None = None,
    **inputs: Any,
) -> EvalResult:
    """Ask a template without blocking: await it, or gather as many as you like."""
    if not isinstance(template, str):
        raise UsageError(
            f"aevaluate wants the name of a template, and this is {kind_of(template)}",
            hint="for a dataset: await evaluate(dataset, task)",
        )
    _refuse_what_is_no_template(template, ())
    asked, given = _prepared(
        template, config, threshold, inputs, instead="asyncio.create_task(aevaluate(...))"
    )
    judge = _judge(asked, model)
    if isinstance(asked, Computed):
        return await asyncio.to_thread(_computed, asked, given)
    return await _judged(asked, given, judge)


def _prepared(
    name: str, config: Mapping[str, Any] | None, threshold: object, inputs: dict[str, Any], *, instead: str
) -> tuple[Supported, Given]:
    if "is_async" in inputs:
        _refuse_is_async(instead)
    template = template_of(name)
    if config is not None and not isinstance(config, Mapping):
        raise UsageError(
            f"config is {kind_of(config)}, and holds parameters by name", hint=usage_of(template)
        )
    if twice := [key for key in config or {} if key in inputs]:
        raise UsageError(f"{', '.join(twice)} is given twice, also in config", hint="keep one of them")
    return template, given_to(template, {**(config or {}), **inputs}, threshold=threshold)


def _refuse_what_is_no_template(written: str, more: tuple[object, ...]) -> None:
    if written.endswith(FILES):
        raise UsageError(
            f"{written!r} is not the name of a template",
            hint=f"a dataset is read first: await evaluate(Dataset.from_file({written!r}), task)",
        )
    if more:
        raise UsageError(
            f"the template {written!r} judges what it is given by name, and this is {kind_of(more[0])}",
            hint=f"evaluate({written!r}, output=...); for a dataset, Template({written!r}) is an evaluator",
        )


def _refuse_is_async(instead: str) -> NoReturn:
    raise UsageError(
        "is_async means nothing here: the call ends with the result", hint=f"to go on meanwhile: {instead}"
    )


def _judge(template: Supported, which: Which | None) -> Model | None:
    """The model that judges, ready to be asked; None where code judges."""
    if isinstance(template, Computed):
        return None  # a model that is named is not needed: some callers name it for all templates
    model = judge_model(which)
    model.check_ready()
    return model


def _computed(template: Computed, given: Given) -> EvalResult:
    begun = time.perf_counter()
    try:
        return _completed(template, given, compute(template, given), begun)
    except UsageError:
        raise
    except Exception as error:
        return _failed(template, error, begun)


async def _judged(template: Judged, given: Given, model: Model | None) -> EvalResult:
    assert model is not None, "a template that a model judges has been given one"
    begun = time.perf_counter()
    try:
        with paced_here():
            said = await _readable(lambda: ask(template, given, model))
        return _completed(template, given, said.finding, begun, said.judgement)
    except UsageError:
        raise
    except Exception as error:
        return _failed(template, error, begun, model=model.name)


async def _readable(judge: Callable[[], Awaitable[Said]]) -> Said:
    """What a judge says, asked again where its answer cannot be read."""
    for _ in range(READINGS - 1):
        with suppress(JudgeUnreadable):
            return await judge()
    return await judge()


def _completed(
    template: Supported, given: Given, finding: Finding, begun: float, judgement: Judgement | None = None
) -> EvalResult:
    how: dict[str, Any] = {"price": 0.0}
    if judgement is not None:
        told = ("model", "simulated", "flags", "usage", "price")
        how = {name: getattr(judgement, name) for name in told}
    return EvalResult(
        eval_name=template.name,
        score=finding.score,
        passed=finding.passes(given.threshold),
        reason=finding.reason,
        latency_ms=_ms_since(begun),
        status="completed",
        error=None,
        value=finding.value,
        output_type=template.output,
        **how,
    )


def _failed(template: Supported, error: Exception, begun: float, *, model: str | None = None) -> EvalResult:
    return EvalResult(
        eval_name=template.name,
        score=None,
        passed=None,
        reason="",
        latency_ms=_ms_since(begun),
        status="failed",
        error=f"{type(error).__name__}: {error}",
        value=None,
        output_type=template.output,
        model=model,
        price=0.0 if model is None else None,
    )


def _ms_since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000
