"""A stage in virtual time: the simulated provider, and a pool that holds everybody back after a rejection."""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Sequence
from typing import Any

from paceline.ramp.seen import Done, Glimpse, Heed, LevelRun, Machine, Try
from paceline.sim.provider import Admitted, Provider
from paceline.sim.scenario import Scenario

GLIMPSES = 0.1
"""Seconds between two looks at a level."""


class VirtualStage:
    """Holds levels against a simulated provider; nothing waits."""

    def __init__(self, *, seed: int = 0, machine: Machine | None = None, **scenario: Any) -> None:
        self.provider = Provider(Scenario.of(scenario), seed=seed)
        self.now = 0.0
        self.machine = machine or Machine()
        self.held: list[tuple[int, int]] = []
        self.used: list[int] = []
        self._dice = random.Random(seed)

    async def hold(
        self, level: int, cases: Sequence[int], heed: Heed, *, rps: float | None = None
    ) -> LevelRun:
        """One level, as the pool of a run would have it."""
        started, blocked, in_flight, begun = self.now, 0.0, 0, 0
        held_until = started
        waiting: deque[float] = deque()
        """Cases that wait to be sent, by when they began."""
        events: list[tuple[float, int, float, Any]] = []
        tries: list[Try] = []
        done: list[Done] = []
        halt, looked, order, turn = None, started, 0, 0.0
        while True:
            while begun < len(cases) and halt is None and in_flight + len(waiting) < level:
                waiting.append(self.now)
                self.used.append(cases[begun])
                begun += 1
                held_until = self.now
            while waiting and max(blocked, turn) <= self.now:
                turn = self.now + (1 / rps if rps else 0.0)
                began = waiting.popleft()
                answer = self.provider.arrive(self.now, input_tokens=300.0, output_tokens=200.0)
                in_flight, order = in_flight + 1, order + 1
                heapq.heappush(events, (self.now + answer.seconds, order, began, (self.now, answer)))
            if not events and not waiting:
                break
            free = max(blocked, turn)
            due = min(events[0][0] if events else free, free if waiting else float("inf"))
            self.now = max(self.now, due)
            if events and events[0][0] <= self.now:
                _, _, began, (sent, answer) = heapq.heappop(events)
                in_flight -= 1
                tries.append(self._try(sent, answer))
                if isinstance(answer, Admitted):
                    self.provider.leave(answer.id, self.now)
                    done.append(Done(start=began, end=self.now, cost=0.001))
                elif answer.status == 429 and answer.cause not in ("quota", "auth"):
                    wait = answer.retry_after or self._dice.uniform(0.5, 1.5)
                    blocked = max(blocked, self.now + wait)
                    waiting.appendleft(began)
                else:
                    done.append(Done(start=began, end=self.now, ok=False, error=f"{answer.status}"))
            if self.now - looked >= GLIMPSES and halt is None:
                looked = self.now
                halt = heed(Glimpse(level=level, now=self.now, started=started, tries=tries, done=done))
        self.held.append((level, begun))
        return LevelRun(
            level=level,
            paced=rps,
            begun=begun,
            started=started,
            held_until=held_until,
            ended=self.now,
            tries=tries,
            done=done,
            machine=self.machine,
            halt=halt,
        )

    def _try(self, sent: float, answer: Any) -> Try:
        if isinstance(answer, Admitted):
            outcome: Any = "ok" if answer.fault in (None, "slow") else "transient"
            return Try(start=sent, end=self.now, outcome=outcome, tokens=500.0, pool="openai:m")
        outcome = {429: "rate_limited", 503: "overloaded", 529: "overloaded"}.get(answer.status, "transient")
        if answer.cause in ("quota", "auth"):
            outcome = "fatal"
        cause: Any = answer.cause if answer.told else "unknown"
        return Try(start=sent, end=self.now, outcome=outcome, cause=cause, pool="openai:m", message="no")
