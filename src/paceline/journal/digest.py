"""A digest of a set of keys, for the manifest: a run has all its keys, and only those."""

from __future__ import annotations

from hashlib import blake2b

from paceline.journal.records import Key

_BITS = 128
_EMPTY = blake2b(digest_size=_BITS // 8)


class KeyDigest:
    """Does not depend on the order of the keys: the sum of their hashes."""

    def __init__(self) -> None:
        self.keys = 0
        """How many were taken."""
        self._sum = 0

    def add(self, key: Key) -> None:
        """Take a key; each only once."""
        case, repeat, variant = key
        # Nearly every key is the first repeat of the default variant, and numbers are slow to write.
        said = f"{case}\0{repeat}\0{variant}" if repeat or variant else case + "\x000\0"
        hashed = _EMPTY.copy()  # cheaper than a new one
        hashed.update(said.encode("utf-8", "backslashreplace"))
        self.keys += 1
        self._sum += int.from_bytes(hashed.digest(), "big")

    def hexdigest(self) -> str:
        """32 hexadecimal digits."""
        return f"{self._sum % (1 << _BITS):0{_BITS // 4}x}"
