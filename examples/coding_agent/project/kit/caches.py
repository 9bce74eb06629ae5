"""Things worth keeping for a while."""

from collections import OrderedDict


class Recent:
    """Keeps the `size` entries that were used last."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._entries: OrderedDict[str, int] = OrderedDict()

    def put(self, key: str, value: int) -> None:
        """Keep an entry, and forget the one that was not used for longest where there are too many."""
        self._entries[key] = value
        if len(self._entries) > self.size:
            self._entries.popitem()

    def get(self, key: str) -> int | None:
        """The value of an entry, which counts as used now."""
        return self._entries.get(key)
