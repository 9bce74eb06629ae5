"""A stage for single calls: a provider that says what a test has written down, and time that passes as told.

    stage = Stage()
    stage.says(refusal(429, retry_after=2), answer())
    assert stage.call().status_code == 200
    assert stage.sent_at == [0.0, 2.0]

The requests and the answers are those of `httpx2`; nothing goes over a network, and nothing waits.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import httpx2

from paceline.pace.calls import Call, current_listener
from paceline.pace.door import Door
from paceline.pace.hands import LoopHands, ThreadHands, at_once
from paceline.pace.messages import Ask, Grant, PoolId
from paceline.pace.pool import PoolFacts
from paceline.pace.requests import fingerprint
from paceline.pace.waiters import Waiter
from tests.pace.stands import Clock, desk_with

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
CHAT = "https://api.openai.com/v1/chat/completions"
RESPONSES = "https://api.openai.com/v1/responses"
MESSAGES = "https://api.anthropic.com/v1/messages"
MODEL = "gpt-5.4-mini"
USAGE = {
    "prompt_tokens": 12,
    "completion_tokens": 5,
    "total_tokens": 17,
    "prompt_tokens_details": {"cached_tokens": 4},
}
COMPLETION = {
    "id": "c",
    "object": "chat.completion",
    "model": MODEL,
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Paris"}}],
    "usage": USAGE,
}

Part = bytes | BaseException | Callable[[], None]


class Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that comes in parts. A part that is an exception is raised, one that is a function is called."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.closed = 0
        self.read = 0
        """Parts that were asked for."""

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            self.read += 1
            match part:
                case bytes():
                    yield part
                case BaseException():
                    raise part
                case _:
                    part()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        await asyncio.sleep(0)
        for part in Body.__iter__(self):
            yield part
            await asyncio.sleep(0)

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 1  # the libraries do this shielded from cancellation
        await asyncio.sleep(0)


def answer(
    body: Any = COMPLETION, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> httpx2.Response:
    """A whole answer; `body` as JSON, or bytes as they are."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    told = {"content-type": "application/json", "content-length": str(len(raw)), **(headers or {})}
    return httpx2.Response(status, headers=told, stream=Body([raw[:20], raw[20:]]))


def refusal(
    status: int,
    message: str = "",
    *,
    code: str | None = None,
    retry_after: float | None = None,
    headers: Mapping[str, str] | None = None,
) -> httpx2.Response:
    """An answer that says no, in the words of OpenAI."""
    asked = {"retry-after": str(retry_after)} if retry_after is not None else {}
    return answer(
        {"error": {"message": message, "type": code, "param": None, "code": code}},
        status=status,
        headers={**asked, **(headers or {})},
    )


def events(*told: Any, done: bool = True) -> list[Part]:
    """Server-sent events as they go over the wire, one part each."""
    parts: list[Part] = [f"data: {json.dumps(each)}\n\n".encode() for each in told]
    return [*parts, b"data: [DONE]\n\n"] if done else parts


def streamed(*parts: Part, status: int = 200, headers: Mapping[str, str] | None = None) -> httpx2.Response:
    """An answer that comes as a stream."""
    told = {"content-type": "text/event-stream; charset=utf-8", **(headers or {})}
    return httpx2.Response(status, headers=told, stream=Body(parts))


def chunk(text: str | None = None, *, usage: Any = None, finish: str | None = None) -> dict[str, Any]:
    """A piece of a streamed chat completion."""
    delta = {"role": "assistant"} if text is None else {"content": text}
    choices = [] if usage else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "c", "object": "chat.completion.chunk", "choices": choices, "usage": usage}


class Told:
    """A listener that notes what it is told."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.calls: list[Call | None] = []

    def begun(self) -> None:
        self.words.append("begun")

    def waiting(self) -> None:
        self.words.append("waiting")

    def going(self) -> None:
        self.words.append("going")

    def ended(self, call: Call | None) -> None:
        self.words.append("ended")
        self.calls.append(call)

    @property
    def call(self) -> Call:
        """The only one."""
        (call,) = self.calls
        assert call is not None
        return call


class _Waits(Waiter):
    """Waits for time that a test moves."""

    def wake(self) -> bool:
        return True


class Hands(ThreadHands):
    """A thread's, but what waits moves the clock."""

    def __init__(self, stage: Stage, library: ModuleType) -> None:
        super().__init__(stage.desk, stage.send, library)
        self._stage = stage

    async def acquire(self, pool: PoolId, tokens: float, priority: int) -> Grant:
        stage = self._stage
        entered = stage.desk.enter(
            Ask(id=next(stage.desk.ids), pool=pool, tokens=tokens, priority=priority), _Waits
        )
        stage.asked.append(priority)
        if isinstance(entered, Grant):
            return entered
        while entered.outcome is None:
            stage.clock.skip()
        return entered.taken()

    async def pause(self, seconds: float) -> None:
        self._stage.pause(seconds)


class SlowHands(LoopHands):
    """A coroutine's, where pauses and alarms take a few turns of the loop."""

    def __init__(self, stage: Stage, library: ModuleType) -> None:
        async def send(request: httpx2.Request) -> httpx2.Response:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return stage.send(request)

        super().__init__(stage.desk, send, library)
        self._stage = stage

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self._stage.pause(seconds)


class Stage:
    """One door, one desk, and who plays what."""

    def __init__(self, *, library: ModuleType = httpx2, wall: float = 1_795_000_000.0, **limits: Any) -> None:
        self.library = library
        self.clock = Clock()
        self.began = self.clock.now()
        self.desk = desk_with(self.clock, **limits)
        self.door = Door(
            self.desk,
            now=self.clock.now,
            wall=lambda: wall + self.clock.now() - self.began,
            dice=random.Random(7),
        )
        self.told = Told()
        self.asked: list[int] = []
        """Priorities, in the order of asking for leave."""
        self.sent: list[httpx2.Request] = []
        self.sent_at: list[float] = []
        self.pauses: list[float] = []
        self.while_pausing: list[PoolFacts] = []
        """How the pool stood in each pause."""
        self.takes = 0.5
        """Seconds until an answer begins."""
        self._answers: list[Any] = []
        self.bodies: list[Body] = []
        """Of the answers that were given."""

    # The provider

    def says(self, *answers: Any) -> None:
        """What comes next, one for each sending: answers, or exceptions in their place."""
        self._answers.extend(answers)

    def send(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(request)
        self.sent_at.append(self.clock.now() - self.began)
        assert any(each.in_flight for each in self.desk.facts()), "nothing is sent without leave"
        self.clock.move(self.takes)
        said = self._answers.pop(0)
        if isinstance(said, Exception):
            raise said
        assert isinstance(said, httpx2.Response)
        assert isinstance(said.stream, Body)
        self.bodies.append(said.stream)
        return said

    @property
    def left(self) -> int:
        """Answers that nobody has asked for."""
        return len(self._answers)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.while_pausing.append(self.facts)
        self.clock.move(seconds)

    # The caller

    def request(self, url: str = CHAT, *, key: str = KEY, headers: Any = None, **body: Any) -> httpx2.Request:
        asked = {"model": MODEL, "messages": [{"role": "user", "content": "Capital of France?"}], **body}
        told = {"authorization": f"Bearer {key}", "x-stainless-retry-count": "0", **(headers or {})}
        return httpx2.Request("POST", url, json=asked, headers=told)

    def call(self, request: httpx2.Request | None = None, **asked: Any) -> httpx2.Response:
        """Make a call on a thread; what the caller gets."""
        trip = self.trip(request or self.request(**asked))
        response: httpx2.Response = at_once(trip.go(Hands(self, self.library)))
        return response

    async def call_async(self, request: httpx2.Request | None = None, **asked: Any) -> httpx2.Response:
        """Make a call in a coroutine."""
        trip = self.trip(request or self.request(**asked))
        response: httpx2.Response = await trip.go(SlowHands(self, self.library))
        return response

    def trip(self, request: httpx2.Request) -> Any:
        token = current_listener.set(self.told)
        try:
            trip = self.door.trip(request, self.library)
        finally:
            current_listener.reset(token)
        assert trip is not None
        return trip

    @property
    def pool(self) -> PoolId:
        """That of the usual request."""
        key = fingerprint(KEY, {})
        return PoolId(provider="openai", host="https://api.openai.com", model=MODEL, account=key)

    # What is known afterwards

    @property
    def facts(self) -> PoolFacts:
        """Of the only pool."""
        (facts,) = self.desk.facts()
        return facts

    @property
    def record(self) -> Call:
        """Of the only call."""
        return self.told.call

    def at_rest(self) -> bool:
        """Nothing is in flight, nobody waits, and whoever listens knows that all is over."""
        words = self.told.words
        balanced = words.count("waiting") == words.count("going") and words.count("begun") == words.count(
            "ended"
        )
        return balanced and all(each.in_flight == each.waiting == 0 for each in self.desk.facts())


def text_of(response: httpx2.Response) -> str:
    """The body, read as a caller reads it."""
    return response.read().decode()
