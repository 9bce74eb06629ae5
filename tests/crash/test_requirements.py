"""`kill -9` while requirements are checked: what has a verdict on record is asked by nobody again."""

from __future__ import annotations

import json
import random
import textwrap
import time
from collections import Counter
from pathlib import Path

import pytest

from paceline import Report
from tests.crash.evidence import ASKED, asked, lines_of
from tests.crash.nursery import PATIENCE_S, Nursery

CASES, REQUIREMENTS = 12, 5
ALL = CASES * REQUIREMENTS

SUITE = """
    import asyncio, os
    from paceline import Case, Dataset
    from paceline.evaluators import Requirements

    def note(what, case):
        # One short append: whole or not there, whoever writes beside it and whenever they are killed.
        fd = os.open({asked!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, f"{{os.getpid()}} {{what}} {{case}}\\n".encode())
        os.close(fd)

    async def task(n):
        return f"answer-{{n}}"

    async def check(answer, requirement):
        note(requirement, answer)
        number = int(requirement[-1])
        await asyncio.sleep(number * 0.01)
        return number != 2 or "1" in answer, f"{{requirement}} of {{answer}}"

    dataset = Dataset(
        name="requirements",
        cases=[Case(name=f"answer-{{n}}", inputs=n) for n in range({cases})],
        evaluators=[
            Requirements(
                [f"requirement-{{n}}" for n in range({requirements})], scorer=check, max_concurrency=6
            )
        ],
    )
"""


def write(folder: Path) -> None:
    folder.mkdir(parents=True)
    text = textwrap.dedent(SUITE).format(asked=ASKED, cases=CASES, requirements=REQUIREMENTS)
    (folder / "suite.py").write_text(text)


def verdicts_in(folder: Path) -> list[tuple[str, str]]:
    """The requirement and the case of each verdict on record, read without Paceline."""
    lines = lines_of(folder / "out" / "journal.jsonl")
    return [
        (line["part"].removeprefix("requirement: "), line["case"])
        for line in lines
        if line["kind"] == "verdict"
    ]


def said_in(folder: Path) -> list[str]:
    """What a report says of each case, as text."""
    rows = sorted(Report.read(folder / "out").cases, key=lambda row: row.name)
    return [
        json.dumps([row.name, row.passed, [[one.name, one.value, one.reason] for one in row.labels.values()]])
        for row in rows
    ]


def run(nursery: Nursery, folder: Path, *, until: int | None = None) -> bool:
    """Start the run, or go on with it; kill it once so many verdicts stand there. Whether it got through."""
    before = verdicts_in(folder)
    child = nursery.runs(folder, "run", "suite.py", "-o", "out", "-q")
    if until is not None:
        deadline = time.monotonic() + PATIENCE_S
        while len(verdicts_in(folder)) < until:
            assert time.monotonic() < deadline, f"no verdicts come; it said:\n{child.out}{child.err}"
            time.sleep(0.001)
        child.kill()
    over = child.wait() == 0
    calls = [(call.what, call.case) for call in asked(folder) if call.pid == child.pid]
    assert not set(calls) & set(before), "it had a verdict on record, and was asked again"
    assert not calls or max(Counter(calls).values()) == 1, "asked twice by one process"
    return over


@pytest.mark.slow
def test_no_verdict_on_record_is_asked_for_again_however_often_it_is_killed(
    nursery: Nursery, tmp_path: Path
) -> None:
    dice = random.Random(11)
    write(tmp_path / "unbroken")
    assert run(nursery, tmp_path / "unbroken")
    expected = said_in(tmp_path / "unbroken")
    assert len(verdicts_in(tmp_path / "unbroken")) == ALL
    hits = 0
    for number in range(4):
        folder = tmp_path / f"run-{number}"
        write(folder)
        for until in sorted(dice.sample(range(1, ALL - 10), 3)):
            if len(verdicts_in(folder)) < until:
                hits += not run(nursery, folder, until=until)
        assert run(nursery, folder)
        assert said_in(folder) == expected
        assert len(verdicts_in(folder)) == len(set(verdicts_in(folder))) == ALL
    assert hits, "each run was quicker than its kills"
