"""`paceline run`: what it prints, what it leaves behind, and how it ends."""

from __future__ import annotations

import json
import os
import pty
from dataclasses import fields
from pathlib import Path

import pytest

from paceline.runs import runs_root
from paceline.settings import effective
from tests.cli.conftest import Shell

ALL = [f"case-{n}" for n in range(6)]


# Targets


def test_a_suite_is_run_reported_and_recorded(shell: Shell, suite: Path) -> None:
    told = shell.types("run", "doubles.py")
    assert told.exit_code == 0, told.output
    assert sorted(shell.calls) == ALL
    (run,) = (shell.folder / "runs" / "doubles").iterdir()
    assert (run / "journal.jsonl").exists()
    assert f"Run {run.relative_to(shell.folder)}" in told.stdout
    assert "doubles: 6 cases" in told.stderr, "progress goes to stderr"


def test_without_a_target_the_one_suite_here_is_run(shell: Shell, suite: Path) -> None:
    suite.rename(shell.folder / "suite.py")
    assert shell.types("run").exit_code == 0
    assert sorted(shell.calls) == ALL


def test_without_a_target_the_candidates_are_named(shell: Shell) -> None:
    told = shell.types("run")
    assert told.exit_code == 2
    assert "there is no suite in this directory" in told.stderr
    for name in ("suite.yaml", "night_suite.py"):
        shell.write(name, "")
    told = shell.types("run")
    assert told.exit_code == 2
    assert "2 suites in this directory" in told.stderr
    assert "night_suite.py, suite.yaml" in told.stderr


def test_a_dataset_and_a_task_need_no_suite_file(shell: Shell) -> None:
    shell.write(
        "cases.jsonl", '{"nr": "a", "q": "x", "expected": "X"}\n{"nr": "b", "q": "y", "expected": "Z"}\n'
    )
    shell.write("app.py", "def shout(text): return text.upper()")
    arguments = ["run", "cases.jsonl", "--task", "app.py:shout", "--evaluator", "EqualsExpected"]
    told = shell.types(*arguments, "--map", "inputs=q", "--map", "name=nr", "--json")
    assert told.exit_code == 0, told.output
    document = json.loads(told.stdout)
    assert (document["n_expected"], document["n_passed"], document["n_not_passed"]) == (2, 1, 1)


def test_variants_of_a_suite_all_run(shell: Shell) -> None:
    shell.write("app.py", "def answer(x, *, plus=0): return x + plus")
    shell.write(
        "suite.yaml",
        """
        cases: [{name: one, inputs: 1, expected_output: 1}]
        evaluators: [EqualsExpected]
        variants:
          plain: app.py:answer
          more: {task: app.py:answer, plus: 1}
        """,
    )
    document = json.loads(shell.types("run", "suite.yaml", "--json").stdout)
    assert {each["name"]: each["pass_rate"] for each in document["variants"]} == {"plain": 1.0, "more": 0.0}


# Which cases


def test_limit_filter_and_sample_narrow_the_cases(shell: Shell, suite: Path) -> None:
    def ran(*flags: str) -> set[str]:
        (shell.folder / "calls.log").unlink(missing_ok=True)
        told = shell.types("run", "doubles.py", *flags)
        assert told.exit_code == 0, told.output
        return set(shell.calls)

    assert ran("--limit", "2") == {"case-0", "case-1"}
    assert ran("--filter", "[35]$") == {"case-3", "case-5"}
    drawn = ran("--sample", "3", "--seed", "1")
    assert len(drawn) == 3
    assert drawn == ran("--sample", "3", "--seed", "1", "--order", "shuffle")
    assert {frozenset(ran("--sample", "3", "--seed", str(seed))) for seed in range(5)} != {frozenset(drawn)}


def test_a_selection_of_nothing_is_wrong_usage(shell: Shell, suite: Path) -> None:
    for pattern, said in (("nothing", "no case is left"), ("(", "not a regular expression")):
        told = shell.types("run", "doubles.py", "--filter", pattern)
        assert told.exit_code == 2
        assert said in told.stderr
    assert shell.calls == []


# Exit codes


@pytest.mark.parametrize(
    ("environ", "flags", "code"),
    [
        ({}, [], 0),
        ({"WRONG": "3"}, [], 0),
        ({"WRONG": "3"}, ["--fail-on", "any"], 1),
        ({"RAISES": "3"}, [], 1),
        ({"RAISES": "3"}, ["--fail-on", "none"], 0),
        ({"RAISES": "0"}, ["--budget-failures", "1", "-j", "1"], 4),
        ({"WRONG": "1"}, ["--fail-fast", "-j", "1"], 4),
        ({}, ["--repeat", "0"], 2),
        ({"PACELINE_TIMEOUT": "soon"}, [], 2),
    ],
)
def test_the_exit_code_says_how_it_went(
    shell: Shell, suite: Path, environ: dict[str, str], flags: list[str], code: int
) -> None:
    told = shell.types("run", "doubles.py", *flags, **environ)
    assert told.exit_code == code, told.output
    if code == 4:
        assert "go on with: paceline resume runs/doubles/" in told.stderr


def test_a_dataset_without_cases_is_wrong_usage(shell: Shell) -> None:
    shell.write("suite.py", "from paceline import Dataset\ndataset = Dataset(cases=[])\ndef task(x): ...")
    told = shell.types("run", "suite.py")
    assert told.exit_code == 2
    assert "no cases" in told.stderr


# What is shown


def test_json_is_one_document_whatever_the_task_prints(shell: Shell) -> None:
    shell.write(
        "noisy.py",
        """
        import os, subprocess, sys
        from paceline import Case, Dataset
        print("while it is loaded")
        dataset = Dataset(cases=[Case(name="a", inputs=1)])
        def task(x):
            print("printed")
            os.write(1, b"written past python\\n")
            subprocess.run([sys.executable, "-c", "print('by a child')"])
            return x
        """,
    )
    ended = shell.runs("run", "noisy.py", "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["n"] == 1
    for said in ("while it is loaded", "printed", "written past python", "by a child"):
        assert said in ended.stderr


def test_quiet_shows_nothing(shell: Shell, suite: Path) -> None:
    told = shell.types("run", "doubles.py", "-q")
    assert (told.exit_code, told.stdout, told.stderr) == (0, "", "")


def test_verbose_tells_each_case(shell: Shell, suite: Path) -> None:
    told = shell.types("run", "doubles.py", "-v", WRONG="1", RAISES="2")
    for said in ("passed  case-0", "failed  case-1", "error (task_error)  case-2", "ValueError: odd"):
        assert said in told.stderr


def test_a_dry_run_says_what_would_run_and_runs_nothing(shell: Shell, suite: Path) -> None:
    told = shell.types("run", "doubles.py", "--dry-run", "--repeat", "2")
    assert told.exit_code == 0
    assert "doubles: 12 in all, 2 times each" in told.stdout
    assert "would run: 12\n  12 new" in told.stdout
    assert shell.calls == []
    assert not (shell.folder / "runs").exists()


def test_a_dry_run_of_a_run_that_is_there_says_why_each_case_would_run_again(
    shell: Shell, suite: Path
) -> None:
    shell.types("run", "doubles.py", "-o", "out", RAISES="2")
    text = suite.read_text()
    suite.write_text(text.replace("range(6)", "range(8)").replace("2 * n)", "3 * n if n == 1 else 2 * n)", 1))
    told = json.loads(
        shell.runs("run", "doubles.py", "-o", "out", "--dry-run", "--retry-errors", "--json").stdout
    )
    assert told["reasons"] == {"content changed": 1, "new": 2, "task_error": 1}
    assert (told["done"], told["to_run"], told["path"]) == (4, 4, "out")
    assert len(shell.calls) == 6


def test_letters_that_stdout_does_not_know_are_no_reason_to_fail(shell: Shell) -> None:
    shell.write(
        "letters.py",
        r"""
        from paceline import Case, Dataset
        dataset = Dataset(cases=[Case(name="Z\u00fcrich", inputs=1)])
        def task(x): raise ValueError("\u00e4 \udc80")
        """,
    )
    for encoding in ("ascii", "utf-8"):
        ended = shell.runs("run", "letters.py", "-v", environ={"PYTHONIOENCODING": encoding})
        assert ended.returncode == 1, ended.stderr
        assert "rich" in ended.stdout
        assert "Traceback" not in ended.stderr


# Settings reach the run


def test_settings_of_file_and_environment_reach_the_run(shell: Shell, suite: Path) -> None:
    shell.write(
        "paceline.toml", "repeat = 2\nruns = 'kept'\n[suite.doubles]\nmax_concurrency = 1\norder = 'given'\n"
    )
    assert shell.types("run", "doubles.py").exit_code == 0
    assert shell.calls == ALL * 2
    assert len(list((shell.folder / "kept" / "doubles").iterdir())) == 1


def test_retries_are_tries_after_the_first_for_faults_that_another_try_can_help(shell: Shell) -> None:
    shell.write(
        "flaky.py",
        """
        from paceline import Case, Dataset
        dataset = Dataset(cases=[Case(name="lost", inputs="lost"), Case(name="bug", inputs="bug")])
        def task(what):
            with open("calls.log", "a") as log:
                log.write(what + "\\n")
            raise ConnectionError("lost") if what == "lost" else ValueError("bug")
        """,
    )
    told = shell.types("run", "flaky.py", "--retries", "0", "--json")
    assert told.exit_code == 1, told.output
    assert sorted(shell.calls) == ["bug", "lost"]


def test_the_library_and_the_command_line_have_the_same_defaults() -> None:
    from paceline.cli.jobs import options_for
    from paceline.engine.retry import Retry
    from paceline.options import Options

    plain = effective({}, {}, Path("/"))
    options = options_for(
        plain, journal=None, progress=True, retry_errors=False, accept_changes=False, debug=False
    )
    usual = Options()
    for field in fields(Options):
        if field.name != "runs":
            assert getattr(options, field.name) == getattr(usual, field.name), field.name
    assert plain["retries"] == Retry().attempts - 1
    assert Path(plain["runs"]) == runs_root()


# Debugging


def test_debug_runs_one_case_at_a_time_in_order_and_prints_tracebacks(shell: Shell, suite: Path) -> None:
    told = shell.types("run", "doubles.py", "--debug", RAISES="2")
    assert told.exit_code == 1
    assert shell.calls == ALL
    assert 'raise ValueError("odd")' in told.stderr


@pytest.mark.slow
def test_debug_lets_a_debugger_in_where_the_task_raises(shell: Shell, suite: Path) -> None:
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0) as ours, os.fdopen(follower, "rb", buffering=0) as terminal:
        process = shell.starts(
            "run", "doubles.py", "--debug", "-q", environ={"RAISES": "2"}, stdin=terminal, stdout=terminal
        )
        told = b""
        while b"(Pdb) " not in told:
            told += ours.read(1024)
        os.write(ours.fileno(), b"print('here', n)\nquit\n")
        while b"here 2" not in told:
            told += ours.read(1024)
        process.communicate(timeout=30)
    assert process.returncode == 1


# Directories


def test_a_suite_that_changes_directory_when_it_is_loaded_is_recorded_where_the_command_was_typed(
    shell: Shell,
) -> None:
    shell.write("deep/data.txt", "7")
    shell.write("deep/paceline.toml", "repeat = 3\n")
    shell.write(
        "deep/moves.py",
        """
        import os
        from pathlib import Path
        from paceline import Case, Dataset

        os.chdir(Path(__file__).parent)
        dataset = Dataset(cases=[Case(name="case", inputs=1)], evaluators=[lambda output: output == 7])

        def task(n):
            return int(Path("data.txt").read_text())
        """,
    )
    for command in (["run", "deep/moves.py", "-o", "out"], ["resume", "out"], ["run", "deep/moves.py"]):
        told = shell.runs(*command)
        assert told.returncode == 0, told.stderr
        assert "1 of 1" in told.stdout, "the settings are those of where it was typed"
    assert {path.name for path in shell.folder.iterdir()} == {"deep", "out", "runs"}
    assert not (shell.folder / "deep" / "runs").exists()
