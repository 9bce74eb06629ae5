"""Carrying a call out: all that waits, for a thread and for a coroutine.

A trip says what happens and in which order, once; hands do it. Those of a thread block where those of a
coroutine wait, so their methods are coroutines that never wait, and `at_once` runs a trip made of these to
its end without a loop.

Knows the HTTP libraries by their shape. Decides nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from types import ModuleType
from typing import Any, Protocol, TypeVar

from paceline.pace.desk import Granting
from paceline.pace.messages import Grant, PoolId
from paceline.pace.passing import LoopStream, Passage, ThreadStream, close_iterator, stream_class

ResultT = TypeVar("ResultT")


class Hands(Protocol):
    """What a trip needs done."""

    async def acquire(self, pool: PoolId, tokens: float, priority: int) -> Grant:
        """Wait for leave; raises `PoolClosed`, `DeskClosed`."""
        ...

    async def send(self, request: Any) -> Any:
        """Send; a response whose body is not read."""
        ...

    async def read(self) -> bytes | None:
        """More of the body of the last response; None at its end."""
        ...

    async def close(self) -> None:
        """Let the last response go, if it is not gone yet. What was read of it stays good."""
        ...

    async def pause(self, seconds: float) -> None:
        """Wait."""
        ...

    def hand_over(self, held: list[bytes], passage: Passage) -> Any:
        """The last response, for the caller: what was read of it and all that comes is looked at as it
        passes."""
        ...


def at_once(trip: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run a coroutine that never waits."""
    try:
        trip.send(None)
    except StopIteration as over:
        result: ResultT = over.value
        return result
    trip.close()
    raise AssertionError("a thread cannot wait for a loop")


class ThreadHands:
    """For a thread. `send` is what the transport did before a door stood in it."""

    def __init__(self, desk: Granting, send: Callable[[Any], Any], library: ModuleType) -> None:
        self._desk = desk
        self._send = send
        self._library = library
        self._response: Any = None
        self._stream: Any = None
        """Of the response, until it is closed. The response stays open: it would give away nothing."""
        self._rest: Iterator[bytes] | None = None

    async def acquire(self, pool: PoolId, tokens: float, priority: int) -> Grant:
        return self._desk.acquire_sync(pool, tokens=tokens, priority=priority)

    async def send(self, request: Any) -> Any:
        response = self._response = self._send(request)
        self._stream, self._rest = response.stream, None
        return response

    async def read(self) -> bytes | None:
        return next(self._reader(), None)

    async def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251  # a thread is what blocks here

    def hand_over(self, held: list[bytes], passage: Passage) -> Any:
        response = self._response
        kind = stream_class(ThreadStream, self._library.SyncByteStream)
        response.stream = kind(held, self._reader(), self._stream, passage)
        return response

    def _reader(self) -> Iterator[bytes]:
        if self._rest is None:
            self._rest = iter(self._stream)
        return self._rest


class LoopHands:
    """For a coroutine."""

    def __init__(self, desk: Granting, send: Callable[[Any], Any], library: ModuleType) -> None:
        self._desk = desk
        self._send = send
        self._library = library
        self._response: Any = None
        self._stream: Any = None
        self._rest: AsyncIterator[bytes] | None = None

    async def acquire(self, pool: PoolId, tokens: float, priority: int) -> Grant:
        return await self._desk.acquire(pool, tokens=tokens, priority=priority)

    async def send(self, request: Any) -> Any:
        response = self._response = await self._send(request)
        self._stream, self._rest = response.stream, None
        return response

    async def read(self) -> bytes | None:
        return await anext(self._reader(), None)

    async def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        try:
            if self._rest is not None:
                await close_iterator(self._rest)  # one that is left in its midst, before what it reads from
        finally:
            await stream.aclose()

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def hand_over(self, held: list[bytes], passage: Passage) -> Any:
        response = self._response
        kind = stream_class(LoopStream, self._library.AsyncByteStream)
        response.stream = kind(held, self._reader(), self._stream, passage)
        return response

    def _reader(self) -> AsyncIterator[bytes]:
        if self._rest is None:
            self._rest = self._stream.__aiter__()
        return self._rest
