"""Evidence: what a journal says, read without Paceline, and what task and evaluators say they were asked.

The suites of these tests append a line to `asked.log` at each call: the process, what was called, for which
case. The two together show whether anything was done that was on record already.
"""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from paceline import Report, verify

ASKED = "asked.log"
FINAL = ("scored", "task_error", "timeout")
"""Outcomes that a resume leaves at that."""

SUITE = """
    import asyncio, os
    from paceline import Case, Dataset, EvaluationReason
    from paceline.evaluators import EqualsExpected

    CASES, BIG, PAUSE = {cases}, {big}, {pause}

    def note(what, case):
        # One short append: whole or not there, whoever writes beside it and whenever they are killed.
        fd = os.open({asked!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, f"{{os.getpid()}} {{what}} {{case}}\\n".encode())
        os.close(fd)

    async def task(n):
        note("task", f"case-{{n}}")
        await asyncio.sleep(n % 4 * PAUSE)
        return {{"double": 2 * n, "bulk": "x" * (300_000 if n == BIG else n)}}

    async def judge(ctx):
        note("judge", ctx.name)
        await asyncio.sleep(ctx.inputs % 3 * PAUSE)
        return EvaluationReason(value=ctx.inputs != 1, reason="so it seems")

    def length(output, ctx):
        note("length", ctx.name)
        return len(output["bulk"])

    dataset = Dataset(
        name="kills",
        cases=[Case(name=f"case-{{n}}", inputs=n, metadata={{"n": n}}) for n in range(CASES)],
        evaluators=[judge, length, lambda output: "even" if output["double"] % 4 == 0 else "odd"],
    )
"""
"""A task that waits, an evaluator that waits, one on a thread, and an output that is too big for a line."""


def write_suite(folder: Path, *, cases: int, big: int = -1, pause: float = 0.002) -> None:
    """Put a suite into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = textwrap.dedent(SUITE).format(cases=cases, big=big, pause=pause, asked=ASKED)
    (folder / "suite.py").write_text(text)


class Asked(NamedTuple):
    """A call, by the account of whoever was called."""

    pid: int
    what: str
    case: str


def asked(folder: Path) -> list[Asked]:
    """All calls, in order."""
    log = folder / ASKED
    lines = log.read_text().splitlines() if log.exists() else []
    return [Asked(int(pid), what, case) for pid, what, case in map(str.split, lines)]


def lines_of(journal: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal that are whole, by the letter: a newline ends them, their checksum is right."""
    if not journal.exists():
        return
    *whole, _torn = journal.read_bytes().split(b"\n")
    for raw in whole:
        head, _, seal = raw.rpartition(b',"crc":')
        if seal == b'"%08x"}' % crc32(head):
            line: dict[str, Any] = json.loads(raw)
            yield line


@dataclass
class OnRecord:
    """What need not be done again."""

    answered: set[str] = field(default_factory=set)
    """Cases whose output stands there."""
    finished: set[str] = field(default_factory=set)
    scored_by: set[tuple[str, str]] = field(default_factory=set)
    """Evaluator and case."""


def on_record(journal: Path) -> OnRecord:
    """What stands in a journal."""
    record = OnRecord()
    for line in lines_of(journal):
        if line["kind"] == "output" or "output" in line:
            record.answered.add(line["case"])
        if line["kind"] == "outcome":
            # Whatever came before: the last word on a case counts.
            (record.finished.add if line["outcome"] in FINAL else record.finished.discard)(line["case"])
        for score in line.get("scores", ()):
            record.scored_by.add((score["by"], line["case"]))
    return record


class Witness:
    """Watches over one run that is killed and taken up again, and says whether all was as promised."""

    def __init__(self, folder: Path, *, cases: int) -> None:
        self.folder = folder
        self.run = folder / "out"
        self.names = [f"case-{n}" for n in range(cases)]
        self._before: list[tuple[int, OnRecord]] = []

    def expects(self, pid: int, record: OnRecord) -> None:
        """A process was started when this was on record."""
        self._before.append((pid, record))

    def record(self) -> OnRecord:
        """What is on record now."""
        return on_record(self.run / "journal.jsonl")

    def nothing_was_done_twice(self) -> None:
        """What was on record when a process started, that process has not asked for."""
        calls = asked(self.folder)
        for pid, record in self._before:
            for call in calls:
                if call.pid != pid:
                    continue
                assert call.case not in record.finished, f"{call}: it had an outcome"
                if call.what == "task":
                    assert call.case not in record.answered, f"{call}: its output was on record"
                else:
                    assert (call.what, call.case) not in record.scored_by, f"{call}: its score was on record"
        for pid, _ in self._before:
            ours = Counter(call for call in calls if call.pid == pid)
            assert not ours or max(ours.values()) == 1, "asked twice by one process"

    def all_is_there(self) -> dict[str, Any]:
        """Each key once, nothing left to do, nothing wrong with the record; what any run says."""
        report = Report.read(self.run)
        rows = [row.name for row in report.rows]
        assert sorted(rows) == sorted(self.names), "each key exactly once"
        assert not report.open_keys
        assert report.exit_code() == 0
        audit = verify(self.run)
        assert audit.ok, [str(finding) for finding in audit.findings]
        lines = lines_of(self.run / "journal.jsonl")
        begun = Counter(line["case"] for line in lines if line["kind"] == "begin")
        assert {row.name: row.attempts for row in report.rows} == begun, "attempts are the whole run's"
        return facts(report)


def facts(report: Report[Any, Any, Any]) -> dict[str, Any]:
    """What does not depend on when and how often a run was interrupted."""
    told = report.to_dict()
    figures = {
        name: told[name] for name in ("n", "n_expected", "n_scored", "n_failed", "n_passed", "pass_rate")
    }
    rows = {
        row.name: (
            row.inputs,
            row.metadata,
            sha256(repr(row.output).encode()).hexdigest(),
            {name: (result.value, result.reason) for name, result in row.assertions.items()},
            {name: result.value for name, result in row.scores.items()},
            {name: result.value for name, result in row.labels.items()},
        )
        for row in report.cases
    }
    return {"figures": figures, "rows": rows}
