"""No key ever appears in anything that is written or printed: keys are planted everywhere, and looked for.

A run of real clients, in a process of its own, against a provider that repeats the key in all that it says.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

PLANTED = {
    "OPENAI_API_KEY": "sk-proj-PLANTEDopenaiPLANTEDopenai0123456789",
    "ANTHROPIC_API_KEY": "sk-ant-api03-PLANTEDanthropic-PLANTED0123456789",
    "TEAM_SECRET": "PLANTEDsecretOfTheTeam0123",
}
"""In the environment."""
PLAIN = "PLANTED0123456789abcdef0123456789"
"""In a file that the task reads: of no form by which it could be known, as those of Azure are."""
GOOGLE = "AIzaPLANTED-PLANTED-PLANTED-PLANTED-PLANTED"
"""In the address, as Google's are."""

SUITE = """
import os
from pathlib import Path

import anthropic
import httpx2
import openai

from paceline import Case, Dataset

URL = os.environ["PROVIDER"]
PLAIN, GOOGLE = Path("keys.txt").read_text().split()
ASKED = dict(model="gpt-5.4-mini", messages=[{"role": "user", "content": "hm?"}])


def with_openai(inputs):
    with openai.OpenAI(base_url=f"{URL}/{inputs}/v1", api_key=PLAIN if "plain" in inputs else None) as client:
        return client.chat.completions.create(**ASKED).choices[0].message.content


def with_stream(inputs):
    with openai.OpenAI(base_url=f"{URL}/{inputs}/v1", api_key=PLAIN) as client:
        pieces = client.chat.completions.create(**ASKED, stream=True)
        return "".join(piece.choices[0].delta.content for piece in pieces)


def with_anthropic(inputs):
    with anthropic.Anthropic(base_url=f"{URL}/{inputs}") as client:
        asked = {**ASKED, "model": "claude-haiku-5-5"}
        return client.messages.create(max_tokens=9, **asked).content[0].text


def with_google(inputs):
    path = f"/{inputs}/v1beta/models/gemini-3:generateContent"
    with httpx2.Client() as client:
        client.post(f"{URL}{path}?key={GOOGLE}", json={"contents": []}).raise_for_status()


def with_azure(inputs):
    path = f"/{inputs}/openai/deployments/gpt/chat/completions"
    with httpx2.Client() as client:
        answer = client.post(f"{URL}{path}", json=ASKED, headers={"api-key": PLAIN})
        if answer.status_code != 200:
            raise ValueError(answer.text)


def task(inputs):
    kind = inputs.partition("-")[0]
    return {"openai": with_openai, "plain": with_openai, "stream": with_stream, "anthropic": with_anthropic,
            "google": with_google, "azure": with_azure}[kind](inputs)


# What closes a pool ends the run, so it has one of its own.
refused = os.environ["HOW"] == "refused"
HOW, STREAMED = (["401"], ["401", "early"]) if refused else (["400", "500", "200"], ["late"])
NAMES = [f"{kind}-{how}" for kind in ("openai", "plain", "anthropic", "google", "azure") for how in HOW]
NAMES += [f"stream-{how}" for how in STREAMED]
dataset = Dataset(
    name="planted",
    cases=[Case(name=name, inputs=name) for name in NAMES],
    evaluators=[lambda output: output is None or "echo" not in output],
)
"""


class Parrot(BaseHTTPRequestHandler):
    """Answers as its path says, and repeats every key that it was given."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:  # the name is http.server's
        self.rfile.read(int(self.headers.get("content-length", 0)))
        how = self.path.split("/")[1].rpartition("-")[2]
        names = ("authorization", "x-api-key", "api-key")
        keys = [self.headers[name] for name in names if self.headers.get(name)] + [self.path]
        said = f"You came with {' and '.join(keys)}."
        error = {"error": {"message": said, "type": "authentication_error", "code": "invalid_api_key"}}
        if how in ("early", "late"):
            piece = {"choices": [{"index": 0, "delta": {"content": "hm"}, "finish_reason": None}]}
            told = [piece, error] if how == "late" else [error]
            body = b"".join(b"data: %b\n\n" % json.dumps(each).encode() for each in told)
            self._answer(200, body, "text/event-stream")
        elif how == "200":
            whole = {
                "choices": [
                    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hm"}}
                ],
                "content": [{"type": "text", "text": "hm"}],
            }
            self._answer(200, json.dumps(whole).encode())
        else:
            error["error"] |= {} if how == "401" else {"code": "odd", "type": "odd"}
            self._answer(int(how), json.dumps(error).encode())

    def _answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("x-should-retry", "false")
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


@contextmanager
def parrot() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Parrot)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Shell:
    """Runs commands with the planted keys around them, and keeps what they say."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self._folder = folder
        self._environ = {**os.environ, **PLANTED, "PACELINE_STATE": str(folder / "state"), **environ}
        self.printed = b""

    def __call__(self, *arguments: str) -> int:
        ended = subprocess.run(
            [str(Path(sys.executable).with_name("paceline")), *arguments],
            cwd=self._folder,
            env=self._environ,
            capture_output=True,
            timeout=120,
            check=False,
        )
        self.printed += ended.stdout + ended.stderr
        return ended.returncode


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "how"),
    [
        ("refused", []),
        ("failed", []),
        ("failed", ["-j", "1"]),
        ("failed", ["--isolation", "process", "-j", "2"]),
    ],
    ids=["refused", "failed", "failed, one at a time", "failed, in processes"],
)
def test_no_planted_key_is_found_in_anything_that_is_written_or_printed(
    what: str, how: list[str], tmp_path: Path
) -> None:
    (tmp_path / "suite.py").write_text(SUITE)
    (tmp_path / "keys.txt").write_text(f"{PLAIN}\n{GOOGLE}\n")
    with parrot() as url:
        shell = Shell(tmp_path, PROVIDER=url, HOW=what)
        assert shell("run", "suite.py", "-o", "run", *how) in (1, 4)
        shell("report", "run", "--json")
    assert b"You came with" in shell.printed, "the provider's words are shown"
    assert b"PLANTED" not in shell.printed
    planted = {"suite.py", "keys.txt"}
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in planted]
    assert {"journal.jsonl", "limits.json"} <= {path.name for path in written} or what == "refused"
    assert [path for path in written if b"PLANTED" in path.read_bytes()] == []
