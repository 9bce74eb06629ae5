"""A streamed answer on its way to the caller: every byte at once, and the slot held until there are no more.

The answer is over when its last event has passed, when its bytes have, when it breaks, when the caller closes
it, or when the caller just forgets it. Whichever comes first settles the call, once.

Knows streams of the HTTP libraries by their shape. What a settled call means is the business of whoever is
told.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from functools import lru_cache
from typing import Any, Literal

from paceline.pace.events import Events, Opaque

Ending = Literal["complete", "closed", "forgotten"]
"""`closed`: by the caller, before its end. `forgotten`: told by a finalizer, in the midst of anything."""


class Passage:
    """What is known of an answer that is passing."""

    def __init__(
        self,
        looked: Events | Opaque,
        *,
        content: Callable[[], None],
        over: Callable[[Ending | BaseException], None],
        broken: Callable[[], Exception],
        mask: Callable[[bytes], bytes],
        keep: Callable[[bytes], None] | None = None,
    ) -> None:
        """`broken`: what a caller is told that would otherwise take a part of an answer for the whole. `mask`
        takes the key out of what tells of an error. `keep` is shown all that passes."""
        self.looked = looked
        self._keep = keep
        self._content = content
        self._broken = broken
        self._mask = mask
        self._over: Callable[[Ending | BaseException], None] | None = over

    def saw(self, chunk: bytes) -> bytes:
        """Look at bytes that go by; what the caller gets of them."""
        if self._keep is not None:
            self._keep(chunk)
        looked = self.looked
        had = looked.content
        looked.saw(chunk)
        if looked.content and not had:
            self._content()
        if looked.complete:
            self.end("complete")
        return chunk if looked.error is None else self._mask(chunk)

    def passed(self) -> None:
        """All bytes have gone by; raises where that cannot have been all."""
        if self.looked.whole or self.looked.error is not None:
            self.end("complete")
            return
        error = self._broken()
        self.end(error)
        raise error

    def end(self, how: Ending | BaseException) -> None:
        """It is over; heard once."""
        over, self._over = self._over, None
        if over is not None:
            over(how)


class _Stream:
    """What streams for threads and for coroutines have in common."""

    def __init__(self, held: list[bytes], rest: Any, bare: Any, passage: Passage) -> None:
        self._held = held
        self._rest = rest
        self._bare = bare
        self._passage = passage

    def __del__(self) -> None:
        self._passage.end("forgotten")


class ThreadStream(_Stream):
    """For a thread."""

    def __iter__(self) -> Iterator[bytes]:
        held, self._held = self._held, []
        try:
            yield from held
            for chunk in self._rest:
                yield self._passage.saw(chunk)
        except GeneratorExit:
            raise
        except BaseException as error:
            self._passage.end(error)
            raise
        self._passage.passed()

    def close(self) -> None:
        try:
            self._bare.close()
        finally:
            self._passage.end("closed")


class LoopStream(_Stream):
    """For a coroutine."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        held, self._held = self._held, []
        try:
            for chunk in held:
                yield chunk
            async for chunk in self._rest:
                yield self._passage.saw(chunk)
        except GeneratorExit:
            raise
        except BaseException as error:
            self._passage.end(error)
            raise
        self._passage.passed()

    async def aclose(self) -> None:
        # Settled first: closing waits, and whoever waits may be cancelled.
        self._passage.end("closed")
        with contextlib.suppress(RuntimeError):  # it is being iterated at this moment
            await close_iterator(self._rest)
        await self._bare.aclose()


async def close_iterator(rest: Any) -> None:
    """Close an iterator of a stream, where it can be closed."""
    close = getattr(rest, "aclose", None)
    if close is not None:
        await close()


@lru_cache(maxsize=8)
def stream_class(kind: type[Any], base: type[Any]) -> type[Any]:
    """A kind of stream as a library wants it: its clients check for their own base class."""
    return type(kind.__name__, (kind, base), {})
