"""The door that model calls go through: what all of them have in common, and which requests they are.

    door = Door(desk)
    trip = door.trip(request, httpx2)      None where it is no model call

Knows requests of the HTTP libraries by their shape. Who stands it where is the business of `transport`, what
happens to one call that of `trip`.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final, NamedTuple

from paceline.pace.calls import current_listener
from paceline.pace.desk import Granting
from paceline.pace.estimates import Estimates
from paceline.pace.messages import PoolId
from paceline.pace.prices import Price
from paceline.pace.redirecting import redirected
from paceline.pace.refused import Refusal
from paceline.pace.requests import Seen, key_in, read_request
from paceline.pace.retrying import Patience
from paceline.pace.trip import Trip

REMEMBERED_S: Final = 120.0
"""How long a failure is told again to an SDK that asks again by itself: none of them waits for longer."""
REMEMBERED: Final = 1_000
RESENT: Final = "x-stainless-retry-count"
"""The header in which the official SDKs say how often they have asked this before."""


class Failure(NamedTuple):
    """An exception that was all that came of a call, as far as it is told again.

    Not the exception itself: it holds all frames that it went through.
    """

    at: float
    kind: type[Exception]
    text: str

    def again(self, library: ModuleType) -> Exception:
        """The same once more, in the words of the library that the caller uses."""
        kind = self.kind if issubclass(self.kind, library.TransportError) else library.TransportError
        error: Exception = kind(self.text)
        return error


class Door:
    """What all calls that go through have in common."""

    def __init__(
        self,
        desk: Granting,
        *,
        redirect: str | None = None,
        prices: Mapping[str, Price] | None = None,
        patience: Patience | None = None,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        dice: random.Random | None = None,
    ) -> None:
        """`redirect`: the base URL of a simulated provider that answers in place of any other."""
        self.desk = desk
        self.prices = prices or {}
        self.patience = patience or Patience()
        self.now = now
        self.wall = wall
        self.dice = dice or random.Random()
        self.estimates = Estimates()
        self.succeeded: dict[PoolId, float] = {}
        """When a call of the pool was last answered."""
        self.refusals: dict[PoolId, Refusal] = {}
        """What has closed a pool."""
        self._redirect = redirect
        self._failures: dict[tuple[PoolId, str], Failure] = {}
        self._remembering = threading.Lock()

    @property
    def redirects(self) -> bool:
        """Whether calls go to a simulated provider, wherever they were meant to go."""
        return self._redirect is not None

    def trip(self, request: Any, library: ModuleType) -> Trip | None:
        """The call that a request is; None where it is none."""
        if request.method != "POST":
            return None
        url = request.url
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in request.headers.raw
        }
        query = url.query.decode("latin-1")
        body = _body_of(request, library)
        seen = read_request(
            request.method,
            f"{url.scheme}://{url.netloc.decode('latin-1')}",
            url.host,
            url.path,
            headers,
            body,
            query=query,
        )
        if seen is None:
            return None
        return Trip(
            self,
            seen,
            request if self._redirect is None else redirected(request, seen, self._redirect),
            library,
            secret=key_in(headers, query),
            listener=current_listener.get(),
            body=body,
            resent=headers.get(RESENT, "0") != "0",
        )

    # SDKs ask again after an exception, and cannot be told not to as they can with an answer. What they ask
    # then has been tried often enough: it gets the same, at once and for free.

    def remember_failure(self, seen: Seen, error: Exception) -> None:
        """All tries were in vain."""
        now = self.now()
        with self._remembering:
            failures = self._failures
            # In the order in which they were remembered: a dict keeps it, where each is put in anew.
            failures.pop((seen.pool, seen.request), None)
            failures[seen.pool, seen.request] = Failure(now, type(error), str(error))
            while len(failures) > REMEMBERED or now - next(iter(failures.values())).at > REMEMBERED_S:
                del failures[next(iter(failures))]

    def failure_of(self, seen: Seen) -> Failure | None:
        """The failure of a call that is now asked for again."""
        failure = self._failures.get((seen.pool, seen.request))
        return failure if failure is not None and self.now() - failure.at < REMEMBERED_S else None


def _body_of(request: Any, library: ModuleType) -> bytes | None:
    """None where it is a stream that can be read but once."""
    try:
        body: bytes = request.content
        return body
    except library.RequestNotRead:
        return None
