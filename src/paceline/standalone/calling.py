"""Calling a template: what is given is checked, somebody judges, and what is found gets one form."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

from paceline.errors import UsageError
from paceline.evaluators.judges.asking import JudgeUnreadable
from paceline.evaluators.judges.choosing import judge_model
from paceline.evaluators.templates.asking import ask, compute, embed, embedder_for
from paceline.evaluators.templates.catalogue import template_of
from paceline.evaluators.templates.entries import Computed, Embedded, Judged, Supported
from paceline.evaluators.templates.findings import Finding
from paceline.evaluators.templates.given import Given, given_to, usage_of
from paceline.evaluators.wording import kind_of
from paceline.pace.clients import paced_here
from paceline.standalone.background import background
from paceline.standalone.result import EvalResult

if TYPE_CHECKING:
    from paceline.evaluators.judges.choosing import Which
    from paceline.models import Model
    from paceline.models.embeddings import Embedder

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
    ask = _asker(asked, given, model)
    return _computed(asked, given) if isinstance(asked, Computed) else background.run(ask)


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
    ask = _asker(asked, given, model)
    return await (asyncio.to_thread(_computed, asked, given) if isinstance(asked, Computed) else ask())


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


def _asker(
    template: Supported, given: Given, which: Which | None
) -> Callable[[], Coroutine[Any, Any, EvalResult]]:
    """What asks whoever judges, who is ready to be asked. Code asks nobody, whichever model is named: some
    callers name one for all templates.
    """
    if isinstance(template, Judged):
        judge = judge_model(which)
        judge.check_ready()
        return lambda: _asked(template, given, judge.name, lambda: _judged(template, given, judge))
    if isinstance(template, Embedded):
        places = embedder_for(template, which)
        places.check_ready()
        return lambda: _asked(template, given, places.name, lambda: _located(template, given, places))
    return _nobody


async def _nobody() -> NoReturn:
    raise AssertionError("code asks nobody")


def _computed(template: Computed, given: Given) -> EvalResult:
    begun = time.perf_counter()
    try:
        return _completed(template, given, compute(template, given), begun, price=0.0)
    except UsageError:
        raise
    except Exception as error:
        return _failed(template, error, begun)


async def _asked(
    template: Supported, given: Given, who: str, ask: Callable[[], Awaitable[tuple[Finding, dict[str, Any]]]]
) -> EvalResult:
    begun = time.perf_counter()
    try:
        with paced_here():
            finding, how = await ask()
        return _completed(template, given, finding, begun, **how)
    except UsageError:
        raise
    except Exception as error:
        return _failed(template, error, begun, model=who)


async def _judged(template: Judged, given: Given, model: Model) -> tuple[Finding, dict[str, Any]]:
    """What a judge says, asked again where its answer cannot be read; and what there is to know of it."""
    for left in reversed(range(READINGS)):
        try:
            said = await ask(template, given, model)
            break
        except JudgeUnreadable:
            if not left:
                raise
    told = ("model", "simulated", "flags", "usage", "price")
    return said.finding, {name: getattr(said.judgement, name) for name in told}


async def _located(template: Embedded, given: Given, places: Embedder) -> tuple[Finding, dict[str, Any]]:
    """What vectors say, and whose they are."""
    found = await embed(template, given, places)
    last = found.vectors
    how = {} if last is None else {"usage": last.usage, "simulated": last.simulated}
    return found.finding, {"model": last.model if last else places.name, "price": None, **how}


def _completed(template: Supported, given: Given, finding: Finding, begun: float, **how: Any) -> EvalResult:
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
