"""Parts of sequences."""

from collections.abc import Iterator, Sequence


def chunked(items: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """The items in parts of a size; the last part may be shorter."""
    for start in range(0, len(items) - size + 1, size):
        yield items[start : start + size]
