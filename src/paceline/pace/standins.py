"""Methods of other people's classes that stand in for what was there, and that are taken back.

Somebody else may put one of theirs over ours meanwhile, as tracers do. Theirs stays then, and with it ours
beneath.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class _StandIn(NamedTuple):
    owner: type[Any]
    name: str
    was: Callable[..., Any]
    now: Callable[..., Any]


class StandIns:
    """Those that stand."""

    def __init__(self) -> None:
        self._standing: list[_StandIn] = []

    def put(self, owner: type[Any], name: str, method: Callable[..., Any]) -> None:
        """Have a method stand in for the one that is there."""
        self._standing.append(_StandIn(owner, name, getattr(owner, name), method))
        setattr(owner, name, method)

    def stand_in(self, owner: type[Any]) -> bool:
        """Whether any stands in this class."""
        return any(each.owner is owner for each in self._standing)

    def take_back(self) -> None:
        """Have everything be what it was."""
        while self._standing:
            owner, name, was, now = self._standing.pop()
            if getattr(owner, name) is now:
                setattr(owner, name, was)
