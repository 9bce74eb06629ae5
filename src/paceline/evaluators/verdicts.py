"""Verdicts: what a part of an evaluator has concluded, on record as soon as it is there.

An evaluator that asks a model more than once (votes, requirements, both orders of a pair) has a part for each
question. What a part concludes is kept by itself, so that neither a crash, nor another part that fails, nor a
second try of the evaluator pays for it again:

    judgement = await concluded("vote 2", seen, ask, Judgement)

`part` is a short name within the evaluator. `seen` is a digest of everything that decides the verdict: the
judge and what it is shown. A verdict is found again by both, so a judge that is changed concludes anew.

Knows what is asked of whoever keeps verdicts. A run keeps them in its journal; outside of a run nobody does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Protocol, TypeVar

import msgspec

VerdictT = TypeVar("VerdictT")


class Verdicts(Protocol):
    """The verdicts of one evaluator about one case, kept one by one. Any thread may ask."""

    def on_record(self, part: str, seen: str, *, of_this_run: bool = False) -> msgspec.Raw | None:
        """The verdict of this part that has seen the same, as JSON; None where there is none yet.

        One that a rescoring finds in the run that it scores is none with `of_this_run`.
        """
        ...

    def concluding(self, part: str, seen: str) -> AbstractContextManager[object]:
        """Within: this part comes to its verdict, and the calls that are made are its own."""
        ...

    def keep(self, part: str, seen: str, value: msgspec.Raw) -> None:
        """Put a verdict on record, now."""
        ...


current_verdicts: ContextVar[Verdicts | None] = ContextVar("paceline_verdicts", default=None)
"""Of the evaluator that is being asked here, set by a run around each call of one; None where nobody keeps
them."""


async def concluded(
    part: str,
    seen: str,
    conclude: Callable[[], Awaitable[VerdictT]],
    kind: type[VerdictT],
    *,
    of_this_run: bool = False,
) -> VerdictT:
    """The verdict of a part: the one on record, or else what `conclude` says, which is kept. Errors are not.

    Verdicts are plain JSON values, or msgspec structs and dataclasses of such, and `kind` says which. Where
    code of a user's concludes, which may have changed although nothing that is `seen` has, only a verdict
    `of_this_run` counts: whoever scores a run again may do so because of that change.
    """
    verdicts = current_verdicts.get()
    if verdicts is None:
        return await conclude()
    if (found := verdicts.on_record(part, seen, of_this_run=of_this_run)) is not None:
        try:
            return msgspec.json.decode(found, type=kind)
        except msgspec.MsgspecError:
            pass  # an earlier version has written it, or a secret was taken out of its midst: conclude anew
    with verdicts.concluding(part, seen):
        said = await conclude()
    verdicts.keep(part, seen, _written(said, kind))
    return said


def _written(said: VerdictT, kind: type[VerdictT]) -> msgspec.Raw:
    """A verdict as it goes on record, or an error: what cannot be read back would be paid for twice."""
    raw = msgspec.json.encode(said)
    if msgspec.json.decode(raw, type=kind) != said:  # NaN among others, which JSON does not have
        raise ValueError(f"a verdict has to read back as what it is, and {said!r:.200} does not")
    return msgspec.Raw(raw)


def digest_of(*what: object) -> str:
    """A digest of all that decides a verdict: plain values, in an order that is part of it."""
    return hashlib.blake2b(msgspec.json.encode(what, order="deterministic"), digest_size=16).hexdigest()


__all__ = ["Verdicts", "concluded", "current_verdicts", "digest_of"]
