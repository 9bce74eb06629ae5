"""Whole runs, as people start them: ceilings on the command line and in settings, one pool for two runs on
one account, and what the next run is told. Real SDKs, against the simulated provider.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from paceline.cli.group import paceline as program
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread

PATIENCE_S = 60.0
KEY = "sk-proj-planted0planted0planted0planted0"
SUITE = """
import os
from openai import AsyncOpenAI
from paceline import Case, Dataset

client = AsyncOpenAI(base_url=os.environ["SIM"] + "/v1", api_key=os.environ["SIM_KEY"])
dataset = Dataset(name="sums", cases=[Case(name=f"sum-{n}", inputs=n) for n in range(40)])


async def task(number: int) -> str:
    asked = [{"role": "user", "content": f"{os.environ.get('WHO', '')} What is {number} + 1?"}]
    answer = await client.chat.completions.create(model=os.environ.get("MODEL", "gpt-sim"), messages=asked)
    return answer.choices[0].message.content
"""

WITHOUT_PYTHON = """
model: openai:gpt-sim
prompt: "What is {{ inputs }} + 1?"
dataset: sums.jsonl
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the suite is, and where one is."""
    (tmp_path / "suite.py").write_text(SUITE)
    (tmp_path / "suite.yaml").write_text(WITHOUT_PYTHON)
    (tmp_path / "sums.jsonl").write_text("".join(f'{{"id": "sum-{n}", "input": {n}}}\n' for n in range(40)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sim() -> Iterator[RunningSim]:
    with start_in_thread(Scenario.of({"latency": 0.05})) as running:
        yield running


def surroundings(folder: Path, sim: RunningSim, environ: Mapping[str, str]) -> dict[str, str]:
    place = {"SIM": sim.url, "SIM_KEY": KEY, "HOME": str(folder / "home")}
    return {**place, "OPENAI_BASE_URL": f"{sim.url}/v1", "OPENAI_API_KEY": KEY, **environ}


def typed(folder: Path, sim: RunningSim, *arguments: str, **environ: str) -> tuple[int, str]:
    """`paceline run suite.yaml ...` in this process; its exit code, and what it says."""
    ran = CliRunner().invoke(
        program, ["run", "suite.yaml", "-q", *arguments], env=surroundings(folder, sim, environ)
    )
    return ran.exit_code, ran.output


def started(folder: Path, sim: RunningSim, *arguments: str, **environ: str) -> subprocess.Popen[str]:
    """`paceline run suite.py ...` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "paceline.cli", "run", "suite.py", "-q", *arguments],
        cwd=folder,
        env={**os.environ, **surroundings(folder, sim, environ)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(run: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = run.communicate(timeout=PATIENCE_S)
    return run.returncode, out + err


def limits_file(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "home" / ".local" / "state" / "paceline" / "limits.json").read_text())
    assert isinstance(found, dict)
    return found


# ---- ceilings


@pytest.mark.parametrize(
    "way", ["option", "environment", "settings", "settings of one model", "option for one model"]
)
def test_a_ceiling_holds_however_it_is_said(folder: Path, sim: RunningSim, way: str) -> None:
    arguments: list[str] = []
    environ: dict[str, str] = {}
    match way:
        case "option":
            arguments = ["--window", "2"]
        case "environment":
            environ = {"PACELINE_WINDOW": "2"}
        case "settings":
            (folder / "paceline.toml").write_text("window = 2\n")
        case "settings of one model":
            (folder / "paceline.toml").write_text('[limits]\n"gpt-sim" = { window = 2 }\n')
        case _:
            arguments = ["--limits", '{"gpt-sim": {"window": 2}}']
    code, said = typed(folder, sim, *arguments, **environ)
    assert code == 0, said
    seen = sim.stats()
    assert (seen.answered, seen.in_flight_peak) == (40, 2)


@pytest.mark.parametrize(
    ("option", "value"), [("--rps", "20"), ("--rpm", "1200"), ("--tpm", "24000")], ids=["rps", "rpm", "tpm"]
)
def test_a_rate_holds_from_the_first_call_on(folder: Path, sim: RunningSim, option: str, value: str) -> None:
    code, said = typed(folder, sim, option, value)
    assert code == 0, said
    seen = sim.stats()
    assert seen.answered == 40
    # Twenty go at once, as a bucket holds a second's worth; the other twenty take a second to flow in. Seen
    # from the provider it is less by as much as the first one was late; without a rate all take a tenth.
    assert seen.seconds >= 0.5


# ---- two runs


@pytest.mark.slow
def test_two_runs_on_one_account_share_one_pool(folder: Path, sim: RunningSim) -> None:
    runs = [started(folder, sim, "-o", f"run-{who}", "--window", "3", WHO=who) for who in ("a", "b")]
    for run in runs:
        code, said = ended(run)
        assert code == 0, said
    seen = sim.stats()
    assert (seen.answered, seen.prompts.answered_twice) == (80, 0)
    assert seen.in_flight_peak == 3


@pytest.mark.slow
def test_a_run_goes_on_when_the_one_it_shared_with_is_killed(folder: Path, sim: RunningSim) -> None:
    first = started(folder, sim, "-o", "run-a", "--window", "3", WHO="a")
    until_answered(sim, 3)
    second = started(folder, sim, "-o", "run-b", "--window", "3", WHO="b")
    until_answered(sim, 12)
    first.send_signal(signal.SIGKILL)
    ended(first)
    code, said = ended(second)
    assert code == 0, said
    assert sim.stats().in_flight_peak == 3


def until_answered(sim: RunningSim, count: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while sim.stats().answered < count:
        assert time.monotonic() < end, "nothing is answered"
        time.sleep(0.01)


# ---- what the next run is told


def test_a_run_leaves_what_it_learned_for_the_next_and_no_key_with_it(folder: Path) -> None:
    scenario = Scenario.of({"latency": 0.05, "in_flight": 7})
    with start_in_thread(scenario) as sim:
        assert typed(folder, sim, "-o", "first")[0] == 0
        cold = sim.reset()
        (learned,) = limits_file(folder).values()
        assert learned["window"] <= 8
        assert learned["accepted"] == 40
        assert learned["at"] > 1.7e9
        assert typed(folder, sim, "-o", "second")[0] == 0
        warm = sim.stats()
    assert warm.refused.get("concurrency", 0) <= max(2, cold.refused.get("concurrency", 0) // 3)
    told = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert told
    assert not any(KEY[3:].encode() in each for each in told)


def test_what_was_learned_is_kept_where_the_environment_says(folder: Path, sim: RunningSim) -> None:
    state = folder / "elsewhere"
    assert typed(folder, sim, PACELINE_STATE=str(state))[0] == 0
    assert (state / "limits.json").exists()
    assert not (folder / "home" / ".local").exists()


# ---- nonsense


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--window", "0"], "window"),
        (["--rpm", "-5"], "rpm"),
        (["--tpm", "many"], "tpm"),
        (["--limits", '{"openai:gpt": {"windoow": 3}}'], "window"),
        (["--limits", "{"], "limits"),
    ],
)
def test_a_limit_that_cannot_be_one_is_told_in_one_line_and_nothing_is_started(
    folder: Path, sim: RunningSim, arguments: list[str], told: str
) -> None:
    code, said = typed(folder, sim, *arguments)
    assert code == 2, said
    assert told in said
    assert "Traceback" not in said
    assert sim.stats().arrived == 0
    assert not (folder / "runs").exists()
