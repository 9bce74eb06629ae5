"""The breaker: whether calls are worth making at all while the provider is ill.

It opens when most of the last calls failed in ways that are no limit (500s, resets, overload), or when none
of those sent for a while was answered. While it is open single calls are let through to try, first soon, then
at ever longer intervals, and one answered call of those closes it.

Knows results and times. Why a call failed, and how fast to go on afterwards, are others' business.
"""

from __future__ import annotations

from collections import deque
from math import inf
from typing import Final

LOOK_BACK_S: Final = 30.0
FEWEST: Final = 20
"""Results within the look-back, below which nothing is concluded from failures."""
MOSTLY: Final = 0.75
"""Share of failures from which on retries only add to the trouble. Below it they still get work done."""
ONLY_FAILED_S: Final = 10.0
ONLY_REJECTED_S: Final = 20.0
FIRST_PROBE_S: Final = 1.0
LONGEST_PROBE_S: Final = 15.0
"""Half of what is promised (a probe every 30 s): what is found has to be acted on within the minute as
well."""


class Breaker:
    """Closed as long as calls are worth making."""

    __slots__ = (
        "_failed",
        "_failed_since",
        "_fruitless",
        "_interval",
        "_rejected_since",
        "_results",
        "next_probe",
        "opened_at",
    )

    def __init__(self) -> None:
        self._results: deque[tuple[float, bool]] = deque()
        self._failed = 0
        self._failed_since = inf
        """When the first of those failed since which none was sent that was answered,"""
        self._fruitless = 0
        """and how many have failed since."""
        self._rejected_since = inf
        """The same of rejections."""
        self._interval = FIRST_PROBE_S
        self.opened_at: float | None = None
        self.next_probe = inf

    @property
    def open(self) -> bool:
        """Whether only probes may go."""
        return self.opened_at is not None

    @property
    def fruitless(self) -> bool:
        """Whether so many calls failed in a row that one more failure says nothing of the call itself."""
        return self.open or self._fruitless >= FEWEST

    def answered(self, sent_at: float, now: float) -> bool:
        """A call was answered; True if that closes the breaker."""
        self._note(now, failed=False)
        if sent_at > self._rejected_since:
            self._rejected_since = inf
        if sent_at > self._failed_since:
            self._failed_since, self._fruitless = inf, 0
        if self.opened_at is None or sent_at < self.opened_at:
            return False
        self.opened_at, self.next_probe, self._interval = None, inf, FIRST_PROBE_S
        self._rejected_since = self._failed_since = inf
        self._results.clear()
        self._failed = self._fruitless = 0
        return True

    def failed(self, now: float) -> None:
        """A call failed, and not for a limit."""
        self._note(now, failed=True)
        self._fruitless += 1
        self._failed_since = min(self._failed_since, now)
        mostly = len(self._results) >= FEWEST and self._failed >= MOSTLY * len(self._results)
        if mostly or (self._fruitless >= FEWEST and now - self._failed_since >= ONLY_FAILED_S):
            self._open(now)

    def rejected(self, now: float) -> None:
        """A call was rejected for a limit."""
        if self._rejected_since == inf:
            self._rejected_since = now
        elif now - self._rejected_since >= ONLY_REJECTED_S:
            self._open(now)

    def probing(self, now: float) -> None:
        """A call is let through to try."""
        self._interval = min(2 * self._interval, LONGEST_PROBE_S)
        self.next_probe = now + self._interval

    def _open(self, now: float) -> None:
        if self.opened_at is None:
            self.opened_at = now
            self.next_probe = now + self._interval

    def _note(self, now: float, *, failed: bool) -> None:
        results = self._results
        results.append((now, failed))
        self._failed += failed
        while results[0][0] < now - LOOK_BACK_S:
            self._failed -= results.popleft()[1]
