"""A command is run for each case as it was said: what it is given, where it works, where its answer is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, CommandTask
from paceline.evaluators import EqualsExpected
from paceline.journal.reading import FileSource, Recorded
from paceline.journal.records import OutcomeLine
from tests.tasks.command.commands import called, elsewhere, grounds, python, run_of
from tests.workspaces.repositories import repository, shown, write

__all__ = ["elsewhere"]

SHOW = (
    "import json, os, sys; "
    "print(json.dumps({'argv': sys.argv[1:], 'cwd': os.getcwd(), 'env': dict(os.environ)}))"
)


def told(*arguments: str, inputs: Any = "", **more: Any) -> Any:
    """What a program sees."""
    return called(python(SHOW, *arguments), inputs, output={"json": ""}, **more)


def attributes_of(tmp_path: Path, case: str, name: str = "run") -> dict[str, Any]:
    """What the journal says of an attempt."""
    for entry in FileSource(tmp_path / name).entries():
        if isinstance(entry, Recorded) and isinstance(entry.line, OutcomeLine) and entry.line.case == case:
            found: dict[str, Any] = json.loads(bytes(entry.line.attributes))
            return found
    raise AssertionError(f"there is no outcome of {case}")


def rows_of(report: Any) -> list[Any]:
    return list(report.rows)


def test_arguments_of_a_list_are_what_they_are(elsewhere: Path) -> None:
    inputs = {"task": 'it\'s "$(echo no)"\n', "numbers": [1, 2]}
    saw = told("{{ inputs.task }}", "--n={{ inputs.numbers }}", "", inputs=inputs)
    assert saw["argv"] == [inputs["task"], "--n=[1,2]", ""]


def test_it_reads_what_stdin_says_and_nothing_otherwise(elsewhere: Path) -> None:
    assert called("cat", "hi") == ""
    assert called("cat", "hi", stdin="{{ inputs }} there\n\n") == "hi there"


def test_its_environment_is_what_programs_need_and_what_it_is_given(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "SECRET_THING", "AWS_REGION", "AWS_PROFILE", "LC_TIME"):
        monkeypatch.setenv(name, f"{name} of ours")
    env = told(
        env={"MODEL": "{{ inputs.model }}", "LC_TIME": "C", "N": 1}, pass_env=["AWS_*"], inputs={"model": "m"}
    )["env"]
    assert env["PATH"] == os.environ["PATH"]
    assert (env["MODEL"], env["N"], env["LC_TIME"]) == ("m", "1", "C")
    assert (env["AWS_REGION"], env["AWS_PROFILE"]) == ("AWS_REGION of ours", "AWS_PROFILE of ours")
    assert not {"OPENAI_API_KEY", "SECRET_THING"} & env.keys()


def test_it_knows_which_attempt_it_is(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    task = CommandTask(python(SHOW, "{{ case.name }}/{{ case.repeat }}"), output={"json": ""})
    report = run_of(elsewhere, task, Case(name="first", inputs="", expected_output=1), repeat=2)
    first, second = sorted(
        (row.output for row in rows_of(report)), key=lambda saw: saw["env"]["PACELINE_CASE_REPEAT"]
    )
    assert [saw["argv"] for saw in (first, second)] == [["first/0"], ["first/1"]]
    env = second["env"]
    assert (env["PACELINE_CASE"], env["PACELINE_CASE_REPEAT"], env["PACELINE_CASE_ATTEMPT"]) == (
        "first",
        "1",
        "1",
    )
    assert env["PACELINE_WORKSPACE"] == second["cwd"] != first["cwd"]
    assert env["PACELINE_SUITE"] == str(elsewhere / "suite")
    assert env["TRACEPARENT"] == os.environ["TRACEPARENT"]


def test_each_attempt_has_an_empty_folder_of_its_own_outside_of_every_repository(elsewhere: Path) -> None:
    repository(elsewhere / "repo", {"a": "1"})
    os.chdir(elsewhere / "repo")
    assert called("ls -A; git rev-parse --show-toplevel 2>&1 || true", exit_codes="any").startswith(
        "fatal: not a git"
    )


def test_without_a_workspace_it_works_in_the_suites_folder(elsewhere: Path) -> None:
    assert called("pwd -P", workspace="none") == str(elsewhere / "suite")
    (elsewhere / "suite/sub").mkdir()
    assert called("pwd -P", workspace="none", cwd="sub") == str(elsewhere / "suite/sub")


def test_a_program_of_the_suite_is_found_from_its_folder(elsewhere: Path) -> None:
    program = write(elsewhere / "suite", {"bin/agent": "#!/bin/sh\necho agent in $PWD\n"}) / "bin/agent"
    program.chmod(0o755)
    assert called(["bin/agent"]).startswith("agent in ")
    assert called("{{ suite }}/bin/agent").startswith("agent in ")


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (None, 'progress\n{"runs": [{"text": "x"}]}'),
        ({"json": "runs[0].text"}, "x"),
        ({"file": "out/a.txt"}, "in a file\n"),
        ({"file": "out/a.json", "json": "deep.er"}, [1, 2]),
    ],
)
def test_its_answer_is_where_it_is_said_to_be(elsewhere: Path, output: Any, answer: Any) -> None:
    program = """
mkdir out; echo in a file > out/a.txt; echo '{"deep": {"er": [1, 2]}}' > out/a.json
echo progress; echo '\\{"runs": [\\{"text": "x"}]}'
""".replace("\\{", "{")
    assert called(["sh", "-c", program], output=output) == answer


def test_its_answer_may_be_what_it_has_changed(elsewhere: Path) -> None:
    write(elsewhere / "suite/template", {"a.txt": "one\n"})
    diff = called("echo two >> a.txt", workspace={"template": "template"}, output="diff")
    assert diff.startswith("diff --git a/a.txt b/a.txt")
    assert diff.endswith("@@ -1 +1,2 @@\n one\n+two\n")
    assert called("true", workspace={"template": "template"}, output="diff") == ""


def test_a_workspace_is_made_from_what_the_case_names(elsewhere: Path) -> None:
    first, _second = repository(elsewhere / "repo", {"a": "1"}, {"a": "2"})
    workspace = {"repository": str(elsewhere / "repo"), "commit": "{{ inputs.commit }}"}
    assert called("cat a", {"commit": first}, workspace=workspace) == "1"
    assert called("cat a", {"commit": "trunk"}, workspace=workspace) == "2"


def test_files_of_the_case_are_written_in(elsewhere: Path) -> None:
    write(elsewhere / "suite", {"fixtures/b": "copied"})
    files = {"task/TASK.md": "do {{ inputs.task }}", "b": {"copy": "fixtures/b"}}
    assert called("cat task/TASK.md b", {"task": "it"}, files=files) == "do itcopied"
    assert called("cat x/y", {"files": {"x/y": "own"}}, files="{{ inputs.files }}") == "own"
    assert called("ls -A", {"files": None}, files="{{ inputs.files }}") == ""


def test_setup_is_run_before_it_in_the_workspace_and_is_not_its_doing(elsewhere: Path) -> None:
    setup = ["echo {{ inputs.task }} > made", "cat made > again"]
    assert called("cat again", {"task": "it's"}, setup=setup) == "it's"
    assert called("echo own > own", {"task": "it's"}, setup=setup, output="diff").count("diff --git") == 1


def test_what_came_of_it_is_on_record_with_the_tails_and_in_files(elsewhere: Path) -> None:
    task = CommandTask("seq 1 2000; echo oops >&2; echo new > new.txt; sleep 60 & exit 0")
    report = run_of(elsewhere, task, Case(name="a case/1", inputs="", expected_output=""))
    told = attributes_of(elsewhere, "a case/1")
    command = told["command"]
    assert (command["how"], command["exit_code"], command["outlived_by"]) == ("exited", 0, 1)
    assert command["stdout"]["bytes"] == 8_893
    assert command["stdout"]["tail"].endswith("1999\n2000\n")
    assert len(command["stdout"]["tail"]) < 2_100
    assert command["stderr"]["tail"] == "oops\n"
    assert (elsewhere / "run" / command["stdout"]["file"]).read_text().startswith("1\n2\n")
    assert told["changed_files"] == [{"path": "new.txt", "kind": "added"}]
    assert "+new" in (elsewhere / "run" / told["patch"]).read_text()
    (row,) = rows_of(report)
    assert 0 < row.metrics["cpu_s"] < 30
    assert 0 < row.metrics["peak_memory_mb"] < 1_000


def test_of_an_attempt_that_failed_or_was_late_everything_is_kept_too(elsewhere: Path) -> None:
    task = CommandTask(
        "echo working; echo half > half.txt; {{ inputs }}".replace("{{ inputs }}", "eval {{ inputs }}"),
        timeout=0.6,
    )
    run_of(elsewhere, task, Case(name="code", inputs="exit 3"), Case(name="late", inputs="sleep 60"))
    for case in ("code", "late"):
        told = attributes_of(elsewhere, case)
        assert told["command"]["stdout"]["tail"] == "working\n"
        assert "+half" in (elsewhere / "run" / told["patch"]).read_text()


def test_every_failed_attempt_is_on_record_with_what_it_printed(elsewhere: Path) -> None:
    task = CommandTask("echo attempt {{ case.attempt }}; test {{ case.attempt }} = 2 || exit 3")
    run_of(elsewhere, task, Case(name="a", inputs=""), retry_task={"attempts": 2, "base": 0.01, "on": "any"})
    journal = (elsewhere / "run/journal.jsonl").read_text()
    failed = next(line for line in map(json.loads, journal.splitlines()) if line["kind"] == "attempt")
    assert failed["attributes"]["command"]["exit_code"] == 3
    assert failed["attributes"]["command"]["stdout"]["tail"] == "attempt 1\n"
    assert attributes_of(elsewhere, "a")["command"]["stdout"]["tail"] == "attempt 2\n"


def test_secrets_are_in_no_file_of_the_run(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "tok-0123456789abcdef")
    program = (
        "echo $MY_SERVICE_TOKEN $GIVEN_KEY; echo $GIVEN_KEY >&2; "
        "echo $MY_SERVICE_TOKEN > leaked; exit {{ inputs }}"
    )
    task = CommandTask(program, pass_env=["MY_SERVICE_TOKEN"], env={"GIVEN_KEY": "given-fedcba9876543210"})
    run_of(elsewhere, task, Case(name="a", inputs="0"), Case(name="b", inputs="3"))
    files = [path for path in (elsewhere / "run").rglob("*") if path.is_file()]
    assert len(files) >= 7
    for path in files:
        content = path.read_bytes()
        assert b"0123456789abcdef" not in content, path
        assert b"fedcba9876543210" not in content, path


def test_workspaces_are_gone_after_the_run_and_kept_where_that_was_asked(elsewhere: Path) -> None:
    cases = [Case(name=name, inputs=name, expected_output="fine") for name in ("fine", "wrong", "broken")]
    program = "echo {{ inputs }}; echo x > x.txt; test {{ inputs }} != broken"
    for keep, kept in {
        "never": set(),
        "failed": {"wrong", "broken"},
        "always": {"fine", "wrong", "broken"},
    }.items():
        task = CommandTask(program, keep=keep)  # type: ignore[arg-type]  # one of the words
        run_of(elsewhere, task, *cases, evaluators=[EqualsExpected()], journal=elsewhere / keep)
        found = {
            path.parent.parent.name.rpartition("-")[0]
            for path in (elsewhere / keep).glob("files/*/*/workspace")
        }
        assert found == kept
        for path in (elsewhere / keep).glob("files/*/*/workspace"):
            assert shown(path) == {"x.txt": "x\n"}
        assert grounds(elsewhere) == []


def test_without_a_journal_there_is_nowhere_to_keep_anything(elsewhere: Path) -> None:
    report = run_of(elsewhere, CommandTask("echo fine"), Case(name="a", inputs=""), journal=False)
    assert [row.output for row in rows_of(report)] == ["fine"]
    assert grounds(elsewhere) == []
    with pytest.raises(Exception, match="kept in the run directory"):
        run_of(elsewhere, CommandTask("true", keep="always"), Case(name="a", inputs=""), journal=False)


def test_a_single_file_journal_has_its_files_beside_it(elsewhere: Path) -> None:
    run_of(elsewhere, CommandTask("echo fine"), Case(name="a", inputs=""), journal=elsewhere / "one.jsonl")
    name = attributes_of(elsewhere, "a", "one.jsonl")["command"]["stdout"]["file"]
    assert name.startswith("one.jsonl.files/")
    assert (elsewhere / name).read_text() == "fine\n"


def test_variants_share_the_ground_of_their_run(elsewhere: Path) -> None:
    variants = {name: CommandTask(f"echo {name}; ls -A") for name in ("one", "two")}
    cases = [Case(name=str(number), inputs="") for number in range(3)]
    report = run_of(elsewhere, None, *cases, variants=variants)
    assert sorted(row.output for row in rows_of(report)) == ["one"] * 3 + ["two"] * 3
    assert grounds(elsewhere) == []


def test_its_own_timeout_stands_in_place_of_the_runs(elsewhere: Path) -> None:
    task = CommandTask("sleep 0.5; echo fine", timeout="30s")
    report = run_of(elsewhere, task, Case(name="a", inputs=""), timeout=0.2)
    assert [row.output for row in rows_of(report)] == ["fine"]


def test_what_takes_its_time_before_the_command_is_not_its_time(elsewhere: Path) -> None:
    task = CommandTask("echo fine", setup="sleep 0.7", timeout=0.6)
    report = run_of(elsewhere, task, Case(name="a", inputs=""))
    (row,) = rows_of(report)
    assert row.output == "fine"
    assert row.task_duration < 0.6 < row.waited


@pytest.mark.slow
def test_it_runs_from_worker_processes_too(elsewhere: Path) -> None:
    task = CommandTask("echo {{ case.name }}; pwd", keep="always")
    cases = [Case(name=str(number), inputs="") for number in range(3)]
    report = run_of(elsewhere, task, *cases, isolation="process", max_concurrency=2)
    assert sorted(row.output.split()[0] for row in rows_of(report)) == ["0", "1", "2"]
    assert len(list((elsewhere / "run").glob("files/*/1/workspace"))) == 3
    assert grounds(elsewhere) == []
