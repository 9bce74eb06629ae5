"""The record of a job: opened or created, held against the suite, read back from, closed.

A resume is refused where the suite is no longer the one that the run was started with, with the difference
and the way on.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from paceline import values
from paceline.engine.bookkeeping import was_paid
from paceline.engine.budget import Budget, Purse, Spent, total
from paceline.engine.ports import Said, Stored
from paceline.errors import FingerprintChanged, JournalBroken, JournalBusy, JournalError
from paceline.journal.journal import Journal
from paceline.journal.ledger import Ledger, ToScore
from paceline.journal.memory import MemoryJournal
from paceline.journal.reading import FileSource, Recorded
from paceline.journal.records import (
    FINAL,
    AttemptLine,
    CallLine,
    Key,
    OutcomeLine,
    OutputLine,
    ResumedLine,
    RunLine,
    ScoresLine,
    VerdictLine,
    key_of,
    verdict,
)
from paceline.journal.redaction import Redactor

Record = Journal | MemoryJournal


class Overtaken(Exception):
    """Another process has worked on the run since it was read: what is open is no longer what it was."""


def ledger_at(
    path: Path | None, fingerprint: Mapping[str, Any], *, redactor: Redactor, accept_changes: bool
) -> Ledger | None:
    """What is on record at a path already; None where a new run begins there."""
    if path is None or not Journal.exists(path):
        return None
    ledger = Ledger.read(path, redactor=redactor)
    # What is on record has no secrets in it, so the two are compared without any.
    changes = differences(ledger.fingerprint or {}, _without_secrets(fingerprint, redactor))
    if changes and ledger.fingerprint is None and not accept_changes:
        raise FingerprintChanged(
            f"what {path} was started with cannot be known any more: its first line is damaged",
            hint="if this is the same suite, go on with --accept-changes (accept_changes=True); "
            f"`paceline verify {path}` says what else is damaged",
        )
    if changes and not accept_changes:
        raise FingerprintChanged(
            f"the suite is not the one that {path} was started with:\n  " + "\n  ".join(changes),
            hint="go on all the same with --accept-changes (accept_changes=True), score the stored outputs "
            "anew with `paceline rescore`, or start a new run with another -o",
        )
    return ledger


def is_finished(ledger: Ledger, digest: str, count: int) -> bool:
    """Whether the run has gone through this very file, and nothing of it is left to do."""
    manifest = ledger.manifest
    return (
        bool(digest)
        and manifest is not None
        and manifest.dataset == digest
        and manifest.keys == count == len(ledger)
        and ledger.tally().done == count
    )


def recorder_at(
    path: Path | None,
    line: RunLine,
    ledger: Ledger | None,
    *,
    durability: Any,
    redactor: Redactor,
    reasons: Mapping[str, int],
) -> Record:
    """The journal to write to: a new one, the one to go on with, or one in memory.

    From here on nobody else writes it. Where somebody has since the `ledger` was read: `Overtaken`.
    """
    if path is None:
        return MemoryJournal(line, redactor=redactor)
    if ledger is None:
        return _created(path, line, durability=durability, redactor=redactor)
    journal = Journal.open(path, durability=durability, redactor=redactor)
    if journal.recovery.lines != ledger.lines:
        journal.close()
        raise Overtaken
    changed = differences(ledger.fingerprint or {}, _without_secrets(line.fingerprint, redactor))
    journal.append(
        ResumedLine(
            at=time.time(),
            pid=os.getpid(),
            host=socket.gethostname(),
            fingerprint=line.fingerprint if changed else None,
            settings=line.settings,
            expected=line.expected,
            open=sum(reasons.values()),
            reasons=dict(reasons),
            judges=line.judges,
        )
    )
    return journal


def _created(path: Path, line: RunLine, *, durability: Any, redactor: Redactor) -> Journal:
    try:
        return Journal.create(path, line, durability=durability, redactor=redactor)
    except (JournalBusy, JournalBroken):
        raise
    except JournalError:
        if Journal.exists(path):
            raise Overtaken from None
        raise


def spent_before(path: Path, ledger: Ledger, *, retry_errors: bool) -> Spent:
    """What earlier processes have spent on a run, failed attempts included.

    Failures are those that this process leaves at that; what it runs or scores again may still pass.
    """
    purse = Purse(Budget(), Spent(wall_s=ledger.wall), now=0.0)
    failed: set[Key] = set()
    told: set[Key] = set()
    final = {"scored"} if retry_errors else FINAL
    for entry in FileSource(path).entries():
        if not isinstance(entry, Recorded):
            continue
        match entry.line:
            case CallLine(by=by) as line if by and was_paid(line.outcome, line.input_tokens, line.replayed):
                purse.judge(line.price, total(line.input_tokens, line.output_tokens))
            case AttemptLine(metrics=metrics) as line:
                purse.settle(key_of(line), metrics)
            case OutputLine(metrics=metrics) as line:
                purse.settle(key_of(line), metrics)
                told.add(key_of(line))
            case OutcomeLine(metrics=metrics, outcome=outcome, scores=scores) as line:
                key = key_of(line)
                if key not in told and outcome != "skipped_budget":
                    purse.settle(key, metrics)
                failed.discard(key)
                if outcome in final and (outcome != "scored" or verdict(scores) is False):
                    failed.add(key)
            case _:
                pass
    purse.spent.failures = len(failed)
    return purse.spent


class StoredAnswers:
    """Reads back an output that is on record, with the scores that have landed."""

    def __init__(self, path: Path) -> None:
        self._source = FileSource(path)

    def __call__(self, state: ToScore) -> Stored:
        line = self._line(state.output)
        assert isinstance(line, OutputLine | OutcomeLine)
        stored = Stored(
            output=self._value(line.output),
            seconds=line.seconds,
            waited=line.waited,
            metrics=dict(line.metrics),
            attributes=self._value(line.attributes) or {},
            trajectory=self._value(line.trajectory),
        )
        for offset in state.scores:
            told = self._line(offset)
            assert isinstance(told, ScoresLine | OutcomeLine)
            stored.scores.extend(told.scores)
        stored.verdicts = verdicts_at(self._source, state.verdicts)
        return stored

    def _value(self, raw: msgspec.Raw) -> Any:
        return values.decode(self._source.value(raw)) if len(raw) else None

    def _line(self, offset: int) -> Any:
        entry = self._source.entry_at(offset)
        assert isinstance(entry, Recorded), "the ledger names only lines that could be read"
        return entry.line


def verdicts_at(source: FileSource, offsets: Iterable[int]) -> dict[Said, msgspec.Raw]:
    """The verdicts that stand at these offsets. One whose value is lost will be concluded again."""
    found: dict[Said, msgspec.Raw] = {}
    for offset in offsets:
        entry = source.entry_at(offset)
        if isinstance(entry, Recorded) and isinstance(line := entry.line, VerdictLine):
            with suppress(JournalError):
                found[Said(line.by, line.part, line.seen)] = msgspec.Raw(source.value(line.value))
    return found


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What changed between two fingerprints, a sentence each."""
    found = []
    before, now = _as_recorded(before), _as_recorded(now)
    for part in sorted({*before, *now}):
        old, new = before.get(part), now.get(part)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            found += [
                f"{part} {name or 'task'}: was {_said(old.get(name))}, is {_said(new.get(name))}"
                for name in sorted({*old, *new})
                if old.get(name) != new.get(name)
            ]
        else:
            found.append(f"{part}: was {_said(old)}, is {_said(new)}")
    return found


def _without_secrets(fingerprint: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    cleaned: dict[str, Any] = msgspec.json.decode(redactor.clean_value(msgspec.json.encode(fingerprint)))
    return cleaned


def _as_recorded(fingerprint: Mapping[str, Any]) -> dict[str, Any]:
    """A fingerprint as it comes back from a journal: tuples are lists there."""
    recorded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(fingerprint))
    return recorded


def _said(part: Any) -> str:
    return "not there" if part is None else msgspec.json.encode(part).decode()
