"""How many tokens a call took, in the words of whoever answered.

Each wire names and nests its counts in its own way; here they become one `Usage`, in which `input` is all of
the input, cached parts included. What is not told stays None, and whatever is no count counts as not told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from paceline.pace.calls import Usage

_MOST: Final = 1_000_000_000_000
"""A count above this is a mistake."""


def usage_of(told: object) -> Usage | None:
    """The `usage`, `usageMetadata` of an answer as ours; None where there is nothing in it."""
    if not isinstance(told, Mapping):
        return None
    for names, read in _WIRES:
        if any(name in told for name in names):
            usage = read(told)
            return None if usage == Usage() else usage
    return None


def merged(first: Usage | None, then: Usage | None) -> Usage | None:
    """Both halves of what a stream tells in two places. Counts only grow while it goes on: the greater one
    holds."""
    if first is None or then is None:
        return then or first
    return Usage(
        input=_greater(first.input, then.input),
        output=_greater(first.output, then.output),
        cached=_greater(first.cached, then.cached),
        cache_write=_greater(first.cache_write, then.cache_write),
        reasoning=_greater(first.reasoning, then.reasoning),
    )


def _greater(first: int | None, then: int | None) -> int | None:
    return max(first, then) if first is not None and then is not None else first if then is None else then


def _chat(told: Mapping[str, Any]) -> Usage:
    return Usage(
        input=_count(told.get("prompt_tokens")),
        output=_count(told.get("completion_tokens")),
        cached=_within(told, "prompt_tokens_details", "cached_tokens")
        or _count(told.get("prompt_cache_hit_tokens")),
        cache_write=_within(told, "prompt_tokens_details", "cache_write_tokens"),
        reasoning=_within(told, "completion_tokens_details", "reasoning_tokens"),
    )


def _responses(told: Mapping[str, Any]) -> Usage:
    return Usage(
        input=_count(told.get("input_tokens")),
        output=_count(told.get("output_tokens")),
        cached=_within(told, "input_tokens_details", "cached_tokens"),
        cache_write=_within(told, "input_tokens_details", "cache_write_tokens"),
        reasoning=_within(told, "output_tokens_details", "reasoning_tokens"),
    )


def _anthropic(told: Mapping[str, Any]) -> Usage:
    """Anthropic's `input_tokens` is what came from no cache and went into none."""
    read, written = (
        _count(told.get("cache_read_input_tokens")),
        _count(told.get("cache_creation_input_tokens")),
    )
    fresh = _count(told.get("input_tokens"))
    return Usage(
        input=None if fresh is None else fresh + (read or 0) + (written or 0),
        output=_count(told.get("output_tokens")),
        cached=read,
        cache_write=written,
    )


def _gemini(told: Mapping[str, Any]) -> Usage:
    """Gemini counts thoughts beside the answer, not within it."""
    shown, thoughts = _count(told.get("candidatesTokenCount")), _count(told.get("thoughtsTokenCount"))
    return Usage(
        input=_count(told.get("promptTokenCount")),
        output=None if shown is None and thoughts is None else (shown or 0) + (thoughts or 0),
        cached=_count(told.get("cachedContentTokenCount")),
        reasoning=thoughts,
    )


def _bedrock(told: Mapping[str, Any]) -> Usage:
    read, written = _count(told.get("cacheReadInputTokens")), _count(told.get("cacheWriteInputTokens"))
    fresh = _count(told.get("inputTokens"))
    return Usage(
        input=None if fresh is None else fresh + (read or 0) + (written or 0),
        output=_count(told.get("outputTokens")),
        cached=read,
        cache_write=written,
    )


_WIRES: Final = (
    # By names that only one of them has; the first that fits.
    (("prompt_tokens", "completion_tokens"), _chat),
    (("promptTokenCount", "candidatesTokenCount"), _gemini),
    (("inputTokens", "outputTokens"), _bedrock),
    (("cache_read_input_tokens", "cache_creation_input_tokens"), _anthropic),
    (("input_tokens", "output_tokens"), _responses),  # and Anthropic's where no cache is spoken of
)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else None


def _within(told: Mapping[str, Any], inside: str, name: str) -> int | None:
    inner = told.get(inside)
    return _count(inner.get(name)) if isinstance(inner, Mapping) else None
