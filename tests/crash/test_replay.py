"""A killed case goes on from its last model call: what was answered is not asked, and not paid for, again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread

SUITE = """
import asyncio, os
import openai
from paceline import Case, Dataset
from paceline.evaluators import EqualsExpected

dataset = Dataset(
    cases=[Case(name=str(n), inputs=n, expected_output=n + 19) for n in range(3)],
    evaluators=[EqualsExpected()],
)

async def task(n):
    said = [{"role": "user", "content": f"What is {n} + 0?"}]
    async with openai.AsyncOpenAI() as client:
        for turn in range(20):
            if str(turn) == os.environ.get("DIE_BEFORE") and n == 1:
                await asyncio.sleep(0.3)  # so that what was answered is on record: it is when the disk has it
                os.kill(os.getppid() if os.environ["KILLED"] == "process" else os.getpid(), 9)
                await asyncio.sleep(60)
            answer = await client.chat.completions.create(model="m", messages=said)
            said.append({"role": "assistant", "content": answer.choices[0].message.content})
            said.append({"role": "user", "content": f"What is {n} + {turn + 1}?"})
    return int(answer.choices[0].message.content)
"""


AGENT = """
import http.client, json, os, signal, sys, urllib.parse

stream = sys.argv[2] == "stream"
where = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
line = http.client.HTTPConnection(where.netloc)
said = []
for turn in range(20):
    said.append({"role": "user", "content": f"What is {sys.argv[1]} + {turn}?"})
    body = json.dumps({"model": "m", "messages": said, "stream": stream})
    line.request("POST", where.path + "/chat/completions", body, {"content-type": "application/json"})
    answer = line.getresponse().read()
    if sys.argv[1] == "1" and os.environ.get("DIE_AFTER") == str(turn + 1):
        os.kill(int(os.environ["HARNESS"]), signal.SIGKILL)
        signal.pause()
    if stream:
        events = [json.loads(each[6:]) for each in answer.split(b"\\n\\n")[:-2]]
        text = "".join(each["choices"][0]["delta"].get("content") or "" for each in events)
    else:
        text = json.loads(answer)["choices"][0]["message"]["content"]
    said.append({"role": "assistant", "content": text})
print(text)
"""
AGENTS = """
import os, sys
from paceline import Case, CommandTask, Dataset
from paceline.evaluators import EqualsExpected

os.environ["HARNESS"] = str(os.getpid())
os.environ.setdefault("DIE_AFTER", "never")
dataset = Dataset(
    cases=[Case(name=str(n), inputs=n, expected_output=str(n + 19)) for n in range(3)],
    evaluators=[EqualsExpected()],
)
task = CommandTask(
    [sys.executable, "{{ suite }}/agent.py", "{{ inputs }}", os.environ["HOW"]],
    setup="[ ! -e {{ suite }}/broken ] || { rm {{ suite }}/broken; false; }",
    pass_env=["HARNESS", "DIE_AFTER"],
)
"""


@pytest.fixture
def sim() -> RunningSim:
    return start_in_thread(Scenario.of({"latency": 0}))


def run(
    folder: Path, sim: RunningSim, *flags: str, suite: str = SUITE, **environ: str
) -> subprocess.CompletedProcess[str]:
    (folder / "sums.py").write_text(suite)
    return subprocess.run(
        [sys.executable, "-m", "paceline", "run", "sums.py", "-j", "1", *flags],
        cwd=folder,
        env={**os.environ, "OPENAI_BASE_URL": f"{sim.url}/v1", "OPENAI_API_KEY": "k", **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_an_attempt_of_twenty_calls_killed_after_its_fifteenth_makes_five(
    tmp_path: Path, sim: RunningSim, isolation: str
) -> None:
    flags = ("-o", "run", "--isolation", isolation)
    with sim:
        for _ in range(2):  # the second time while it is being answered from the record
            run(tmp_path, sim, *flags, DIE_BEFORE="15", KILLED=isolation)
        if isolation == "thread":
            assert sim.stats().answered == 20 + 15
        finished = run(tmp_path, sim, *flags, "--json")
        stats = sim.stats()
    assert finished.returncode == 0, finished.stderr
    report = json.loads(finished.stdout)
    assert report["pass_rate"] == 1.0
    assert (stats.answered, stats.prompts.accepted_twice) == (60, 0)
    assert report["calls_simulated"]["n"] == 60
    assert report["calls_simulated"]["n_replayed"] == 30


@pytest.mark.slow
@pytest.mark.parametrize("how", ["whole", "stream"])
def test_what_an_agent_has_been_answered_is_never_asked_again(
    tmp_path: Path, sim: RunningSim, how: str
) -> None:
    """It kills its harness in the instant in which it has an answer."""
    (tmp_path / "agent.py").write_text(AGENT)
    with sim:
        for number in (3, 15, 15, 16):
            killed = run(tmp_path, sim, "-o", "run", suite=AGENTS, HOW=how, DIE_AFTER=str(number))
            assert killed.returncode == -9, killed.stderr
            assert sim.stats().answered == 20 + number
        (tmp_path / "broken").touch()  # an attempt that cannot even begin costs nothing of it
        finished = run(tmp_path, sim, "-o", "run", "--json", suite=AGENTS, HOW=how)
        stats = sim.stats()
        assert not (tmp_path / "broken").exists()
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout)["pass_rate"] == 1.0
    assert (stats.answered, stats.prompts.accepted_twice) == (60, 0)


@pytest.mark.slow
def test_a_finished_run_is_repeated_with_no_provider(tmp_path: Path, sim: RunningSim) -> None:
    with sim:
        assert run(tmp_path, sim, "-o", "first").returncode == 0
    again = run(tmp_path, sim, "-o", "second", "--replay", "always", "--recording", "first", "--json")
    assert again.returncode == 0, again.stderr
    report = json.loads(again.stdout)
    assert report["pass_rate"] == 1.0
    assert report["calls_simulated"]["n_replayed"] == 60
    assert report["calls_simulated"]["n"] == 0


@pytest.mark.slow
def test_without_replay_what_was_answered_is_asked_again(tmp_path: Path, sim: RunningSim) -> None:
    with sim:
        run(tmp_path, sim, "-o", "run", "--replay", "off", DIE_BEFORE="15", KILLED="thread")
        assert run(tmp_path, sim, "-o", "run", "--replay", "off").returncode == 0
        assert sim.stats().answered == 60 + 15
    assert not (tmp_path / "run" / "calls.jsonl").exists()
