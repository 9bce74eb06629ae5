"""One call from the caller's first asking to the end of its answer: what happens, and nothing that waits.

A trip is a generator of steps: acquire leave, send, pull bytes, close, pause. Whoever carries them out, for a
thread or for a coroutine, sends back what came of each, exceptions included; so there is one account of what
happens.

    acquire ──▶ send ──▶ read the answer ──▶ settle ──▶ hand it over
       ▲                                       │
       └── pause ◀── it is sent again ◀────────┘

The slot is held from sending to the end of the answer and never while the call waits. Before its first
content a stream is held back, so that an error there can be mended as in any other answer; from then on every
byte goes to the caller at once. What is refused for good is handed over as the provider wrote it, with a word
to the SDK that it should not try again.
"""

from __future__ import annotations

from collections.abc import Generator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from paceline.errors import DeskClosed, PaceError, PoolClosed
from paceline.pace.answers import Reading, read_answer, read_error, read_exception
from paceline.pace.calls import Call, Listener, Usage
from paceline.pace.events import Events, Opaque
from paceline.pace.messages import FRESH, RETRY, Grant, PoolId, Result
from paceline.pace.passing import Ending, Passage
from paceline.pace.prices import price_of
from paceline.pace.refused import Refusal, refusal_of
from paceline.pace.requests import Seen
from paceline.pace.retrying import wait_before_resend

if TYPE_CHECKING:
    from paceline.pace.transport import Door


class Acquire(NamedTuple):
    """Wait for leave; comes back with a `Grant`."""

    pool: PoolId
    tokens: float
    priority: int


class Send(NamedTuple):
    """Send the request; comes back with a response whose body is not read."""

    request: Any


class Pull(NamedTuple):
    """Read on; comes back with bytes, or None at the end."""


class Close(NamedTuple):
    """Let the response go."""


class Pause(NamedTuple):
    """Wait."""

    seconds: float


Step = Acquire | Send | Pull | Close | Pause
Steps = Generator[Step, Any, "Handed"]


class Handed(NamedTuple):
    """What the caller gets."""

    response: Any
    held: list[bytes] = []  # noqa: RUF012  # never written to
    """What was read already."""
    passage: Passage | None = None
    """None where the answer is whole."""


class _Came(NamedTuple):
    """What came of one sending."""

    reading: Reading
    handed: Handed | None = None
    body: bytes = b""
    error: Exception | None = None
    """Raised in place of an answer."""

    @property
    def passes(self) -> Handed | None:
        """What is handed over before it is whole."""
        handed = self.handed
        return handed if self.reading.outcome == "ok" and handed is not None and handed.passage else None


SIMULATED: Final = "x-paceline-sim"
"""The header by which a simulated provider says what it is."""
HELD_AT_MOST: Final = 65_536
"""Bytes of a stream that are held back while it has no content."""
WHOLE_AT_MOST: Final = 67_108_864
"""Bytes of an answer that is read before it is handed over; what says that it is longer passes by."""


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
    ) -> None:
        """`resent`: whether the caller's SDK says that it asks this for a second time."""
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
        self._told = False
        """Whether the listener knows that the call has ended."""

    def steps(self) -> Steps:
        """What happens, step by step."""
        if self._listener is not None:
            self._listener.begun()
        try:
            if (failed := self._door.failed_before(self._seen, self._resent)) is not None:
                raise failed
            return (yield from self._until_settled())
        except BaseException as error:
            self._abandon(error)
            raise

    def _until_settled(self) -> Steps:
        while True:
            try:
                yield from self._acquire()
            except (PoolClosed, DeskClosed) as closed:
                return self._turned_away(closed)
            came = yield from self._send()
            if passes := came.passes:
                return passes  # the passage settles it
            wait = self._settle(came.reading)
            if wait is None:
                return self._hand_over(came)
            yield Close()
            yield from self._pause(wait)

    # Waiting ---------------------------------------------------------------------------------------

    def _acquire(self) -> Generator[Step, Any, None]:
        self._tokens = self._door.estimates.tokens(self._seen)
        ask = Acquire(self._seen.pool, self._tokens, RETRY if self._tries else FRESH)
        self._grant = yield from self._waiting(ask)

    def _pause(self, seconds: float) -> Generator[Step, Any, None]:
        if seconds > 0:
            yield from self._waiting(Pause(seconds))

    def _waiting(self, step: Step) -> Generator[Step, Any, Any]:
        listener, since = self._listener, self._door.now()
        if listener is not None:
            listener.waiting()
        try:
            return (yield step)
        finally:
            self._waited += self._door.now() - since
            if listener is not None:
                listener.going()

    # Sending, and reading what comes ---------------------------------------------------------------

    def _send(self) -> Generator[Step, Any, _Came]:
        self._tries += 1
        self._status = None
        self._sent = self._door.now()
        try:
            response = yield Send(self._request)
            self._status = response.status_code
            headers = {
                name.decode("latin-1").lower(): value.decode("latin-1")
                for name, value in response.headers.raw
            }
            self._simulated = SIMULATED in headers
            if self._passes_by(response.status_code, headers):
                return (yield from self._peek(response, headers))
            return (yield from self._read(response, headers))
        except Exception as error:
            return _Came(read_exception(error, secret=self._secret), error=error)

    def _passes_by(self, status: int, headers: dict[str, str]) -> bool:
        """Whether the answer is handed over before it is whole."""
        if status >= 400:
            return False
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/event-stream":
            return True
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > WHOLE_AT_MOST:
            return True
        always = self._seen.endpoint.name == ":streamGenerateContent"  # Gemini streams one long list
        return self._seen.streamed and (kind != "application/json" or always)

    def _read(self, response: Any, headers: dict[str, str]) -> Generator[Step, Any, _Came]:
        """The whole answer."""
        parts: list[bytes] = []
        while (part := (yield Pull())) is not None:
            parts.append(part)
        yield Close()
        body = b"".join(parts)
        response.stream = self._library.ByteStream(body)
        reading = read_answer(
            response.status_code,
            headers,
            self._unpacked(response, headers, body),
            provider=self._seen.provider,
            now=self._door.wall(),
            secret=self._secret,
        )
        return _Came(reading, Handed(response), body)

    def _unpacked(self, response: Any, headers: dict[str, str], body: bytes) -> bytes:
        if headers.get("content-encoding", "identity") == "identity":
            return body
        try:
            coded = {"content-encoding": headers["content-encoding"]}
            content: bytes = type(response)(200, headers=coded, content=body).content
            return content
        except Exception:  # the caller will be told by its own client
            return b""

    def _peek(self, response: Any, headers: dict[str, str]) -> Generator[Step, Any, _Came]:
        """A stream up to its first content, its error or its end."""
        self._streamed = True
        is_events = headers.get("content-type", "").startswith("text/event-stream")
        looked = Events(headers.get("content-encoding", "")) if is_events else Opaque()
        passage = Passage(
            looked, content=self._content_came, over=lambda how: self._passed(how, looked, headers)
        )
        held: list[bytes] = []
        size = 0
        while not looked.content and looked.error is None and size < HELD_AT_MOST:
            part = yield Pull()
            if part is None:
                break
            held.append(part)
            size += len(part)
            looked.saw(part)
        if looked.content:
            self._content_came()
        if looked.error is not None and not looked.content:
            reading = self._read_event(looked.error, headers)
            if reading.outcome != "ok":
                return _Came(reading, Handed(response, held, passage))
        if looked.complete:
            passage.end("complete")
        limits = read_answer(200, headers, b"", provider=self._seen.provider, now=self._door.wall())
        return _Came(limits, Handed(response, held, passage))

    def _read_event(self, event: Any, headers: dict[str, str]) -> Reading:
        return read_error(
            event, headers, provider=self._seen.provider, now=self._door.wall(), secret=self._secret
        )

    # Settling --------------------------------------------------------------------------------------

    def _settle(self, reading: Reading) -> float | None:
        """Tell the pool; then whether the call is sent again, and after how long a wait."""
        seen, door = self._seen, self._door
        if reading.outcome in ("overloaded", "transient"):
            self._failures += 1
        wait = wait_before_resend(
            reading,
            failures=self._failures,
            fruitless=door.now() - max(self._started, door.succeeded.get(seen.pool, self._started)),
            dice=door.dice,
            patience=door.patience,
            replayable=seen.replayable,
        )
        self._tell_pool(reading)
        return wait

    def _tell_pool(self, reading: Reading, *, outcome: str | None = None) -> None:
        grant, self._grant = self._grant, None
        if grant is None:
            return
        seen, door = self._seen, self._door
        now = door.now()
        if reading.outcome == "ok" and not reading.local and outcome is None:
            door.succeeded[seen.pool] = now
            door.estimates.learn(seen, reading.usage)
        told: Any = outcome or ("cancelled" if reading.local else reading.outcome)
        door.desk.settle(
            grant,
            Result(
                outcome=told,
                cause=reading.cause if told == reading.outcome else None,
                retry_after=reading.retry_after,
                tokens=door.estimates.charged(seen, self._tokens, reading.usage),
                seconds=now - self._sent,
                advertised=reading.advertised,
                message=reading.message if told not in ("ok", "cancelled") else "",
            ),
        )

    def _hand_over(self, came: _Came) -> Handed:
        """What has come is what the caller gets."""
        self._ended(came.reading)
        if came.error is not None:
            self._door.remember_failure(self._seen, came.error)
            raise came.error
        assert came.handed is not None
        response = came.handed.response
        if response.status_code >= 400:
            response.headers["x-should-retry"] = "false"
        if came.reading.outcome == "fatal":
            self._door.refusals[self._seen.pool] = Refusal.of(response, came.body)
        return came.handed

    def _content_came(self) -> None:
        if self._first_token is None:
            self._first_token = self._door.now() - self._sent

    def _passed(self, how: Ending | BaseException, looked: Events | Opaque, headers: dict[str, str]) -> None:
        """A stream is over."""
        if self._grant is None:
            return  # it was settled before it was handed over
        if looked.error is not None:
            reading = self._read_event(looked.error, headers)
        elif isinstance(how, Exception):
            reading = read_exception(how, secret=self._secret)
        else:
            reading = read_answer(200, headers, b"", provider=self._seen.provider, now=self._door.wall())
        cut = isinstance(how, BaseException) or (how == "closed" and not looked.complete)
        usage = looked.usage
        reading = Reading(
            outcome=reading.outcome,
            cause=reading.cause,
            retry_after=reading.retry_after,
            advertised=reading.advertised,
            usage=usage,
            message=reading.message,
        )
        given_up = (how == "closed" and cut) or not isinstance(how, str | Exception)
        self._tell_pool(reading, outcome="cancelled" if given_up else None)
        self._ended(reading, outcome="cancelled" if given_up else None, priced=not cut)

    def _turned_away(self, closed: PaceError) -> Handed:
        """Its pool, or the desk, grants no more: the caller gets the refusal that closed it, once more."""
        refusal = self._door.refusals.get(self._seen.pool) if isinstance(closed, PoolClosed) else None
        refusal = refusal or refusal_of(closed, self._seen.endpoint.wire)
        if self._tries:
            cause: Any = getattr(closed, "cause", "")
            cause = cause if cause in ("quota", "auth") else None
            self._ended(Reading(outcome="fatal", cause=cause, message=str(closed)))
        else:
            self._tell(None)
        return Handed(refusal.response(self._library))

    def _abandon(self, error: BaseException) -> None:
        """Somebody wants this call gone, or something of ours is broken: the slot goes back."""
        reading = Reading(message=type(error).__name__)
        self._tell_pool(reading, outcome="cancelled")
        if self._tries:
            self._ended(reading, outcome="cancelled")
        else:
            self._tell(None)

    def _ended(self, reading: Reading, *, outcome: Any = None, priced: bool = True) -> None:
        """Record the call."""
        if self._listener is None or self._told:
            return
        seen, door = self._seen, self._door
        usage: Usage | None = reading.usage
        pool = seen.pool
        self._tell(
            Call(
                at=self._at,
                pool=str(pool),
                host=pool.host,
                model=pool.model,
                account=pool.account,
                request=seen.request,
                status=self._status,
                outcome=outcome or reading.outcome,
                cause=reading.cause if outcome is None else None,
                usage=usage,
                price=price_of(pool.model, seen.provider.name, usage, door.prices) if priced else None,
                seconds=door.now() - self._sent,
                first_token=self._first_token,
                waited=self._waited,
                tries=self._tries,
                streamed=self._streamed,
                simulated=self._simulated,
                error=reading.message,
            )
        )

    def _tell(self, call: Call | None) -> None:
        if self._listener is not None and not self._told:
            self._told = True
            self._listener.ended(call)
