"""What a run promises over its whole life, by the command line, each command a process of its own.

Going on costs what is missing and nothing else; it says what it does and why; its figures and its exit code
are the whole run's. What is somebody else's is never touched.
"""

from __future__ import annotations

import json
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline import Report, verify
from tests.crash.nursery import Child, Nursery

SUITE = """
    import asyncio, json, os
    from pathlib import Path
    from paceline import Case, Dataset
    from paceline.evaluators import EqualsExpected

    # What a test wants to be otherwise this time stands in a file.
    now = json.loads(Path("now.json").read_text()) if os.path.exists("now.json") else {}

    def note(what, n):
        with open("asked.log", "a") as log:
            log.write(f"{what} {n}\\n")

    async def task(n):
        note("task", n)
        await asyncio.sleep(0.01)
        match now.get("does", {}).get(str(n)):
            case "raise":
                raise ValueError("odd")
            case "lose":
                raise ConnectionError("lost")
            case "hang":
                await asyncio.sleep(60)
        return 2 * n

    task.version = now.get("version", "1")

    async def judge(ctx):
        note("judge", ctx.inputs)
        await asyncio.sleep(0)
        if now.get("judge") == "raises":
            raise RuntimeError("no opinion")
        return True

    def extra(output):
        return output >= 0

    dataset = Dataset(
        name="life",
        cases=[
            Case(name=f"n-{n}", inputs=now.get("inputs", {}).get(str(n), n), expected_output=2 * n)
            for n in range(now.get("cases", 6))
        ],
        evaluators=[EqualsExpected(), judge, *([extra] if now.get("extra") else [])],
    )
"""
RUN = ("run", "life.py", "-o", "out", "-j", "3", "--retries", "0")


class Bench:
    """A folder with a suite, and what is typed there."""

    def __init__(self, folder: Path, nursery: Nursery) -> None:
        self.folder = folder
        self.nursery = nursery
        self._heard = 0
        (folder / "life.py").write_text(textwrap.dedent(SUITE))

    def now(self, **otherwise: Any) -> None:
        """From now on the suite is like this."""
        (self.folder / "now.json").write_text(json.dumps(otherwise))

    def types(self, *arguments: str, code: int = 0) -> Child:
        """`paceline ARGUMENTS`, to its end, which has to be with this exit code."""
        child = self.nursery.runs(self.folder, *arguments)
        assert child.wait() == code, child.out + child.err
        return child

    def asked(self) -> Counter[str]:
        """What was called since this was asked last."""
        log = self.folder / "asked.log"
        lines = log.read_text().splitlines() if log.exists() else []
        new, self._heard = lines[self._heard :], len(lines)
        return Counter(new)

    def report(self, path: str = "out") -> Report[Any, Any, Any]:
        return Report.read(self.folder / path)

    def outcomes(self) -> dict[str, str]:
        return {row.name: row.outcome for row in self.report().rows}


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


@pytest.fixture
def bench(tmp_path: Path, nursery: Nursery) -> Bench:
    return Bench(tmp_path, nursery)


def each(what: str, *numbers: int) -> Counter[str]:
    """Called once for each of these."""
    return Counter(f"{what} {n}" for n in numbers)


# The same command again ---------------------------------------------------------------------------


def test_the_same_command_a_second_time_does_nothing_and_ends_as_the_first(bench: Bench) -> None:
    bench.types(*RUN)
    assert bench.asked() == each("task", *range(6)) + each("judge", *range(6))
    before = bench.report().to_dict()
    again = bench.types(*RUN)
    assert bench.asked() == Counter()
    assert "6 done before, 0 to run" in again.err
    after = bench.report().to_dict()
    changed = {name for name in before if before[name] != after[name]}
    assert changed <= {
        "wall_s",
        "processes",
        "effective_concurrency",
        "speed_up",
        "cases_per_s",
        "limited_by",
        "timeline",
    }
    bench.types("resume", "out")
    assert bench.asked() == Counter()
    assert verify(bench.folder / "out").ok


def test_errors_stay_errors_until_they_are_to_be_tried_again(bench: Bench) -> None:
    bench.now(does={"1": "raise", "4": "hang"})
    bench.types(*RUN, "--timeout", "200ms", code=1)
    assert bench.outcomes()["n-1"] == "task_error"
    assert bench.outcomes()["n-4"] == "timeout"
    bench.asked()
    bench.now()
    bench.types(*RUN, code=1)
    assert bench.asked() == Counter(), "the suite is mended, and nobody has asked for another try"
    bench.types(*RUN, "--retry-errors")
    assert bench.asked() == each("task", 1, 4) + each("judge", 1, 4)
    report = bench.report()
    assert report.passed
    assert {row.name: row.attempts for row in report.rows if row.attempts > 1} == {"n-1": 2, "n-4": 2}
    assert verify(bench.folder / "out").counts.keys() <= {"duplicate"}


def test_what_was_nobodys_answer_runs_again_without_being_asked(bench: Bench) -> None:
    """A lost connection says nothing of the model."""
    bench.now(does={"2": "lose"})
    bench.types(*RUN, code=1)
    assert bench.outcomes()["n-2"] == "infra_error"
    bench.asked()
    bench.now()
    told = bench.types(*RUN)
    assert bench.asked() == each("task", 2) + each("judge", 2)
    assert "1 infra_error" in told.err


def test_an_evaluator_that_could_not_say_is_asked_again_and_the_task_is_not(bench: Bench) -> None:
    bench.now(judge="raises")
    bench.types(*RUN, code=1)
    assert set(bench.outcomes().values()) == {"evaluator_error"}
    assert bench.asked() == each("task", *range(6)) + each("judge", *range(6))
    bench.now()
    told = bench.types(*RUN)
    assert bench.asked() == each("judge", *range(6))
    assert "6 not scored" in told.err
    report = bench.report()
    assert report.passed
    assert all(set(case.assertions) == {"EqualsExpected", "judge"} for case in report.cases)
    assert all(not case.evaluator_failures for case in report.cases)


# A suite that has changed -------------------------------------------------------------------------


def test_a_case_whose_content_has_changed_runs_again_and_no_other_and_that_is_said(bench: Bench) -> None:
    bench.types(*RUN)
    bench.asked()
    bench.now(inputs={"3": 30})
    plan = json.loads(bench.types(*RUN, "--dry-run", "--json").out)
    assert (plan["done"], plan["to_run"], plan["reasons"]) == (5, 1, {"content changed": 1})
    assert bench.asked() == Counter()
    told = bench.types(*RUN)
    assert bench.asked() == each("task", 30) + each("judge", 30)
    assert "1 content changed" in told.err
    row = next(case for case in bench.report().cases if case.name == "n-3")
    assert (row.inputs, row.output, row.assertions["EqualsExpected"].value) == (30, 60, False)
    assert bench.report().n_scored == 6


def test_cases_that_were_added_run_and_those_that_are_gone_are_not_forgotten(bench: Bench) -> None:
    bench.types(*RUN)
    bench.asked()
    bench.now(cases=8)
    bench.types(*RUN)
    assert bench.asked() == each("task", 6, 7) + each("judge", 6, 7)
    assert bench.report().n_expected == 8
    bench.now(cases=4)
    bench.types(*RUN)
    assert bench.asked() == Counter()


@pytest.mark.parametrize(
    ("otherwise", "what"),
    [({"extra": True}, "evaluators extra: was not there"), ({"version": "2"}, "task")],
    ids=["an evaluator", "the task's version"],
)
def test_another_suite_is_refused_with_the_difference_until_it_is_accepted(
    bench: Bench, otherwise: dict[str, Any], what: str
) -> None:
    bench.types(*RUN)
    bench.asked()
    before = (bench.folder / "out" / "journal.jsonl").read_bytes()
    bench.now(cases=7, **otherwise)
    told = bench.types(*RUN, code=2)
    assert what in told.err
    assert "--accept-changes" in told.err
    assert (bench.folder / "out" / "journal.jsonl").read_bytes() == before
    assert bench.asked() == Counter()
    bench.types(*RUN, "--accept-changes")
    assert bench.asked() == each("task", 6) + each("judge", 6)
    bench.types(*RUN)
    bench.now(cases=7)
    assert what.partition(":")[0] in bench.types(*RUN, code=2).err, (
        "what was accepted is what is held against now"
    )


# The whole run's figures --------------------------------------------------------------------------


def test_a_run_in_many_pieces_has_the_figures_of_the_whole(bench: Bench) -> None:
    """Killed, interrupted, taken up: attempts, durations and totals are those of all processes together."""
    bench.now(does={"5": "hang"})
    killed = bench.nursery.runs(bench.folder, *RUN)
    begun, all_but_one = bench.folder / "out" / "journal.jsonl", {f"n-{n}" for n in range(5)}
    eventually(lambda: begun.exists() and bench.outcomes().keys() >= all_but_one)
    assert killed.kill() == -9
    assert bench.report().verdict == "incomplete"
    assert bench.report().exit_code() == 4
    bench.now(does={"5": "lose"})
    bench.types("resume", "out", code=1)
    bench.now()
    told = bench.types("resume", "out", "--json")
    document = json.loads(told.out)
    assert (document["n"], document["n_expected"], document["n_passed"], document["n_open"]) == (6, 6, 6, 0)
    assert document["processes"] == 3
    assert document["attempts"] == 8
    assert document["wall_s"] >= 0.035, "the time of the process that was killed counts, to its last line"
    assert document["work_s"] >= 0.01 * 6
    calls = bench.asked()
    assert calls == each("task", *range(5)) + Counter({"task 5": 3}) + each("judge", *range(6))


def eventually(so: Callable[[], bool]) -> None:
    """Until something that another process does is so."""
    deadline = time.monotonic() + 20
    while not so():
        assert time.monotonic() < deadline, "it does not come to that"
        time.sleep(0.01)


@pytest.mark.parametrize("fail_on", ["any", "errors", "none"])
def test_the_exit_code_of_a_resume_is_the_whole_runs(bench: Bench, fail_on: str) -> None:
    bench.now(does={"1": "raise", "5": "hang"})
    killed = bench.nursery.runs(bench.folder, *RUN)
    journal = bench.folder / "out" / "journal.jsonl"
    eventually(lambda: journal.exists() and len(bench.report().rows) == 5)
    killed.kill()
    bench.now()
    code = {"any": 1, "errors": 1, "none": 0}[fail_on]
    bench.types(*RUN, "--fail-on", fail_on, code=code)


# What is somebody else's --------------------------------------------------------------------------

THEIRS = """
{"id": "a", "ok": true, "latency_s": 1.5, "output": " Paris "}
{"id": "b", "ok": true, "latency_s": 0.5, "output": "Rome"}
{"id": "c", "ok": false, "error": "TimeoutError()"}
"""


def test_a_results_file_of_another_harness_is_never_altered_and_can_be_imported(bench: Bench) -> None:
    theirs = bench.folder / "results.jsonl"
    theirs.write_text(THEIRS.lstrip())
    before = theirs.read_bytes()
    told = bench.types("run", "life.py", "-o", "results.jsonl", code=2)
    assert theirs.read_bytes() == before
    assert bench.asked() == Counter()
    assert "not a journal of Paceline" in told.err
    assert "paceline rescore results.jsonl" in told.err
    assert "--expected gold.jsonl" in told.err
    gold = {"a": " Paris ", "b": "Berlin", "c": "Bonn"}
    rows = [json.dumps({"id": name, "expected": answer}) for name, answer in gold.items()]
    (bench.folder / "gold.jsonl").write_text("\n".join(rows))
    evaluators = ("--evaluators", "EqualsExpected")
    told = bench.types(
        "rescore",
        "results.jsonl",
        "--expected",
        "gold.jsonl",
        *evaluators,
        "-o",
        "imported",
        "--json",
        code=1,
    )
    document = json.loads(told.out)
    assert (document["n"], document["n_scored"], document["n_failed"]) == (3, 2, 1)
    assert document["error_rate"] == pytest.approx(1 / 3)
    assert (document["n_passed"], document["n_not_passed"]) == (1, 1)
    assert document["p50_latency_s"] == pytest.approx(1.0)
    assert theirs.read_bytes() == before
    siblings = {path.name for path in bench.folder.iterdir() if path.name.startswith("results")}
    assert siblings == {"results.jsonl"}, "nor is anything put beside it"


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"[]\n", b'{"kind":"runner"}\n', b"a,b\n1,2\n"])
def test_a_file_that_is_no_run_of_ours_stays_as_it_is(bench: Bench, content: bytes) -> None:
    path = bench.folder / "notes.jsonl"
    path.write_bytes(content)
    child = bench.nursery.runs(bench.folder, "run", "life.py", "-o", "notes.jsonl")
    if child.wait() == 0:
        assert content == b"", "an empty file is a place for a new run"
    else:
        assert child.wait() == 2
        assert path.read_bytes() == content


def test_a_run_is_scored_anew_without_its_task_and_stays_as_it_was(bench: Bench) -> None:
    bench.types(*RUN)
    bench.asked()
    before = (bench.folder / "out" / "journal.jsonl").read_bytes()
    (bench.folder / "gold.jsonl").write_text('{"id": "n-3", "expected": 7}\n')
    told = bench.types(
        "rescore", "out", "--suite", "life.py", "--expected", "gold.jsonl", "-o", "anew", "--json"
    )
    document = json.loads(told.out)
    assert (document["n"], document["n_passed"], document["n_not_passed"]) == (6, 5, 1)
    assert bench.asked() == each("judge", *range(6))
    assert (bench.folder / "out" / "journal.jsonl").read_bytes() == before
    bench.types("resume", "anew")
    assert bench.asked() == Counter(), "it is a run like any other"


# The harness that everybody writes ----------------------------------------------------------------

HARNESS = """
    import asyncio, os
    from paceline import Case, Dataset
    from paceline.evaluators import EqualsExpected

    async def task(prompt):
        n = int(prompt.split()[-1])
        fd = os.open("asked.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, f"{os.getpid()} {n}\\n".encode())
        os.close(fd)
        await asyncio.sleep(0.05 + n % 7 / 100)
        if n % 40 == 13:
            raise RuntimeError("the sandbox is gone")
        return f"answer {n}"

    dataset = Dataset(
        name="harness",
        cases=[
            Case(name=f"t-{n}", inputs=f"question {n}", expected_output=f"answer {n}") for n in range(200)
        ],
        evaluators=[EqualsExpected()],
    )
"""


def test_a_kill_at_the_173rd_of_200_cases_costs_what_was_in_flight(tmp_path: Path, nursery: Nursery) -> None:
    """Fifty at a time. A loop would start from nothing; a file that is appended to would keep the errors."""
    (tmp_path / "harness.py").write_text(textwrap.dedent(HARNESS))
    command = ("run", "harness.py", "-o", "out", "-j", "50", "-q")
    journal = tmp_path / "out" / "journal.jsonl"
    begun = time.monotonic()
    child = nursery.runs(tmp_path, *command)
    eventually(lambda: journal.exists() and journal.read_bytes().count(b'"kind":"outcome"') >= 173)
    assert child.kill() == -9
    on_record = {row.name for row in Report.read(tmp_path / "out").rows}
    assert 173 <= len(on_record) < 200
    again = nursery.runs(tmp_path, *command)
    assert again.wait() == 1, "five of the cases fail, and no failure has ended the run"
    seconds = time.monotonic() - begun
    asked = [line.split() for line in (tmp_path / "asked.log").read_text().splitlines()]
    second = {f"t-{n}" for pid, n in asked if int(pid) == again.pid}
    assert second == {f"t-{n}" for n in range(200)} - on_record, "what was open, and only that"
    assert len(asked) <= 200 + 50, "a kill costs no more than what was in flight"
    report = Report.read(tmp_path / "out")
    assert (report.n_expected, report.n_scored, report.n_failed) == (200, 195, 5)
    assert report.pass_rate == pytest.approx(195 / 200)
    assert {row.error_message for row in report.failures} == {"the sandbox is gone"}
    assert verify(tmp_path / "out").ok
    one_after_the_other = sum(0.05 + n % 7 / 100 for n in range(200))
    assert seconds < one_after_the_other / 5
    told = report.to_dict()
    assert told["error_rate"] == pytest.approx(5 / 200)
    assert told["p50_latency_s"] == pytest.approx(0.08, abs=0.03)
