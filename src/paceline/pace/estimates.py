"""What a call will be charged in tokens before anybody has counted them, and what it was charged afterwards.

The prompt is its characters over four, times a ratio learned per pool; the answer is a running mean of
answers. Where a provider charges `max_tokens` on arrival, it is what the request says: no answer gives any of
it back.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from paceline.pace.calls import Usage
from paceline.pace.messages import PoolId
from paceline.pace.requests import Seen

CHARACTERS_A_TOKEN: Final = 4.0
FIRST_ANSWER: Final = 256.0
"""Tokens of an answer before any was seen."""
_WEIGHT: Final = 0.1
"""Of the newest call in a running mean."""
_LONGEST_PROMPT_RATIO: Final = 8.0


class Habit(NamedTuple):
    """What calls of one pool are like."""

    ratio: float = 1.0
    """Tokens counted over tokens guessed, for prompts."""
    answer: float = FIRST_ANSWER
    calls: int = 0


class Estimates:
    """Learns from answers what the next call will take. Any thread may use it: a habit is replaced as a
    whole."""

    def __init__(self) -> None:
        self._habits: dict[PoolId, Habit] = {}

    def tokens(self, seen: Seen) -> float:
        """What the call will probably be charged."""
        habit = self._habits.get(seen.pool, Habit())
        prompt = seen.characters / CHARACTERS_A_TOKEN * habit.ratio
        most = seen.max_tokens
        match seen.provider.charge:
            case "most" if most is not None:
                return max(prompt, float(most))
            case "sum" if most is not None:
                return prompt + most
            case _:
                return prompt + (habit.answer if most is None else min(habit.answer, most))

    def charged(self, seen: Seen, asked: float, usage: Usage | None) -> float | None:
        """What the call was charged, now that it is counted; None where nobody has counted."""
        if usage is None or usage.input is None:
            return None
        # What came from Anthropic's cache does not count against its limits.
        free = usage.cached or 0 if seen.provider.wire == "anthropic" else 0
        used = float(max(usage.input - free, 0) + (usage.output or 0))
        reserved = seen.provider.charge != "used" and seen.max_tokens is not None
        return max(asked, used) if reserved else used

    def learn(self, seen: Seen, usage: Usage | None) -> None:
        """Take a counted call into account."""
        if usage is None or usage.input is None:
            return
        old = self._habits.get(seen.pool, Habit())
        weight = max(
            _WEIGHT, 1 / (old.calls + 1)
        )  # the first call counts in full, the next by half, and so on
        ratio = old.ratio
        if seen.characters >= 40:
            told = usage.input / (seen.characters / CHARACTERS_A_TOKEN)
            ratio += weight * (min(max(told, 1 / _LONGEST_PROMPT_RATIO), _LONGEST_PROMPT_RATIO) - ratio)
        answer = old.answer + weight * ((usage.output or 0) - old.answer)
        self._habits[seen.pool] = Habit(ratio, answer, old.calls + 1)
