"""What a sweep leaves behind: text, JSON, files beside the journal, an exit code."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paceline.errors import JournalBroken
from paceline.pace.messages import Advertised
from paceline.ramp.report import Files, RampInterrupted, keep, kept
from paceline.ramp.rows import Pressed
from paceline.ramp.seen import Halt, Machine
from paceline.ramp.verdict import Verdict
from tests.ramp.rows import report, row

PRESSED = Pressed(
    cause="requests",
    rejected=20,
    accepted=90,
    rate=10.0,
    token_rate=5000.0,
    in_flight=18.0,
    burst=10,
    peak=30,
    steady=0.1,
)
FULL = row(
    32,
    9.0,
    pressed=PRESSED,
    rejected=20,
    rejected_share=0.2,
    halt=Halt(kind="limit", reason="20 of 100 calls were rejected"),
    machine=Machine(cpu=0.4, late=0.01, where="app.py:3 in ask"),
    waits={"blocked": 0.5},
    advertised=Advertised(requests=600.0),
    causes={"requests": 20},
)


def test_what_is_kept_beside_a_journal_is_what_was_found(tmp_path: Path) -> None:
    found = report(row(1), FULL, row(20, 10.0, paced=11.5), path=tmp_path, at=5.0, per_level=20)
    keep(found, tmp_path)
    assert kept(tmp_path) == found
    assert (tmp_path / "ramp.svg").read_text().startswith("<?xml")


def test_a_journal_that_is_a_single_file_has_its_sweep_beside_it(tmp_path: Path) -> None:
    (tmp_path / "night.jsonl").touch()
    files = Files.of(tmp_path / "night.jsonl")
    assert [each.name for each in files] == ["night.ramp.json", "night.ramp.svg"]


@pytest.mark.parametrize(
    "written", ["", "{", "[]", "{}", '{"format": 99}', '{"format": 1, "suite": 7}', "\x00\x00", "null"]
)
def test_what_cannot_be_understood_is_as_good_as_nothing(tmp_path: Path, written: str) -> None:
    (tmp_path / "ramp.json").write_text(written)
    assert kept(tmp_path) is None


def test_a_place_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "ramp.json").mkdir()
    with pytest.raises(JournalBroken) as refused:
        keep(report(), tmp_path)
    assert refused.value.hint


def test_the_json_says_for_each_level_what_bound_it_and_the_verdict_in_words() -> None:
    document: dict[str, Any] = json.loads(report(row(1), row(2), FULL).to_json())
    assert [each["bound"] for each in document["rows"]] == ["level", "level", "requests"]
    assert document["rows"][2]["pressed"]["cause"] == "requests"
    assert set(document["said"]) == {"ceiling", "why", "next"}
    assert document["cost"] == pytest.approx(0.09)
    assert document["format"] == 1


def test_a_cost_of_which_a_part_is_unknown_is_unknown() -> None:
    assert report(row(1), row(2, cost=0.5, unpriced=1)).cost is None
    assert report(row(1), row(2, cost=None)).cost is None


def test_the_table_has_a_line_for_each_level_and_the_asked_for_columns() -> None:
    lines = report(row(1), row(2), FULL).render().splitlines()
    head = lines.index(next(line for line in lines if line.lstrip().startswith("level")))
    assert lines[head].split("  ")[-1] == "bound by"
    assert {"ok/s", "tokens/s", "p50", "p95", "errors", "429"} <= set(lines[head].split())
    assert lines[head + 3].split()[0] == "32"
    assert lines[head + 3].split()[-2:] == ["20.0%", "requests"]


def test_only_what_is_kept_for_other_runs_is_said_to_be() -> None:
    verdict = Verdict(kind="latency", ceiling=8.0, window=8, ok_rate=4.0, measure="at once")
    assert "`-j auto` starts there" in report(verdict=verdict, learned=True).render()
    said = report(verdict=verdict).render()
    assert "`-j auto` starts there" not in said
    assert "next     to set it by hand: --window 8" in said


def test_one_level_alone_is_said_to_tell_nothing_of_growth() -> None:
    said = report(row(1), verdict=Verdict(kind="none", window=1, level=1, ok_rate=0.5)).render()
    assert "one level alone says nothing of how it goes on" in said


def test_a_stream_that_knows_few_letters_gets_those_that_it_knows() -> None:
    class Old(io.StringIO):
        encoding = "ascii"

    file = Old()
    report(suite="süße", verdict=Verdict(kind="closed", evidence="“no”")).print(file)
    assert file.getvalue().isascii()


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({}, 0),
        ({"verdict": Verdict(kind="latency", ceiling=3.0, window=3)}, 0),
        ({"verdict": Verdict(kind="broken")}, 1),
        ({"verdict": Verdict(kind="closed")}, 1),
        ({"verdict": Verdict(kind="nothing")}, 1),
        ({"how": "interrupted", "interrupts": 1}, 4),
        ({"how": "budget"}, 4),
        ({"how": "interrupted", "interrupts": 2}, 130),
    ],
)
def test_the_exit_code_tells_how_it_went(more: dict[str, Any], code: int) -> None:
    assert report(**more).exit_code() == code


def test_an_interrupted_call_says_where_to_go_on() -> None:
    interrupted = RampInterrupted(report(path=Path("runs/x")))
    assert "journal='runs/x'" in str(interrupted)
    assert isinstance(interrupted, KeyboardInterrupt)


def test_a_report_is_a_value() -> None:
    assert msgspec.structs.replace(report(), learned=True) != report()
