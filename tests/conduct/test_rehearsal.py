"""Rehearsals: a name and a fingerprint of their own, stand-ins for keys, and nothing left behind."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, Report
from paceline.conduct.rehearsal import (
    KEYS,
    STAND_IN,
    check_rehearsal,
    fingerprint_of,
    put_keys_away,
    rehearsal,
    stand_in_keys,
)
from paceline.errors import UsageError
from paceline.tasks import ModelTask

SUMS = Dataset(
    name="sums",
    cases=[Case(name=str(n), inputs=f"What is {n} + 1?", expected_output=str(n + 1)) for n in range(5)],
    evaluators=[lambda output, expected_output: output == expected_output],
)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*KEYS, "MINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PACELINE_STATE", str(tmp_path / "state"))


def test_a_rehearsal_is_told_apart_by_what_it_plays(tmp_path: Path) -> None:
    assert fingerprint_of(False) == {}
    usual = fingerprint_of(True)["simulated"]
    assert (usual["scenario"], usual["time_scale"]) == ("rehearsal", 20.0)
    assert fingerprint_of("rehearsal") == fingerprint_of(True)
    own = tmp_path / "own.yaml"
    own.write_text("rpm: 60\n")
    before = fingerprint_of(str(own))
    assert before["simulated"]["rpm"] == 60.0
    own.write_text("rpm: 60\nseed: 1\n")
    assert fingerprint_of(str(own)) != before
    check_rehearsal(str(own))
    with pytest.raises(UsageError, match="there is no scenario"):
        check_rehearsal("none-such")


def test_keys_stand_in_for_those_that_are_missing_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own")
    with stand_in_keys(True, ["MINE"]):
        assert {name: os.environ[name] for name in (*KEYS, "MINE")} == {
            "OPENAI_API_KEY": "sk-own",
            "ANTHROPIC_API_KEY": STAND_IN,
            "MINE": STAND_IN,
        }
    assert {name: os.environ.get(name) for name in (*KEYS, "MINE")} == {
        "OPENAI_API_KEY": "sk-own",
        "ANTHROPIC_API_KEY": None,
        "MINE": None,
    }
    with stand_in_keys(False):
        assert "ANTHROPIC_API_KEY" not in os.environ


def test_a_process_that_only_rehearses_has_no_key_to_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-own")
    put_keys_away()
    assert {os.environ[name] for name in KEYS} == {STAND_IN}


def test_the_provider_lasts_as_long_as_the_rehearsal() -> None:
    import httpx2

    with rehearsal("gentle") as url:
        assert httpx2.get(f"{url}/healthz").json() == {"status": "ok"}
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{url}/healthz")


@pytest.mark.parametrize("which", ["openai:m", "openai-responses:m", "anthropic:m", "compatible"])
def test_a_rehearsal_from_python_needs_no_key_and_reaches_nobody(which: str, tmp_path: Path) -> None:
    nobody = "openai-compatible:m@https://nobody.invalid/v1"
    task = ModelTask(nobody if which == "compatible" else which)
    report = SUMS.evaluate_sync(task, rehearse="gentle", journal=tmp_path / "run")
    assert report.pass_rate == 1.0
    assert report.name == "sums-rehearsal"
    assert report.figures.calls is None
    assert report.figures.rehearsal is not None
    assert report.figures.simulated is not None
    assert report.figures.simulated.spending.calls == 5
    assert not (tmp_path / "state").exists()  # nothing is learned from it, and nothing shared
    assert "OPENAI_API_KEY" not in os.environ


def test_the_words_of_answers_are_not_struck_out_because_a_stand_in_key_reads_like_them(
    tmp_path: Path,
) -> None:
    words = Dataset(name="words", cases=[Case(name="a", inputs="none simulated rehearsal")])
    for _ in range(2):
        words.evaluate_sync(ModelTask("openai:m"), rehearse="gentle", journal=tmp_path / "run")
        (case,) = Report.read(tmp_path / "run").cases
        assert case.output == "none simulated rehearsal"


def test_a_model_that_the_simulated_provider_cannot_play_is_said_so(tmp_path: Path) -> None:
    import httpx2

    async def gemini(_inputs: Any) -> str:
        async with httpx2.AsyncClient() as client:
            url = "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent"
            return (await client.post(url, json={"contents": []}, headers={"x-goog-api-key": "k"})).text

    report = SUMS.evaluate_sync(gemini, rehearse=True, journal=tmp_path / "run", retry_task=1)
    assert {failure.outcome for failure in report.failures} == {"task_error"}
    assert "cannot be rehearsed" in report.failures[0].error_message


def test_a_rehearsal_in_which_no_call_was_seen_is_marked_all_the_same(tmp_path: Path) -> None:
    report = SUMS.evaluate_sync(lambda question: "1", rehearse=True, journal=tmp_path / "run")
    assert report.figures.simulated is None
    assert report.figures.is_simulated
    assert "SIMULATED" in report.render()


@pytest.mark.parametrize("which", ["async", "sync"])
def test_a_proxy_that_the_client_would_go_through_hears_nothing_of_a_rehearsal(
    which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from openai import AsyncOpenAI, OpenAI

    with socket.create_server(("127.0.0.1", 0)) as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.delenv("NO_PROXY", raising=False)

        def body(question: str) -> dict[str, Any]:
            return {"model": "m", "messages": [{"role": "user", "content": question}]}

        def ask(question: str) -> str:
            with OpenAI(api_key="any", timeout=20) as client:
                return str(client.chat.completions.create(**body(question)).choices[0].message.content)

        async def ask_async(question: str) -> str:
            async with AsyncOpenAI(api_key="any", timeout=20) as client:
                answer = await client.chat.completions.create(**body(question))
                return str(answer.choices[0].message.content)

        task: Any = ask if which == "sync" else ask_async
        report = SUMS.evaluate_sync(task, rehearse="gentle", journal=False)
        proxy.setblocking(False)
        with pytest.raises(BlockingIOError):
            proxy.accept()  # nobody has come
    assert report.pass_rate == 1.0
