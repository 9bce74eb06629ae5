"""Hearing the spans of an attempt: those that are begun in its context, whatever exporters the program has.

One processor is added to each tracer provider, and stays: a provider lets none go. A span belongs to the
attempt whose context it was begun in; one that was begun in a context of somebody's making, to that of its
parent. Only spans about tools and models are kept, and only until somebody asks what they tell.

Needs the SDK of OpenTelemetry, so nobody imports this where it is not in use already.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from paceline.trajectory.spans import is_about_models

_SPANS: Final = otel_context.create_key("paceline-spans")
_hearing: Final[weakref.WeakSet[Any]] = weakref.WeakSet()
"""Providers that have the processor."""


def hear(provider: Any) -> list[ReadableSpan]:
    """The spans of this context, from now on; a list that they come into as they end."""
    if provider not in _hearing:
        _hearing.add(provider)
        provider.add_span_processor(_PROCESSOR)
    spans: list[ReadableSpan] = []
    otel_context.attach(otel_context.set_value(_SPANS, spans))
    return spans


class _Processor(SpanProcessor):
    """Is told of every span of the program."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, int], list[ReadableSpan]] = {}

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        spans: Any = otel_context.get_value(_SPANS, parent_context)
        if spans is None and span.parent is not None:
            spans = self._open.get((span.parent.trace_id, span.parent.span_id))
        if spans is not None and span.context is not None:
            self._open[span.context.trace_id, span.context.span_id] = spans

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is None:
            return
        spans = self._open.pop((span.context.trace_id, span.context.span_id), None)
        if spans is not None and is_about_models(span.attributes):
            spans.append(span)


_PROCESSOR: Final = _Processor()
