"""A provider on this machine that says what it is told to say, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from paceline.models import Model, model

KEY = "sk-test-0123456789abcdefghijklmnop"

CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5.4-mini-2026-01-01",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Paris"}}],
    "usage": {
        "prompt_tokens": 12,
        "completion_tokens": 5,
        "total_tokens": 17,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    },
}
RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "model": "gpt-5.4-mini-2026-01-01",
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Paris", "annotations": []}],
        },
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 12,
        "output_tokens": 5,
        "total_tokens": 17,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 3},
    },
}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-haiku-5-5",
    "content": [{"type": "text", "text": "Paris"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 6,
        "output_tokens": 5,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 2,
    },
}
APIS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "openai": ("OPENAI_BASE_URL", CHAT),
    "openai-responses": ("OPENAI_BASE_URL", RESPONSE),
    "anthropic": ("ANTHROPIC_BASE_URL", MESSAGE),
}
"""How each API is led here, and what it answers when all is well."""


@dataclass
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int


@dataclass
class Loopback:
    """The provider."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    answers: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """What it says, in order; the last one for ever."""

    def says(self, answer: dict[str, Any], *, status: int = 200) -> None:
        self.answers.append((status, answer))

    @property
    def body(self) -> dict[str, Any]:
        """What it was asked last."""
        return self.asked[-1].body


@contextmanager
def loopback() -> Iterator[Loopback]:
    """Such a provider, for as long as it is needed."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # the name is http.server's
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            here.asked.append(Asked(self.path, headers, body, self.client_address[1]))
            status, said = here.answers.pop(0) if len(here.answers) > 1 else here.answers[0]
            written = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(written)))
            for name in ("x-request-id", "request-id"):
                self.send_header(name, "req_1")
            self.end_headers()
            self.wfile.write(written)

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    here = Loopback(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def provider_of(api: str, shell: pytest.MonkeyPatch, **options: Any) -> Iterator[tuple[Model, Loopback]]:
    """A model behind an API, and the provider that it is asked at."""
    with loopback() as here:
        variable, _usual = APIS[api]
        shell.setenv(variable, here.url + ("" if api == "anthropic" else "/v1"))
        shell.setenv("OPENAI_API_KEY", KEY)
        shell.setenv("ANTHROPIC_API_KEY", KEY)
        name = "claude-haiku-5-5" if api == "anthropic" else "gpt-5.4-mini"
        yield model(f"{api}:{name}", **options), here


def usual(api: str, **changes: Any) -> dict[str, Any]:
    """What an API answers when all is well, with some of it changed."""
    return {**APIS[api][1], **changes}


def saying(api: str, text: str, *, stop: str | None = None) -> dict[str, Any]:
    """An answer with this text."""
    match api:
        case "openai":
            message = {"role": "assistant", "content": text}
            return usual(api, choices=[{"index": 0, "finish_reason": stop or "stop", "message": message}])
        case "openai-responses":
            part = {"type": "output_text", "text": text, "annotations": []}
            item = {
                "type": "message",
                "id": "m",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
            cut = {"status": "incomplete", "incomplete_details": {"reason": stop}} if stop else {}
            return usual(api, output=[item], **cut)
        case _:
            return usual(api, content=[{"type": "text", "text": text}], stop_reason=stop or "end_turn")


def calling(api: str, name: str, arguments: str) -> dict[str, Any]:
    """An answer that wants a tool called."""
    match api:
        case "openai":
            call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
            return usual(api, choices=[{"index": 0, "finish_reason": "tool_calls", "message": message}])
        case "openai-responses":
            item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name}
            return usual(api, output=[{**item, "arguments": arguments, "status": "completed"}])
        case _:
            block = {"type": "tool_use", "id": "call_1", "name": name, "input": json.loads(arguments)}
            return usual(api, content=[block], stop_reason="tool_use")
