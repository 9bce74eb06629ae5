"""Which limits hold for a pool, of all that people have set: for all, a provider, a model, one pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from paceline.pace.messages import Limits, PoolId


def limits_for(pool: PoolId, general: Limits, per_pool: Mapping[str, Limits]) -> Limits:
    """The limits of one pool: each field from the narrowest entry that names it.

    Keys are `openai:gpt-5`, `gpt-5`, `openai:*`; in this order, and before what holds for all.
    """
    said: dict[str, float] = {}
    for key in (f"{pool.provider}:*", pool.model, str(pool)):
        said |= _fields(per_pool.get(key))
    return msgspec.convert(_fields(general) | said, Limits)


def strictest(limits: Iterable[Limits]) -> Limits:
    """The limits that satisfy each of these."""
    least: dict[str, float] = {}
    for one in limits:
        least |= {name: min(value, least.get(name, value)) for name, value in _fields(one).items()}
    return msgspec.convert(least, Limits)


def _fields(limits: Limits | None) -> dict[str, float]:
    """Those that are set."""
    if limits is None:
        return {}
    return {name: value for name, value in msgspec.structs.asdict(limits).items() if value is not None}
