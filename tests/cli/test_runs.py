"""Looking after runs: `ls`, `rm`, `report`, `verify`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.cli.test_resume import SLOW, wait_for_calls


def test_runs_are_listed_latest_first_with_how_they_stand(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", WRONG="1")
    shell.types("run", "doubles.py", "--fail-fast", "-j", "1", RAISES="2")
    told = shell.types("ls")
    assert told.exit_code == 0
    head, *rows = told.stdout.splitlines()
    assert head.split() == ["RUN", "SUITE", "STARTED", "STATE", "CASES"]
    assert len(rows) == 2
    complete = next(row for row in rows if "complete" in row)
    assert "6/6 (5 passed, 1 failed)" in complete
    (document,) = [
        each
        for each in json.loads(shell.types("ls", "doubles", "--json").stdout)
        if each["state"] == "budget"
    ]
    assert document["suite"] == "doubles"
    assert Path(document["path"]).is_dir()
    assert document["outcomes"]["task_error"] == 1
    assert json.loads(shell.types("ls", "nothing", "--json").stdout) == []


def test_no_runs_is_no_error(shell: Shell) -> None:
    told = shell.types("ls")
    assert (told.exit_code, told.stdout) == (0, "")
    assert "no runs under" in told.stderr


def test_a_run_that_is_being_written_is_listed_as_running_and_not_removed(shell: Shell) -> None:
    shell.write("slow.py", SLOW)
    process = shell.starts("run", "slow.py", "-j", "6", "-q")
    try:
        wait_for_calls(shell, 6)
        (standing,) = json.loads(shell.types("ls", "--json").stdout)
        assert (standing["state"], standing["process"]["pid"]) == ("running", process.pid)
        refused = shell.types("rm", standing["path"], "--yes")
        assert refused.exit_code == 2
        assert f"process {process.pid}" in refused.stderr
    finally:
        process.kill()
        process.communicate()
    (standing,) = json.loads(shell.types("ls", "--json").stdout)
    assert (standing["state"], standing["process"]) == ("interrupted", None)
    assert shell.types("rm", standing["path"], "--yes").exit_code == 0
    assert not Path(standing["path"]).exists()


def test_removing_wants_a_terminal_to_ask_or_yes(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-o", "out")
    told = shell.types("rm", "out")
    assert told.exit_code == 2, "there is nobody to answer"
    assert "pass --yes" in told.stderr
    assert (shell.folder / "out").exists()


def test_only_runs_are_removed_and_nothing_that_lies_beside_them(shell: Shell, suite: Path) -> None:
    shell.write("precious/data.txt", "keep me")
    assert shell.types("rm", "precious", "--yes").exit_code == 2
    shell.types("run", "doubles.py", "-o", "precious")
    assert shell.types("rm", "precious", "--yes").exit_code == 0
    assert [path.name for path in (shell.folder / "precious").iterdir()] == ["data.txt"]
    shell.types("run", "doubles.py", "-o", "single.jsonl")
    assert shell.types("rm", "single.jsonl", "--yes").exit_code == 0
    assert not list(shell.folder.glob("single*"))


def test_a_report_is_written_as_one_html_file(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-o", "out", WRONG="2")
    place = shell.folder / "report.html"
    told = shell.types("report", "out", "--html", "-o", "report.html")
    assert told.exit_code == 0
    assert told.stdout.strip() == place.as_uri()
    assert "83.3%" in place.read_text()
    told = json.loads(shell.types("report", "out", "--html", "-o", "report.html", "--json").stdout)
    assert told == {"path": str(place), "url": place.as_uri(), "bytes": place.stat().st_size}


def test_an_html_file_is_called_after_its_run_if_nothing_is_said(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-o", "out")
    told = json.loads(shell.types("report", "out", "--html", "--json").stdout)
    run_id = json.loads(shell.types("report", "out", "--json").stdout)["run_id"]
    assert told["path"] == str(shell.folder / f"doubles-{run_id}.html")


def test_an_html_file_is_opened_where_that_is_asked(
    shell: Shell, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    shell.types("run", "doubles.py", "-o", "out")
    shell.types("report", "out", "--html", "-o", "a.html")
    assert not opened
    shell.types("report", "out", "--html", "-o", "a.html", "--open")
    assert opened == [(shell.folder / "a.html").as_uri()]


@pytest.mark.parametrize(
    "flags", [["-o", "x.html"], ["--open"], ["--html", "--failures"], ["--html", "--case", "a"]]
)
def test_flags_of_an_html_file_mean_nothing_without_one(shell: Shell, suite: Path, flags: list[str]) -> None:
    shell.types("run", "doubles.py", "-o", "out")
    told = shell.types("report", "out", *flags)
    assert told.exit_code == 2
    assert not list(shell.folder.glob("*.html"))


def test_a_report_needs_only_the_record(shell: Shell, suite: Path) -> None:
    ran = shell.types("run", "doubles.py", "-o", "out", "--json", WRONG="1", RAISES="2")
    suite.unlink()
    told = shell.types("report", "out", "--json")
    assert told.exit_code == 0
    assert json.loads(told.stdout) == json.loads(ran.stdout)
    assert "4 of 6" in shell.types("report", "out").stdout


def test_a_report_is_sliced_by_what_cases_say_of_themselves(shell: Shell) -> None:
    cases = [
        {"name": f"c{number}", "inputs": number, "metadata": {"half": number // 10, "passage": number // 4}}
        for number in range(20)
    ]
    shell.write("cases.jsonl", "\n".join(map(json.dumps, cases)))
    shell.write(
        "suite.py",
        """
        from paceline import Dataset

        dataset = Dataset.from_file("cases.jsonl")
        dataset.add_evaluator(lambda output: output < 10)

        def task(inputs):
            return inputs
        """,
    )
    shell.types("run", "suite.py", "-o", "out")
    told = shell.types("report", "out", "--by", "half", "--by", "passage", "--json")
    slices = json.loads(told.stdout)["slices"]
    assert list(slices) == ["half", "passage"]
    assert [(each["value"], each["pass_rate"]) for each in slices["half"]["slices"]] == [
        ("0", 1.0),
        ("1", 0.0),
    ]
    assert "* <0.001" in shell.types("report", "out", "--by", "half").stdout
    clustered = json.loads(shell.types("report", "out", "--cluster", "passage", "--json").stdout)
    assert clustered["clustered_by"] == "passage"
    assert clustered["pass_rate_interval"]["n"] < json.loads(told.stdout)["pass_rate_interval"]["n"]
    refused = shell.types("report", "out", "--by", "nothing")
    assert refused.exit_code == 2
    assert "there is half, passage" in refused.stderr


def test_failures_and_single_cases_can_be_looked_at(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-o", "out", WRONG="1", RAISES="2")
    failures = shell.types("report", "out", "--failures")
    assert failures.exit_code == 0
    assert "case-1" in failures.stdout
    assert "case-2" in failures.stdout
    assert "ValueError: odd" in failures.stdout
    assert "case-3" not in failures.stdout
    one = shell.types("report", "out", "--case", "case-2")
    assert one.exit_code == 0
    assert 'raise ValueError("odd")' in one.stdout
    document = json.loads(shell.types("report", "out", "--case", "case-1", "--json").stdout)
    assert [row["output"] for row in document] == [0]
    assert shell.types("report", "out", "--case", "nothing").exit_code == 2


def test_verify_finds_nothing_wrong_with_a_whole_record_and_says_what_is_wrong_with_another(
    shell: Shell, suite: Path
) -> None:
    shell.types("run", "doubles.py", "-o", "out")
    told = shell.types("verify", "out")
    assert told.exit_code == 0
    assert "nothing is wrong" in told.stdout
    journal = shell.folder / "out" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"case-3", b"case-9", 1))
    told = shell.types("verify", "out", "--json")
    assert told.exit_code == 1
    document = json.loads(told.stdout)
    assert (document["ok"], document["counts"]["damaged"]) == (False, 1)
    assert "paceline resume" in shell.types("verify", "out").stdout


def test_the_answer_of_a_case_whose_teardown_failed_is_shown(shell: Shell) -> None:
    shell.write(
        "untidy.py",
        """
        from paceline import Case, CaseLifecycle, Dataset
        class Untidy(CaseLifecycle):
            async def teardown(self, result):
                raise OSError("disk full")
        dataset = Dataset(cases=[Case(name="a", inputs=1)])
        dataset.evaluate_sync(lambda x: "the answer", lifecycle=Untidy, journal="out", progress=False)
        """,
    )
    process = shell.python("untidy.py")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    told = shell.types("report", "out", "--case", "a").stdout
    assert "output: the answer" in told
    assert "error: OSError: disk full" in told


def test_a_run_whose_first_line_is_damaged_is_still_a_run(shell: Shell, suite: Path) -> None:
    """One flipped bit must not make a night's work something that nobody has heard of."""
    shell.types("run", "doubles.py", "-o", "runs/out", "--repeat", "2", WRONG="1")
    journal = shell.folder / "runs" / "out" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"suite"', b'"suitf"', 1))
    verified = shell.types("verify", "runs/out")
    assert verified.exit_code == 1
    assert "line 1: checksum" in verified.stdout
    shown = shell.types("report", "runs/out")
    assert shown.exit_code == 0
    assert "10 of 12" in shown.stdout
    assert "1 damaged line" in shown.stdout
    listed = shell.types("ls")
    assert "runs/out is not listed: its first line is damaged" in listed.stderr
    assert "no runs" in listed.stderr

    resumed = shell.types("resume", "runs/out")
    assert resumed.exit_code == 2
    assert "start the same command again, with -o runs/out --accept-changes" in resumed.stderr
    again = ["run", "doubles.py", "-o", "runs/out", "--repeat", "2"]
    refused = shell.types(*again)
    assert refused.exit_code == 2
    assert "first line is damaged" in refused.stderr
    assert "--accept-changes" in refused.stderr
    calls = len(shell.calls)
    assert shell.types(*again, "--accept-changes").exit_code == 0
    assert shell.types(*again).exit_code == 0, "once it was said, it is on record"
    assert len(shell.calls) == calls

    assert "evaluators are not known" in shell.types("rescore", "runs/out").stderr
    rescored = shell.types("rescore", "runs/out", "--evaluators", "EqualsExpected", "-o", "anew", "--json")
    assert rescored.exit_code == 0, rescored.stderr
    document = json.loads(rescored.stdout)
    assert (document["n"], document["n_cases"], document["n_passed"]) == (12, 6, 10)
    assert shell.types("rm", "runs/out", "--yes").exit_code == 0
    assert not (shell.folder / "runs" / "out").exists()


def test_a_file_that_is_no_run_is_called_what_it_is(shell: Shell, suite: Path) -> None:
    shell.write("theirs.jsonl", '{"id": "a", "output": "x"}\n')
    for verb in ("report", "verify", "resume"):
        told = shell.types(verb, "theirs.jsonl")
        assert told.exit_code == 2
        assert "theirs.jsonl is not a journal of Paceline" in told.stderr
        assert "paceline rescore theirs.jsonl" in told.stderr
    assert "doubles.py is a file, not a run directory" in shell.types("report", "doubles.py").stderr


def test_where_an_evaluator_broke_is_shown_with_its_case(shell: Shell) -> None:
    shell.write(
        "judged.py",
        """
        from paceline import Case, Dataset

        def judge(output):
            return output["score"] > 0.5

        dataset = Dataset(cases=[Case(name="a", inputs=1)], evaluators=[judge])

        def task(n):
            return {"scores": 1}
        """,
    )
    assert shell.types("run", "judged.py", "-o", "out").exit_code == 1
    told = shell.types("report", "out", "--case", "a").stdout
    assert "judge could not say anything: KeyError: 'score'" in told
    assert 'return output["score"] > 0.5' in told
    (document,) = json.loads(shell.types("report", "out", "--case", "a", "--json").stdout)
    assert document["evaluator_failures"]["judge"]["error"] == "KeyError: 'score'"


def test_nothing_that_a_model_or_an_error_says_reaches_the_terminal_as_a_command(shell: Shell) -> None:
    shell.write(
        "evil.py",
        r"""
        from paceline import Case, Dataset, EvaluationReason
        EVIL = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202e first\nsecond"

        def task(n):
            if n == 0:
                raise ValueError(EVIL)
            return {"said": EVIL} if n == 1 else EVIL

        def judge(output):
            return EvaluationReason(value=False, reason=EVIL)

        cases = [Case(name=name, inputs=n) for n, name in enumerate(["fails", "object", "turned\u202etxt"])]
        dataset = Dataset(cases=cases, evaluators=[judge])
        """,
    )
    ran = shell.types("run", "evil.py", "-o", "out", "-j", "1", "-v")
    assert ran.exit_code == 1
    told = [ran.stdout, ran.stderr, shell.types("report", "out", "--failures").stdout]
    for name in ("fails", "object", "turned\u202etxt"):
        told.append(shell.types("report", "out", "--case", name).stdout)
        assert name[:5] in told[-1]
    for text in told:
        assert r"\x1b[2J" in text
        assert [one for one in text if not one.isprintable() and one != "\n"] == []
    assert len(told[2].splitlines()) == 3, "a line each"
    assert "second" in told[3]
