"""Models from a suite.yaml, with no Python: through the command line, against the simulated provider."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paceline import Report, verify
from paceline.sim import Scenario, start_in_thread
from paceline.sim.server import RunningSim
from tests.cli.conftest import Shell

KEYS = {
    "OPENAI_API_KEY": "sk-proj-plantedplantedplanted0123456789",
    "ANTHROPIC_API_KEY": "sk-ant-plantedplantedplanted0123456789",
}
SUITE = """
    model: openai:gpt-5.4-mini
    system: You add numbers.
    prompt: "What is {{ inputs.a }} + {{ inputs.b }}?"
    dataset: sums.jsonl
    evaluators: [EqualsExpected]
"""


@pytest.fixture
def sums(shell: Shell) -> Shell:
    """A suite of forty sums, and a home of its own."""
    shell.write("suite.yaml", SUITE)
    rows = [{"id": f"sum-{n}", "input": {"a": n, "b": 1}, "expected": str(n + 1)} for n in range(40)]
    shell.write("sums.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return shell


@contextmanager
def provider(**scenario: Any) -> Iterator[tuple[RunningSim, dict[str, str]]]:
    """A simulated provider, and the environment that leads to it."""
    with start_in_thread(Scenario.of({"latency": 0.01, **scenario})) as sim:
        yield sim, {**KEYS, "OPENAI_BASE_URL": f"{sim.url}/v1", "ANTHROPIC_BASE_URL": sim.url}


def at(folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    return {**environ, "HOME": str(folder / "home"), "PACELINE_STATE": str(folder / "state")}


def holds_a_key(folder: Path) -> list[str]:
    """Files below a folder in which a planted key, or the telling part of one, stands."""
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and any(key[8:].encode() in path.read_bytes() for key in KEYS.values())
    ]


def test_a_suite_without_python_is_rehearsed_for_nothing(sums: Shell) -> None:
    ran = sums.runs("run", "suite.yaml", "--rehearse", "-o", "out", environ=at(sums.folder, KEYS))
    assert ran.returncode == 0, ran.stderr
    said = " ".join(ran.stdout.split())
    assert (
        "suite-rehearsal COMPLETE SIMULATED" in said or "COMPLETE SIMULATED all 40 cases were scored" in said
    )
    assert "a rehearsal, not a result: a simulated provider answered all 40 calls" in said
    assert "Predicted the run would take about" in said
    report = Report.read(sums.folder / "out")
    assert report.pass_rate == 1.0
    assert report.figures.rehearsal is not None
    assert report.figures.rehearsal.scenario == "rehearsal"
    assert holds_a_key(sums.folder) == []


def test_a_rehearsal_needs_no_key_whatever_variable_it_would_be_in(sums: Shell) -> None:
    sums.write("suite.yaml", SUITE.replace("openai:gpt-5.4-mini", "{name: openai:m, api_key_env: MINE}"))
    none = {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "", "MINE": ""}
    ran = sums.runs("run", "suite.yaml", "--rehearse", "-q", "-o", "out", environ=at(sums.folder, none))
    assert ran.returncode == 0, ran.stderr


def test_the_key_of_the_real_provider_never_reaches_the_simulated_one(sums: Shell) -> None:
    """The scenario accepts nothing but a planted key, so that one is told whether it came."""
    sums.write("strict.yaml", f"keys: [{KEYS['OPENAI_API_KEY']}]\n")
    ran = sums.runs(
        "run", "suite.yaml", "--rehearse", "strict.yaml", "-o", "out", environ=at(sums.folder, KEYS)
    )
    assert ran.returncode == 4
    assert "the key is refused" in ran.stderr


def test_a_rehearsal_and_the_run_are_never_gone_on_with_as_if_they_were_one(sums: Shell) -> None:
    with provider() as (sim, environ):
        environ = at(sums.folder, environ)
        assert (
            sums.runs("run", "suite.yaml", "--rehearse", "-q", "-o", "out", environ=environ).returncode == 0
        )
        assert sim.stats().arrived == 0
        as_the_run = sums.runs("run", "suite.yaml", "-q", "-o", "out", environ=environ)
        assert as_the_run.returncode == 2
        assert "simulated" in as_the_run.stderr
        assert sums.runs("run", "suite.yaml", "-q", "-o", "real", environ=environ).returncode == 0
        assert sim.stats().answered == 40
        rehearsed_on = sums.runs("run", "suite.yaml", "--rehearse", "-q", "-o", "real", environ=environ)
        assert rehearsed_on.returncode == 2
        again = sums.runs("resume", "out", "-q", environ=environ)  # goes on as what it was started as
        assert (again.returncode, sim.stats().arrived) == (0, 40)


def test_it_runs_at_a_provider_through_the_official_sdk(sums: Shell) -> None:
    with provider() as (sim, environ):
        ran = sums.runs("run", "suite.yaml", "-o", "out", "--json", environ=at(sums.folder, environ))
        assert ran.returncode == 0, ran.stderr
        told = json.loads(ran.stdout)
        assert (told["pass_rate"], told["n"], told["simulated"]) == (1.0, 40, True)
        assert told["rehearsal"] is None
        assert told["calls_simulated"]["n"] == 40
        assert told["calls_simulated"]["input_tokens"]["n_unknown"] == 0
        assert (sim.stats().answered, sim.stats().prompts.answered_twice) == (40, 0)
    assert holds_a_key(sums.folder) == []


def test_several_models_at_the_call_are_held_side_by_side(sums: Shell) -> None:
    with provider() as (sim, environ):
        models = ["--model", "openai:gpt-5.4-mini", "--model", "anthropic:claude-haiku-5-5", "--model", "sim"]
        ran = sums.runs("run", "suite.yaml", *models, "-o", "out", "-q", environ=at(sums.folder, environ))
        assert ran.returncode == 0, ran.stderr
        assert sim.stats().answered == 80
    report = Report.read(sums.folder / "out")
    assert {each.name: each.passed.count for each in report.figures.variants} == dict.fromkeys(
        ("openai:gpt-5.4-mini", "anthropic:claude-haiku-5-5", "sim"), 40
    )


def test_the_tools_of_a_case_are_passed_on_and_its_calls_are_scored(shell: Shell) -> None:
    tool = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    shell.write(
        "suite.yaml",
        f"""
        model: anthropic:claude-haiku-5-5
        prompt: "{{{{ inputs.question }}}}"
        cases:
        - name: with
          inputs: {{question: Ask weather about Rome., tools: [{json.dumps(tool)}]}}
        - name: without
          inputs: {{question: "What is 1 + 1?"}}
        """,
    )
    with provider() as (_, environ):
        ran = shell.runs("run", "suite.yaml", "-o", "out", "-q", environ=at(shell.folder, environ))
        assert ran.returncode == 0, ran.stderr
    outputs = {case.name: case.output for case in Report.read(shell.folder / "out").cases}
    assert outputs["without"] == "2"
    assert [call["name"] for call in outputs["with"]["tool_calls"]] == ["weather"]


# What ends a run


def test_a_spent_quota_ends_the_run_at_once_and_a_resume_pays_for_the_rest_only(sums: Shell) -> None:
    flags = ("-o", "out", "--window", "4")
    with provider(quota={"requests": 15}) as (sim, environ):
        ran = sums.runs("run", "suite.yaml", *flags, environ=at(sums.folder, environ))
        assert ran.returncode == 4, ran.stderr
        assert "answers no more calls: its quota is spent" in ran.stderr
        assert "Stopped" in ran.stdout
        assert sim.stats().answered == 15
        assert sim.stats().arrived < 40
    report = Report.read(sums.folder / "out")
    assert (report.figures.n_passed, report.figures.n_rerun) == (15, 25)
    # Those whose call came back refused, and those whose call was never sent.
    assert {failure.outcome for failure in report.failures} <= {"infra_error", "cancelled"}
    with provider() as (sim, environ):
        again = sums.runs("resume", "out", "-q", environ=at(sums.folder, environ))
        assert again.returncode == 0, again.stderr
        assert sim.stats().answered == 25
    assert Report.read(sums.folder / "out").pass_rate == 1.0
    assert verify(sums.folder / "out").counts.keys() <= {"duplicate"}
    assert holds_a_key(sums.folder) == []


def test_a_refused_key_ends_the_run_before_more_than_one_window_was_asked(sums: Shell) -> None:
    with provider(keys=["another"]) as (sim, environ):
        ran = sums.runs("run", "suite.yaml", "-o", "out", "--window", "2", environ=at(sums.folder, environ))
        assert ran.returncode == 4
        assert "the key is refused" in ran.stderr
        assert "set a key that may use this model" in ran.stderr
        assert sim.stats().arrived <= 2
    assert Report.read(sums.folder / "out").figures.n_passed == 0
    assert holds_a_key(sums.folder) == []
    assert KEYS["OPENAI_API_KEY"] not in ran.stderr + ran.stdout


@pytest.mark.slow
def test_an_outage_of_rejections_fails_no_case(sums: Shell) -> None:
    outage = {"at": 0.1, "until": 2.0, "status": 429}
    with provider(outages=[outage], latency=0.05) as (sim, environ):
        flags = ("-q", "-o", "out", "--window", "2", "--limit", "10")
        ran = sums.runs("run", "suite.yaml", *flags, environ=at(sums.folder, environ))
        assert ran.returncode == 0, ran.stderr
        seen = sim.stats()
        assert (seen.answered, seen.prompts.answered_twice) == (10, 0)
        assert seen.refused
    report = Report.read(sums.folder / "out")
    assert report.pass_rate == 1.0
    assert report.figures.attempts == 10  # it was all dealt with below the task
    assert report.figures.latency.p50 is not None
    assert report.figures.waited > 1.0 > report.figures.latency.p50  # what was waited is no latency


# What is said before anything starts


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "openai:gpt-5.4-mini needs a key, and OPENAI_API_KEY is not set"),
        (("--model", "anthropic:claude-haiku-5-5"), "needs a key, and ANTHROPIC_API_KEY is not set"),
        (("--model", "gpt-5"), "did you mean openai:gpt-5?"),
        (("--model", "sim", "--rehearse", "gentel"), "there is no scenario 'gentel'; did you mean gentle?"),
        (("--model", "sim", "--limits", '{"rmp": 5}'), "limits is"),
        (("--model", "sim", "--limits", '{"openai:m": {"rmp": 5}}'), "limits is"),
        (("--model", "sim", "--rpm", "0"), "rpm is '0', and wants a number above 0"),
        (("--model", "sim", "--window", "many"), "window is 'many', and wants a whole number from 1 up"),
        (("--model", "sim", "-j", "0"), "max_concurrency is '0', and wants a whole number from 1 up, auto"),
    ],
)
def test_what_cannot_be_is_one_line_with_a_remedy_and_nothing_starts(
    sums: Shell, flags: tuple[str, ...], said: str
) -> None:
    none = {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": ""}
    ran = sums.runs("run", "suite.yaml", *flags, "-o", "out", environ=at(sums.folder, none))
    assert ran.returncode == 2
    first, second, *rest = ran.stderr.strip().splitlines()
    assert first.startswith("error: ")
    assert said in first
    assert second.startswith("hint: ")
    assert rest == []
    assert not (sums.folder / "out").exists()


def test_a_run_that_is_finished_needs_no_key_any_more(sums: Shell) -> None:
    none = {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""}
    with provider() as (_, environ):
        assert (
            sums.runs("run", "suite.yaml", "-q", "-o", "out", environ=at(sums.folder, environ)).returncode
            == 0
        )
    assert sums.runs("run", "suite.yaml", "-q", "-o", "out", environ=at(sums.folder, none)).returncode == 0
