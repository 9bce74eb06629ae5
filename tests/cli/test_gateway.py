"""`paceline gateway` stands between any program and its provider."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from paceline.sim.scenario import Scenario
from paceline.sim.server import start_in_thread
from tests.gateway.stage import REAL_KEY

ASK = """
import os, openai
said = []
for _ in range(3):
    try:
        answer = openai.OpenAI(max_retries=0).chat.completions.create(
            model=os.environ.get("MODEL", "m"), messages=[{"role": "user", "content": "What is 17 * 23?"}]
        )
        said.append(answer.choices[0].message.content)
    except openai.APIStatusError as error:
        said.append(str(error.status_code))
print(os.environ["OPENAI_API_KEY"][:3], *said)
"""


def gateway(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", "paceline", "gateway", *words],
        env={**kept, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
def test_a_program_is_answered_with_another_key_and_within_its_budget(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    with start_in_thread(Scenario.of({"latency": 0, "keys": [REAL_KEY]})) as sim:
        told = {"OPENAI_BASE_URL": f"{sim.url}/v1", "OPENAI_API_KEY": REAL_KEY}
        words = ("--calls", "2", "--log", str(log), "--", sys.executable, "-c", ASK)
        ended = gateway(*words, **told)
        assert sim.stats().answered == 2
    assert (ended.returncode, ended.stdout) == (0, "pl- 391 391 403\n"), ended.stderr
    assert "2 calls, 0 without an answer" in ended.stderr
    assert "1 calls were not let through" in ended.stderr
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    assert [call["usage"]["output"] for call in calls] == [1, 1]
    assert REAL_KEY not in log.read_text() + ended.stdout + ended.stderr


@pytest.mark.slow
def test_it_says_where_it_is_and_ends_in_order() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "paceline", "gateway", "--json"],
        env={**os.environ, "OPENAI_API_KEY": REAL_KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            told += process.stdout.readline()
        document = json.loads(told)
        assert document["OPENAI_BASE_URL"].startswith(document["url"] + "/pl-")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


@pytest.mark.slow
def test_what_cannot_be_is_one_line_with_the_remedy_and_nothing_is_started() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        key = {"OPENAI_API_KEY": REAL_KEY}
        for words, environ, said in (
            ((), {}, "there is no key for any provider"),
            (("--upstream", "x"), key, "--upstream x names no address"),
            (("--upstream", "x=ftp://y"), key, "no base_url"),
            (("--rpm", "many"), key, "cannot be read"),
            (("--",), key, "no program after --"),
            (("--", "no-such-program"), key, "cannot be started"),
            (("--port", port), key, "cannot be had"),
        ):
            ended = gateway(*words, **environ)
            assert ended.returncode == 2, (words, ended.stderr)
            assert said in ended.stderr.partition("hint:")[0]
            assert "Traceback" not in ended.stderr
