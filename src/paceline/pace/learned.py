"""What was learned of pools, kept between runs: a small file of limits with time and evidence.

    PACELINE_STATE, else XDG_STATE_HOME/paceline, else ~/.local/state/paceline: limits.json

The file is a help, never a condition: one that cannot be read is set aside and learned anew, one that cannot
be written costs the next run a slow start. It holds names of models and fingerprints of keys, no key.

Knows a file. What the figures mean to a pool is the controller's.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from paceline.pace.messages import PoolId

NAME: Final = "limits.json"
TOO_OLD_S: Final = 30 * 86_400.0
"""Accounts move up and down; after a month it is quicker to learn again than to be wrong."""


class Learned(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How wide and how fast a pool went in the end."""

    window: float
    rps: float | None = None
    """Requests a second; None where no rate ever bound."""
    tps: float | None = None
    at: float = 0.0
    """When, in seconds since the epoch."""
    accepted: int = 0
    """On so many answered calls this rests,"""
    rejected: int = 0
    """and so many rejected ones."""
    knee: bool = False
    """Whether a wider window was tried and found to bring nothing, or was rejected."""


class LearnedLimits:
    """The file. `clock` gives seconds since the epoch."""

    def __init__(self, path: Path, *, clock: Callable[[], float]) -> None:
        self.path = path
        self._clock = clock

    def load(self, pool: PoolId) -> Learned | None:
        """What an earlier run has learned of a pool, unless that was long ago."""
        found = self._read().get(key_of(pool))
        if found is None or self._clock() - found.at > TOO_OLD_S:
            return None
        return found

    def store(self, pool: PoolId, learned: Learned) -> None:
        """Keep it for the next run, and let go of what is too old. Two runs that end together may lose one
        another's pool, never the file.
        """
        now = self._clock()
        kept = {key: each for key, each in self._read().items() if now - each.at <= TOO_OLD_S}
        kept[key_of(pool)] = msgspec.structs.replace(learned, at=now)
        with suppress(OSError):
            self._write(kept)

    def _read(self) -> dict[str, Learned]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=dict[str, Learned])
        except OSError:
            return {}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            with suppress(OSError):
                self.path.replace(self.path.with_suffix(".damaged"))
            return {}

    def _write(self, kept: Mapping[str, Learned]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A file of one's own, 0600 from birth: two processes may store at once.
        handle, draft = tempfile.mkstemp(dir=self.path.parent, prefix=".limits-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
            Path(draft).replace(self.path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise


def key_of(pool: PoolId) -> str:
    """A pool as a key of the file."""
    return " ".join((pool.provider, pool.host, pool.model, pool.account))


def state_directory(environment: Mapping[str, str]) -> Path:
    """Where state is kept between runs."""
    if own := environment.get("PACELINE_STATE"):
        return Path(own).expanduser()
    if shared := environment.get("XDG_STATE_HOME"):
        return Path(shared) / "paceline"
    return Path.home() / ".local" / "state" / "paceline"


def learned_limits(environment: Mapping[str, str], *, clock: Callable[[], float]) -> LearnedLimits:
    """The file of this user."""
    return LearnedLimits(state_directory(environment) / NAME, clock=clock)
