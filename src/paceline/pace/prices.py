"""What a call costs in US dollars. What nobody knows is None, never 0.

Prices that the user has set go first, by `provider:model` or model; then those of genai-prices, where it is
installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from paceline.pace.calls import Usage
from paceline.pace.providers import PROVIDERS

_MILLION: Final = 1_000_000.0
_NAMES: Final = {row.name: row.prices for row in PROVIDERS}


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """Of input read from a cache; None: as other input."""
    cache_write: float | None = None
    """Of input written to a cache; None: as other input."""

    def of(self, usage: Usage) -> float:
        """What the usage costs."""
        read, written = usage.cached or 0, usage.cache_write or 0
        fresh = max((usage.input or 0) - read - written, 0)
        return (
            fresh * self.input
            + read * (self.input if self.cached is None else self.cached)
            + written * (self.input if self.cache_write is None else self.cache_write)
            + (usage.output or 0) * self.output
        ) / _MILLION


def price_of(
    model: str, provider: str, usage: Usage | None, overrides: Mapping[str, Price] | None = None
) -> float | None:
    """What a call cost; None where its usage or its price is not known."""
    if usage is None or usage.input is None:
        return None
    for name in (f"{provider}:{model}", model):
        if overrides and name in overrides:
            return overrides[name].of(usage)
    known = _known(model, _NAMES.get(provider))
    if known is None or isinstance(known, Price):
        return None if known is None else known.of(usage)
    return _by_tiers(known, usage)


@lru_cache(maxsize=512)
def _known(model: str, provider: str | None) -> Any:
    """A `Price`; where prices depend on more than that, genai-prices' own; None where nobody knows the
    model."""
    try:
        from genai_prices import calc_price
    except ImportError:
        return None
    from genai_prices import Usage as Counted

    try:
        found = calc_price(Counted(input_tokens=1, output_tokens=1), model, provider_id=provider)
    except Exception:  # an unknown model, or a provider that its data no longer has
        return None
    return _flat(found.model_price) or found.model_price


def _flat(told: Any) -> Price | None:
    """Its prices as ours, where each is one number: adding up its own decimals takes as long as the rest of a
    call."""
    if getattr(told, "requests_kcount", None) is not None:  # it charges for the call as such, too
        return None
    read: dict[str, float] = {}
    for name, field in (
        ("input", "input_mtok"),
        ("output", "output_mtok"),
        ("cached", "cache_read_mtok"),
        ("cache_write", "cache_write_mtok"),
    ):
        value = getattr(told, field, None)
        if value is None:
            continue
        try:
            read[name] = float(value)
        except (TypeError, ValueError):  # tiers
            return None
    if "input" not in read:
        return None
    return Price(**{"output": 0.0, **read})


def _by_tiers(told: Any, usage: Usage) -> float | None:
    from genai_prices import Usage as Counted

    counted = {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cached,
        "cache_write_tokens": usage.cache_write,
    }
    try:
        priced = told.calc_price(
            Counted(**{name: count for name, count in counted.items() if count is not None})
        )
        return float(priced["total_price"])
    except Exception:  # counts that contradict each other
        return None
