"""`paceline sim`: a provider to try things against, and every mistake in one line before it starts."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from paceline.sim import Scenario
from paceline.sim.builtin import SCENARIOS
from tests.cli.conftest import Shell

ASK = """
    import json, os, urllib.request
    base = os.environ["OPENAI_BASE_URL"]
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "What is 6 * 7?"}]}).encode()
    request = urllib.request.Request(
        f"{base}/chat/completions", body, {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    )
    print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
"""


def test_every_scenario_that_has_a_name_is_listed_with_what_it_is(shell: Shell) -> None:
    told = shell.types("sim", "--list")
    assert told.exit_code == 0
    for name, fields in SCENARIOS.items():
        assert re.search(
            rf"^{re.escape(name)} .*{re.escape(str(fields['about']))}$", told.stdout, re.MULTILINE
        )
    listed = json.loads(shell.types("sim", "--list", "--json").stdout)
    assert [each["name"] for each in listed] == list(SCENARIOS)


def test_what_is_shown_is_a_scenario_file_that_plays_the_same(shell: Shell) -> None:
    given = ("--rpm", "30", "--latency", "0.5", "--seed", "7", "--set", "faults.error=0.1")
    told = shell.types("sim", "storm", *given, "--set", "steps=[{at: 5, set: {rpm: 3}}]", "--show")
    assert told.exit_code == 0
    shell.write("mine.yaml", told.stdout)
    shown = json.loads(shell.types("sim", "mine.yaml", "--show", "--json").stdout)
    loaded = Scenario.load("mine.yaml")
    assert loaded == Scenario.of(shown) == Scenario.of(yaml.safe_load(told.stdout))
    assert (loaded.rpm, loaded.seed, loaded.latency.mean, loaded.latency.sigma) == (30, 7, 0.5, 0.8)
    assert (loaded.faults.error, loaded.faults.reset, loaded.steps[0].at) == (0.1, 0.02, 5)


@pytest.mark.parametrize(
    ("typed", "said", "remedy"),
    [
        (
            ["opnai-tier1"],
            "no scenario 'opnai-tier1'; did you mean openai-tier1?",
            "openai-tier4, anthropic",
        ),
        (["nowhere.yaml"], "there is no file nowhere.yaml", "paceline sim --list"),
        (["--rpm", "-3"], "--rpm -3: rpm: it has to be more than 0", "lists every field"),
        (["--rpm", "many"], "--rpm many: rpm: expected a number, not text", "lists every field"),
        (["--latency", "-1"], "--latency -1: latency.mean: it has to be at least 0", "lists every field"),
        (["--in-flight", "0"], "--in-flight 0: in_flight: it has to be at least 1", "lists every field"),
        (["--time-scale", "0"], "--time-scale 0: time_scale: it has to be more than 0", "lists every field"),
        (["--set", "rpm"], "--set rpm sets nothing", "--set faults.error=0.1"),
        (["--set", "=3"], "--set =3 sets nothing", "field=value"),
        (["--set", "rpn=3"], "--set rpn=3: there is no field 'rpn'; did you mean rpm?", "fields are name"),
        (["--set", "faults.eror=1"], "no field 'faults.eror'; did you mean error?", "fields of faults are"),
        (["--set", "headers=mine"], "headers: it cannot be 'mine'", "one of openai, anthropic, none"),
        (["--set", "keys=[a"], "--set keys=[a: the value cannot be read", "as in YAML"),
        (["--for", "soon"], "--for soon is no duration", "30s"),
        (["--stats", "no/such/folder.json"], "--stats no/such/folder.json cannot be written", "exists"),
        (["--"], "there is no program after --", "paceline sim -- python"),
        (["--", "no-such-program"], "no-such-program cannot be started", "a program"),
        (["--host", "192.0.2.1"], "nobody can listen on 192.0.2.1", "127.0.0.1 is this machine"),
    ],
)
def test_what_cannot_be_is_said_in_one_line_with_the_remedy(
    typed: list[str], said: str, remedy: str, shell: Shell
) -> None:
    told = shell.types("sim", "--port", "0", *typed)
    assert told.exit_code == 2
    assert told.stdout == ""
    error, hint = told.stderr.splitlines()
    assert said in error
    assert remedy in hint


def test_json_is_not_mixed_with_what_a_program_prints(shell: Shell) -> None:
    told = shell.types("sim", "--json", "--", "echo", "hello")
    assert told.exit_code == 2
    assert json.loads(told.stdout)["error"]["message"] == "--json and a program share no stdout"


def test_a_port_in_use_is_said_in_one_line_with_the_remedy(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = shell.types("sim", "--port", str(port))
    assert told.exit_code == 2
    assert told.stderr.splitlines() == [
        f"error: port {port} on 127.0.0.1 is in use",
        "hint: another one may be running: stop it, or choose another port; 0 takes a free one",
    ]


def test_a_program_is_led_there_and_its_exit_code_is_ours(shell: Shell) -> None:
    shell.write("ask.py", ASK + "    raise SystemExit(7)\n")
    ended = shell.runs("sim", "gentle", "--port", "0", "--stats", "seen.json", "--", "python", "ask.py")
    assert ended.returncode == 7
    assert ended.stdout == "42\n"
    assert "calls: 1 arrived, 1 accepted, 1 answered well" in ended.stderr
    assert json.loads((shell.folder / "seen.json").read_text())["answered"] == 1


def test_a_program_is_shown_a_key_that_the_scenario_accepts(shell: Shell) -> None:
    shell.write("ask.py", ASK)
    ended = shell.runs("sim", "--set", "keys=[the one]", "--port", "0", "-q", "--", "python", "ask.py")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "42\n", "")


def test_after_the_time_it_was_given_it_ends_and_so_does_its_program(shell: Shell) -> None:
    served = shell.runs("sim", "--port", "0", "--for", "100ms")
    assert served.returncode == 0
    assert re.match(
        r"export OPENAI_BASE_URL=http://127\.0\.0\.1:\d+/v1\nexport OPENAI_API_KEY=", served.stdout
    )
    program = shell.runs("sim", "--port", "0", "--for", "100ms", "--", "sleep", "60")
    assert program.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_what_it_has_seen_is_told(number: signal.Signals, shell: Shell) -> None:
    process = shell.starts("sim", "spent", "--port", "0", "--json", "--stats", "seen.json")
    where = first_document(process.stdout)
    assert where["scenario"]["quota"] == {"requests": 100}
    assert where["OPENAI_BASE_URL"] == f"{where['url']}/v1"
    with urllib.request.urlopen(f"{where['url']}/healthz") as answer:
        assert json.load(answer) == {"status": "ok"}
    os.kill(where["pid"], number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert "calls: 0 arrived" in err
    assert "Traceback" not in err
    assert json.loads((shell.folder / "seen.json").read_text())["scenario"] == "spent"


def test_a_program_that_is_ended_from_outside_ends_with_it(shell: Shell, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "up")
    process = shell.starts("sim", "--port", "0", "-q", "--", "sh", "-c", "echo $$ > up; exec sleep 60")
    asleep = int((tmp_path / "up").read_text())
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(asleep, 0)


def test_somebody_who_looks_on_is_shown_how_it_goes(shell: Shell) -> None:
    ours, theirs = os.openpty()
    process = shell.starts("sim", "--port", "0", "--for", "1200ms", stderr=theirs)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # what a terminal says whose other end has gone
        while piece := os.read(ours, 4096):
            shown += piece
    process.communicate(timeout=30)
    os.close(ours)
    assert b"answered 0 (0.0/s), in flight 0" in shown


def first_document(stream: Any) -> dict[str, Any]:
    """The first JSON document of a stream that goes on."""
    text = ""
    for line in stream:
        text += line
        if line == "}\n":
            break
    found = json.loads(text)
    assert isinstance(found, dict)
    return found
