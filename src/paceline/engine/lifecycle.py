"""CaseLifecycle: what is made ready before a case and cleared away after it.

As in Pydantic Evals, with one difference on purpose: a hook that fails is the outcome of its case, and
never the end of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from paceline.dataset.case import Case, InputsT, MetadataT, OutputT

if TYPE_CHECKING:
    from paceline.evaluators.base import EvaluatorContext


class CaseLifecycle(Generic[InputsT, OutputT, MetadataT]):
    """Subclass it and override what you need; one instance is made for each key that runs."""

    def __init__(self, case: Case[InputsT, OutputT, MetadataT]) -> None:
        self.case = case

    async def setup(self) -> None:
        """Before the first attempt. If it fails, the task is not called; teardown still is."""

    async def prepare_context(
        self, ctx: EvaluatorContext[InputsT, OutputT, MetadataT]
    ) -> EvaluatorContext[InputsT, OutputT, MetadataT]:
        """After the task and before the evaluators: add metrics or attributes, or replace the context."""
        return ctx

    async def teardown(self, result: Any) -> None:
        """After scoring, whatever happened. `result` is the case's row, or None where there is none."""


Lifecycle: TypeAlias = type[CaseLifecycle[Any, Any, Any]] | Callable[[Case[Any, Any, Any]], Any]
"""What `lifecycle=` takes: the class, or anything that makes an object with these three methods."""
