"""Lines become bytes and lines again; what is not what was written is noticed."""

from __future__ import annotations

import json
import math
from zlib import crc32

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paceline.journal.encoding import (
    LineDamaged,
    encode_line,
    is_sealed,
    seal,
    seal_all,
    unseal,
    without_right_seal,
)
from paceline.journal.records import CallLine, EndedLine, Line, OutcomeLine, Score
from tests.journal.lines import begin, call, lines, outcome, output, run_line


def sealed(line: Line) -> bytes:
    return seal(encode_line(line))[:-1]


@given(lines)
def test_a_line_comes_back_as_it_was_written(line: Line) -> None:
    read = unseal(sealed(line))
    assert encode_line(read) == encode_line(line)
    assert type(read) is type(line)


@given(lines)
def test_a_line_in_the_file_is_one_json_object_whose_last_key_is_the_checksum_of_what_precedes_it(
    line: Line,
) -> None:
    raw = seal(encode_line(line))
    assert raw.count(b"\n") == 1
    assert raw.endswith(b"}\n")
    read = json.loads(raw)
    assert next(iter(read)) == "kind"
    assert list(read)[-1] == "crc"
    assert int(read["crc"], 16) == crc32(raw[: raw.rindex(b',"crc"')])


@given(st.lists(lines, max_size=4))
def test_many_lines_are_sealed_as_each_one_is(several: list[Line]) -> None:
    bodies = [encode_line(line) for line in several]
    assert seal_all(bodies) == b"".join(map(seal, bodies))


@given(lines, st.data())
def test_no_changed_bit_goes_unnoticed(line: Line, data: st.DataObject) -> None:
    raw = bytearray(sealed(line))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(LineDamaged):
        unseal(bytes(raw))
    assert without_right_seal([sealed(line), bytes(raw)]) == {1}


@given(lines, st.data())
def test_no_run_of_zeros_goes_unnoticed(line: Line, data: st.DataObject) -> None:
    raw = bytearray(sealed(line))
    start = data.draw(st.integers(0, len(raw) - 1))
    end = data.draw(st.integers(start + 1, len(raw)))
    raw[start:end] = bytes(end - start)
    with pytest.raises(LineDamaged):
        unseal(bytes(raw))


@given(lines)
def test_a_line_whose_checksum_was_deleted_is_accepted_and_known_as_unsealed(line: Line) -> None:
    body = encode_line(line)
    assert not is_sealed(body)
    assert encode_line(unseal(body)) == body


def test_an_edited_line_with_its_old_checksum_is_damage() -> None:
    raw = sealed(outcome("a", "scored", True)).replace(b"scored", b"cancelled")
    with pytest.raises(LineDamaged) as refused:
        unseal(raw)
    assert refused.value.reason == "checksum"


def test_damage_to_line_and_seal_does_not_make_it_a_line_without_a_seal() -> None:
    raw = sealed(begin("a")).replace(b'"kind"', b'"jind"')
    for seal_damage in (b'"crb"', b'"arc"', b'"cqb"'):
        with pytest.raises(LineDamaged) as refused:
            unseal(raw.replace(b'"crc"', seal_damage))
        assert refused.value.reason == "checksum"


def test_a_line_without_a_seal_may_end_like_one() -> None:
    body = b'{"kind":"ended","at":1.0,"wall":1.0,"how":"complete"}'
    assert not is_sealed(body)


def test_an_edited_line_is_accepted_however_it_is_spaced() -> None:
    line = outcome("a", "scored", True)
    spaced = json.dumps(json.loads(encode_line(line)), indent=None).encode()
    assert unseal(b" " + spaced + b"\r") == line
    assert not is_sealed(spaced)


def test_a_line_that_an_editor_ended_as_windows_does_keeps_its_seal() -> None:
    assert is_sealed(sealed(begin("a")) + b"\r")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"\0" * 40, "zeros"),
        (b"", "unparsable"),
        (b"not json at all", "unparsable"),
        (b"[1, 2]", "unparsable"),
        (b'{"kind":"begin"', "unparsable"),
        (b'{"kind":"begin","case":1,"at":1.0,"hash":""}', "unparsable"),
        (b'{"kind":"begin","case":"\xff","at":1.0,"hash":""}', "unparsable"),
        (b'{"kind":"song","case":"a"}', "unknown kind"),
        (b'{"kind":"call","case":"a"}', "unparsable"),
        (b'{"id":7,"output":"x"}', "unknown kind"),
        (b'{"kind":7}', "unknown kind"),
        (b'{"kind":"manifest","keys":1,"digest":"","crc":"x","more":1}', "checksum"),
        (b"[" * 100_000, "unparsable"),
    ],
)
def test_what_is_not_a_line_says_why(raw: bytes, reason: str) -> None:
    with pytest.raises(LineDamaged) as refused:
        unseal(raw)
    assert refused.value.reason == reason


def test_fields_that_a_later_version_adds_are_passed_over() -> None:
    body = encode_line(begin("a"))[:-1] + b',"added":{"later":[1]}}'
    assert unseal(seal(body)[:-1]) == unseal(sealed(begin("a")))
    with pytest.raises(LineDamaged, match="'added'"):  # without a checksum it may as well be damage
        unseal(body)


@given(st.text(max_size=10))
@example("\ud800")
@example("a\udfffb\u00e9")
def test_a_name_with_lone_surrogates_is_written_escaped(name: str) -> None:
    line = unseal(sealed(begin(name)))
    assert line.case == name.encode("utf-8", "backslashreplace").decode()  # type: ignore[union-attr]


@pytest.mark.parametrize("unreal", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_cannot_hold_never_make_a_line_unreadable(unreal: float) -> None:
    line = unseal(sealed(output("a", seconds=unreal, metrics={"kept": 1.5, "lost": unreal})))
    assert line.metrics == {"kept": 1.5}  # type: ignore[union-attr]
    scored = unseal(sealed(outcome("a", "scored", unreal)))
    assert isinstance(scored, OutcomeLine)
    assert scored.scores == [Score(name="s0", value=str(unreal), by="s0")]  # never a number, never a pass


@pytest.mark.parametrize("unreal", [math.nan, math.inf, -math.inf])
def test_a_price_that_is_no_number_is_unknown_and_not_0(unreal: float) -> None:
    line = unseal(sealed(call("a", price=unreal, first_token=unreal, seconds=unreal)))
    assert isinstance(line, CallLine)
    assert (line.price, line.first_token, line.seconds) == (None, None, 0.0)


def test_what_is_not_known_of_a_call_is_left_out_of_its_line_and_read_as_unknown() -> None:
    assert encode_line(call("a")) == b'{"kind":"call","case":"a","at":102.0,"pool":"openai:small"}'
    assert encode_line(call("a", price=0.0, cached_tokens=0)).endswith(b'"cached_tokens":0,"price":0.0}')


def test_an_ended_line_of_before_has_nothing_to_say_of_limits() -> None:
    line = unseal(b'{"kind":"ended","at":1.0,"how":"complete","wall":2.0}')
    assert isinstance(line, EndedLine)
    assert (line.limited, line.pools, line.places, line.blocker) == ({}, [], 0, "")


def test_a_null_in_an_output_is_left_alone() -> None:
    body = encode_line(output("a", output=msgspec.Raw(b'{"x":null}')))
    assert b'"output":{"x":null}' in body


def test_settings_that_nobody_encoded_are_named_by_their_type() -> None:
    line = unseal(sealed(run_line(settings={"where": object(), "tags": {"a"}, 3: "\ud800"})))
    assert line.settings == {"where": "<builtins.object>", "tags": ["a"], "3": "\\ud800"}  # type: ignore[union-attr]
