"""Finding things."""

from collections.abc import Sequence


def index_of(items: Sequence[int], wanted: int) -> int | None:
    """Where a number stands in sorted numbers; None where it is not among them."""
    low, high = 0, len(items) - 1
    while low < high:
        middle = (low + high) // 2
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return low if low < len(items) and items[low] == wanted else None
