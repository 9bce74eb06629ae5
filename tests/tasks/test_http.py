"""An endpoint is asked once for each case, paced and recorded like the call of a model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, HttpTask
from paceline.errors import UsageError
from paceline.tasks.http.answers import HttpFailed, NoAnswer, answer_in
from paceline.tasks.http.spec import spec_of

Reply = tuple[int, dict[str, str], bytes]


class Endpoint:
    """Answers as it is told to, and remembers what it was asked."""

    def __init__(self, reply: Callable[[int, dict[str, Any]], Reply]) -> None:
        self.asked: list[dict[str, Any]] = []
        self.url = ""
        self._reply = reply
        self._guard = threading.Lock()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        told = {
            "method": handler.command,
            "path": handler.path,
            "headers": {name.lower(): value for name, value in handler.headers.items()},
            "body": body.decode(),
        }
        with self._guard:
            self.asked.append(told)
            number = len(self.asked)
        status, headers, said = self._reply(number, told)
        handler.send_response(status)
        for name, value in {**headers, "content-length": str(len(said))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(said)


@contextmanager
def endpoint(reply: Callable[[int, dict[str, Any]], Reply]) -> Iterator[Endpoint]:
    there = Endpoint(reply)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # the library's name
            there.answer(self)

        do_GET = do_PUT = do_POST  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    there.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield there
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def said(document: Any, status: int = 200) -> Reply:
    return status, {"content-type": "application/json"}, json.dumps(document).encode()


def evaluated(task: Any, *inputs: Any, **options: Any) -> Any:
    dataset: Dataset[Any, Any, Any] = Dataset(
        cases=[Case(name=f"case {number}", inputs=each) for number, each in enumerate(inputs)]
    )
    return dataset.evaluate_sync(task, progress=False, **{"journal": False, **options})


def test_inputs_fill_address_headers_and_body_and_the_answer_is_taken_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EXAMPLE_KEY", "secret-0123456789abcdef")

    def reply(number: int, told: dict[str, Any]) -> Reply:
        return said({"result": {"text": json.loads(told["body"])["question"].upper()}})

    with endpoint(reply) as there:
        task = HttpTask(
            f"{there.url}/v2/{{{{ inputs.topic }}}}?case={{{{ case.name }}}}",
            headers={"Authorization": "Bearer {{ env.EXAMPLE_KEY }}", "X-Kind": "test"},
            body={"question": "{{ inputs.text }}", "top_k": 3, "whole": "{{ inputs }}"},
            answer="result.text",
        )
        report = evaluated(task, {"topic": "law", "text": "hi"})
    assert report.cases[0].output == "HI"
    (asked,) = there.asked
    assert (asked["method"], asked["path"]) == ("POST", "/v2/law?case=case%200")
    assert asked["headers"]["authorization"] == "Bearer secret-0123456789abcdef"
    assert asked["headers"]["x-kind"] == "test"
    assert json.loads(asked["body"]) == {
        "question": "hi",
        "top_k": 3,
        "whole": {"topic": "law", "text": "hi"},
    }


def test_what_fails_for_a_while_is_sent_again_below_and_is_one_call_on_record(tmp_path: Path) -> None:
    def reply(number: int, told: dict[str, Any]) -> Reply:
        if number == 1:
            return 429, {"retry-after": "0"}, b'{"error": {"message": "too many requests"}}'
        return said({"answer": 42}) if number > 2 else said({"error": "oh"}, 503)

    with endpoint(reply) as there:
        task = HttpTask(there.url, body={"q": "{{ inputs }}"}, answer="answer")
        report = evaluated(task, "x", journal=tmp_path / "run")
    assert report.cases[0].output == 42
    assert len(there.asked) == 3
    (line,) = [
        json.loads(line)
        for line in (tmp_path / "run" / "journal.jsonl").read_text().splitlines()
        if '"kind":"call"' in line
    ]
    assert (line["tries"], line["status"], line["pool"]) == (3, 200, "http:POST /")


def test_a_no_is_an_error_that_says_it() -> None:
    with endpoint(lambda *_: said({"error": {"message": "no such topic"}}, 404)) as there:
        report = evaluated(HttpTask(there.url), "x")
    (failure,) = report.failures
    assert "status 404" in failure.error_message
    assert "no such topic" in failure.error_message
    assert len(there.asked) == 1


def test_pieces_of_a_stream_are_put_together() -> None:
    events = b"".join(
        b"data: %b\n\n" % json.dumps({"choices": [{"delta": delta}]}).encode()
        for delta in ({"role": "assistant"}, {"content": "Hel"}, {"content": "lo"}, {})
    )
    stream = (200, {"content-type": "text/event-stream"}, events + b"data: [DONE]\n\n")
    with endpoint(lambda *_: stream) as there:
        task = HttpTask(there.url, body={"q": "{{ inputs }}"}, stream=True, answer="choices[0].delta.content")
        report = evaluated(task, "x")
    assert report.cases[0].output == "Hello"
    assert there.asked[0]["headers"]["accept"] == "text/event-stream"


def test_an_endpoint_is_asked_within_the_limits_of_its_pool() -> None:
    inside, peak = 0, 0
    guard = threading.Lock()
    begun = threading.Event()

    def reply(number: int, told: dict[str, Any]) -> Reply:
        nonlocal inside, peak
        with guard:
            inside += 1
            peak = max(peak, inside)
            if inside == 2:
                begun.set()
        begun.wait(5)
        with guard:
            inside -= 1
        return said({"ok": True})

    with endpoint(reply) as there:
        evaluated(HttpTask(there.url), *range(8), max_concurrency=8, limits={"window": 2}, share_pools=False)
    assert peak == 2


def test_what_was_answered_before_a_kill_is_not_asked_again(tmp_path: Path) -> None:
    with endpoint(lambda *_: said({"answer": 1})) as there:
        task = HttpTask(there.url, body={"q": "{{ inputs }}"}, answer="answer")
        evaluated(task, "x", journal=tmp_path / "run")
        again = evaluated(task, "x", journal=tmp_path / "again", replay="always", recording=tmp_path / "run")
        assert len(there.asked) == 1
    assert again.cases[0].output == 1


def test_a_rehearsal_would_be_the_run_itself_and_is_refused() -> None:
    with endpoint(lambda *_: said({})) as there:
        with pytest.raises(UsageError, match="no simulated provider answers for"):
            evaluated(HttpTask(there.url), "x", rehearse=True)
        assert not there.asked


def test_nobody_there_is_said_to_be_so() -> None:
    with endpoint(lambda *_: said({})) as there:
        url = there.url
    task = HttpTask(url)
    report = evaluated(task, "x", pace_http=False, retry_task=0)
    (failure,) = report.failures
    assert "did not answer" in failure.error_message


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"url": "example.com"}, "url is"),
        ({"url": "https://x", "method": "PSOT"}, "method cannot be"),
        ({"url": "https://x", "headers": "a: b"}, "headers are names"),
        ({"url": "https://x", "body": {"a": object()}}, "body holds"),
        ({"url": "https://x", "answer": "a b"}, "is no place|no path in JSON"),
        ({"url": "https://x", "stream": "yes"}, "stream is"),
        ({"url": "https://x/{{ input.q }}"}, "nothing but"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_sent(said: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        spec_of(**said)


def test_a_variable_that_is_not_set_is_refused_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(UsageError, match="NO_SUCH_KEY is not set"):
        evaluated(HttpTask("http://127.0.0.1:1", headers={"X": "{{ env.NO_SUCH_KEY }}"}), "x")


def test_an_answer_that_is_not_there_is_a_failure() -> None:
    spec = spec_of("https://x", answer="a.b")
    with pytest.raises(NoAnswer, match="is not JSON"):
        answer_in(spec, 200, "text/plain", b"hello")
    with pytest.raises(NoAnswer, match=r"the answer was to be at answer\.a\.b"):
        answer_in(spec, 200, "application/json", b'{"a": {}}')
    with pytest.raises(HttpFailed, match="status 302"):
        answer_in(spec, 302, "text/plain", b"")
    with pytest.raises(NoAnswer, match="no piece"):
        answer_in(spec_of("https://x", stream=True, answer="t"), 200, "text/event-stream", b"data: {}\n\n")


def test_without_a_path_the_answer_is_all_of_it() -> None:
    spec = spec_of("https://x")
    assert answer_in(spec, 200, "application/json; charset=utf-8", b'{"a": 1}') == {"a": 1}
    assert answer_in(spec, 200, "text/plain", b"hello") == "hello"
