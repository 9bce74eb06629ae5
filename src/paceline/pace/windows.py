"""The window, learned: how many calls in flight are worth having.

It opens in rounds. In a round as many calls end as are in flight; a wider window has to have brought more
answers per second than the one before, or it only made a queue longer (the knee of a server that never
rejects). At first it doubles, later it grows by a little. Where more has brought nothing it settles, and now
and then tries a narrower window, which may bring as much, and a wider one, which may bring more after all. A
round in which calls waited for a rate, in which nobody waited at all, or in which many calls failed tells
nothing about the window.

A rejection for calls at once says exactly how many fit: those still in flight. It is tried again, more and
more seldom, whether there is room for a little more.

Knows counts and times. Knows nothing of rates.
"""

from __future__ import annotations

from math import inf
from typing import Final

START: Final = 20.0
LEAST: Final = 1.0
MOST: Final = 1000.0
"""Without a limit of the user's: what one process and its sockets can bear."""
FEWEST: Final = 15
"""Answers that make a round: fewer have too much chance in them."""
GROWTH: Final = 0.08
OPENING_S: Final = 2.0
"""A window that doubles opens over this time, so that no burst hits a bucket that holds a second's worth."""
WORTH: Final = 0.35
"""Of the answers that a wider window would bring if nothing else bound, the share that shows it is worth it.
Low, since lengths of answers differ a lot; at a knee the share is 0."""
TROUBLED: Final = 0.25
"""Failures per answer from which on a round says nothing."""
TELLING: Final = 1.25
"""Windows closer together than this are not told apart by one round."""
CONCLUSIVE: Final = 60
"""Answers in a round from which on chance has no part in its verdict."""
KNEE_HOLD_S: Final = 60.0
FULL_HOLD_S: Final = 10.0


class Window:
    """How many calls may be in flight."""

    __slots__ = (
        "_doubling",
        "_ended",
        "_failed",
        "_failures",
        "_from",
        "_full_hold",
        "_goal",
        "_hold_until",
        "_home",
        "_most",
        "_narrower",
        "_opened_at",
        "_reference",
        "_regain",
        "_round_at",
        "_settled",
        "_skip",
        "_start",
        "knee",
        "limited",
        "paced",
    )

    def __init__(self, *, most: float | None, start: float | None, now: float) -> None:
        self._most = MOST if most is None else float(most)
        self._start = START if start is None else start
        self._goal = self._from = max(LEAST, min(self._start, self._most))
        self._opened_at = now
        self._doubling = True
        self._hold_until = -inf
        self._full_hold = FULL_HOLD_S
        self._reference: tuple[float, float] | None = None
        """A window and the answers per second that it brought; once settled, answers and their seconds."""
        self._failed = False
        self._settled = False
        """Whether more was found to bring nothing. From then on it is tried now and then whether a narrower
        window brings as much, or a wider one more: a knee moves."""
        self._narrower = False
        """Which of the two is tried next."""
        self._home: float | None = None
        """Where it goes back to, while another width is tried."""
        self._regain = 0.0
        """How wide it was before it was narrowed on a suspicion."""
        self.knee = False
        """Whether it was ever found wide enough."""
        self.limited = self.paced = False
        """Of this round: calls waited for the window, calls waited for a rate."""
        self._failures = 0
        """Of this round."""
        self._ended = 0
        self._skip = int(self._goal)
        self._round_at = now

    def at(self, now: float) -> float:
        """How wide it is."""
        if self._from >= self._goal or now >= self._opened_at + OPENING_S:
            return self._goal
        return self._from + (self._goal - self._from) * max(0.0, now - self._opened_at) / OPENING_S

    def opening(self, now: float) -> float | None:
        """When there will be room for one more without anything having ended; None if not."""
        width = self.at(now)
        if int(width) >= int(self._goal):
            return None
        return now + (int(width) + 1 - width) * OPENING_S / (self._goal - self._from) + 1e-6

    @property
    def learned(self) -> float:
        """What a provider bears, as far as it is known: a limit of the user's is none of it."""
        width = self._goal if self._home is None else self._home
        return max(width, self._start) if width >= self._most < MOST and not self.knee else width

    def limit(self, most: float | None, now: float) -> None:
        """Somebody sets another limit, or none."""
        known, was_capped = self.learned, self._goal >= self._most
        self._most = MOST if most is None else float(most)
        if self._goal > self._most or was_capped:
            self._home = self._reference = None
            self._start = max(self._start, known)  # for when the limit is gone
            self._go(known, now)

    # What happens

    def answered(self, now: float) -> None:
        """A call has come back well; at the end of a round, the window is judged."""
        if self._goal < self._regain and now >= self._hold_until:
            self._win_back(now)
            return
        self._ended += 1
        if self._ended > self._skip and self.at(now) < self._goal:
            # Quick calls come back before it has opened, and say nothing of how wide it will be.
            self._skip = self._ended
        if self._ended == self._skip:
            # Those sent under the window before have come back.
            self._round_at = now
            self.limited = self.paced = False
            self._failures = 0
        if self._ended < self._skip + self._round():
            return
        tells = self.limited and self._failures <= TROUBLED * (self._ended - self._skip)
        if tells and self._settled:
            self._compare(now)
        elif tells and now >= self._hold_until:
            self._judge(now)
        else:
            self._begin(now, skip=0)

    def failed(self) -> None:
        """A call has come back that failed, for no limit."""
        self._failures += 1

    def rejected(self, still: int, now: float, *, sure: bool) -> None:
        """No room for one more than the `still` in flight; if not `sure`, that may not have been it."""
        width = self.at(now)
        if sure:
            self._doubling, self._regain = False, 0.0
        else:
            self._regain = max(self._regain, width)
        if now >= self._hold_until:
            self._full_hold = min(2 * self._full_hold, KNEE_HOLD_S)
        self._hold_until = now + self._full_hold
        self._unsettle()
        self.knee = True
        if still < width:
            self._go(float(still), now)

    def resume(self, now: float) -> None:
        """After an outage: half open at once, and the rest within moments."""
        width = self._goal if self._home is None else self._home
        self._home = self._reference = None
        self._go(width, now)
        self._from = max(LEAST, width / 2)

    # Judging

    def _round(self) -> float:
        """Answers that make a round; once settled, little has to be told from a little more."""
        if not self._settled:
            return max(FEWEST, self._goal)
        return max(CONCLUSIVE, self._goal if self._home is None else 2 * self._goal)

    def _win_back(self, now: float) -> None:
        """It was narrowed on a suspicion: one wider with each answer, until it is what it was, or the
        suspicion comes true.
        """
        if self.limited:
            self._goal = self._from = min(self._goal + 1, self._most)
            self.limited = False
        if self._goal >= self._regain:
            self._regain, self._full_hold = 0.0, FULL_HOLD_S
            self._begin(now, skip=int(self._goal))

    def _judge(self, now: float) -> None:
        width = self._goal
        if self.paced:
            # It was a rate that bound; no verdict on the window.
            self._reference = None
            self._grow(width, now)
            return
        answers = self._ended - self._skip
        rate = answers / max(now - self._round_at, 1e-9)
        if self._reference is None:
            self._reference = (width, rate)
            self._grow(width, now)
            return
        before, brought = self._reference
        if width < TELLING * before:
            self._grow(width, now)
        elif rate >= brought * (1 + WORTH * (width / before - 1)):
            self._reference, self._failed = (width, rate), False
            self._grow(width, now)
        elif not self._failed and answers < CONCLUSIVE:
            self._failed = True  # once may be chance
            self._begin(now, skip=0)
        else:
            self._settle(before, now)

    def _settle(self, width: float, now: float) -> None:
        """More than this brings nothing."""
        self._unsettle()
        self._settled = self.knee = True
        self._doubling = self._narrower = False
        self._hold_until = now + FULL_HOLD_S
        self._go(width, now)

    def _unsettle(self) -> None:
        self._settled = self._failed = False
        self._home = self._reference = None

    def _compare(self, now: float) -> None:
        """A round has ended at the width that it has settled at, or at one that is tried."""
        if self.paced:
            # It was a rate that bound; no verdict.
            home, self._home = self._home, None
            self._go(self._goal if home is None else home, now)
            return
        answers, seconds = float(self._ended - self._skip), max(now - self._round_at, 1e-9)
        if self._home is not None:
            self._tried(answers / seconds, now)
            return
        if self._reference is not None:
            # What was longer ago counts for less.
            answers, seconds = answers + self._reference[0] / 2, seconds + self._reference[1] / 2
        self._reference = (answers, seconds)
        if now < self._hold_until:
            self._begin(now, skip=0)
            return
        self._home = self._goal
        self._go(self._home / TELLING if self._narrower else self._home * TELLING, now)

    def _tried(self, rate: float, now: float) -> None:
        """Another width has had its round."""
        assert self._home is not None
        assert self._reference is not None
        home, brought = self._home, self._reference[0] / self._reference[1]
        self._home = self._reference = None
        if rate >= brought * (1 + WORTH * (self._goal / home - 1)):
            self._begin(now, skip=0)  # as good, and on in this direction
            return
        self._narrower = not self._narrower
        self._hold_until = now + KNEE_HOLD_S
        self._go(home, now)

    def _grow(self, width: float, now: float) -> None:
        self._go(2 * width if self._doubling else width + max(1.0, GROWTH * width), now)

    def _go(self, goal: float, now: float) -> None:
        """To another width; calls sent under the old one do not count for the new one."""
        width = self.at(now)
        self._goal = max(LEAST, min(goal, self._most))
        self._from, self._opened_at = min(width, self._goal), now
        self._begin(now, skip=int(width))

    def _begin(self, now: float, *, skip: int) -> None:
        self._ended, self._skip, self._round_at = 0, skip, now
        self.limited = self.paced = False
        self._failures = 0
