"""The coding agent of `examples/`, from nothing to a report: killed in the middle, gone on with, repeated.

Its model is scripted, and served in this process: what it was asked is known. Eight of the ten tasks are done
well; for `stats` a mistake is scripted that only the hidden tests find, for `caches` a change to a test.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from paceline.journal.bodies import read_bodies
from paceline.report import Report
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread
from tests.processes.remains import Mark, linux

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "coding_agent"
CASES = 10
CALLS = 53
"""To look around, read, edit, test and be done, ten times; three more for a second try and a changed test."""
COMMIT = """
import sys; from pathlib import Path; from repository import commit_of
print(commit_of(*map(Path, sys.argv[1:])))
"""
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="its repository is made by git")


@pytest.fixture
def sim() -> Iterator[RunningSim]:
    # Quick, but not so quick that a run is over before it is killed.
    scenario = Scenario.load(EXAMPLE / "model.yaml").changed({"latency": 0.05})
    with start_in_thread(scenario) as sim:
        yield sim


class Stage:
    """The example in a folder of its own, with all that it leaves behind in others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "coding_agent"
        self.grounds = folder / "grounds"
        # In a variable that every command is given, and gives on: so whatever is left is found.
        self.mark = Mark("XDG_DATA_HOME")
        self._cache = folder / "cache"
        shutil.copytree(EXAMPLE, self.folder, ignore=shutil.ignore_patterns("build", "runs", "__pycache__"))

    def start(self, url: str, *flags: str) -> subprocess.Popen[str]:
        """Start the suite."""
        return subprocess.Popen(
            [sys.executable, "-m", "paceline", "run", "suite.py", "--json", *flags],
            cwd=self.folder,
            env={
                **os.environ,
                **self.mark.environ,
                "OPENAI_BASE_URL": f"{url}/v1",
                "OPENAI_API_KEY": "simulated",
                "PACELINE_CACHE": str(self._cache),
                "PACELINE_WORKSPACES": str(self.grounds),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, url: str, *flags: str, exit_code: int = 0) -> dict[str, Any]:
        """Run the suite; its report."""
        with self.start(url, *flags) as process:
            said, complained = process.communicate(timeout=240)
        assert process.returncode == exit_code, complained
        report: dict[str, Any] = json.loads(said)
        return report


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The agent, in a repository of its own."""
    spec = importlib.util.spec_from_file_location("agent", EXAMPLE / "agent.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "repository").mkdir()
    monkeypatch.chdir(tmp_path / "repository")
    return module


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link/secret", ".git/config", "."])
def test_its_tools_reach_no_file_outside_the_repository(agent: ModuleType, path: str) -> None:
    Path("../secret").write_text("s")
    Path("link").symlink_to("..")
    for tool, more in (("read_file", {}), ("write_file", {"content": ""})):
        said = agent.result_of(tool, json.dumps({"path": path, **more}))
        assert said == f"error: {path} is not a file of this repository"


def test_what_a_model_calls_wrongly_is_said_to_it(agent: ModuleType) -> None:
    Path("a.txt").write_text("one one")
    twice = json.dumps({"path": "a.txt", "old": "one", "new": "two"})
    assert "stands 2 times in a.txt" in agent.result_of("edit_file", twice)
    assert agent.result_of("read_file", '{"path": "b.txt"}').startswith("error: b.txt cannot be read")
    for name, arguments in (("read_file", "{"), ("read_file", "[]"), ("read_file", "{}"), ("fly", "{}")):
        assert agent.result_of(name, arguments).startswith("error: ")


@needs_git
@pytest.mark.slow
def test_a_model_that_comes_to_no_end_is_ended(tmp_path: Path) -> None:
    scripted = {
        "rules": [{"when": "", "call": "list_files"}, {"on_result": True, "when": "", "call": "list_files"}]
    }
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    with start_in_thread(Scenario.of({"latency": 0, "answers": scripted})) as sim:
        ended = subprocess.run(
            [sys.executable, str(EXAMPLE / "agent.py"), "Go on.", "--turns", "3"],
            cwd=tmp_path,
            env={**os.environ, "OPENAI_BASE_URL": f"{sim.url}/v1", "OPENAI_API_KEY": "k"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, sim.stats().answered) == (1, 3)
    assert "error: not done after 3 turns" in ended.stderr


@needs_git
@pytest.mark.slow
def test_the_same_files_are_the_same_commit(tmp_path: Path) -> None:
    made = [
        subprocess.check_output(
            [sys.executable, "-c", COMMIT, str(EXAMPLE / "project"), str(tmp_path / name / "kit.git")],
            cwd=EXAMPLE,
            text=True,
        )
        for name in ("here", "there", "here")
    ]
    assert len(set(made)) == 1


@linux
@needs_git
@pytest.mark.slow
def test_a_run_killed_in_the_middle_goes_on_and_is_repeated_without_its_model(
    tmp_path: Path, sim: RunningSim
) -> None:
    stage = Stage(tmp_path)
    recorded = _killed_after(18, stage, sim)
    before = sim.stats().accepted
    report = stage.run(sim.url, "-o", "run")
    _holds_what_was_scripted(report, stage.folder / "run")
    # Whatever had an answer on record was not asked again.
    assert 0 < recorded < CALLS
    assert sim.stats().accepted - before == CALLS - recorded
    assert report["calls_simulated"]["n_replayed"] > 0
    assert not list(stage.grounds.rglob("work"))

    asked = sim.stats().accepted
    again = stage.run("http://127.0.0.1:9", "-o", "again", "--replay", "always", "--recording", "run")
    _holds_what_was_scripted(again, stage.folder / "again")
    calls = again["calls_simulated"]
    assert (calls["n"], calls["n_replayed"]) == (0, CALLS)
    assert sim.stats().accepted == asked
    assert stage.run("http://127.0.0.1:9", "-o", "run", "--fail-on", "any", exit_code=1)["pass_rate"] == 0.8


def _killed_after(calls: int, stage: Stage, sim: RunningSim) -> int:
    """Start the suite and kill it after some calls; how many of these are on record."""
    process = stage.start(sim.url, "-o", "run")
    until = time.monotonic() + 120
    while sim.stats().answered < calls:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, f"only {sim.stats().answered} calls were made"
        time.sleep(0.01)
    process.kill()
    process.communicate()
    stage.mark.wait_gone()
    return sum(1 for _ in read_bodies(stage.folder / "run"))


def _holds_what_was_scripted(told: dict[str, Any], run: Path) -> None:
    assert (told["pass_rate"], told["n"], told["n_scored"]) == (0.8, CASES, CASES)
    cases = {case.name: case for case in Report.read(run).cases}
    assert cases["stats"].assertions["TestsPass"].value is False
    assert cases["caches"].assertions["FilesChanged"].value is False
    for case in cases.values():
        patch = (run / case.attributes["patch"]).read_text()
        assert patch == case.output
        assert patch.startswith("diff --git a/kit/")
        assert float(case.scores["tool_calls"].value) >= 4
        assert float(case.scores["cost"].value) > 0
