"""One call: what happens between asking and the end of the answer, in an order that costs nobody anything."""

from __future__ import annotations

import gc
import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.calls import Usage
from paceline.pace.messages import FRESH, RETRY, PoolId, Result
from tests.pace.trips import (
    COMPLETION,
    KEY,
    MESSAGES,
    RESPONSES,
    USAGE,
    Body,
    Stage,
    answer,
    chunk,
    events,
    refusal,
    streamed,
    text_of,
)

RPM = "Rate limit reached on requests per min (RPM): Limit 500, Used 500, Requested 1."
READ = Usage(input=12, output=5, cached=4)


# A call that is answered --------------------------------------------------------------------------


def test_an_answered_call_waits_for_leave_is_sent_once_and_frees_its_place() -> None:
    stage = Stage()
    stage.says(answer())
    response = stage.call()
    assert json.loads(text_of(response)) == COMPLETION
    assert stage.asked == [FRESH]
    assert stage.told.words == ["begun", "waiting", "going", "ended"]
    assert stage.at_rest()


def test_what_is_on_record_of_a_call_says_what_it_was_and_what_it_took() -> None:
    stage = Stage()
    stage.says(answer())
    stage.call()
    call = stage.record
    assert (call.pool, call.host, call.model) == (
        "openai:gpt-5.4-mini",
        "https://api.openai.com",
        "gpt-5.4-mini",
    )
    assert (call.status, call.outcome, call.tries, call.streamed) == (200, "ok", 1, False)
    assert call.usage == READ
    assert call.price == pytest.approx((8 * 0.75 + 4 * 0.075 + 5 * 4.5) / 1e6)
    assert (call.seconds, call.waited, call.first_token) == (0.5, 0.0, None)
    assert call.at == 1_795_000_000.0
    assert call.error == ""


def test_a_call_that_waits_for_its_turn_has_waited_and_is_no_slower_for_it() -> None:
    stage = Stage(rps=0.1)
    stage.says(answer(), answer())
    stage.call()
    stage.call()
    first, second = stage.told.calls
    assert first is not None
    assert second is not None
    assert second.seconds == first.seconds == 0.5
    assert second.waited == pytest.approx(stage.sent_at[1] - stage.sent_at[0] - 0.5)
    assert second.waited > 5


def test_a_refusal_of_the_request_itself_is_an_answer() -> None:
    stage = Stage()
    stage.says(refusal(400, "max_tokens is too large", code="invalid_request_error"))
    response = stage.call()
    assert (response.status_code, response.headers["x-should-retry"]) == (400, "false")
    assert (stage.record.outcome, stage.record.status, stage.record.tries) == ("ok", 400, 1)
    assert stage.facts.accepted == 1


def test_a_redirection_is_no_answered_call() -> None:
    stage = Stage()
    stage.says(answer(b"", status=307, headers={"location": "https://elsewhere.test/v1/chat/completions"}))
    assert stage.call().status_code == 307
    assert stage.told.calls == [None]
    assert stage.at_rest()


# Sent again ---------------------------------------------------------------------------------------


def test_a_rejected_call_asks_again_with_precedence_and_goes_when_the_provider_said() -> None:
    stage = Stage()
    stage.says(refusal(429, RPM, retry_after=7), answer())
    assert stage.call().status_code == 200
    assert stage.asked == [FRESH, RETRY]
    assert stage.sent_at[1] - stage.sent_at[0] >= 7
    assert (stage.record.tries, stage.record.outcome) == (2, "ok")
    assert stage.record.waited == pytest.approx(7, abs=1)
    assert stage.record.seconds == 0.5


def test_rejections_use_up_no_try() -> None:
    stage = Stage()
    stage.says(*(refusal(429, RPM, retry_after=1) for _ in range(40)), answer())
    assert stage.call().status_code == 200
    assert stage.record.tries == 41


def test_a_rejected_call_gives_up_when_its_pool_has_answered_nobody_for_an_hour() -> None:
    stage = Stage()
    stage.says(*(refusal(429, RPM, retry_after=60) for _ in range(400)))
    response = stage.call()
    assert (response.status_code, response.headers["x-should-retry"]) == (429, "false")
    assert 3_600 <= stage.sent_at[-1] <= 3_800
    assert (stage.record.outcome, stage.record.cause) == ("rate_limited", "requests")
    assert stage.at_rest()


def test_an_overloaded_provider_is_asked_six_times_with_growing_waits_and_then_the_sdk_is_told_to_stop() -> (
    None
):
    stage = Stage()
    stage.says(*(refusal(529, "Overloaded") for _ in range(7)))
    response = stage.call()
    assert (response.status_code, response.headers["x-should-retry"]) == (529, "false")
    assert (len(stage.sent), stage.left) == (6, 1)
    assert all(wait <= 2.0**number for number, wait in enumerate(stage.pauses))
    assert (stage.record.outcome, stage.record.tries, stage.record.status) == ("overloaded", 6, 529)


def test_an_overloaded_provider_is_left_alone_for_as_long_as_it_asks() -> None:
    stage = Stage()
    stage.says(refusal(503, "overloaded", retry_after=20), answer())
    stage.call()
    assert stage.pauses == [20.0]


def test_nothing_is_in_flight_while_a_call_waits_to_be_sent_again() -> None:
    stage = Stage(window=1)
    stage.says(refusal(500), httpx2.ReadTimeout("slow"), answer(b'{"choices": [', status=200), answer())
    stage.call()
    assert [facts.in_flight for facts in stage.while_pausing] == [0, 0, 0]
    assert stage.record.waited == pytest.approx(sum(stage.pauses))


def test_waiting_to_be_sent_again_is_told_as_waiting() -> None:
    stage = Stage()
    stage.says(refusal(500), answer())
    stage.call()
    assert stage.told.words == ["begun", *["waiting", "going"] * 3, "ended"]


def test_json_that_breaks_off_is_asked_for_again() -> None:
    stage = Stage()
    stage.says(answer(json.dumps(COMPLETION).encode()[:-9]), answer())
    assert json.loads(text_of(stage.call())) == COMPLETION
    assert stage.record.tries == 2


def test_an_error_inside_an_answer_of_status_200_counts_as_what_it_says() -> None:
    stage = Stage()
    stage.says(answer({"error": {"code": 502, "message": "Provider returned error"}}), answer())
    assert json.loads(text_of(stage.call())) == COMPLETION
    assert stage.record.tries == 2


def test_who_says_that_trying_again_is_useless_is_asked_once() -> None:
    stage = Stage()
    stage.says(refusal(500, "never", headers={"x-should-retry": "false"}))
    assert stage.call().status_code == 500
    assert stage.record.tries == 1


def test_a_request_that_never_fits_its_limit_is_not_sent_again() -> None:
    stage = Stage()
    stage.says(refusal(429, "Request too large on tokens per min (TPM): Limit 30000, Requested 41200."))
    response = stage.call()
    assert (response.status_code, response.headers["x-should-retry"]) == (429, "false")
    assert stage.record.tries == 1


def test_a_body_that_can_be_read_but_once_is_sent_once() -> None:
    stage = Stage()
    stage.says(refusal(500))
    told = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    request = httpx2.Request(
        "POST", "https://api.openai.com/v1/chat/completions", content=iter([b"{}"]), headers=told
    )
    assert stage.call(request).status_code == 500
    assert (stage.record.tries, stage.record.model) == (1, "unknown")


# Exceptions in place of an answer -----------------------------------------------------------------


def test_a_broken_connection_is_tried_again_and_in_the_end_raised_as_it_came() -> None:
    stage = Stage()
    broken = [httpx2.ConnectError(f"refused {number}") for number in range(6)]
    stage.says(*broken)
    with pytest.raises(httpx2.ConnectError, match="refused 5"):
        stage.call()
    assert (stage.record.outcome, stage.record.tries, stage.record.status) == ("transient", 6, None)
    assert stage.record.error == "ConnectError: refused 5"
    assert stage.at_rest()


def test_an_sdk_that_asks_again_after_an_exception_gets_the_same_at_once_and_for_free() -> None:
    stage = Stage()
    stage.says(*[httpx2.ReadTimeout("slow")] * 6, answer())
    with pytest.raises(httpx2.ReadTimeout):
        stage.call()
    again = {"x-stainless-retry-count": "1"}
    with pytest.raises(httpx2.ReadTimeout, match="slow") as raised:
        stage.call(headers=again)
    assert raised.value.__context__ is None
    assert (len(stage.sent), stage.left) == (6, 1)
    assert stage.told.calls[1:] == [None]
    assert stage.at_rest()


def test_what_failed_before_is_asked_anew_by_somebody_else_about_something_else_or_later() -> None:
    stage = Stage()
    stage.says(*[httpx2.ReadTimeout("slow")] * 6, *[answer() for _ in range(4)])
    with pytest.raises(httpx2.ReadTimeout):
        stage.call()
    again = {"x-stainless-retry-count": "1"}
    assert stage.call().status_code == 200
    assert stage.call(headers=again, temperature=1).status_code == 200
    assert stage.call(headers=again, key="sk-another-key-another-account").status_code == 200
    stage.clock.move(121)
    assert stage.call(headers=again).status_code == 200


def test_what_is_wrong_on_our_side_is_raised_at_once_and_blamed_on_nobody() -> None:
    stage = Stage()
    stage.says(httpx2.LocalProtocolError("a header with a newline"))
    with pytest.raises(httpx2.LocalProtocolError):
        stage.call()
    assert (stage.record.outcome, stage.record.tries) == ("cancelled", 1)
    assert (stage.facts.accepted, stage.facts.rejected, stage.facts.by_cause) == (0, 0, {})
    assert stage.at_rest()


def test_an_interrupt_while_it_is_sent_leaves_nothing_behind() -> None:
    stage = Stage()
    body = Body([b"{", KeyboardInterrupt()])
    stage.says(httpx2.Response(200, headers={"content-type": "application/json"}, stream=body))
    with pytest.raises(KeyboardInterrupt):
        stage.call()
    assert (stage.record.outcome, body.closed) == ("cancelled", 1)
    assert stage.at_rest()


# Refused for good ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code", "cause"), [(401, "invalid_api_key", "auth"), (429, "insufficient_quota", "quota")]
)
def test_a_refusal_for_good_closes_the_pool_and_whoever_asks_later_gets_the_same(
    status: int, code: str, cause: str
) -> None:
    stage = Stage()
    stage.says(refusal(status, "It is over.", code=code))
    first = stage.call()
    second = stage.call(temperature=1)
    assert first.status_code == second.status_code == status
    assert text_of(first) == text_of(second)
    assert second.headers["x-should-retry"] == first.headers["x-should-retry"] == "false"
    assert len(stage.sent) == 1
    assert stage.at_rest()
    # Both are on record: a case that was turned away was not wrong, nobody has asked its question.
    told = [(call.outcome, call.cause, call.tries) for call in stage.told.calls if call is not None]
    assert told == [("fatal", cause, 1), ("fatal", cause, 0)]


def test_calls_with_another_key_or_model_are_none_the_worse_for_it() -> None:
    stage = Stage()
    stage.says(refusal(401, "wrong", code="invalid_api_key"), answer(), answer())
    stage.call()
    assert stage.call(key="sk-another-key-another-account").status_code == 200
    assert stage.call(model="gpt-5.4").status_code == 200


def test_a_refusal_that_another_process_got_is_told_in_words_that_the_sdk_understands() -> None:
    stage = Stage()
    stage.says(answer())
    stage.call()
    stage.door.desk.settle(
        stage.desk.acquire_sync(stage.facts.id), Result(outcome="fatal", cause="quota", message="No credit.")
    )
    response = stage.call()
    assert (response.status_code, response.headers["x-should-retry"]) == (429, "false")
    error = json.loads(text_of(response))["error"]
    assert error["code"] == "insufficient_quota"
    assert "No credit." in error["message"]
    assert "paceline resume" in error["message"]


def test_it_is_told_in_the_words_of_the_wire_that_was_spoken() -> None:
    stage = Stage()
    stage.says(answer())
    stage.call(stage.request(MESSAGES, headers={"x-api-key": KEY}, key=""))
    stage.door.desk.settle(stage.desk.acquire_sync(stage.facts.id), Result(outcome="fatal", cause="auth"))
    response = stage.call(stage.request(MESSAGES, headers={"x-api-key": KEY}, key=""))
    document = json.loads(text_of(response))
    assert (response.status_code, document["error"]["type"]) == (401, "authentication_error")


def test_a_call_that_is_turned_away_in_the_midst_of_its_tries_has_made_them() -> None:
    stage = Stage()

    def shut() -> None:
        pool = PoolId("openai", "https://api.openai.com", "gpt-5.4-mini", stage.facts.id.account)
        stage.desk.settle(stage.desk.acquire_sync(pool), Result(outcome="fatal", cause="auth"))

    stage.says(streamed(shut, httpx2.ReadError("reset")))
    assert stage.call().status_code == 401
    assert (stage.record.outcome, stage.record.tries) == ("fatal", 1)
    assert stage.at_rest()


def test_when_the_run_is_over_calls_are_turned_away() -> None:
    stage = Stage()
    stage.says(answer())
    stage.call()
    stage.desk.close()
    response = stage.call()
    assert (response.status_code, response.headers["x-should-retry"]) == (503, "false")
    assert "run is ending" in text_of(response)


def test_an_error_for_good_inside_a_stream_closes_the_pool_and_later_calls_are_refused_in_other_words() -> (
    None
):
    stage = Stage()
    spent = {"error": {"code": "insufficient_quota", "message": "No credit."}}
    stage.says(streamed(*events(spent)))
    assert "insufficient_quota" in text_of(stage.call(stream=True))
    later = stage.call(stream=True)
    assert later.status_code == 429
    assert "No credit." in text_of(later)


# Streams ------------------------------------------------------------------------------------------


def test_every_byte_of_a_stream_goes_to_the_caller_as_soon_as_it_has_come() -> None:
    stage = Stage()
    parts = events(chunk(), chunk("Par"), chunk("is"), chunk(finish="stop"))
    stage.says(streamed(*parts))
    response = stage.call(stream=True)
    (body,) = stage.bodies
    assert body.read == 2, "the first says nothing, the second does"
    got = [(piece, body.read) for piece in pieces(response)]
    assert got == [(parts[0], 2), *((part, number) for number, part in enumerate(parts[1:], start=2))]


def pieces(response: httpx2.Response) -> Iterator[bytes]:
    """The body as a thread reads it."""
    assert isinstance(response.stream, httpx2.SyncByteStream)
    return iter(response.stream)


def test_a_stream_holds_its_place_until_its_last_event_and_no_longer() -> None:
    stage = Stage()
    parts = events(chunk(), chunk("Paris"), chunk(usage=USAGE))
    stage.says(streamed(*parts))
    response = stage.call(stream=True)
    assert [stage.facts.in_flight for _ in pieces(response)] == [1, 1, 1, 0]
    assert stage.at_rest()


def test_a_stream_that_comes_all_at_once_holds_its_place_no_longer_than_that() -> None:
    stage = Stage()
    raw = b"".join(part for part in events(chunk("Paris"), chunk(usage=USAGE)) if isinstance(part, bytes))
    stage.says(streamed(raw, b"\n"))
    response = stage.call(stream=True)
    assert stage.facts.in_flight == 0, "its last event has come, whether it is read or not"
    assert (stage.record.outcome, stage.record.usage) == ("ok", READ)
    response.close()
    assert stage.at_rest()


def test_the_first_content_is_what_is_timed_not_what_comes_before_it() -> None:
    stage = Stage()
    stage.says(streamed(*events(chunk(), done=False), lambda: stage.clock.move(3), *events(chunk("Paris"))))
    text_of(stage.call(stream=True))
    assert stage.record.first_token == pytest.approx(3.5)
    assert stage.record.streamed


ANTHROPIC_EVENTS: list[Any] = [
    {
        "type": "message_start",
        "message": {
            "model": "claude-haiku-5-5",
            "usage": {
                "input_tokens": 6,
                "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 2,
                "output_tokens": 1,
            },
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Paris"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
]
RESPONSES_EVENTS: list[Any] = [
    {"type": "response.created", "response": {"id": "r", "status": "in_progress", "error": None}},
    {"type": "response.output_text.delta", "delta": "Paris"},
    {
        "type": "response.completed",
        "response": {
            "id": "r",
            "status": "completed",
            "error": None,
            "usage": {
                "input_tokens": 12,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 3},
            },
        },
    },
]


@pytest.mark.parametrize(
    ("url", "told", "usage"),
    [
        (None, [chunk(), chunk("Paris"), chunk(finish="stop"), chunk(usage=USAGE)], READ),
        (RESPONSES, RESPONSES_EVENTS, Usage(input=12, output=5, cached=4, reasoning=3)),
        (MESSAGES, ANTHROPIC_EVENTS, Usage(input=12, output=5, cached=4, cache_write=2)),
    ],
    ids=["chat", "responses", "anthropic"],
)
def test_the_usage_of_a_stream_is_read_where_each_wire_tells_it(
    url: str | None, told: list[Any], usage: Usage
) -> None:
    stage = Stage()
    stage.says(streamed(*events(*told, done=url is None)))
    request = stage.request(url, stream=True) if url else stage.request(stream=True)
    text_of(stage.call(request))
    assert stage.record.usage == usage
    assert stage.record.outcome == "ok"


def test_a_stream_that_does_not_tell_its_usage_costs_nobody_knows_what() -> None:
    stage = Stage()
    stage.says(streamed(*events(chunk("Paris"))))
    text_of(stage.call(stream=True))
    assert (stage.record.usage, stage.record.price) == (None, None)


ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def test_an_error_before_the_first_content_of_a_stream_is_mended() -> None:
    stage = Stage()
    stage.says(streamed(*events(chunk(), ERROR)), streamed(*events(chunk("Paris"))))
    assert "Paris" in text_of(stage.call(stream=True))
    assert (stage.record.tries, stage.record.outcome) == (2, "ok")
    assert stage.at_rest()


def test_a_stream_that_begins_with_an_error_each_time_is_handed_over_as_it_came() -> None:
    stage = Stage()
    stage.says(*[streamed(*events(chunk(), ERROR)) for _ in range(6)])
    assert "Overloaded" in text_of(stage.call(stream=True))
    assert (stage.record.tries, stage.record.outcome, stage.record.status) == (6, "overloaded", 200)
    assert stage.at_rest()


def test_an_error_after_the_first_content_is_the_callers_and_the_pool_hears_of_it() -> None:
    stage = Stage()
    stage.says(streamed(*events(chunk("Par"), ERROR)))
    assert "Overloaded" in text_of(stage.call(stream=True))
    assert (stage.record.tries, stage.record.outcome, stage.record.error) == (1, "overloaded", "Overloaded")
    assert stage.facts.by_cause == {"overloaded": 1}
    assert stage.at_rest()


def test_a_stream_that_breaks_off_after_its_first_content_raises_what_it_broke_off_with() -> None:
    stage = Stage()
    stage.says(
        streamed(*events(chunk("Par"), done=False), httpx2.RemoteProtocolError("peer closed connection"))
    )
    response = stage.call(stream=True)
    with pytest.raises(httpx2.RemoteProtocolError):
        response.read()
    assert (stage.record.outcome, stage.record.first_token) == ("transient", 0.5)
    assert stage.record.price is None
    assert stage.at_rest()


def test_a_stream_that_breaks_off_before_its_first_content_is_asked_for_again() -> None:
    stage = Stage()
    stage.says(
        streamed(*events(chunk(), done=False), httpx2.ReadError("reset")), streamed(*events(chunk("Paris")))
    )
    assert "Paris" in text_of(stage.call(stream=True))
    assert stage.record.tries == 2


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (None, [chunk(), chunk("Par")]),
        (RESPONSES, RESPONSES_EVENTS[:2]),
        (MESSAGES, ANTHROPIC_EVENTS[:4]),
    ],
    ids=["chat", "responses", "anthropic"],
)
def test_a_stream_that_ends_without_having_said_so_is_not_taken_for_a_whole_answer(
    url: str | None, said: list[Any]
) -> None:
    stage = Stage()
    stage.says(streamed(*events(*said, done=False)))
    request = stage.request(url, stream=True) if url else stage.request(stream=True)
    with pytest.raises(httpx2.RemoteProtocolError, match="its stream has no end"):
        stage.call(request).read()
    assert (stage.record.outcome, stage.record.price) == ("transient", None)
    assert stage.at_rest()


def test_one_that_ends_before_it_has_said_anything_is_asked_for_again() -> None:
    stage = Stage()
    stage.says(streamed(), streamed(*events(chunk(), done=False)), streamed(*events(chunk("Paris"))))
    assert "Paris" in text_of(stage.call(stream=True))
    assert stage.record.tries == 3


def test_a_server_that_says_why_it_stopped_need_not_say_anything_after_that() -> None:
    stage = Stage()
    stage.says(streamed(*events(chunk("Paris"), chunk("", finish="stop"), done=False)))
    assert "Paris" in text_of(stage.call(stream=True))
    assert stage.record.outcome == "ok"


def test_a_stream_of_a_kind_that_never_says_its_end_may_end_anywhere() -> None:
    stage = Stage()
    gemini = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:streamGenerateContent?alt=sse"
    stage.says(streamed(*events({"candidates": [{"content": {}}]}, done=False)))
    assert "candidates" in text_of(stage.call(stage.request(gemini)))
    assert (stage.record.outcome, stage.record.pool) == ("ok", "gemini:gemini-3")


def test_a_stream_that_its_caller_closes_early_is_over() -> None:
    stage = Stage()
    stage.says(streamed(*events(chunk("Par"), chunk("is"))))
    response = stage.call(stream=True)
    (body,) = stage.bodies
    next(pieces(response))
    assert stage.facts.in_flight == 1
    response.close()
    assert (stage.record.outcome, stage.record.price) == ("cancelled", None)
    assert body.closed == 1
    assert stage.at_rest()


def test_a_stream_that_its_caller_forgets_is_over() -> None:
    stage = Stage()
    stage.says(streamed(*events(chunk("Par"), chunk("is"))))
    response = stage.call(stream=True)
    next(pieces(response))
    told: list[Any] = []
    stage.told.forgotten = told.append  # type: ignore[attr-defined]  # a listener may have it
    del response
    gc.collect()
    assert [call.outcome for call in told] == ["cancelled"], "and nobody else is told"
    stage.told.ended(told[0])
    assert stage.at_rest()


def test_a_stream_that_is_closed_after_its_last_event_was_read_whole() -> None:
    stage = Stage()
    parts = events(chunk("Paris"), chunk(usage=USAGE))
    stage.says(streamed(*parts, b"\n"))
    response = stage.call(stream=True)
    for _ in zip(parts, pieces(response), strict=False):
        pass
    response.close()
    assert (stage.record.outcome, stage.record.usage) == ("ok", READ)
    assert stage.record.price is not None


def test_the_same_stream_comes_out_however_it_is_cut_up() -> None:
    raw = b"".join(part for part in events(*ANTHROPIC_EVENTS, done=False) if isinstance(part, bytes))
    for size in (1, 2, 7, 64, len(raw)):
        stage = Stage()
        stage.says(streamed(*(raw[at : at + size] for at in range(0, len(raw), size))))
        assert text_of(stage.call(stage.request(MESSAGES, stream=True))).encode() == raw
        assert stage.record.usage == Usage(input=12, output=5, cached=4, cache_write=2)
        assert stage.record.first_token == 0.5


def test_an_answer_that_says_that_it_is_huge_passes_by_unread() -> None:
    stage = Stage()
    stage.says(answer(b"{}", headers={"content-length": str(1 << 40)}))
    response = stage.call()
    assert stage.bodies[0].read == 1
    assert text_of(response) == "{}"
    assert stage.at_rest()


# Compressed ---------------------------------------------------------------------------------------


def test_a_compressed_answer_is_read_and_handed_over_as_it_came() -> None:
    stage = Stage()
    raw = gzip.compress(json.dumps(COMPLETION).encode())
    stage.says(
        answer(gzip.compress(b'{"error": {"code": 502}}'), status=502, headers={"content-encoding": "gzip"}),
        answer(raw, headers={"content-encoding": "gzip"}),
    )
    response = stage.call()
    assert json.loads(text_of(response)) == COMPLETION
    assert (stage.record.usage, stage.record.tries) == (READ, 2)


def test_a_compressed_stream_is_looked_into() -> None:
    stage = Stage()
    raw = gzip.compress(b"".join(p for p in events(*ANTHROPIC_EVENTS, done=False) if isinstance(p, bytes)))
    stage.says(streamed(raw[:30], raw[30:], headers={"content-encoding": "gzip"}))
    assert "Paris" in text_of(stage.call(stage.request(MESSAGES, stream=True)))
    assert stage.record.usage == Usage(input=12, output=5, cached=4, cache_write=2)


def test_a_stream_compressed_in_a_way_that_is_not_looked_into_passes_whole() -> None:
    stage = Stage()
    stage.says(streamed(b"\x1b\x03", b"\x00", headers={"content-encoding": "br"}))
    response = stage.call(stream=True)
    assert b"".join(pieces(response)) == b"\x1b\x03\x00"
    assert (stage.record.outcome, stage.record.usage) == ("ok", None)
    assert stage.at_rest()


# Keys ---------------------------------------------------------------------------------------------

PLAIN_KEY = "0123456789abcdef0123456789abcdef"
"""As Azure has them: of no form by which it could be known."""


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_a_key_that_a_refusal_repeats_is_taken_out_of_it(coding: str) -> None:
    stage = Stage()
    said = refusal(401, f"Incorrect API key provided: {PLAIN_KEY}.", headers={"x-request-id": "req_1"})
    raw = b"".join(pieces(said))
    packed = gzip.compress(raw) if coding == "gzip" else raw
    headers = {**said.headers, "content-encoding": coding, "content-length": str(len(packed))}
    stage.says(answer(packed, status=401, headers=headers))
    first = stage.call(key=PLAIN_KEY)
    second = stage.call(key=PLAIN_KEY)
    assert first.headers["x-request-id"] == "req_1"
    for response in (first, second):
        assert json.loads(text_of(response))["error"]["message"] == "Incorrect API key provided: [key]."
    assert not any(PLAIN_KEY in str(call) for call in stage.told.calls)


@pytest.mark.parametrize("before", [[], [chunk("Par")]], ids=["first", "later"])
def test_a_key_that_an_error_within_a_stream_repeats_is_taken_out_of_it(before: list[Any]) -> None:
    stage = Stage()
    error = {"error": {"code": "invalid_api_key", "message": f"Not {PLAIN_KEY}"}}
    stage.says(streamed(*events(*before, error)))
    assert PLAIN_KEY not in text_of(stage.call(key=PLAIN_KEY, stream=True))
    assert PLAIN_KEY not in str(stage.record)


# Whatever comes -----------------------------------------------------------------------------------

ANSWERS: dict[str, Callable[[], Any]] = {
    "whole": answer,
    "cut off": lambda: answer(b'{"choices": ['),
    "no json": lambda: answer(b"<html>", headers={"content-type": "text/html"}),
    "rejected": lambda: refusal(429, RPM, retry_after=1),
    "overloaded": lambda: refusal(529, "Overloaded"),
    "broken": lambda: refusal(500),
    "wrong": lambda: refusal(400, "no"),
    "spent": lambda: refusal(429, "over", code="insufficient_quota"),
    "reset": lambda: httpx2.ReadError("reset"),
    "ours": lambda: httpx2.LocalProtocolError("newline"),
    "stream": lambda: streamed(*events(chunk(), chunk("Paris"), chunk(usage=USAGE))),
    "empty stream": streamed,
    "garbage": lambda: streamed(b"data: {", b"\xff\xfe", b"\n\n\n", b"data: [1, 2\n"),
    "early error": lambda: streamed(*events(chunk(), ERROR)),
    "late error": lambda: streamed(*events(chunk("Par"), ERROR)),
    "early break": lambda: streamed(*events(chunk(), done=False), httpx2.ReadError("reset")),
    "late break": lambda: streamed(*events(chunk("Par"), done=False), httpx2.ReadError("reset")),
}


@given(
    said=st.lists(st.sampled_from(sorted(ANSWERS)), min_size=1, max_size=12),
    read=st.sampled_from(["whole", "a part", "nothing"]),
    limits=st.sampled_from([{}, {"window": 1}, {"rps": 2.0}]),
)
def test_whatever_is_answered_every_place_is_freed_and_the_end_is_told_once(
    said: list[str], read: str, limits: dict[str, Any]
) -> None:
    stage = Stage(**limits)
    stage.says(*(ANSWERS[name]() for name in said), *(answer() for _ in range(8)))
    response: httpx2.Response | None = None
    try:
        response = stage.call(stream=True)
        if read == "whole":
            response.read()
        elif read == "a part":
            next(pieces(response), None)
    except httpx2.TransportError:
        pass
    finally:
        if response is not None:
            response.close()
    assert stage.at_rest()
    assert stage.told.words.count("ended") == len(stage.told.calls) == 1
    assert len(stage.sent) == len(stage.asked) == (stage.record.tries)
    assert all(body.closed for body in stage.bodies), "no connection is kept"
