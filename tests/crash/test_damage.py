"""A torn tail at every byte; bit flips, runs of NUL in the middle: what is lost runs again, and nothing else.

Each time a real journal is damaged, the same run is taken up again, and what is asked for again is held
against what the journal still says, read without Paceline.
"""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, Report, verify
from tests.crash.evidence import OnRecord, facts, lines_of, on_record

CASES = 3
NAMES = [f"case-{n}" for n in range(CASES)]


@dataclass
class Bench:
    """A suite in this process that keeps account of what is asked of it."""

    asked: list[tuple[str, str]] = field(default_factory=list)

    async def task(self, n: int) -> dict[str, int]:
        self.asked.append(("task", f"case-{n}"))
        await asyncio.sleep(0)
        return {"n": n}

    def run(self, path: Path, **options: Any) -> Report[Any, Any, Any]:
        """Run, or go on."""
        self.asked.clear()

        async def judge(ctx: Any) -> bool:
            self.asked.append(("judge", ctx.name))
            await asyncio.sleep(0)
            return bool(ctx.output["n"] != 1)

        async def grade(ctx: Any) -> float:
            self.asked.append(("grade", ctx.name))
            await asyncio.sleep(0.001)  # the second to answer, so that there is a line for the first
            return float(ctx.output["n"] / 2)

        cases = [Case(name=name, inputs=n) for n, name in enumerate(NAMES)]
        dataset = Dataset(name="damage", cases=cases, evaluators=[judge, grade])
        return dataset.evaluate_sync(
            self.task, journal=path, durability="os", max_concurrency=1, progress=False, **options
        )

    def missing_from(self, record: OnRecord) -> list[tuple[str, str]]:
        """What has to be asked for, going on from this record."""
        to_answer = [name for name in NAMES if name not in record.answered]
        to_score = [
            (by, name)
            for name in NAMES
            for by in ("judge", "grade")
            if name in to_answer or (by, name) not in record.scored_by
        ]
        return sorted([("task", name) for name in to_answer] + to_score)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing has happened to."""
    path = tmp_path_factory.mktemp("whole") / "run"
    Bench().run(path)
    return path


def damaged(data: bytes, folder: Path) -> Path:
    """A run whose journal is this."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "journal.jsonl").write_bytes(data)
    return folder


def tear(data: bytes, places: Iterator[int] | range, folder: Path, expected: dict[str, Any]) -> None:
    """Cut the journal off at these places, one after the other, and go on from each."""
    bench = Bench()
    for place in places:
        path = damaged(data[:place], folder)
        record = on_record(path / "journal.jsonl")
        report = bench.run(path)
        assert sorted(bench.asked) == bench.missing_from(record), f"cut at byte {place}"
        assert facts(report) == expected, f"cut at byte {place}"
        assert verify(path).ok, f"cut at byte {place}"
        torn = data[data[:place].rfind(b"\n") + 1 : place]
        kept = [aside.read_bytes() for aside in sorted(path.glob("*.torn-*"))]
        assert kept == ([torn] if torn else []), f"cut at byte {place}: the tail is set aside"


def test_a_tail_torn_at_every_byte_of_a_case_costs_only_what_is_missing(whole: Path, tmp_path: Path) -> None:
    """Every byte from the second case on, and some before it."""
    data = (whole / "journal.jsonl").read_bytes()
    second = data.index(b'{"kind":"begin","case":"case-1"')
    last = data.index(b'{"kind":"begin","case":"case-2"')
    expected = facts(Report.read(whole))
    tear(data, range(0, second, 23), tmp_path / "run", expected)
    tear(data, range(second, last + 1), tmp_path / "run", expected)
    tear(data, range(last, len(data), 11), tmp_path / "run", expected)


@pytest.mark.soak
def test_a_tail_torn_at_every_byte_costs_only_what_is_missing(whole: Path, tmp_path: Path) -> None:
    data = (whole / "journal.jsonl").read_bytes()
    tear(data, range(len(data) + 1), tmp_path / "run", facts(Report.read(whole)))


def middle(data: bytes) -> tuple[int, int]:
    """From the first line about a case to the last."""
    return data.index(b'{"kind":"begin"'), data.index(b'{"kind":"manifest"')


def go_on_with_damage(data: bytes, path: Path, expected: dict[str, Any], where: str) -> None:
    """Go on with a journal that is damaged in the middle, and hold what is done against what was lost."""
    bench = Bench()
    damaged(data, path)
    record = on_record(path / "journal.jsonl")
    asks_content = {line["case"] for line in lines_of(path / "journal.jsonl") if line["kind"] == "begin"}
    report = bench.run(path)
    assert sorted(bench.asked) == bench.missing_from(record), where
    assert report.to_dict()["damaged_lines"] > 0, where
    assert "damaged" in report.render(), where
    assert not verify(path).ok, where
    assert (path / "journal.jsonl.damaged").exists(), where
    seen = facts(report)
    assert seen["figures"] == expected["figures"], where
    for name, row in expected["rows"].items():
        assert seen["rows"][name][2:] == row[2:], f"{where}: {name}"
        if name in asks_content:
            assert seen["rows"][name] == row, f"{where}: {name}"
    bench.run(path)
    assert bench.asked == [], f"{where}: once is enough"


def flipped(data: bytes, place: int, bit: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def test_a_flipped_bit_costs_the_key_it_spoke_of(whole: Path, tmp_path: Path) -> None:
    """In every line about a case, at several places."""
    data = (whole / "journal.jsonl").read_bytes()
    expected = facts(Report.read(whole))
    dice = random.Random(7)
    start, end = middle(data)
    offset = start
    for line in data[start:end].splitlines(keepends=True):
        for place in dice.sample(range(offset, offset + len(line) - 1), 5):
            bit = dice.randrange(8)
            change = flipped(data, place, bit)
            go_on_with_damage(
                change, tmp_path / "run", expected, f"bit {bit} of byte {place} in {line[:60]!r}"
            )
        offset += len(line)


def test_a_newline_that_is_lost_costs_the_two_lines_it_parted(whole: Path, tmp_path: Path) -> None:
    data = (whole / "journal.jsonl").read_bytes()
    expected = facts(Report.read(whole))
    start, end = middle(data)
    for place in [at for at in range(start, end - 1) if data[at : at + 1] == b"\n"]:
        go_on_with_damage(flipped(data, place, 1), tmp_path / "run", expected, f"the newline at {place}")


def test_a_run_of_zeros_costs_the_keys_it_covers(whole: Path, tmp_path: Path) -> None:
    """As a file system leaves it that has lost a block; it may begin and end anywhere."""
    data = (whole / "journal.jsonl").read_bytes()
    expected = facts(Report.read(whole))
    dice = random.Random(11)
    start, end = middle(data)
    for _ in range(40):
        place = dice.randrange(start, end - 1)
        length = min(dice.choice([1, 2, 16, 64, 300, 512]), end - place - 1)
        zeros = data[:place] + bytes(length) + data[place + length :]
        go_on_with_damage(zeros, tmp_path / "run", expected, f"{length} zeros at {place}")


def test_a_first_line_that_is_lost_is_no_reason_to_pay_again(whole: Path, tmp_path: Path) -> None:
    """What the run was started with cannot be known any more: whoever goes on says that it is the same."""
    data = (whole / "journal.jsonl").read_bytes()
    path = damaged(flipped(data, 40, 2), tmp_path / "run")
    with pytest.raises(ValueError, match=r"not the one|cannot be known"):
        Bench().run(path)
    bench = Bench()
    report = bench.run(path, accept_changes=True)
    assert bench.asked == []
    assert facts(report)["figures"] == facts(Report.read(whole))["figures"]
    assert bench.run(path).n_scored == CASES, "once it was said, it is on record"


BULK = "x" * 300_000
"""Too big for a line."""


@pytest.mark.parametrize("damage", ["gone", "flipped", "cut short", "empty"])
def test_a_big_output_that_is_lost_before_it_was_scored_is_asked_for_again_and_no_other(
    tmp_path: Path, damage: str
) -> None:
    asked: list[int] = []
    judged: list[int] = []
    able = False

    async def task(n: int) -> str:
        asked.append(n)
        return BULK + str(n)

    async def judge(ctx: Any) -> bool:
        judged.append(ctx.inputs)
        if not able and ctx.inputs:
            raise RuntimeError("no opinion")
        return True

    path = tmp_path / "run"
    cases = [Case(name=name, inputs=n) for n, name in enumerate(NAMES)]
    dataset = Dataset(name="big", cases=cases, evaluators=[judge])

    def run() -> Report[Any, Any, Any]:
        asked.clear()
        judged.clear()
        return dataset.evaluate_sync(task, journal=path, progress=False)

    assert run().n_failed == 2
    blobs = {blob.read_bytes()[-2:-1]: blob for blob in (path / "blobs").iterdir()}
    for n in (b"0", b"1"):
        hurt(blobs[n], damage)
    assert verify(path).counts == {"blob": 2}
    able = True
    report = run()
    assert (asked, sorted(judged)) == ([1], [1, 2]), (
        "case-0 is scored, and what it said is not known any more"
    )
    assert report.n_scored == CASES
    outputs = {case.name: case.output for case in report.cases}
    assert [outputs[f"case-{n}"] for n in (1, 2)] == [f"{BULK}{n}" for n in (1, 2)]
    assert verify(path).counts == {"blob": 1}, "the same answer has taken the place of the damaged one"
    run()
    assert (asked, judged) == ([], [])


def hurt(file: Path, damage: str) -> None:
    content = file.read_bytes()
    match damage:
        case "gone":
            file.unlink()
        case "flipped":
            file.write_bytes(flipped(content, len(content) // 2, 3))
        case "cut short":
            file.write_bytes(content[:-100])
        case "empty":
            file.write_bytes(b"")
