"""Tapes from a record: which calls of which attempts are to be answered again.

The bodies of calls stand in the order in which they ended, of all attempts of a key that there were. An
attempt that was cut off while it was itself being answered from a tape has told which calls it took from it;
so the tape for the next one is put together from those and from what it has asked besides.

Knows the file of bodies. Knows nothing of who plays them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from paceline.engine.taping import Taping
from paceline.errors import JournalError, UsageError
from paceline.journal.bodies import CallBodies, read_bodies
from paceline.journal.ledger import Done, Ledger
from paceline.journal.places import locate
from paceline.journal.records import Key
from paceline.journal.redaction import Redactor, as_written
from paceline.options import Options
from paceline.pace.tape import Normal, Taped, spliced
from paceline.runs import find_runs, runs_root


def taping_of(
    options: Options, *, suite: str, path: Path | None, ledger: Ledger | None, redactor: Redactor
) -> Taping:
    """What is done with the calls of a run."""
    normal = Normal(options.replay_ignore) if options.replay_ignore else None
    match options.replay:
        case "off":
            return Taping(keeps=False)
        case "record":
            return Taping(normal=normal)
        case "always":
            recording = recording_for(options, suite=suite, path=path)
            return Taping(recorded=RecordedCalls(recording, redactor=redactor), normal=normal, always=True)
        case "resume":
            if path is None:
                return Taping(keeps=False)  # nobody can go on with what is only in memory
            if ledger is None:
                return Taping(normal=normal)
            known = ledger

            def is_open(key: Key) -> bool:
                return not isinstance(known.state(key), Done)

            return Taping(recorded=RecordedCalls(path, redactor=redactor, wanted=is_open), normal=normal)


def recording_for(options: Options, *, suite: str, path: Path | None) -> Path:
    """The run whose calls are answered again."""
    if options.recording is not None:
        places = locate(options.recording)
        if not places.bodies.exists():
            raise UsageError(
                f"{places.path} has no calls on record to answer from",
                hint="a run keeps them where its model calls can be seen and `replay` is not `off`",
            )
        return places.path
    for found in find_runs(runs_root(options.runs), suite):
        try:
            if found.path != path and locate(found.path).bodies.exists():
                return found.path
        except JournalError:  # something else that lies there
            continue
    raise UsageError(
        f"no run of {suite} has calls on record to answer from",
        hint="run it once without `--replay always`, or name a run with --recording",
    )


class RecordedCalls:
    """The calls of a run, by key and by who asked; read once, when the first is asked for."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        redactor: Redactor | None = None,
        wanted: Callable[[Key], bool] | None = None,
    ) -> None:
        self._path = path
        self._redactor = redactor
        self._wanted = wanted
        self._tapes: dict[tuple[Key, str, str], list[Taped]] | None = None

    def __call__(self, key: Key, by: str = "", part: str = "") -> Sequence[Taped]:
        if self._tapes is None:
            self._tapes = self._read()
        return self._tapes.get((as_written(key, self._redactor), by, part), ())

    def _read(self) -> dict[tuple[Key, str, str], list[Taped]]:
        attempts: dict[tuple[Key, str, str], dict[int, list[CallBodies]]] = {}
        for call in read_bodies(self._path, self._wanted):
            told = attempts.setdefault((call.key, call.by, call.part), {})
            told.setdefault(call.attempt, []).append(call)
        return {name: _tape(told) for name, told in attempts.items()}


def _tape(attempts: dict[int, list[CallBodies]]) -> list[Taped]:
    """What the attempt after these is answered from."""
    tape: list[Taped] = []
    for _, calls in sorted(attempts.items()):
        if any(call.fresh for call in calls):
            tape = []
        played = [call.request for call in sorted(calls, key=lambda call: call.began) if call.replayed]
        made = [_taped(call) for call in calls if not call.replayed and not call.fresh]
        tape = spliced(tape, played, made)
    return tape


def _taped(call: CallBodies) -> Taped:
    return Taped(
        request=call.request,
        began=call.began,
        ended=call.ended,
        ordinal=call.ordinal,
        status=call.status,
        content_type=call.content_type,
        simulated=call.simulated,
        body=call.answer,
        asked=call.asked,
        path=call.path,
    )
