"""One call from the caller's first asking to the end of its answer.

    acquire ──▶ send ──▶ read the answer ──▶ settle ──▶ hand it over
       ▲                                       │
       └── pause ◀── it is sent again ◀────────┘

The slot is held from sending to the end of the answer and never while the call waits. Before its first
content a stream is held back, so that an error there can be mended as in any other answer; from then on every
byte goes to the caller at once. What is refused for good is handed over as the provider wrote it, with a word
to the SDK that it should not try again.

Says what happens; whatever waits is done by `hands`.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from paceline.errors import DeskClosed, PaceError, PoolClosed
from paceline.pace.answers import BROKEN_OFF, Reading, read_answer, read_error, read_exception, read_head
from paceline.pace.calls import Call, Listener
from paceline.pace.events import SAY_THEIR_END, Events, Opaque
from paceline.pace.hands import Hands, ResultT
from paceline.pace.keeping import answer_again, call_again, keeping_of
from paceline.pace.messages import FRESH, RETRY, Grant, Outcome, Result
from paceline.pace.passing import Ending, Passage
from paceline.pace.prices import price_of
from paceline.pace.refused import NO_RETRY, Refusal, masked, refusal_of, unpacked, without_key
from paceline.pace.requests import Seen
from paceline.pace.retrying import wait_before_resend
from paceline.pace.tape import NotOnTape, Taped

if TYPE_CHECKING:
    from paceline.pace.door import Door

SIMULATED: Final = "x-paceline-sim"
"""The header by which a simulated provider says what it is."""
HELD_AT_MOST: Final = 65_536
"""Bytes of a stream that are held back while it has no content."""
WHOLE_AT_MOST: Final = 67_108_864
"""Bytes of an answer that is read before it is handed over; what says that it is longer passes by."""


class _Came(NamedTuple):
    """What came of one sending: an answer, whole or passing, or an exception in its place."""

    reading: Reading
    response: Any = None
    body: bytes = b""
    """Of a whole answer."""
    held: list[bytes] = []  # noqa: RUF012  # never written to
    """What was read of one that passes."""
    passage: Passage | None = None
    error: Exception | None = None


class Trip:
    """One call on its way."""

    def __init__(
        self,
        door: Door,
        seen: Seen,
        request: Any,
        library: ModuleType,
        *,
        secret: str = "",
        listener: Listener | None = None,
        resent: bool = False,
        body: bytes | None = None,
    ) -> None:
        """`resent`: whether the caller's SDK says that it asks this for a second time. `body` is what is
        asked, where that is at hand."""
        self._door = door
        self._seen = seen
        self._request = request
        self._library = library
        self._secret = secret
        self._listener = listener
        self._resent = resent
        self._at = door.wall()
        self._started = door.now()
        self._sent = self._started
        self._grant: Grant | None = None
        self._tokens = 0.0
        self._waited = 0.0
        self._tries = 0
        self._failures = 0
        self._status: int | None = None
        self._first_token: float | None = None
        self._streamed = False
        self._simulated = False
        self._forgotten = False
        """Whether this is a finalizer, which runs in the midst of anything."""
        self._keeping = keeping_of(listener, seen, body)

    async def go(self, hands: Hands) -> Any:
        """Make the call; what the caller gets."""
        if self._listener is not None:
            self._listener.begun()
        try:
            if self._keeping is not None and (taped := self._keeping.on_record()) is not None:
                return self._answered_again(taped, self._keeping.asked)
            if self._resent and (failure := self._door.failure_of(self._seen)) is not None:
                raise failure.again(self._library)
            return await self._until_settled(hands)
        except NotOnTape as error:
            return self._turned_away(error)
        except BaseException as error:
            self._forgotten = isinstance(error, GeneratorExit)
            self._abandon(error)
            if not self._forgotten:  # then nobody waits any more, and nothing may
                await hands.close()
            raise

    async def _until_settled(self, hands: Hands) -> Any:
        while True:
            try:
                await self._acquire(hands)
            except (PoolClosed, DeskClosed) as closed:
                return self._turned_away(closed)
            came = await self._send(hands)
            if came.passage is not None and came.reading.outcome == "ok":
                return hands.hand_over(came.held, came.passage)  # which settles it
            wait = self._settle(came.reading)
            if wait is None:
                return self._hand_over(hands, came)
            await hands.close()
            if wait > 0:
                await self._waiting(hands.pause(wait))

    # Waiting ---------------------------------------------------------------------------------------

    async def _acquire(self, hands: Hands) -> None:
        self._tokens = self._door.estimates.tokens(self._seen)
        priority = RETRY if self._tries else FRESH
        self._grant = await self._waiting(hands.acquire(self._seen.pool, self._tokens, priority))

    async def _waiting(self, wait: Awaitable[ResultT]) -> ResultT:
        """Nothing is done for the caller meanwhile."""
        listener, since = self._listener, self._door.now()
        if listener is not None:
            listener.waiting()
        try:
            return await wait
        finally:
            self._waited += self._door.now() - since
            if listener is not None:
                listener.going()

    # Sending, and reading what comes ---------------------------------------------------------------

    async def _send(self, hands: Hands) -> _Came:
        self._tries += 1
        self._status = None
        self._streamed = False
        self._sent = self._door.now()
        try:
            response = await hands.send(self._request)
            self._status = response.status_code
            headers = {
                name.decode("latin-1").lower(): value.decode("latin-1")
                for name, value in response.headers.raw
            }
            self._simulated = SIMULATED in headers
            if self._keeping is not None:
                self._keeping.begin(response)
            if _passes_by(self._seen, response.status_code, headers):
                return await self._peek(hands, response, headers)
            return await self._read(hands, response, headers)
        except Exception as error:
            return _Came(read_exception(error, secret=self._secret), error=error)

    async def _read(self, hands: Hands, response: Any, headers: dict[str, str]) -> _Came:
        """The whole answer."""
        parts: list[bytes] = []
        while (part := await hands.read()) is not None:
            parts.append(part)
        await hands.close()
        body = b"".join(parts)
        if self._keeping is not None:
            self._keeping.saw(body)
        response.stream = self._library.ByteStream(body)
        reading = read_answer(
            response.status_code,
            headers,
            unpacked(response, body),
            provider=self._seen.provider,
            now=self._door.wall(),
            secret=self._secret,
        )
        return _Came(reading, response, body)

    async def _peek(self, hands: Hands, response: Any, headers: dict[str, str]) -> _Came:
        """A stream up to its first content, its error or its end."""
        self._streamed = True
        looked = self._looked(headers)
        keep = self._keeping.saw if self._keeping is not None else None
        passage = Passage(
            looked,
            content=self._content_came,
            over=lambda how: self._passed(how, looked, headers),
            broken=lambda: self._library.RemoteProtocolError(BROKEN_OFF.message),
            mask=partial(masked, secret=self._secret),
            keep=keep,
        )
        held: list[bytes] = []
        size = 0
        while not looked.content and looked.error is None and size < HELD_AT_MOST:
            part = await hands.read()
            if part is None:
                if not looked.whole:
                    return _Came(BROKEN_OFF, response, held=held, passage=passage)
                break
            held.append(part)
            size += len(part)
            looked.saw(part)
            if keep is not None:
                keep(part)
        if looked.content:
            self._content_came()
        elif looked.error is not None:
            reading = self._read_event(looked.error, headers)
            if reading.outcome != "ok":
                return _Came(reading, response, held=held, passage=passage)
        if looked.complete:
            passage.end("complete")
        return _Came(Reading(), response, held=held, passage=passage)

    def _looked(self, headers: dict[str, str]) -> Events | Opaque:
        if not headers.get("content-type", "").startswith("text/event-stream"):
            return Opaque()
        says_end = self._seen.endpoint.name in SAY_THEIR_END
        return Events(headers.get("content-encoding", ""), says_end=says_end)

    def _read_event(self, event: Any, headers: dict[str, str]) -> Reading:
        return read_error(
            event, headers, provider=self._seen.provider, now=self._door.wall(), secret=self._secret
        )

    # Settling --------------------------------------------------------------------------------------

    def _settle(self, reading: Reading) -> float | None:
        """Tell the pool; then whether the call is sent again, and after how long a wait."""
        seen, door = self._seen, self._door
        outage = self._grant is not None and self._grant.fruitless
        if reading.outcome in ("overloaded", "transient") and not outage:
            self._failures += 1
        wait = wait_before_resend(
            reading,
            failures=self._failures,
            fruitless=door.now() - max(self._started, door.succeeded.get(seen.pool, self._started)),
            dice=door.dice,
            patience=door.patience,
            replayable=seen.replayable,
            outage=outage,
        )
        self._tell_pool(reading, "cancelled" if reading.local else reading.outcome)
        return wait

    def _hand_over(self, hands: Hands, came: _Came) -> Any:
        """What has come is what the caller gets."""
        reading, seen = came.reading, self._seen
        if self._status is not None and 300 <= self._status < 400:
            self._tell(None)  # the caller's client asks again, elsewhere
        self._record(reading, "cancelled" if reading.local and reading.outcome == "ok" else reading.outcome)
        if came.error is not None:
            self._door.remember_failure(seen, came.error)
            raise came.error
        if came.passage is not None:
            return hands.hand_over([masked(part, self._secret) for part in came.held], came.passage)
        response = came.response
        if reading.message:
            response = without_key(response, came.body, self._secret, self._library)
        if response.status_code >= 400:
            response.headers.update(NO_RETRY)
            if reading.outcome == "fatal":
                self._door.refusals[seen.pool] = Refusal.of(response)
        return response

    def _content_came(self) -> None:
        if self._first_token is None:
            self._first_token = self._door.now() - self._sent

    def _passed(self, how: Ending | BaseException, looked: Events | Opaque, headers: dict[str, str]) -> None:
        """A stream is over."""
        self._forgotten = how == "forgotten"
        if looked.error is not None:
            reading = self._read_event(looked.error, headers)
        elif isinstance(how, Exception):
            reading = read_exception(how, secret=self._secret)
        else:
            reading = read_head(headers, provider=self._seen.provider, now=self._door.wall())
        cut = how != "complete" and not looked.complete
        given_up = cut and not isinstance(how, Exception)
        reading = msgspec.structs.replace(reading, usage=looked.usage)
        outcome: Outcome = "cancelled" if given_up else reading.outcome
        self._tell_pool(reading, outcome)
        self._record(reading, outcome, whole=not cut)

    def _answered_again(self, taped: Taped, asked: bytes) -> Any:
        """The caller gets what it got before."""
        self._tell(call_again(taped, self._seen, asked, self._at, self._door.prices))
        return answer_again(taped, self._library)

    def _turned_away(self, closed: PaceError) -> Any:
        """Its pool, or the desk, grants no more: the caller gets the refusal that closed it, once more."""
        refusal = self._door.refusals.get(self._seen.pool) if isinstance(closed, PoolClosed) else None
        refusal = refusal or refusal_of(closed, self._seen.endpoint.wire)
        cause: Any = getattr(closed, "cause", "")
        cause = cause if cause in ("quota", "auth") else None
        self._record(Reading(cause=cause, message=str(closed)), "fatal")
        return refusal.response(self._library)

    def _abandon(self, error: BaseException) -> None:
        """Somebody wants this call gone, or something of ours is broken: the slot goes back."""
        reading = Reading(message=type(error).__name__)
        self._tell_pool(reading, "cancelled")
        if self._tries:
            self._record(reading, "cancelled")
        else:
            self._tell(None)

    # Telling ---------------------------------------------------------------------------------------

    def _tell_pool(self, reading: Reading, outcome: Outcome) -> None:
        """How the call went, once for each grant."""
        grant, self._grant = self._grant, None
        if grant is None:
            return
        seen, door = self._seen, self._door
        now = door.now()
        if outcome == "ok":
            door.succeeded[seen.pool] = now
            door.estimates.learn(seen, reading.usage)
        told = outcome == reading.outcome
        door.desk.settle(
            grant,
            Result(
                outcome=outcome,
                cause=reading.cause if told else None,
                retry_after=reading.retry_after if told else None,
                tokens=door.estimates.charged(seen, self._tokens, reading.usage),
                seconds=now - self._sent,
                advertised=reading.advertised,
                message=reading.message if told and outcome != "ok" else "",
            ),
        )

    def _record(self, reading: Reading, outcome: Outcome, *, whole: bool = True) -> None:
        """Tell the listener that the call has ended, and how."""
        if self._listener is None:
            return
        seen, door, usage, keeping = self._seen, self._door, reading.usage, self._keeping
        pool = seen.pool
        self._tell(
            Call(
                at=self._at,
                pool=str(pool),
                host=pool.host,
                model=pool.model,
                account=pool.account,
                request=keeping.request if keeping is not None else seen.request,
                status=self._status,
                outcome=outcome,
                cause=reading.cause,
                usage=usage,
                price=price_of(pool.model, seen.provider.name, usage, door.prices) if whole else None,
                seconds=door.now() - self._sent if self._tries else 0.0,
                first_token=self._first_token,
                waited=self._waited,
                tries=self._tries,
                streamed=self._streamed,
                simulated=self._simulated,
                bodies=keeping.bodies() if keeping is not None and whole and outcome == "ok" else None,
                error=reading.message,
            )
        )

    def _tell(self, call: Call | None) -> None:
        """Heard once."""
        listener, self._listener = self._listener, None
        if listener is not None:
            tell = getattr(listener, "forgotten", listener.ended) if self._forgotten else listener.ended
            tell(call)
            if self._keeping is not None and not (call is not None and call.replayed):
                self._keeping.made()


def _passes_by(seen: Seen, status: int, headers: dict[str, str]) -> bool:
    """Whether an answer is handed over before it is whole."""
    if status >= 400:
        return False
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        return True
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > WHOLE_AT_MOST:
        return True
    always = seen.endpoint.name == ":streamGenerateContent"  # Gemini streams one long list
    return seen.streamed and (kind != "application/json" or always)
