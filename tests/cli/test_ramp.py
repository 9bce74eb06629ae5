"""`paceline ramp`, as a process against a simulated provider that counts: what it finds and leaves behind."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline.cli.ramp import OWN, without
from paceline.journal.ledger import Ledger
from paceline.pace.learned import NAME, Learned, LearnedLimits
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread
from tests.cli.conftest import Shell

SUITE = """
    from openai import AsyncOpenAI
    from paceline import Case, Dataset

    dataset = Dataset(
        name="sums",
        cases=[Case(name=f"case-{n}", inputs=f"{n} + 1", expected_output=str(n + 1)) for n in range(150)],
        evaluators=[lambda output, expected_output: output == expected_output],
    )
    clients = []

    async def task(question):
        if not clients:
            clients.append(AsyncOpenAI())
        answer = await clients[0].chat.completions.create(
            model="gpt-5.4-mini", messages=[{"role": "user", "content": question}]
        )
        return answer.choices[0].message.content
"""
QUICK = {"time_scale": 10, "latency": {"mean": 2.0, "sigma": 0.3}}
SMALL = ("--levels", "1,4,16", "--per-level", "6")


@pytest.fixture
def sim() -> Iterator[Callable[..., RunningSim]]:
    """Starts simulated providers."""
    running: list[RunningSim] = []

    def start(**scenario: Any) -> RunningSim:
        running.append(start_in_thread(Scenario.of({**QUICK, **scenario})))
        return running[-1]

    yield start
    for each in running:
        each.stop()


@pytest.fixture
def sums(shell: Shell) -> Shell:
    """A shell with a suite that asks a model for sums."""
    shell.write("sums.py", SUITE)
    return shell


def environ(sim: RunningSim, shell: Shell) -> dict[str, str]:
    """What a process needs to find the simulated provider, and a place for what is learned."""
    return {
        "OPENAI_BASE_URL": f"{sim.url}/v1",
        "OPENAI_API_KEY": "sk-simulated-0123456789abcdef",
        "PACELINE_STATE": str(shell.folder / "state"),
    }


def ramp(shell: Shell, sim: RunningSim, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`paceline ramp sums.py -o r ...` to its end."""
    return shell.runs("ramp", "sums.py", "-o", "r", *arguments, environ=environ(sim, shell))


def learned(shell: Shell, sim: RunningSim) -> list[Learned]:
    """What is kept of the pools of a simulated provider."""
    limits = LearnedLimits(shell.folder / "state" / NAME, clock=time.time)
    return [each for key, each in limits._read().items() if sim.url in key]


# What is found, and what becomes of the cases


@pytest.mark.slow
def test_a_ramp_finds_a_cap_keeps_it_and_leaves_its_cases_to_a_run(
    sums: Shell, sim: Callable[..., RunningSim]
) -> None:
    capped = sim(in_flight=10)
    told = ramp(sums, capped, *SMALL, "--svg", "curve.svg")
    assert told.returncode == 0, told.stderr
    assert "ceiling  10 at a time" in told.stdout
    assert "the provider takes no more calls at a time" in told.stdout
    assert f"`paceline resume r` runs the {150 - len(asked(sums))} that are left" in told.stderr
    assert told.stderr.index("cost: unknown until the first level is held") < told.stderr.index("level 1:")
    assert capped.stats().in_flight_peak <= 10

    # What was found is kept: for other runs, beside the record, and as a picture.
    (limits,) = learned(sums, capped)
    assert limits.window == pytest.approx(10, rel=0.15)
    assert limits.knee
    document = json.loads((sums.folder / "r" / "ramp.json").read_text())
    assert document["verdict"]["kind"] == "concurrency"
    for picture in ("curve.svg", "r/ramp.svg"):
        assert ET.parse(sums.folder / picture).getroot().tag.endswith("svg")

    # The record says what the time went to, as that of any run.
    (ended,) = (line for line in recorded(sums) if line["kind"] == "ended")
    assert ended["how"] == "interrupted", "there are cases left"
    assert sum(ended["limited"].values()) == pytest.approx(ended["wall"], rel=0.3)
    (pool,) = ended["pools"]
    assert pool["accepted"] == len(asked(sums))
    assert pool["by_cause"]["concurrency"] == pool["rejected"] > 0

    # A run into the same place asks for what is missing, and for nothing else.
    held = capped.stats().prompts.different
    assert 0 < held < 150
    run = sums.runs("run", "sums.py", "-o", "r", environ=environ(capped, sums))
    assert run.returncode == 0, run.stderr
    seen = capped.stats().prompts
    assert (seen.answered_twice, seen.different) == (0, 150)
    again = sums.runs("run", "sums.py", "-o", "r", environ=environ(capped, sums))
    assert again.returncode == 0
    assert capped.stats().prompts == seen
    plan = sums.runs("resume", "r", "--dry-run", "--json", environ=environ(capped, sums))
    assert json.loads(plan.stdout)["done"] == 150, "`resume` goes on as `run` does"


def recorded(shell: Shell) -> list[dict[str, Any]]:
    """The lines of the journal."""
    return [json.loads(line) for line in (shell.folder / "r" / "journal.jsonl").read_text().splitlines()]


def asked(shell: Shell) -> set[str]:
    """The cases that are on record."""
    return {line["case"] for line in recorded(shell) if line["kind"] == "outcome"}


@pytest.mark.slow
def test_a_limit_of_requests_is_told_as_json_with_its_reason(
    sums: Shell, sim: Callable[..., RunningSim]
) -> None:
    told = ramp(sums, sim(rpm=300), *SMALL, "--json")
    assert told.returncode == 0, told.stderr
    document = json.loads(told.stdout)
    verdict = document["verdict"]
    assert verdict["kind"] == "requests"
    # How near it comes is measured in `bench/ramp.py`, on a machine that does nothing else.
    assert verdict["measure"] == "requests/s"
    assert 0 < verdict["ceiling"] < 100
    assert [row["level"] for row in document["rows"] if row["paced"] is None][:2] == [1, 4]
    assert document["rows"][0]["bound"] == "level"
    assert "requests" in {row["bound"] for row in document["rows"]}


@pytest.mark.slow
def test_a_rehearsal_climbs_for_free_and_teaches_nobody_anything(sums: Shell) -> None:
    sums.write("provider.yaml", "{time_scale: 10, knee: 6, latency: {mean: 2.0, sigma: 0.2}}")
    state = {"PACELINE_STATE": str(sums.folder / "state"), "OPENAI_API_KEY": ""}
    told = sums.runs("ramp", "sums.py", "--rehearse", "provider.yaml", *SMALL, environ=state)
    assert told.returncode == 0, told.stderr
    assert "SIMULATED" in told.stdout
    assert "above it answers only take longer" in told.stdout
    assert "cost: none, this is a rehearsal" in told.stderr
    assert not (sums.folder / "state" / NAME).exists()


# Money


@pytest.mark.slow
def test_a_ceiling_on_money_is_said_first_and_kept(sums: Shell, sim: Callable[..., RunningSim]) -> None:
    sums.write("paceline.toml", "[prices]\n'gpt-5.4-mini' = {input = 1000, output = 1000}\n")
    endless = sim()
    told = ramp(sums, endless, *SMALL, "--budget-usd", "0.3")
    assert told.returncode == 4, told.stderr
    assert "at most $0.3" in told.stderr.split("level 1:")[0]
    assert "would cost about" in told.stderr
    tokens = endless.stats().tokens
    assert 0 < (tokens.input + tokens.output) / 1000 <= 0.3


@pytest.mark.slow
def test_a_ceiling_on_what_has_no_price_ends_the_climb_after_its_first_level(
    sums: Shell, sim: Callable[..., RunningSim]
) -> None:
    sums.write("sums.py", SUITE.replace("gpt-5.4-mini", "a-model-of-ours"))
    told = ramp(sums, sim(), *SMALL, "--budget-usd", "5")
    assert told.returncode == 4
    assert "what a case costs is unknown, so $5.00 cannot be kept to" in told.stderr
    assert "level 4:" not in told.stderr


# Harm


@pytest.mark.slow
def test_a_provider_that_refuses_the_account_is_left_alone(
    sums: Shell, sim: Callable[..., RunningSim]
) -> None:
    spent = sim(quota={"requests": 15})
    told = ramp(sums, spent, *SMALL)
    assert told.returncode == 1
    assert "the provider refuses for good" in told.stdout
    assert spent.stats().arrived < 40
    assert learned(sums, spent) == []


@pytest.mark.slow
def test_no_key_is_to_be_found_in_what_a_ramp_prints_and_leaves(
    sums: Shell, sim: Callable[..., RunningSim]
) -> None:
    sums.write(
        "sums.py",
        SUITE.replace("async def task(question):", "async def task(question):\n        await leak(question)")
        + """
    import os

    async def leak(question):
        if question.startswith("7 "):
            raise ValueError("the key is " + os.environ["OPENAI_API_KEY"])
""",
    )
    refusing = sim(keys=["sk-another-0123456789abcdef"])
    key = environ(refusing, sums)["OPENAI_API_KEY"]
    for more in ((), ("--no-pace-http", "--levels", "1,2")):
        told = ramp(sums, refusing, *SMALL, *more)
        assert told.returncode in (1, 2), told.stderr
        assert key not in told.stdout + told.stderr
    files = [path for path in sums.folder.rglob("*") if path.is_file()]
    assert {"ramp.json", "ramp.svg", "journal.jsonl"} <= {path.name for path in files}
    assert not [path for path in files if key.encode() in path.read_bytes()]


# Kills and interrupts


def until(what: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    late = time.monotonic() + 30
    while not what():
        assert time.monotonic() < late
        time.sleep(0.02)


@pytest.mark.slow
def test_a_ramp_that_was_killed_goes_on_with_the_levels_that_are_missing(
    sums: Shell, sim: Callable[..., RunningSim]
) -> None:
    capped = sim(in_flight=10)
    first = sums.starts("ramp", "sums.py", "-o", "r", *SMALL, environ=environ(capped, sums))
    kept = sums.folder / "r" / "ramp.json"
    until(lambda: kept.exists() and len(json.loads(kept.read_text())["rows"]) == 2)
    until(lambda: capped.stats().in_flight > 5)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    until(lambda: capped.stats().in_flight == 0)
    before, on_record = capped.stats(), len(asked(sums))
    # An answer may have been on its way to the record in that very moment.
    assert 0 <= before.answered - on_record <= 16

    told = ramp(sums, capped)
    assert told.returncode == 0, told.stderr
    assert "held before, and on record: levels 1, 4" in told.stderr
    assert "the provider takes no more calls at a time" in told.stdout
    assert not any(line.startswith(("level 1:", "level 4:")) for line in told.stderr.splitlines())
    seen = capped.stats()
    assert seen.prompts.answered_twice <= before.answered - on_record, "what is on record is not asked again"
    assert seen.prompts.different > before.prompts.different
    assert Ledger.read(sums.folder / "r").tally().done == on_record + seen.answered - before.answered

    # And once more: all is on record.
    told = ramp(sums, capped)
    assert told.returncode == 0
    assert "these levels were held on" in told.stderr
    assert "the provider takes no more calls at a time" in told.stdout
    assert capped.stats().arrived == seen.arrived


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(sums: Shell, sim: Callable[..., RunningSim]) -> None:
    slow = sim(latency={"mean": 5.0, "sigma": 0.1})
    process = sums.starts("ramp", "sums.py", "-o", "r", *SMALL, environ=environ(slow, sums))
    kept = sums.folder / "r" / "ramp.json"
    until(lambda: kept.exists() and slow.stats().in_flight == 4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 4, err
    assert "SIGINT received: finishing 4 in flight; Ctrl-C again to cancel" in err
    assert "incomplete: SIGINT received" in err
    assert "the same command with -o r goes on with it" in err
    assert "\n    1  " in out, "the level that was held is told"
    assert len(asked(sums)) == slow.stats().answered
    rows = json.loads(kept.read_text())["rows"]
    assert [row["level"] for row in rows] == [1, 4]
    assert rows[1]["halt"]["kind"] == "interrupt"


@pytest.mark.slow
def test_a_second_ctrl_c_cuts_off_what_is_in_flight_and_keeps_what_is_done(
    sums: Shell, sim: Callable[..., RunningSim]
) -> None:
    slow = sim(latency={"mean": 300.0, "sigma": 0.0}, time_scale=1)
    process = sums.starts("ramp", "sums.py", "-o", "r", "--levels", "4", environ=environ(slow, sums))
    until(lambda: slow.stats().in_flight == 4)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    heard = iter(process.stderr.readline, "")
    assert any("Ctrl-C again to cancel" in line for line in heard)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    outcomes = [line["outcome"] for line in recorded(sums) if line["kind"] == "outcome"]
    assert outcomes == ["cancelled"] * 4


# Wrong usage: one line with the remedy, and nothing is started


@pytest.mark.parametrize(
    ("arguments", "said", "remedy"),
    [
        (["--levels", "10,1"], "the levels do not rise: 1 comes after 10", "write --levels 1,10"),
        (["--levels", "1,two"], "--levels '1,two' is not a list of numbers", "write it as 1,10,50,100"),
        (["--levels", "0,1"], "each is a whole number from 1 up", "such as 1,10,50,100"),
        (["--per-level", "0"], "--per-level '0' is no number of cases", "--per-level 20"),
        (["--per-level", "x"], "--per-level 'x' is no number of cases", "--per-level 20"),
        (["--levels", "300,400"], "open cases are too few: level 300 alone takes 600", "--repeat"),
        (["--variant", "b"], "there is no variant 'b'", "--variant"),
        (["--svg", "no/such/place.svg"], "--svg 'no/such/place.svg' is no file", "a directory that is there"),
        (["--budget-usd", "-1"], "budget_usd is '-1'", "budget_usd"),
        (["--rehearse", "no-such"], "there is no scenario 'no-such'", "scenarios are"),
    ],
)
def test_wrong_usage_is_one_line_with_its_remedy(
    sums: Shell, arguments: list[str], said: str, remedy: str
) -> None:
    told = sums.types("ramp", "sums.py", "-o", "r", *arguments)
    assert told.exit_code == 2, told.output
    assert said in told.stderr
    assert remedy in told.stderr
    assert told.stderr.count("\n") == 2, "the error, and its hint"
    assert not (sums.folder / "r").exists()


def test_levels_are_what_j_is_to_a_run(sums: Shell) -> None:
    told = sums.types("ramp", "sums.py", "-j", "8")
    assert told.exit_code == 2
    assert "-j" in told.stderr


def test_of_several_variants_one_is_named(sums: Shell) -> None:
    sums.write("app.py", "def answer(x): return x")
    sums.write(
        "suite.yaml",
        """
        cases: [{name: one, inputs: 1}]
        evaluators: [EqualsExpected]
        variants: {plain: app.py:answer, other: app.py:answer}
        """,
    )
    told = sums.types("ramp", "suite.yaml")
    assert told.exit_code == 2
    assert "a ramp is about one variant; the suite has plain, other" in told.stderr
    assert "--variant plain" in told.stderr


def test_what_is_recorded_is_the_run_that_goes_on_with_it() -> None:
    typed = ["s.py", "--levels", "1,2", "--per-level=5", "--svg", "x.svg", "-o", "r", "--timeout", "5"]
    assert without(typed, OWN) == ["s.py", "-o", "r", "--timeout", "5"]
    assert without(["--", "--svg", "s.py"], OWN) == ["--", "--svg", "s.py"]
    assert without(["s.py", "--svg"], OWN) == ["s.py"]


def test_a_picture_that_cannot_be_drawn_in_the_end_does_not_spoil_the_rest(
    sums: Shell, tmp_path: Path
) -> None:
    from paceline.cli.ramp import _draw
    from tests.ramp.rows import report

    _draw(report(), tmp_path / "gone" / "curve.svg")
