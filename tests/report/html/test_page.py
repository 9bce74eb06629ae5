"""The file: every key that was begun is in it, with what the report says and nothing made up."""

from __future__ import annotations

import json
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.journal.encoding import encode_line, seal
from paceline.journal.records import OUTCOMES, ErrorFacts, Line
from paceline.report import Report
from paceline.report.html import bodies, page
from tests.journal.lines import lines as any_lines
from tests.report.html.written import Written, read_page
from tests.report.journals import (
    Lines,
    again,
    begin,
    called,
    ended,
    failed,
    finished,
    manifest,
    mute,
    no,
    output,
    raw,
    resumed,
    retried,
    run,
    says,
    scored,
    told,
    yes,
)


def written(*lines: Line | bytes, **fields: Any) -> Written:
    """The page of a journal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        assert Report(Lines(run("Equals", **fields), *lines)).to_html(path) == path
        return read_page(path)


def test_a_case_is_a_row_with_all_that_was_said_of_it() -> None:
    found = written(
        begin("a", inputs={"city": "Rome"}, expected="Italy", metadata=raw({"topic": "logic", "year": 2024})),
        scored(
            "a", yes(), says(0.5), says("kind", "Tone", reason="it says please"), answer="Italy", waited=2.0
        ),
        manifest(1),
        ended(),
    )
    assert {name: values[0] for name, values in found.columns.items()} == {
        "/case": "a",
        "/outcome": OUTCOMES.index("scored") + 1,
        "/verdict": 1,
        "/seconds": 1.0,
        "/total": 0.0,
        "/ended": 3.0,
        "/attempts": 1,
        "/waited": 2.0,
        "assertion/Equals": 1,
        "score/Similarity": 0.5,
        "label/Tone": "kind",
        "metadata/topic": "logic",
        "metadata/year": "2024",
    }
    (body,) = found.bodies
    assert (body["inputs"], body["expected"], body["output"]) == ({"city": "Rome"}, "Italy", "Italy")
    assert body["metadata"] == {"topic": "logic", "year": 2024}
    assert body["results"][2] == ["Tone", "kind", "Tone", 0.0]
    assert body["reasons"] == [None, None, "it says please"]
    assert body["cut"] == {}


def test_the_figures_are_those_of_the_report_whatever_became_of_the_cases() -> None:
    lines = [
        *(begin("a"), scored("a", yes()), begin("b"), scored("b", no())),
        *(begin("c"), failed("c"), begin("d"), failed("d", "timeout"), begin("e"), scored("e")),
        *(begin("f"), begin("g"), failed("g", "evaluator_error", error=None, failures=[mute()])),
        manifest(9),
    ]
    found = written(*lines)
    report = Report(Lines(run("Equals"), *lines))
    assert found.head["report"] == json.loads(report.to_json())
    assert found.head["report"]["pass_rate"] == 1 / 8
    assert found.columns["/case"] == list("abcdefg")
    assert found.columns["/verdict"] == [1, 0, -2, -2, -1, -2, -2]


def test_ten_cases_of_which_nine_crash_pass_by_ten_percent() -> None:
    crashed = [line for n in range(9) for line in (begin(f"bad {n}"), failed(f"bad {n}"))]
    found = written(begin("good"), scored("good", yes()), *crashed, manifest(10), ended())
    assert found.head["report"]["pass_rate"] == 0.1
    assert dict(found.head["overview"])["Pass rate"].startswith("10.0%")
    assert "10.0%" in found.markup  # for readers without scripts


def test_what_was_tried_before_is_told_with_the_case() -> None:
    found = written(
        begin("a"),
        retried("a", error_class="rate_limited", retry_in=3.0),
        again("a"),
        failed("a", "timeout", ErrorFacts(type="Timeout", message="30 s"), attempt=2),
        resumed(),
        again("a", 3),
        scored("a", yes(), attempt=3),
        ended(),
    )
    (body,) = found.bodies
    tries = [dict(zip(bodies.LAYOUT["try"], each, strict=True)) for each in body["tries"]]
    assert [(each["attempt"], each["outcome"], each["type"]) for each in tries] == [
        (1, "rate_limited", "ConnectionError"),
        (2, "timeout", "Timeout"),
    ]
    assert tries[0]["retry_in"] == 3.0
    assert found.columns["/attempts"] == [3]


def test_calls_are_told_and_what_they_cost_is_a_column() -> None:
    found = written(
        *(begin("a"), called("a", 1), called("a", 2, price=0.5), scored("a", yes())),
        *(begin("b"), called("b", 1, price=None), scored("b", yes())),
        *(begin("c"), scored("c", yes())),
    )
    assert [len(body["calls"]) for body in found.bodies] == [2, 1, 0]
    assert found.columns["/cost"] == [0.501, 0.0, pytest.approx(float("nan"), nan_ok=True)]
    assert found.columns["/unpriced"] == [None, 1, None] or found.columns["/unpriced"] == [0, 1, 0]


def test_an_output_that_came_before_its_scores_is_found() -> None:
    lines = [
        begin("a"),
        output("a", "early"),
        told("a", says(0.25)),
        scored("a", yes(), answer=None, builds_on=2),
    ]
    (body,) = written(*lines).bodies
    assert body["output"] == "early"
    assert {each[0] for each in body["results"]} == {"Equals", "Similarity"}


def test_an_evaluator_that_could_not_say_anything_is_told_with_its_error() -> None:
    lines = [begin("a"), scored("a", outcome="evaluator_error", failures=[mute(message="out of quota")])]
    (body,) = written(*lines).bodies
    assert body["failures"][0][:3] == ["Judge", "RuntimeError", "out of quota"]


def test_a_value_that_is_too_long_is_cut_and_said_to_be() -> None:
    long = "a" * 10_000_000
    (body,) = written(begin("a", inputs=long), scored("a", yes(), answer=[long, 1])).bodies
    assert len(body["inputs"]) == bodies.SHOWN
    assert long.startswith(body["inputs"])
    assert body["output"].startswith('["aaa')
    assert body["cut"] == {"inputs": len(long) + 2, "output": len(long) + 6}


def test_what_a_page_can_hold_is_shared_by_all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST", 200_000)
    lines = [line for n in range(20) for line in (begin(f"{n}", inputs="x" * 60_000), scored(f"{n}", yes()))]
    found = written(*lines)
    assert sum(len(body["inputs"]) for body in found.bodies) < 220_000
    assert all(len(body["inputs"]) >= bodies.LEAST_SHOWN for body in found.bodies)
    assert all(body["cut"]["inputs"] == 60_002 for body in found.bodies)


def test_a_trajectory_is_cut_between_messages() -> None:
    messages = [{"role": "user", "content": "x" * 30_000} for _ in range(5)]
    (body,) = written(begin("a"), scored("a", yes(), trajectory=raw(messages))).bodies
    assert body["trajectory"] == messages[:2]
    assert body["cut"]["trajectory"] > 150_000


def test_what_a_missing_blob_held_is_said_to_be_lost(tmp_path: Path) -> None:
    blob = b'{"$paceline":{"blob":"' + b"0" * 64 + b'","bytes":300000}}'
    lines = [run("Equals"), begin("a"), scored("a", yes(), answer=None, output=raw_bytes(blob))]
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"".join(seal(encode_line(line)) for line in lines))
    Report.read(tmp_path).to_html(tmp_path / "report.html")
    (body,) = read_page(tmp_path / "report.html").bodies
    assert body["output"].startswith("<lost: a value of this run is missing")


def raw_bytes(value: bytes) -> Any:
    import msgspec

    return msgspec.Raw(value)


# ---- patches ----


def patched(folder: Path, path: object) -> Any:
    """The patch that the page of a run shows, whose record names this file."""
    lines = [run("Equals"), begin("a"), scored("a", yes(), attributes=raw({"patch": path})), ended()]
    (folder / "journal.jsonl").write_bytes(b"".join(seal(encode_line(line)) for line in lines))
    Report.read(folder).to_html(folder / "report.html")
    (body,) = read_page(folder / "report.html").bodies
    return body["patch"]


def test_the_patch_of_an_attempt_is_read_from_the_files_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "changes.patch").write_text("--- a\n+++ b\n+new\n")
    assert patched(tmp_path, "files/changes.patch") == "--- a\n+++ b\n+new\n"


def test_no_file_outside_of_the_run_is_ever_shown(tmp_path: Path) -> None:
    secret = tmp_path / "secret.patch"
    secret.write_text("what it says")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "link.patch").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path)
    for path in ("../secret.patch", str(secret), "link.patch", "up/secret.patch", "a/../../secret.patch"):
        assert str(patched(folder, path)).startswith("<lost: "), path


@pytest.mark.parametrize("path", [None, 3, ["x"], {"a": 1}, "mine", "--- a\n+++ b\n"])
def test_an_attribute_that_is_no_path_is_no_patch(tmp_path: Path, path: object) -> None:
    assert patched(tmp_path, path) is None


# ---- the file ----


def test_nothing_of_the_data_stands_in_the_markup() -> None:
    nasty = "</script><script>alert(1)</script>"
    found = written(
        begin(nasty, inputs=nasty, metadata=raw({nasty: nasty})), scored(nasty, yes(nasty)), suite=nasty
    )
    assert found.columns["/case"] == [nasty]
    assert "alert(1)</script>" not in found.markup
    assert found.markup.count("<script>") == 1


def test_an_empty_run_has_a_page_that_says_so() -> None:
    found = written(manifest(0), ended())
    assert found.head["rows"] == 0
    assert found.bodies == []
    assert found.head["report"]["verdict"] == "empty"


def test_bodies_are_not_gathered_in_memory(tmp_path: Path) -> None:
    """What is held is columns, and one piece of the bodies, however much text there is."""
    text = {size: "word " * size for size in (20, 2000)}
    peaks = {}
    for size, inputs in text.items():
        lines = [line for n in range(800) for line in (begin(f"{n}", inputs=inputs), scored(f"{n}", yes()))]
        report = Report(finished(*lines, keys=800))
        tracemalloc.start()
        report.to_html(tmp_path / "report.html")
        peaks[size] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks[2000] - peaks[20] < 4 * page.PIECE


@given(st.lists(any_lines, max_size=25))
def test_any_journal_has_a_page_with_a_row_for_each_key_that_was_begun(lines: list[Line]) -> None:
    report = Report(Lines(*lines))
    with tempfile.TemporaryDirectory() as folder:
        found = read_page(report.to_html(Path(folder, "report.html")))
    assert len(found.bodies) == len(found.columns["/case"]) == len(report.rows) + len(report.open_keys)
    ended = [row for row, outcome in enumerate(found.columns["/outcome"]) if outcome]
    assert [found.columns["/case"][row] for row in ended] == [row.key.case for row in report.rows]
    assert found.columns["/verdict"].count(1) == report.figures.n_passed
    assert found.columns["/verdict"].count(-1) == report.figures.n_unasserted
