"""`kill -9` of a run whose agents are at work: nothing they have started goes on, nothing they leave stays.

The agents are restless: they heed no signal, work in sessions of their own, and leave children behind. Each
asks a model by way of the gateway, and what was answered before the kill is not asked for again.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

import pytest

from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread
from tests.crash.nursery import Child, Nursery
from tests.processes.remains import Mark, linux

pytestmark = linux

CASES, AT_ONCE, CALLS = 12, 4, 3
AGENT = f"""
import json, os, signal, subprocess, sys, time, urllib.request

for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
restless = subprocess.Popen(["sleep", "300"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(300)
    os._exit(0)
for turn in range({CALLS}):
    question = f"What is {{sys.argv[1]}} + {{turn}}?"
    asked = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(dict(model="m", messages=[dict(role="user", content=question)])).encode(),
        dict(authorization="Bearer " + os.environ["OPENAI_API_KEY"]),
    )
    asked.add_header("content-type", "application/json")
    answer = json.load(urllib.request.urlopen(asked))
    seen = os.open(os.environ["SEEN"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(seen, f"{{question}}\\t{{answer['id']}}\\n".encode())
    said = answer["choices"][0]["message"]["content"]
    with open("notes.txt", "a") as notes:
        notes.write(said + "\\n")
    time.sleep(0.05)
print(said)
"""
SUITE = """
cases:
{cases}
command: ["{python}", "{agent}", "{{{{ inputs }}}}"]
workspace: {{template: template}}
output: stdout
pass_env: [MARK, SEEN]
grace: 200ms
evaluators: [EqualsExpected]
"""


class Agents:
    """A folder with a suite of agents, and what is to be seen of them from outside."""

    def __init__(self, nursery: Nursery, folder: Path, sim: RunningSim) -> None:
        self._nursery = nursery
        self.folder = folder
        self.mark = Mark()
        folder.mkdir()
        (folder / "template").mkdir()
        (folder / "template" / "notes.txt").write_text("")
        (folder / "agent.py").write_text(AGENT)
        cases = "\n".join(
            f'  - {{name: "{n}", inputs: {n}, expected_output: "{n + CALLS - 1}"}}' for n in range(CASES)
        )
        text = SUITE.format(cases=cases, python=sys.executable, agent=folder / "agent.py")
        (folder / "suite.yaml").write_text(text)
        self.environ = {
            "MARK": self.mark.value,
            "SEEN": str(folder / "seen"),
            "OPENAI_BASE_URL": f"{sim.url}/v1",
            "OPENAI_API_KEY": "k",
            "PACELINE_WORKSPACES": str(folder / "grounds"),
        }

    def start(self) -> Child:
        """Start the run, or go on with it."""
        flags = ("-o", "out", "-j", str(AT_ONCE), "-q")
        return self._nursery.runs(self.folder, "run", "suite.yaml", *flags, environ=self.environ)

    def grounds(self) -> list[Path]:
        return sorted((self.folder / "grounds").glob("paceline-*/*"))

    def answers_seen(self) -> dict[str, set[str]]:
        """By question, the answers that agents were given, by the names that the provider gives to them."""
        seen: dict[str, set[str]] = {}
        for line in (self.folder / "seen").read_text().splitlines():
            question, _, answer = line.partition("\t")
            seen.setdefault(question, set()).add(answer)
        return seen

    def outcomes(self) -> dict[str, str]:
        lines = (self.folder / "out" / "journal.jsonl").read_bytes().splitlines(keepends=True)
        told = [json.loads(line) for line in lines if line.endswith(b"\n")]
        return {line["case"]: line["outcome"] for line in told if line["kind"] == "outcome"}


def kill_at_random_moments(nursery: Nursery, tmp_path: Path, *, kills: int, seed: int) -> None:
    """Runs, each killed again and again until it gets through, until there have been so many kills."""
    dice = random.Random(seed)
    hit = number = 0
    with start_in_thread(Scenario.of({"latency": 0.02})) as sim:
        unbroken = Agents(nursery, tmp_path / "unbroken", sim)
        begun = time.monotonic()
        assert unbroken.start().wait() == 0
        seconds = time.monotonic() - begun
        assert unbroken.grounds() == []
    while hit < kills:
        number += 1
        with start_in_thread(Scenario.of({"latency": 0.02})) as sim:
            agents, deaths = Agents(nursery, tmp_path / f"run-{number}", sim), 0
            for _ in range(dice.randint(1, 4)):
                child = agents.start()
                time.sleep(dice.uniform(0, seconds))  # the moment of the kill, which nothing must depend on
                deaths += child.kill() == -9
                agents.mark.wait_gone()
            hit += deaths
            assert agents.start().wait() == 0, f"seed {seed}, run {number}"
            agents.mark.wait_gone(0.5)
            stats = sim.stats()
        assert agents.grounds() == [], f"seed {seed}, run {number}"
        assert agents.outcomes() == {str(n): "scored" for n in range(CASES)}
        # What an agent has been answered is never asked again, not even in the instant after.
        seen = agents.answers_seen()
        assert [question for question, answers in seen.items() if len(answers) > 1] == []
        assert len(seen) == CASES * CALLS
        # What was asked twice was on its way when its harness was killed: one call for each agent, at most.
        assert stats.prompts.accepted_twice <= deaths * AT_ONCE, f"seed {seed}, run {number}"
        assert stats.answered <= CASES * CALLS + deaths * AT_ONCE


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_no_process_and_no_workspace(nursery: Nursery, tmp_path: Path) -> None:
    kill_at_random_moments(nursery, tmp_path, kills=5, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 4))
def test_many_kills_leave_no_process_and_no_workspace(nursery: Nursery, tmp_path: Path, seed: int) -> None:
    kill_at_random_moments(nursery, tmp_path, kills=50, seed=seed)
