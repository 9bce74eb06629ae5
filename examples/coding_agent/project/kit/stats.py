"""Figures about numbers."""

from collections.abc import Sequence


def median(numbers: Sequence[float]) -> float:
    """The middle one of the numbers in their order; of an even count, the mean of the middle two."""
    return numbers[len(numbers) // 2]
