"""A cache of verdicts, for who asks for one: the same judge that sees the same has said it already.

    LLMJudge(rubric, cache=True)             in the user's cache, for all runs of all suites
    LLMJudge(rubric, cache="verdicts")       in a folder of one's own, to keep or to throw away

    verdicts/3c/3c454cbb6afa5d48ae5264855e99d665-1.json

A verdict goes by all that has decided it: prompt, model, settings, what was shown, and which vote it was. Two
cases that ask the same at the same time ask once. What a simulated model has said is not kept: a run that
found it here would have made no simulated call, and look like a real one. A file that cannot be read is
passed over, and one that cannot be written is no verdict lost.

Knows files. What it is asked for, and what that is worth, is for who asks.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

import msgspec

from paceline.evaluators.judges.judgements import Judgement
from paceline.journal.redaction import Redactor
from paceline.settings import cache_root

FOLDER: Final = "verdicts"


class VerdictCache:
    """Verdicts in a folder. Any number of processes may share it."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or cache_root() / FOLDER
        self._redactor = Redactor.standard()
        self._asking: WeakValueDictionary[tuple[int, str, str], asyncio.Lock] = WeakValueDictionary()
        """Of each question that is being asked, by loop: who asks the same meanwhile waits for the answer."""

    async def judgement(self, seen: str, part: str, ask: Callable[[], Awaitable[Judgement]]) -> Judgement:
        """The judgement that is kept, else what `ask` says, which is kept from now on."""
        question = (id(asyncio.get_running_loop()), seen, part)
        lock = self._asking.setdefault(question, asyncio.Lock())
        async with lock:
            if (found := self._read(seen, part)) is not None:
                return msgspec.structs.replace(found, cached=True)
            said = await ask()
            self._write(seen, part, said)
            return said

    def _read(self, seen: str, part: str) -> Judgement | None:
        try:
            return msgspec.json.decode(self._file(seen, part).read_bytes(), type=Judgement)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None

    def _write(self, seen: str, part: str, said: Judgement) -> None:
        if said.simulated:
            return
        file = self._file(seen, part)
        written = self._redactor.clean_value(msgspec.json.encode(said))
        beside = file.with_suffix(f".{os.getpid()}.{id(said)}")
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(written)
            beside.replace(file)  # whole or not at all, whoever reads it meanwhile

    def _file(self, seen: str, part: str) -> Path:
        which = hashlib.blake2b(part.encode(), digest_size=4).hexdigest()
        return self._folder / seen[:2] / f"{seen}-{which}.json"


_caches: dict[Path | None, VerdictCache] = {}


def cache_of(given: bool | str | os.PathLike[str]) -> VerdictCache | None:
    """The cache that is meant: none, the user's, or that in a folder; the same for all who mean the same."""
    if given is False:
        return None
    folder = cache_root() / FOLDER if given is True else Path(given).absolute()
    if folder not in _caches:
        _caches[folder] = VerdictCache(folder)
    return _caches[folder]


__all__ = ["VerdictCache", "cache_of"]
