"""`kill -9` while judges are asked: no verdict that is on record is asked for again, and none is lost.

The simulated provider counts how often each question was answered. After each death the journal is read by
the letter, without Paceline: a verdict that stands in it then is one that nobody may ask for any more.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from paceline.evaluators.judges.questions import Question
from paceline.models.messages import System, User
from paceline.sim.answers import Message, Prompt
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread
from tests.crash.nursery import Child, Nursery

CASES = 6
VOTES = 3
SUITE = f"""
import os
os.environ.update(OPENAI_BASE_URL="THERE/v1", OPENAI_API_KEY="k")
from paceline import Case, Dataset
from paceline.evaluators import LLMJudge

async def task(n):
    return f"answer {{n}}"

dataset = Dataset(
    name="judged",
    cases=[Case(name=f"c{{n}}", inputs=n) for n in range({CASES})],
    evaluators=[
        LLMJudge("It is an answer.", "openai:judge", votes={VOTES}, evaluation_name="voted"),
        LLMJudge("It is short.", "openai:judge", include_input=True, score={{}}, evaluation_name="scored"),
    ],
)
"""


class Asked(NamedTuple):
    """A question: whose, and about which case."""

    case: str
    by: str


def prompts() -> dict[Asked, Prompt]:
    """What the provider is asked, for each case and judge."""

    def prompt(question: Question) -> Prompt:
        system, user = question.messages()
        assert isinstance(system, System)
        assert isinstance(user, User)
        said = Message("system", system.content), Message("user", str(user.content))
        return Prompt(model="judge", messages=said)

    found = {}
    for n in range(CASES):
        output = f"answer {n}"
        found[Asked(f"c{n}", "voted")] = prompt(Question(rubric="It is an answer.", shown={"output": output}))
        shown = {"input": n, "output": output}
        found[Asked(f"c{n}", "scored")] = prompt(Question(rubric="It is short.", shown=shown, answer="both"))
    return found


PROMPTS = prompts()
WANTED = {asked: VOTES if asked.by == "voted" else 1 for asked in PROMPTS}


def lines(folder: Path) -> list[dict[str, Any]]:
    journal = folder / "out" / "journal.jsonl"
    whole = journal.read_bytes().split(b"\n")[:-1] if journal.exists() else []
    return [json.loads(line) for line in whole if line.strip(b"\0")]


def on_record(folder: Path) -> Counter[Asked]:
    """How many verdicts of each judge about each case are on record."""
    told = {(line["case"], line["by"], line["part"]) for line in lines(folder) if line["kind"] == "verdict"}
    return Counter(Asked(case, by) for case, by, _ in told)


class Judging:
    """One run that is killed again and again, and what is known of it by then."""

    def __init__(self, nursery: Nursery, folder: Path, sim: RunningSim, *flags: str) -> None:
        self.folder = folder
        self._nursery = nursery
        self._sim = sim
        self._flags = flags
        folder.mkdir(parents=True)
        (folder / "suite.py").write_text(SUITE.replace("THERE", sim.url))
        sim.reset()
        self._answered = dict.fromkeys(PROMPTS, 0)
        """How often each question was answered, when it was last looked."""
        self._there: Counter[Asked] = Counter()
        """The verdicts that were on record then."""

    def start(self) -> Child:
        return self._nursery.runs(
            self.folder, "run", "suite.py", "-o", "out", "-q", "--fail-on", "errors", *self._flags
        )

    def until(self, verdicts: int) -> None:
        """Wait for so many verdicts, however busy the machine is."""
        eventually(lambda: on_record(self.folder).total() >= min(verdicts, sum(WANTED.values())))

    def look(self) -> None:
        """After a process: it has asked at most for what was not on record when it began."""
        eventually(lambda: self._sim.stats().in_flight == 0)
        for asked, wanted in WANTED.items():
            answered = self._sim.times_answered(PROMPTS[asked])
            new = answered - self._answered[asked]
            assert new <= wanted - self._there[asked], f"{asked}: {new} answers, knowing {self._there}"
            self._answered[asked] = answered
        self._there = on_record(self.folder)

    def end(self) -> None:
        child = self.start()
        assert child.wait() == 0, child.err
        self.look()
        assert self._there == WANTED

    def results(self) -> dict[tuple[str, str], Any]:
        told = [line for line in lines(self.folder) if line["kind"] in ("scores", "outcome")]
        return {
            (line["case"], score["name"]): score["value"] for line in told for score in line.get("scores", ())
        }


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def kill_while_judging(nursery: Nursery, tmp_path: Path, *flags: str, kills: int, seed: int) -> None:
    dice = random.Random(seed)
    with start_in_thread(Scenario.of({"latency": {"mean": 0.03, "sigma": 0.8}, "seed": seed})) as sim:
        unbroken = Judging(nursery, tmp_path / "unbroken", sim, *flags)
        unbroken.end()
        hit = 0
        for number in itertools.count():
            if hit >= kills:
                break
            run = Judging(nursery, tmp_path / f"run-{number}", sim, *flags)
            for _ in range(dice.randint(1, 4)):
                child = run.start()
                run.until(on_record(run.folder).total() + dice.randint(0, 6))
                time.sleep(dice.uniform(0, 0.03))  # the moment, which nothing may depend on
                hit += child.kill() == -9
                run.look()
            run.end()
            assert run.results() == unbroken.results(), f"seed {seed}, run {number}"
            shutil.rmtree(run.folder)


BOTH_WAYS = pytest.mark.parametrize("replay", ["resume", "off"])
"""With the bodies of calls on record too, and with nothing but the verdicts."""


@pytest.mark.slow
@BOTH_WAYS
def test_a_kill_while_judges_are_asked_pays_for_no_verdict_twice(
    nursery: Nursery, tmp_path: Path, replay: str
) -> None:
    kill_while_judging(nursery, tmp_path, "--replay", replay, kills=3, seed=1)


@pytest.mark.soak
@BOTH_WAYS
@pytest.mark.parametrize("seed", range(4))
def test_a_hundred_kills_while_judges_are_asked(
    nursery: Nursery, tmp_path: Path, seed: int, replay: str
) -> None:
    kill_while_judging(nursery, tmp_path, "--replay", replay, kills=25, seed=100 + seed)


TWO_PARTS = """
import asyncio, os
import openai
from paceline import Case, Dataset
from paceline.evaluators.verdicts import concluded

async def task(n):
    return n

async def ask(question):
    async with openai.AsyncOpenAI(base_url="THERE/v1", api_key="k") as client:
        said = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": question}]
        )
        return said.choices[0].message.content

async def judge(output):
    async def part(name):
        async def conclude():
            first = await ask(f"What is {output} + {len(name)}?")
            second = await ask(f"What is {first} + {output} + {len(name)}?")
            if os.environ.get("DIE_IN") == name:
                await asyncio.sleep(0.3)  # so that what was answered is on record: it is when the disk has it
                os.kill(os.getpid(), 9)
            return second
        return await concluded(name, "s", conclude, str)
    return {name: await part(name) for name in ("one", "three")}

dataset = Dataset(name="parts", cases=[Case(name="a", inputs=100)], evaluators=[judge])
"""


@pytest.mark.slow
def test_a_part_that_is_cut_off_goes_on_from_its_own_last_call(nursery: Nursery, tmp_path: Path) -> None:
    """The calls of the part before it, whose verdict is on record, do not stand in its way."""
    with start_in_thread(Scenario.of({"latency": 0})) as sim:
        (tmp_path / "suite.py").write_text(TWO_PARTS.replace("THERE", sim.url))
        flags = ("run", "suite.py", "-o", "out", "-q", "--fail-on", "none")
        for _ in range(2):
            assert nursery.runs(tmp_path, *flags, environ={"DIE_IN": "three"}).wait() == -9
            assert sim.stats().answered == 4
        assert nursery.runs(tmp_path, *flags).wait() == 0
        assert (sim.stats().answered, sim.stats().prompts.answered_twice) == (4, 0)
    (told,) = [line for line in lines(tmp_path) if line["kind"] == "outcome"]
    assert {score["name"]: score["value"] for score in told["scores"]} == {"one": "206", "three": "210"}
