"""One rate, learned: how many requests (or tokens) a second the provider takes.

Nothing is known at first, and nothing is paced. A rejection says two things. The provider's bucket was empty
at that moment; so between two rejections exactly as much was let in as had flowed into it, and that is the
rate. And the present rate is too high: it goes to a little below what was found, comes back to it, and then
creeps beyond, ever faster, until the next rejection (the curve is that of CUBIC, with time in units of its
own, so that it means the same at 1 and at 1,000 a second).

What a provider says of its limit in headers takes the place of the search. A limit that somebody has set is
never exceeded.

Knows amounts and times. Which call is about which limit is the controller's.
"""

from __future__ import annotations

from collections import deque
from math import inf
from typing import Final

from paceline.pace.buckets import BURST_S

CUT: Final = 0.15
"""How far below the rate found it goes after a rejection: the slack refills the provider's bucket, which the
creeping then uses up, so that on average nothing is lost."""
BACK_S: Final = 8.0
"""Seconds until the rate found is reached again, and"""
BACK_CALLS: Final = 25.0
"""not before so many calls have gone: where calls are rare, to look for more every few seconds would have one
call in ten rejected."""
LONGEST_BACK_S: Final = 60.0
"""However rare they are: what was taken for far too little has to be found out some time."""
RECENT_S: Final = 5.0
"""What counts as the rate just now. Longer than most bursts, shorter than most changes. And"""
RECENT_CALLS: Final = 20.0
"""no fewer calls than these."""
DEEPEST: Final = 0.5
"""No single episode is trusted to cut to less than this; the next one will be there soon enough."""
DEEPEST_AT_FIRST: Final = 0.1
"""Before anything was found, what was sent says little of what will be let in."""
DOUBT: Final = 2.0
"""Calls by which an estimate may be off."""
CONVINCING: Final = 20.0
"""Calls let in between two rejections that tell as much as was believed before."""
PRESSED: Final = 0.6
"""Below this share of what might have been sent, a rate was not what bound."""
FIRST_S: Final = 1.0
"""Where a call finds the bucket empty before any was let in, others have emptied it, and nothing is known:
one call in this time is tried, and fewer with each that is rejected."""
SLOWEST_S: Final = 120.0
"""No rate is found that lets nothing through for longer than this."""
KEPT: Final = 0.98
"""Of a limit in a provider's headers: what is counted there and here is never quite the same."""


START_MARGIN: Final = 0.95
"""Of a rate that an earlier run found: where this one begins."""
_WEIGHT: Final = 0.1
"""Of the newest call in a running mean."""


class Rate:
    """How fast, per second. `unit` is about one call's worth."""

    __slots__ = (
        "_advertised",
        "_began",
        "_ceiling",
        "_emptied_at",
        "_found",
        "_least",
        "_let_in",
        "_measured",
        "_recent",
        "_recent_sum",
        "_since",
        "_span",
        "_start",
        "_usual",
    )

    def __init__(self, *, ceiling: float | None, start: float | None, now: float) -> None:
        self._ceiling = ceiling
        self._advertised: float | None = None
        self._start = start
        self._measured = False
        """Whether what was found was found here."""
        self._found = None if start is None else START_MARGIN * start
        self._usual: float | None = None
        """What a call takes, a running mean."""
        # What an earlier run found is trusted as if it had just been reached again.
        self._since = now - self._back
        self._began: float = inf
        self._emptied_at: float | None = None
        self._let_in = 0.0
        self._recent: deque[tuple[float, float]] = deque()
        self._recent_sum = 0.0
        self._span = RECENT_S
        self._least = 0.0

    @property
    def found(self) -> float | None:
        """The rate last found; None while none ever bound."""
        return self._found

    @property
    def learned(self) -> float | None:
        """The provider's limit, as far as it is known: found here, said by the provider, or known before."""
        if self._measured:
            return self._found
        return self._start if self._advertised is None else self._advertised

    @property
    def is_news(self) -> bool:
        """Whether that is known from this run."""
        return self._measured or self._advertised is not None

    @property
    def top(self) -> float | None:
        """What is not to be exceeded: set by somebody, or said by the provider."""
        if self._advertised is None:
            return self._ceiling
        return self._advertised if self._ceiling is None else min(self._ceiling, self._advertised)

    def at(self, now: float) -> float | None:
        """The rate to keep now."""
        top = self.top
        if self._found is None:
            return top
        past, back = max(0.0, now - self._since), self._back
        rate = self._found * (1 + CUT * ((past - back) / back) ** 3)
        if past > back:
            # Nobody knows what a rate means that was never sent.
            rate = max(self._found, min(rate, 2 * self.recent(now)))
        return rate if top is None else min(rate, top)

    def recent(self, now: float) -> float:
        """What was let in per second just now."""
        recent, lately = self._recent, self._lately
        while recent and recent[0][0] <= now - lately:
            self._recent_sum -= recent.popleft()[1]
        return max(0.0, self._recent_sum) / lately

    @property
    def _back(self) -> float:
        """Seconds until the rate found is reached again."""
        return max(BACK_S, min(self._time_of(BACK_CALLS), LONGEST_BACK_S))

    @property
    def _lately(self) -> float:
        """For how long what went counts as the rate just now."""
        return max(RECENT_S, self._time_of(RECENT_CALLS))

    def _time_of(self, calls: float) -> float:
        """How long so many calls take at the rate found."""
        return calls * (self._usual or 1.0) / self._found if self._found else 0.0

    # What happens

    def sent(self, amount: float, now: float) -> None:
        """A call has gone."""
        if self._began == inf:
            self._began = now
        self._recent.append((now, amount))
        self._recent_sum += amount
        self._let_in += amount
        self._usual = amount if self._usual is None else self._usual + _WEIGHT * (amount - self._usual)

    def corrected(self, by: float, sent_at: float, now: float) -> None:
        """A call that has gone counts for more or less than was thought; not at all if it was rejected."""
        if self._emptied_at is None or sent_at > self._emptied_at:
            self._let_in += by
        if sent_at > now - self._lately:
            self._recent.append((now, by))
            self._recent_sum += by

    def also_rejected(self, amount: float, sent_at: float, now: float) -> None:
        """One more call of those that a cut was made for: what was found counted it as let in."""
        if self._found is not None and self._emptied_at is not None and sent_at <= self._emptied_at:
            self._found = max(self._found - amount / self._span, self._least)
        self.corrected(-amount, sent_at, now)

    def emptied(self, amount: float, sent_at: float, now: float) -> None:
        """A call sent at `sent_at` found the provider's bucket empty: cut."""
        later = sum(each for when, each in self._recent if when > sent_at)
        before = self.at(now)
        self._span = min(self._lately, max(BURST_S, sent_at - self._began))
        found = max(0.0, self.recent(now) * self._lately - later - amount) / self._span
        if self._found is not None and self._emptied_at is not None and sent_at > self._emptied_at:
            self._span = sent_at - self._emptied_at
            found = self._believed(self._let_in - later - amount, self._sustained(sent_at, amount), amount)
        if before is not None and self._found is not None:
            found = max(found, DEEPEST * before)
        elif found == 0.0:
            found = amount / FIRST_S
        deepest = DEEPEST_AT_FIRST if self._found is None else DEEPEST
        self._least = max(deepest * found, amount / SLOWEST_S)
        self._emptied_at, self._let_in = sent_at, later
        self._found, self._measured = max(found, self._least), True
        self._since = now
        self.corrected(-amount, sent_at, now)

    def _believed(self, let_in: float, sustained: float, amount: float) -> float:
        """Between what was believed before and what was let in since the bucket was last empty; nearer to the
        latter, the more that was.

        Both times a little may have been left in it, at most what one call more would have taken. And where
        the bucket ran over in between, more flowed in than was let in; then what was `sustained` tells more.
        """
        assert self._found is not None
        least, most = (let_in - DOUBT * amount) / self._span, (let_in + DOUBT * amount) / self._span
        least = max(least, sustained)
        if let_in < PRESSED * self._found * self._span:
            most = (1 - CUT) * self._found  # hardly anything was sent, so that it says little
        told, weight = max(let_in / self._span, sustained), let_in / (let_in + CONVINCING * amount)
        return max(least, min(most, self._found + weight * (told - self._found)))

    def _sustained(self, until: float, amount: float) -> float:
        """The highest rate that was let in lately, without what a full bucket may have held: a call found it
        empty at `until`, and that call is not counted.
        """
        best, let_in = 0.0, -amount
        for when, each in reversed(self._recent):
            if when > until:
                continue
            let_in += each
            if (span := until - when) >= RECENT_S:
                best = max(best, let_in / (span + BURST_S))
        best = max(best, let_in / (self._lately + BURST_S))
        return best if self._span >= RECENT_S else 0.0

    def resume(self, now: float) -> None:
        """Nothing could be learned for a while: go on with what was found before."""
        if self._found is not None:
            self._since = now
        self._emptied_at = None

    def limit(self, ceiling: float | None) -> None:
        """Somebody sets another limit, or none."""
        self._ceiling = ceiling

    def advertised(self, per_second: float) -> None:
        """The provider says what its limit is."""
        self._advertised = KEPT * per_second
