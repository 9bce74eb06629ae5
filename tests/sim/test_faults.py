"""Every fault as a real client meets it, whole and as a stream; and none of it counts as an answer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anthropic as anthropic_sdk
import httpx2
import openai as openai_sdk
import pytest

from paceline.sim import RunningSim
from paceline.sim.delivery import course_of, timetable
from paceline.sim.scenario import FAULT_KINDS
from paceline.sim.wire import Event
from tests.sim.served import HELLO, anthropic, openai, served, user

Ask = Callable[[RunningSim], Any]
CUT_OFF = (
    openai_sdk.APIConnectionError,
    anthropic_sdk.APIConnectionError,
    httpx2.ReadError,
    httpx2.RemoteProtocolError,
)
FAILED = (openai_sdk.InternalServerError, anthropic_sdk.InternalServerError)


def chat(sim: RunningSim) -> Any:
    with openai(sim) as client:
        return client.chat.completions.create(model="m", messages=user(HELLO)).choices[0].message.content


def chat_stream(sim: RunningSim) -> Any:
    with openai(sim) as client:
        chunks = list(client.chat.completions.create(model="m", messages=user(HELLO), stream=True))
    whole = chunks[-1].choices[0].finish_reason == "stop"
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks) + ("" if whole else " (cut)")


def response(sim: RunningSim) -> Any:
    with openai(sim) as client:
        return client.responses.create(model="m", input=HELLO).output_text


def response_stream(sim: RunningSim) -> Any:
    with openai(sim) as client, client.responses.stream(model="m", input=HELLO) as stream:
        return stream.get_final_response().output_text


def message(sim: RunningSim) -> Any:
    with anthropic(sim) as client:
        return (
            client.messages.create(model="m", max_tokens=99, messages=user(HELLO))
            .content[0]
            .model_dump()["text"]
        )


def message_stream(sim: RunningSim) -> Any:
    asked: Any = {"model": "m", "max_tokens": 99, "messages": user(HELLO)}
    with anthropic(sim) as client, client.messages.stream(**asked) as stream:
        final = stream.get_final_message()
    text = final.content[0].model_dump()["text"]
    return text if final.stop_reason == "end_turn" else f"{text} (cut)"


WHOLE = (chat, response, message)
STREAMS = (chat_stream, response_stream, message_stream)


def faulty(kind: str) -> RunningSim:
    """Every call goes wrong in this way, and in a tenth of a second."""
    return served(latency=0.1, faults={kind: 1, "stall_seconds": 0.2, "slow_seconds": 0.2})


@pytest.mark.parametrize("ask", [*WHOLE, *STREAMS])
def test_an_error_is_a_500_whatever_was_asked_for(ask: Ask) -> None:
    with faulty("error") as sim, pytest.raises(FAILED):
        ask(sim)


@pytest.mark.parametrize("ask", [*WHOLE, *STREAMS])
def test_a_reset_breaks_the_connection(ask: Ask) -> None:
    with faulty("reset") as sim, pytest.raises(CUT_OFF) as met:
        ask(sim)
    assert "reset" in str(met.value.__cause__ or met.value)


@pytest.mark.parametrize("ask", [*WHOLE, *STREAMS])
def test_a_stall_keeps_a_client_waiting_and_then_lets_it_down(ask: Ask) -> None:
    with faulty("stall") as sim:
        begun = time.monotonic()
        with pytest.raises(CUT_OFF):
            ask(sim)
        assert time.monotonic() - begun > 0.3


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_does_not_wait_for_ever_gives_a_stall_up_and_is_seen_to_go(stream: bool) -> None:
    def ask(client: openai_sdk.OpenAI) -> None:
        list(client.chat.completions.create(model="m", messages=user(HELLO), stream=stream))

    with served(faults={"stall": 1, "stall_seconds": 3600}) as sim:
        with openai(sim, timeout=0.2) as client, pytest.raises(openai_sdk.APITimeoutError):
            ask(client)
        wait_until(lambda: sim.stats().hung_up == 1)
        assert sim.stats().in_flight == 0


@pytest.mark.parametrize("ask", WHOLE)
def test_a_truncated_answer_is_whole_by_its_status_and_no_json(ask: Ask) -> None:
    with faulty("truncate") as sim, pytest.raises(json.JSONDecodeError):
        ask(sim)


def test_a_truncated_stream_ends_as_if_it_were_whole() -> None:
    with faulty("truncate") as sim:
        assert chat_stream(sim).endswith(" (cut)")
        assert message_stream(sim).endswith(" (cut)")
        with pytest.raises(RuntimeError, match=r"response\.completed"):
            response_stream(sim)


@pytest.mark.parametrize("ask", [*WHOLE, *STREAMS])
def test_a_slow_answer_is_late_and_right(ask: Ask) -> None:
    with faulty("slow") as sim:
        begun = time.monotonic()
        assert ask(sim) == HELLO
        assert time.monotonic() - begun > 0.3
        assert sim.stats().answered == 1


@pytest.mark.parametrize("ask", WHOLE)
def test_an_error_in_a_stream_is_a_500_where_nothing_is_streamed(ask: Ask) -> None:
    with faulty("stream_error") as sim, pytest.raises(FAILED):
        ask(sim)


def test_an_error_in_a_stream_comes_after_some_of_the_answer() -> None:
    with faulty("stream_error") as sim:
        pieces: list[Any] = []
        with openai(sim) as client:
            chunks = client.chat.completions.create(model="m", messages=user(HELLO), stream=True)
            with pytest.raises(openai_sdk.APIError, match="The server had an error"):
                pieces.extend(chunk.choices[0].delta.content for chunk in chunks)
        assert len(pieces) > 3
        assert HELLO.startswith("".join(pieces))
        with openai(sim) as client:
            events = list(client.responses.create(model="m", input=HELLO, stream=True))
        assert events[-1].type == "error"
        assert events[-1].sequence_number == len(events) - 1
        with pytest.raises(anthropic_sdk.APIStatusError, match="overloaded_error"):
            message_stream(sim)


@pytest.mark.parametrize("kind", FAULT_KINDS)
def test_what_went_wrong_is_counted_by_kind_and_not_as_answered(kind: str) -> None:
    with faulty(kind) as sim:
        for ask in (chat, chat_stream):
            with suppress(openai_sdk.APIError, json.JSONDecodeError):
                ask(sim)
        seen = sim.stats()
    assert seen.faults == {kind: 2}
    assert (seen.accepted, seen.answered, seen.in_flight) == (2, 2 if kind == "slow" else 0, 0)
    assert seen.prompts.accepted_twice == 1
    assert seen.prompts.answered_twice == (1 if kind == "slow" else 0)


def test_faults_come_at_their_rates_and_the_same_each_time() -> None:
    def went(seed: int) -> list[str]:
        outcomes = []
        with served(seed=seed, faults={"error": 0.2, "truncate": 0.1}) as sim, openai(sim) as client:
            for number in range(60):
                try:
                    client.responses.create(model="m", input=f"prompt {number}")
                    outcomes.append("well")
                except Exception as error:
                    outcomes.append(type(error).__name__)
        return outcomes

    once = went(1)
    assert once == went(1)
    assert once != went(2)
    assert 30 < once.count("well") < 55
    assert set(once) == {"well", "InternalServerError", "JSONDecodeError"}


def wait_until(holds: Callable[[], bool]) -> None:
    """Until something is so that another process sees to; for some seconds at most."""
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# ---- when pieces are sent ----

PIECES = [Event(b"<"), *(Event(b"%d" % n, timed=True) for n in range(8)), Event(b">")]


def test_pieces_are_spread_over_the_time_and_the_last_comes_at_its_end() -> None:
    sent = timetable(PIECES, 10.0, 18.0, tick=0.01)
    assert [sending.due for sending in sent] == [10, 11, 12, 13, 14, 15, 16, 17, 18]
    assert sent[0].data == b"<0"
    assert b"".join(sending.data for sending in sent) == b"<01234567>"


def test_pieces_that_are_due_close_together_are_sent_together_and_never_early() -> None:
    sent = timetable(PIECES, 10.0, 18.0, tick=2.5)
    assert [(sending.due, sending.data) for sending in sent] == [
        (10, b"<0"),
        (13, b"123"),
        (16, b"456"),
        (18, b"7>"),
    ]


def test_without_time_all_is_sent_at_once() -> None:
    assert timetable(PIECES, 5.0, 5.0, tick=0.01) == [(5.0, b"<01234567>")]
    assert timetable([], 5.0, 6.0, tick=0.01) == []


@pytest.mark.parametrize("kind", [None, *FAULT_KINDS])
def test_of_a_stream_that_goes_wrong_at_most_half_is_right(kind: Any) -> None:
    course = course_of(kind, PIECES, lambda sent: Event(b"error after %d" % sent))
    said = b"".join(piece.data for piece in course.pieces)
    if kind in {None, "slow", "error"}:
        assert (said, course.ending) == (b"<01234567>", "end")
    else:
        assert said.startswith(b"<0123")
        assert b"5" not in said.replace(b"error after 5", b"")
