"""How an accepted answer gets to its caller: in its time, and wrong where it has to be.

    error         500, at some moment of the time it would have taken
    reset         the connection is torn down at such a moment; of a stream, half has been sent
    stall         half of it is sent, then nothing; after `stall_seconds` the connection is closed
    truncate      half of it is sent as if it were all
    slow          all of it, late
    stream_error  half of a stream, an error, its end; 500 where nothing is streamed

Knows when bytes are due. Knows nothing of what they say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from paceline.sim.era import Era
from paceline.sim.http import Answer
from paceline.sim.provider import Admitted, Fault
from paceline.sim.wire import Event, Headers

TICK: Final = 0.02
"""Seconds of the world's: pieces that are due so close together are sent together."""

Ending = Literal["end", "cut", "reset"]


class Course(NamedTuple):
    """What is sent of a stream, and how it ends."""

    pieces: Sequence[Event]
    ending: Ending = "end"


class Delivery(NamedTuple):
    """The way of one answer."""

    era: Era
    answer: Answer
    admitted: Admitted
    arrived: float
    """In the era's time."""
    headers: Headers

    @property
    def ends(self) -> float:
        """When all of it was sent."""
        return self.arrived + self.admitted.seconds

    @property
    def begins(self) -> float:
        """When its first byte is due."""
        return self.arrived + self.admitted.first_token

    async def failure(self, body: bytes) -> None:
        """500."""
        await self.era.until(self.ends)
        await self.answer.whole(500, self.headers, body)

    async def whole(self, body: bytes) -> None:
        """An answer in one piece."""
        half = body[: len(body) // 2]
        if self.admitted.fault == "stall":
            await self.era.until(self.begins)
            await self.answer.begin(200, self.headers, length=len(body))
            await self.answer.send(half)
        await self.era.until(self.ends)
        match self.admitted.fault:
            case "stall":
                self.answer.cut()
            case "reset":
                self.answer.reset()
            case "truncate":
                await self.answer.whole(200, self.headers, half)
            case _:
                await self.answer.whole(200, self.headers, body)

    async def stream(self, events: Sequence[Event], broken: Callable[[int], Event]) -> None:
        """An answer in pieces."""
        course = course_of(self.admitted.fault, events, broken)
        await self.era.until(self.begins)
        if course.ending == "reset" and self.begins >= self.ends:
            self.answer.reset()
            return
        await self.answer.begin(200, self.headers)
        # Who stalls has said what it will say at once: how long it keeps quiet is what matters.
        until = self.begins if course.ending == "cut" else self.ends
        for due, data in timetable(course.pieces, self.begins, until, tick=TICK * self.era.scale):
            await self.era.until(due)
            await self.answer.send(data)
        await self.era.until(self.ends)
        match course.ending:
            case "cut":
                self.answer.cut()
            case "reset":
                self.answer.reset()
            case "end":
                await self.answer.end()


def course_of(fault: Fault | None, events: Sequence[Event], broken: Callable[[int], Event]) -> Course:
    """How a stream goes; `broken` gives an error after so many events."""
    half = events[: len(events) // 2]
    match fault:
        case "stall":
            return Course(half, "cut")
        case "reset":
            return Course(half, "reset")
        case "truncate":
            torn = events[len(half)]
            return Course([*half, Event(torn.data[: len(torn.data) // 2])])
        case "stream_error":
            return Course([*half, broken(len(half))])
        case _:
            return Course(events)


class Sending(NamedTuple):
    """Some pieces, sent together."""

    due: float
    data: bytes


def timetable(pieces: Sequence[Event], begins: float, until: float, *, tick: float) -> list[Sending]:
    """When which pieces are sent: those that took time to come up with evenly, what stands behind them last.

    Nothing is sent before its time, and the first piece at it; others may wait up to a tick for more.
    """
    together: list[tuple[float, list[bytes]]] = []
    opened = begins
    for due, piece in zip(_dues(pieces, begins, until), pieces, strict=True):
        if not together or (due > begins and (opened == begins or due > opened + tick)):
            together.append((due, []))
            opened = due
        together[-1][1].append(piece.data)
        together[-1] = (due, together[-1][1])
    return [Sending(due, b"".join(data)) for due, data in together]


def _dues(pieces: Sequence[Event], begins: float, until: float) -> Iterator[float]:
    timed = sum(piece.timed for piece in pieces)
    pause, past = (until - begins) / max(timed, 1), 0
    for piece in pieces:
        if piece.timed:
            yield begins + past * pause
            past += 1
        else:
            yield until if past == timed > 0 else begins + max(past - 1, 0) * pause
