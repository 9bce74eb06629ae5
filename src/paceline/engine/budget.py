"""Budgets: what a run may spend, over all processes that work on it.

Before a key is begun, what the keys in flight will probably cost is reserved, so that many at once do not
jointly overshoot. The guess is the mean of what has been seen; until something has been seen, one key at a
time is let through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from paceline.errors import UsageError
from paceline.journal.records import Key

COST_NAMES: Final = ("cost", "cost_usd")
TOKEN_NAMES: Final = ("tokens", "total_tokens")
TOKEN_PARTS: Final = ("input_tokens", "output_tokens")
EXACT_ENOUGH: Final = 1 + 1e-9
"""Ten times 0.1 is not 1 to a computer, and a budget of 1 pays for ten of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Ceilings; None is none."""

    usd: float | None = None
    tokens: float | None = None
    wall_s: float | None = None
    failures: int | None = None
    """Cases that did not pass or ended without being scored."""

    def __post_init__(self) -> None:
        for name in ("usd", "tokens", "wall_s", "failures"):
            ceiling = getattr(self, name)
            if ceiling is not None and not ceiling > 0:
                raise UsageError(f"budget {name} is {ceiling}", hint="a budget is a number above 0")

    @property
    def may_cut_short(self) -> bool:
        """Whether it may end a run at a case that has nothing to do with it; then which cases came before
        matters."""
        return self.usd is not None or self.tokens is not None or self.wall_s is not None

    @classmethod
    def of(cls, given: Budget | Mapping[str, Any] | None) -> Budget:
        """What `budget=` accepts."""
        if given is None:
            return cls()
        if isinstance(given, Budget):
            return given
        if unknown := sorted(set(given) - {"usd", "tokens", "wall_s", "failures"}):
            raise UsageError(
                f"budget: unknown key {', '.join(unknown)}", hint="the keys are usd, tokens, wall_s, failures"
            )
        return cls(**given)


@dataclass(slots=True, kw_only=True)
class Spent:
    """What is gone, earlier processes included."""

    usd: float = 0.0
    tokens: float = 0.0
    wall_s: float = 0.0
    failures: int = 0
    priced: int = 0
    """Attempts that told what they cost."""
    unpriced: int = 0
    counted: int = 0
    """Attempts that told their tokens."""
    uncounted: int = 0
    unpriced_calls: int = 0
    """Calls that evaluators have made, and of which nobody knows what they cost."""
    uncounted_calls: int = 0
    """Likewise their tokens."""


class Purse:
    """Keeps the budget of one process at work on a run."""

    def __init__(self, budget: Budget, spent: Spent, *, now: float) -> None:
        self._budget = budget
        self.spent = spent
        self._wall_before = spent.wall_s
        self._started = now
        self.limits_money = budget.usd is not None or budget.tokens is not None
        self._reserved: set[Key] = set()
        """Keys begun whose cost is not known yet."""
        self.unlimited = not self.limits_money and budget.wall_s is None and budget.failures is None

    def reserve(self, key: Key) -> None:
        """An attempt at a key is about to be begun."""
        self._reserved.add(key)

    def release(self, key: Key) -> None:
        """Whatever became of a key, no attempt at it is under way any more."""
        self._reserved.discard(key)

    def settle(self, key: Key, metrics: Mapping[str, int | float]) -> None:
        """Book what an attempt has cost, as far as it said."""
        self.release(key)
        spent = self.spent
        cost = _first(metrics, COST_NAMES)
        tokens = _first(metrics, TOKEN_NAMES)
        if tokens is None:
            parts = [metrics[name] for name in TOKEN_PARTS if name in metrics]
            tokens = sum(parts) if parts else None
        if cost is None:
            spent.unpriced += 1
        else:
            spent.priced += 1
            spent.usd += cost
        if tokens is None:
            spent.uncounted += 1
        else:
            spent.counted += 1
            spent.tokens += tokens

    def judge(self, price: float | None, tokens: float | None) -> None:
        """Book what a call of an evaluator has cost, as far as it is known."""
        spent = self.spent
        if price is None:
            spent.unpriced_calls += 1
        else:
            spent.usd += price
        if tokens is None:
            spent.uncounted_calls += 1
        else:
            spent.tokens += tokens

    def refusal(self, *, now: float) -> str | None:
        """Why no further key may be begun, for good; None where one may."""
        budget, spent = self._budget, self.spent
        if budget.wall_s is not None and self._wall_before + (now - self._started) >= budget.wall_s:
            return f"the time budget of {budget.wall_s:g} s is spent"
        if budget.failures is not None and spent.failures >= budget.failures:
            return f"{spent.failures} cases failed, and the budget is {budget.failures}"
        for name, ceiling, gone in (("$", budget.usd, spent.usd), ("tokens", budget.tokens, spent.tokens)):
            if (
                ceiling is not None
                and gone + self._reserve(name, 1) > ceiling * EXACT_ENOUGH
                and not self._reserved
            ):
                return f"the budget of {ceiling:g} {name} is spent ({gone:g} so far)"
        return None

    def must_wait(self) -> bool:
        """Whether what is in flight may use the rest up, so that the next key waits for it to settle."""
        if not self.limits_money or not self._reserved:
            return False
        in_flight = len(self._reserved)
        budget, spent = self._budget, self.spent
        return any(
            ceiling is not None
            and (not seen or gone + self._reserve(name, in_flight + 1) > ceiling * EXACT_ENOUGH)
            for name, ceiling, gone, seen in (
                ("$", budget.usd, spent.usd, spent.priced + spent.unpriced),
                ("tokens", budget.tokens, spent.tokens, spent.counted + spent.uncounted),
            )
        )

    def _reserve(self, name: str, keys: int) -> float:
        spent = self.spent
        if name == "$":
            gone, seen = spent.usd, spent.priced or spent.unpriced
        else:
            gone, seen = spent.tokens, spent.counted or spent.uncounted
        return keys * gone / seen if seen else 0.0

    @property
    def unknown(self) -> str | None:
        """What a ceiling is set on and could not be seen in full."""
        if self._budget.usd is not None and self.spent.unpriced:
            return f"{self.spent.unpriced} attempts did not say what they cost (metric `cost`)"
        if self._budget.tokens is not None and self.spent.uncounted:
            return f"{self.spent.uncounted} attempts did not say their tokens (metric `tokens`)"
        if self._budget.usd is not None and self.spent.unpriced_calls:
            return f"nobody knows what {self.spent.unpriced_calls} calls of evaluators cost (`prices`)"
        if self._budget.tokens is not None and self.spent.uncounted_calls:
            return f"nobody knows how many tokens {self.spent.uncounted_calls} calls of evaluators took"
        return None


def total(*parts: int | None) -> int | None:
    """The sum of some counts; None where one of them is not known."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _first(metrics: Mapping[str, int | float], names: tuple[str, ...]) -> float | None:
    return next((float(metrics[name]) for name in names if name in metrics), None)
