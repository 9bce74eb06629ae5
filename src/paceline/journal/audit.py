"""The audit behind `paceline verify`: is this journal whole, is it all there, has nobody touched it?

Reads only. A finished run that no crash, disk or hand has touched has no findings; whatever else there is
to say about a run (errors, failures, cost) is the report's business.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from paceline.errors import JournalError
from paceline.journal import lock
from paceline.journal.blobs import blob_named_by, read_blob
from paceline.journal.digest import KeyDigest
from paceline.journal.places import Places, locate
from paceline.journal.reading import Damaged, FileSource, Recorded, chunks, open_journal
from paceline.journal.records import (
    FINAL,
    BeginLine,
    CallLine,
    Key,
    KeyedLine,
    ManifestLine,
    OutcomeLine,
    OutputLine,
    RunLine,
    VerdictLine,
    key_of,
)

FindingKind: TypeAlias = Literal[
    "torn",  # bytes after the last newline
    "damaged",  # a line whose checksum is wrong
    "unparsable",
    "unsealed",  # a line without a checksum
    "foreign",  # a line that is whole, and not of this run
    "duplicate",  # another outcome of a key that was finished
    "open",  # a key that was begun and has no outcome
    "missing",  # keys of the manifest that have no line
    "unexpected",  # keys with lines that the manifest does not have
    "blob",  # a value beside the journal is gone, or not what it was
]

_RUN_AGAIN = "`paceline resume` runs again what it spoke of; look after the disk, or the hand that changed it"
_REMEDIES: dict[FindingKind, str] = {
    "torn": "nothing that was reported is lost; `paceline resume` cuts it off and keeps a copy",
    "damaged": _RUN_AGAIN,
    "unparsable": _RUN_AGAIN,
    "unsealed": "it counts as it stands; if nobody was meant to edit it, restore the file from a copy",
    "foreign": "remove the line if it does not belong here; upgrade Paceline if a newer one has written it",
    "duplicate": "the last one counts; nothing needs to be done",
    "open": "`paceline resume` brings it to an end",
    "missing": "`paceline resume` runs what is missing",
    "unexpected": "the dataset has lost cases since; `paceline report` still shows them",
    "blob": "restore it from a copy; without it, `paceline resume` runs again what has yet to be scored",
}

SHOWN_PER_KIND = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is not as a finished, untouched journal has it."""

    kind: FindingKind
    what: str
    line: int | None = None
    """Number of the line, counted from 1."""
    offset: int | None = None

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return _REMEDIES[self.kind]

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}" if self.line is not None else self.what


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What `audit` has found."""

    path: Path
    lines: int
    keys: int
    """Keys that have any line."""
    calls: int
    """Model calls on record."""
    expected: int | None
    """Keys that the run has, by its manifest."""
    findings: tuple[Finding, ...]
    """The first hundred of each kind."""
    counts: dict[FindingKind, int]
    """All of them."""
    writer: lock.Owner | None = None
    """Who is writing it at this moment: then an unfinished end is no finding."""

    @property
    def ok(self) -> bool:
        """Whether there is nothing to remark."""
        return not self.counts


def audit(path: str | os.PathLike[str]) -> Audit:
    """Look at every line of a journal, and at every blob that one of them names."""
    places = locate(path)
    writer = lock.owner_of(places.lock)
    auditor = _Auditor(places)
    for entry in FileSource(path).entries():
        auditor.take(entry)
    if writer is None:
        auditor.look_at_the_end()
    return Audit(
        path=places.path,
        lines=auditor.lines,
        keys=auditor.digest.keys,
        calls=auditor.calls,
        expected=auditor.manifest.keys if auditor.manifest else None,
        findings=tuple(auditor.findings),
        counts=dict(auditor.counts),
        writer=writer,
    )


class _Auditor:
    """Takes the lines in order, and remembers of each key how far it has come."""

    def __init__(self, places: Places) -> None:
        self.findings: list[Finding] = []
        self.counts: Counter[FindingKind] = Counter()
        self.lines = 0
        self.calls = 0
        self.digest = KeyDigest()
        self.manifest: ManifestLine | None = None
        self._places = places
        self._run: RunLine | None = None
        self._finished: dict[int, bool] = {}
        """By hash of the key: whether it has a final outcome."""
        self._open: dict[Key, Recorded] = {}
        self._blobs: set[str] = set()

    def take(self, entry: Recorded | Damaged) -> None:
        self.lines = entry.number
        if isinstance(entry, Damaged):
            self._note_damage(entry)
            return
        if not entry.sealed:
            self._note("unsealed", "has no checksum: it was edited by hand", entry)
        match entry.line:
            case RunLine() as run:
                self._take_run(run, entry)
            case ManifestLine() as manifest:
                self.manifest = manifest
            case CallLine():
                self.calls += 1
            case BeginLine() | OutputLine() | OutcomeLine() as line:
                self._take_keyed(line, entry)
                self._look_at_blobs(line, entry)
            case VerdictLine() as verdict:
                self._look_at_blobs(verdict, entry)
            case _:
                pass

    def look_at_the_end(self) -> None:
        """What can only be said once no more lines come."""
        self._look_for_a_torn_tail()
        for key, entry in self._open.items():
            self._note("open", f"{key} was begun and has no outcome", entry)
        if self.manifest is None:
            self._note("missing", "the source was never seen to its end: cases may be missing")
        else:
            self._compare_with(self.manifest)

    def _note(self, kind: FindingKind, what: str, entry: Recorded | Damaged | None = None) -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= SHOWN_PER_KIND:
            line, offset = (entry.number, entry.offset) if entry else (None, None)
            self.findings.append(Finding(kind=kind, what=what, line=line, offset=offset))

    def _note_damage(self, entry: Damaged) -> None:
        match entry.reason:
            case "unknown kind":
                self._note("foreign", f"is of a kind that is not known: {entry.detail or 'none'}", entry)
            case "unparsable":
                self._note("unparsable", f"cannot be read: {entry.detail}", entry)
            case _:
                self._note("damaged", f"{entry.reason}: {entry.detail}", entry)

    def _take_run(self, run: RunLine, entry: Recorded) -> None:
        if self._run is None and entry.offset == 0:
            self._run = run
        else:
            self._note("foreign", f"begins another run, {run.run_id}", entry)

    def _take_keyed(self, line: KeyedLine, entry: Recorded) -> None:
        key = key_of(line)
        number = hash(key)
        if number not in self._finished:
            self.digest.add(key)
        if not isinstance(line, OutcomeLine):
            self._finished[number] = False
            self._open[key] = entry
            return
        if self._finished.get(number) and line.outcome in FINAL:
            self._note("duplicate", f"another outcome of {key}, which was finished", entry)
        self._finished[number] = line.outcome in FINAL
        self._open.pop(key, None)

    def _look_at_blobs(self, line: KeyedLine, entry: Recorded) -> None:
        for digest in _blobs_of(line):
            if digest in self._blobs:
                continue
            self._blobs.add(digest)
            try:
                read_blob(self._places.blobs, digest)
            except JournalError as error:
                self._note("blob", str(error), entry)

    def _look_for_a_torn_tail(self) -> None:
        with open_journal(self._places.journal) as file:
            for chunk in chunks(file):
                if not chunk.whole:
                    tail = Damaged("torn", "", self.lines + 1, chunk.offset, len(chunk.lines[0]))
                    self._note("torn", f"the last {tail.length} bytes are no whole line", tail)

    def _compare_with(self, manifest: ManifestLine) -> None:
        there, expected = self.digest.keys, manifest.keys
        if there < expected:
            self._note("missing", f"{expected - there} of {expected} keys have no line")
        elif there > expected:
            self._note("unexpected", f"{there - expected} keys are on record that the run does not have")
        elif self.digest.hexdigest() != manifest.digest:
            self._note("missing", f"the {there} keys on record are not those that the run has")


def _blobs_of(line: KeyedLine) -> Iterator[str]:
    for name in line.__struct_fields__:
        value = getattr(line, name)
        if isinstance(value, msgspec.Raw) and (named := blob_named_by(value)):
            yield named[0]
