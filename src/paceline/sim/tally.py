"""What a simulated provider has seen, as `/stats` tells it.

Who tests a client wants to know: was everything answered, and was anything paid for twice? So prompts are
counted by what they are, and never kept; keys are not told at all.

Knows numbers. Knows nothing of HTTP.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

import msgspec

from paceline.sim.answers import Prompt
from paceline.sim.provider import Stats
from paceline.sim.wire import Asked

TOLD_SECONDS: Final = 3600
"""Of goodput: the last hour's."""
REMEMBERED: Final = 1_000_000
"""Prompts that are told apart; those after them are not counted as new or old."""
CACHES_FROM: Final = 1024
CACHES_IN: Final = 128
"""Prompts that begin with the same tokens are cheaper from so many on, in steps of so many."""


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Of the calls that were accepted."""

    input: int
    """What prompts counted, the cached part included."""
    cached: int
    """Of the input, what was read from the cache."""
    output: int
    """What answers counted."""


class Prompts(msgspec.Struct, frozen=True, kw_only=True):
    """Of the calls that were accepted, by what they asked."""

    different: int
    """How many there were."""
    accepted_twice: int
    """Those that were accepted more than once: after a fault, that is how it has to be."""
    answered_twice: int
    """Those that were answered well more than once: the second answer was paid for in vain."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What `/stats` tells."""

    scenario: str
    """Its name."""
    time_scale: float
    """How many of the provider's seconds are one of the world's."""
    seconds: float
    """Of the provider's own time, since the first call or since `/stats/reset`."""
    arrived: int
    """Calls of any fate."""
    accepted: int
    """Those that were worked on."""
    answered: int
    """Accepted calls whose whole answer was waited for, and was right."""
    refused: dict[str, int]
    """By cause: `requests`, `tokens`, `concurrency`, `ramp`, `quota`, `auth`; overload, outages and models
    that are not there are `unknown`."""
    refused_by_status: dict[str, int]
    """The same by HTTP status."""
    invalid: int
    """Requests that no provider would have understood; they count as no arrival."""
    faults: dict[str, int]
    """Accepted calls that were made to go wrong, by kind."""
    hung_up: int
    """Accepted calls whose caller went before the end."""
    in_flight: int
    """Accepted calls under way now."""
    in_flight_peak: int
    """The most there were at once."""
    streamed: int
    """Accepted calls that asked for a stream."""
    tokens: Tokens
    """Of accepted calls."""
    prompts: Prompts
    """Of accepted calls, by what they asked."""
    connections: int
    """That are open now."""
    goodput: list[int]
    """Calls answered, by second; of a long time, the last hour."""


class Tally:
    """Counts what the provider itself has no reason to know."""

    def __init__(self) -> None:
        self.refused: Counter[int] = Counter()
        self.turned_away = 0
        """For their keys, before the provider was asked."""
        self.invalid = 0
        self.hung_up = 0
        self.streamed = 0
        self._input = self._cached = self._output = 0
        self._accepted: Counter[int] = Counter()
        self._answered: Counter[int] = Counter()
        self._beginnings: dict[int, None] = {}

    def accepted(self, prompt: int, asked: Asked, cached: int, output: int) -> None:
        """A call was accepted."""
        self.streamed += asked.stream
        self._input += asked.input_tokens
        self._cached += cached
        self._output += output
        _count(self._accepted, prompt)

    def answered(self, prompt: int) -> None:
        """A call was answered well."""
        _count(self._answered, prompt)

    def times_answered(self, prompt: int) -> int:
        """How often a prompt was answered well."""
        return self._answered[prompt]

    def cached(self, prompt: Prompt, input_tokens: int) -> int:
        """How many tokens of a prompt were seen before: all but its last message, where there are many.

        Only what is remembered moves the answer, so the same calls in the same order have the same usage.
        """
        if input_tokens < CACHES_FROM:
            return 0
        texts = [message.text for message in prompt.messages]
        begins = sum(map(len, texts[:-1])) // 4
        seen = 0
        for tokens, of in ((input_tokens, texts), (begins, texts[:-1])):
            if tokens >= CACHES_FROM and not seen:
                name = hash((prompt.model, *of))
                if name in self._beginnings:
                    seen = min(tokens, input_tokens) // CACHES_IN * CACHES_IN
                elif len(self._beginnings) < REMEMBERED:
                    self._beginnings[name] = None
        return seen

    def seen(
        self, stats: Stats, *, scenario: str, time_scale: float, seconds: float, connections: int
    ) -> Seen:
        """All of it."""
        refused = dict(stats.refused)
        if self.turned_away:
            refused["auth"] = refused.get("auth", 0) + self.turned_away
        return Seen(
            scenario=scenario,
            time_scale=time_scale,
            seconds=round(seconds, 3),
            arrived=stats.arrived + self.turned_away,
            accepted=stats.accepted,
            answered=stats.answered,
            refused=refused,
            refused_by_status={str(status): count for status, count in sorted(self.refused.items())},
            invalid=self.invalid,
            faults=stats.faults,
            hung_up=self.hung_up,
            in_flight=stats.in_flight,
            in_flight_peak=stats.in_flight_peak,
            streamed=self.streamed,
            tokens=Tokens(input=self._input, cached=self._cached, output=self._output),
            prompts=Prompts(
                different=len(self._accepted),
                accepted_twice=sum(count > 1 for count in self._accepted.values()),
                answered_twice=sum(count > 1 for count in self._answered.values()),
            ),
            connections=connections,
            goodput=stats.goodput,
        )


def name_of(prompt: Prompt) -> int:
    """A number for what a prompt asks."""
    return hash((prompt.model, *((message.role, message.text) for message in prompt.messages)))


def _count(counter: Counter[int], name: int) -> None:
    if name in counter or len(counter) < REMEMBERED:
        counter[name] += 1
