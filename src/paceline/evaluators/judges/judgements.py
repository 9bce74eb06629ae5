"""A judgement: what a judge has said about one thing."""

from __future__ import annotations

import msgspec

from paceline.pace.calls import Usage


class Judgement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a judge says about one thing."""

    passed: bool | None = None
    score: float | None = None
    choice: str | None = None
    reason: str = ""
    flags: tuple[str, ...] = ()
    """Attempts to steer the judge that stand in what was judged. They change no verdict."""
    model: str = ""
    """The one that answered, as the provider names it."""
    simulated: bool = False
    usage: Usage | None = None
    """Tokens; None where they are not known."""
    price: float | None = None
    """US dollars at the usual prices; None where that is not known. A run's record goes by the user's own."""
    cached: bool = False
    """Whether it was found in a cache: what it has cost was paid before."""


__all__ = ["Judgement"]
