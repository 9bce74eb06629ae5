"""A disk that drops what was not synced: what was reported before the lights went out is there afterwards.

`kill -9` cannot tell a synced byte from one that the kernel still holds; a fake disk can. It is cut off
before each thing that a run asks of it, one run for each, and what it has not synced is gone or zeros.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

import pytest

import paceline.journal.journal
from paceline import Case, Dataset, PacelineError, Report, verify
from paceline.engine.events import AnyEvent, CaseFinished
from paceline.errors import JournalBroken
from tests.journal.disks import VolatileDisk

NAMES = [f"case-{n}" for n in range(5)]
BULK = "x" * 300_000
"""Too big for a line: it lies beside the journal, and the directory's entry for it has to be safe too."""


def digest(text: str) -> int:
    """Enough of a text to tell it from others, and little enough to be shown."""
    return crc32(text.encode())


def answer(n: int) -> str:
    return BULK + str(n) if n % 2 else str(n)


async def judge(ctx: Any) -> bool:
    await asyncio.sleep(0)
    return len(ctx.output) > 0


dataset: Dataset[int, str, None] = Dataset(
    name="powerless", cases=[Case(name=name, inputs=n) for n, name in enumerate(NAMES)], evaluators=[judge]
)


def run(path: Path, monkeypatch: pytest.MonkeyPatch, disk: VolatileDisk | None) -> list[CaseFinished]:
    """Run on this disk until the end, or the end of the power; what was reported before."""
    told: list[CaseFinished] = []

    def hear(event: AnyEvent) -> None:
        if isinstance(event, CaseFinished):
            told.append(event)

    async def task(n: int) -> str:
        # Each case waits until the one before it was reported, so that there is a commit for each.
        while disk is not None and len(told) < n:
            await asyncio.sleep(0.0005)
        return answer(n)

    with monkeypatch.context() as patched:
        if disk is not None:
            patched.setattr(paceline.journal.journal, "OsDisk", lambda: disk)
        try:
            dataset.evaluate_sync(task, journal=path, on_event=hear, max_concurrency=1, progress=False)
        except JournalBroken:
            assert disk is not None
            assert not disk.is_on
    return told


def lost(path: Path, told: list[CaseFinished]) -> list[str]:
    """What was reported and is not on record."""
    if not told:
        return []
    try:
        report = Report.read(path)
        kept = {case.name: (digest(case.output), case.assertions["judge"].value) for case in report.cases}
    except (PacelineError, KeyError):
        return [event.key.case for event in told]
    return [
        event.key.case
        for event in told
        if kept.get(event.key.case) != (digest(answer(int(event.key.case[5:]))), event.passed)
    ]


@pytest.mark.parametrize("tail", ["gone", "zeros"])
def test_what_was_reported_survives_a_power_cut_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tail: Literal["gone", "zeros"]
) -> None:
    reported = 0
    for moment in itertools.count():
        path = tmp_path / "run"
        shutil.rmtree(path, ignore_errors=True)
        disk = VolatileDisk(cut_before=moment, tail=tail)
        told = run(path, monkeypatch, disk)
        if disk.is_on:
            break
        reported += len(told)
        assert lost(path, told) == [], f"the power was cut before operation {moment}"
        finished_before = {event.key.case for event in told}
        told = run(path, monkeypatch, None)
        assert not finished_before & {event.key.case for event in told}, "it was done, and reported as done"
        assert sorted(row.name for row in Report.read(path).rows) == NAMES
        assert verify(path).ok
    assert reported > 20, "there was something to lose"


def test_a_disk_whose_syncs_do_nothing_loses_what_was_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same on a disk that lies: there the loss must be seen, or the test above shows nothing."""
    path = tmp_path / "run"
    disk = VolatileDisk(honest=False)
    told = run(path, monkeypatch, disk)
    disk.cut()
    assert sorted(lost(path, told)) == NAMES
