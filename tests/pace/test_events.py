"""What passes by in a streamed answer is found however the bytes are cut up, and nothing else is kept."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.calls import Usage
from paceline.pace.events import LONGEST_LINE, Events, Opaque


def wire(*told: Any, done: bool = False, blank: str = "") -> bytes:
    separators = (f",{blank}", f":{blank}")
    lines = [f"data: {json.dumps(each, separators=separators)}\n\n" for each in told]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def looked(raw: bytes, *, size: int = 10**9, encoding: str = "") -> Events:
    events = Events(encoding, says_end=True)
    for at in range(0, len(raw), size):
        events.saw(raw[at : at + size])
    return events


def chunk(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": None}


COUNTED = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None}


@pytest.mark.parametrize(
    ("event", "has_content"),
    [
        (chunk(role="assistant"), False),
        (chunk(role="assistant", content=""), False),
        (chunk(content="a"), True),
        (chunk(tool_calls=[{"index": 0}]), True),
        (chunk(reasoning_content="hm"), True),
        (STOP, True),
        (COUNTED, False),
        ({"type": "message_start", "message": {"usage": {"input_tokens": 3}}}, False),
        ({"type": "ping"}, False),
        ({"type": "content_block_delta", "delta": {"text": "a"}}, True),
        ({"type": "response.created", "response": {"error": None}}, False),
        ({"type": "response.output_text.delta", "delta": "a"}, True),
        ({"candidates": [{"content": {}}]}, True),
        ({"anything": "else"}, True),
        ([1, 2], True),
    ],
)
def test_content_is_what_the_model_says(event: Any, has_content: bool) -> None:
    assert looked(wire(event)).content is has_content


@pytest.mark.parametrize(
    "ending",
    [
        [STOP],
        [{"type": "message_stop"}],
        [{"type": "response.completed", "response": {"usage": {"input_tokens": 7, "output_tokens": 3}}}],
        [{"type": "response.incomplete", "response": {"usage": None}}],
    ],
)
@pytest.mark.parametrize("blank", ["", " "])
def test_a_stream_is_whole_when_it_says_so(ending: list[Any], blank: str) -> None:
    said = [chunk(content="word ")] * 5
    assert not looked(wire(*said, blank=blank)).whole
    assert looked(wire(*said, *ending, blank=blank)).whole
    assert looked(wire(*said, done=True)).whole


@given(
    told=st.lists(
        st.sampled_from(
            [
                chunk(role="assistant"),
                chunk(content='a text with "usage": and \\"error\\" and data: [DONE]\n\n in it'),
                chunk(content="ä € 😀"),
                STOP,
                COUNTED,
                {"error": {"code": 429, "message": "slow"}},
                {"type": "message_delta", "usage": {"input_tokens": 6, "output_tokens": 9}},
                {"type": "message_stop"},
            ]
        ),
        max_size=8,
    ),
    size=st.integers(1, 60),
    blank=st.sampled_from(["", " "]),
    done=st.booleans(),
)
def test_what_is_found_does_not_depend_on_how_the_bytes_are_cut_up(
    told: list[Any], size: int, blank: str, done: bool
) -> None:
    raw = wire(*told, done=done, blank=blank)
    whole, cut = looked(raw), looked(raw, size=size)
    packed = looked(gzip.compress(raw), size=size, encoding="gzip")
    facts = [
        (each.content, each.whole, each.complete, each.usage, each.error) for each in (whole, cut, packed)
    ]
    assert facts[0] == facts[1] == facts[2]
    assert whole.complete == (done or any(each == {"type": "message_stop"} for each in told))
    assert (whole.error is not None) == any("error" in each for each in told)


def test_a_text_that_speaks_of_usage_and_errors_is_text() -> None:
    events = looked(wire(chunk(content='"error": {"message": "x"}, "usage": {"prompt_tokens": 9}, [DONE]')))
    assert (events.usage, events.error, events.complete, events.whole) == (None, None, False, False)


def test_usage_that_is_told_in_two_places_is_put_together() -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 6, "cache_read_input_tokens": 4}}}
    delta = {"type": "message_delta", "usage": {"output_tokens": 9}}
    told = looked(wire(start, chunk(content="a"), delta))
    assert told.usage == Usage(input=10, output=9, cached=4)


def test_a_line_that_never_ends_is_let_go() -> None:
    events = Events(says_end=True)
    for _ in range(3):
        events.saw(b"data: " + b"a" * LONGEST_LINE)
    assert len(events._line) <= LONGEST_LINE
    events.saw(b"\n\n" + wire(COUNTED))
    assert events.usage == Usage(input=7, output=3)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip"])
def test_what_cannot_be_looked_into_is_content_and_may_end_anywhere(encoding: str) -> None:
    events = Events(encoding, says_end=True)
    events.saw(b"\x00\x01 no such thing")
    assert (events.content, events.whole, events.error, events.complete) == (True, True, None, False)
    opaque = Opaque()
    opaque.saw(b"")
    assert not opaque.content
    opaque.saw(b"a")
    assert (opaque.content, opaque.whole) == (True, True)


@given(st.lists(st.binary(max_size=80), max_size=20), st.sampled_from(["", "gzip", "deflate", "br"]))
def test_whatever_passes_nothing_is_raised(parts: list[bytes], encoding: str) -> None:
    events = Events(encoding)
    for part in parts:
        events.saw(part)
