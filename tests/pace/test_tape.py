"""An attempt that was cut off is answered from the record until it differs, and pays for nothing twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.tape import Tape, Taped, spliced


def in_turn(*requests: str) -> list[Taped]:
    """Calls that were made one after the other."""
    return [
        Taped(request=request, began=float(at), ended=at + 0.5, ordinal=at, body=f"{request}{at}".encode())
        for at, request in enumerate(requests)
    ]


def together(*requests: str) -> list[Taped]:
    """Calls that were all under way at once."""
    return [Taped(request=request, began=at / 100, ended=1.0 + at) for at, request in enumerate(requests)]


def bodies(tape: Tape, *requests: str) -> list[bytes | None]:
    """What one who asks one thing after the other gets; None is a call that was made."""
    return [answered(tape, request) for request in requests]


def answered(tape: Tape, request: str) -> bytes | None:
    if (call := tape.play(request)) is not None:
        return call.body
    tape.made()
    return None


def test_the_same_questions_in_the_same_order_have_their_answers() -> None:
    tape = Tape(in_turn("a", "b", "a"))
    assert bodies(tape, "a", "b", "a") == [b"a0", b"b1", b"a2"]
    assert tape.played == 3
    assert tape.diverged is None


def test_the_first_that_differs_ends_it() -> None:
    tape = Tape(in_turn("a", "b", "c"))
    assert bodies(tape, "a", "x", "b", "c") == [b"a0", None, None, None]
    assert tape.diverged is not None
    assert tape.diverged.call == 2
    assert tape.diverged.expected is not None
    assert tape.diverged.expected.request == "b"
    assert tape.played == 1


def test_a_call_that_is_left_out_is_a_difference() -> None:
    assert bodies(Tape(in_turn("a", "b", "c")), "a", "c") == [b"a0", None]


def test_what_comes_after_its_end_is_made() -> None:
    tape = Tape(in_turn("a"))
    assert bodies(tape, "a", "b") == [b"a0", None]
    assert tape.diverged is not None
    assert tape.diverged.expected is None


@given(st.permutations(list("abcd")))
def test_calls_that_were_under_way_together_may_come_in_any_order(order: list[str]) -> None:
    tape = Tape(together(*"abcd"))
    assert all(tape.play(request) is not None for request in order)


def test_a_call_does_not_overtake_one_that_was_over_before_it_began() -> None:
    first, second = Taped(request="a", began=0, ended=2), Taped(request="b", began=1, ended=3)
    third = Taped(request="c", began=2.5, ended=4)  # after a was over, while b was under way
    tape = Tape([first, second, third])
    assert tape.play("c") is None


@given(st.lists(st.sampled_from("ab"), max_size=8), st.lists(st.sampled_from("ab"), max_size=8))
def test_calls_in_turn_are_answered_up_to_the_longest_common_start(
    taped: list[str], asked: list[str]
) -> None:
    tape = Tape(in_turn(*taped))
    found = [answered(tape, request) is not None for request in asked]
    common = next((at for at in range(len(asked)) if at >= len(taped) or taped[at] != asked[at]), len(asked))
    assert found == [at < common for at in range(len(asked))]


def test_what_was_under_way_when_it_was_cut_off_is_made_and_its_companions_are_not() -> None:
    tape = Tape(together("b", "c"))  # "a" began with them, and was not answered
    assert tape.play("a") is None
    assert tape.play("c") is not None
    assert tape.play("b") is not None
    tape.made()
    assert tape.play("d") is None


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 10), st.floats(0, 5)), max_size=8),
    st.data(),
)
def test_no_answer_is_given_twice(spans: list[tuple[str, float, float]], data: st.DataObject) -> None:
    calls = [
        Taped(request=request, began=began, ended=began + length, ordinal=number)
        for number, (request, began, length) in enumerate(spans)
    ]
    tape = Tape(calls)
    given_out = [tape.play(data.draw(st.sampled_from("abc"))) for _ in range(data.draw(st.integers(0, 12)))]
    numbers = [call.ordinal for call in given_out if call is not None]
    assert len(numbers) == len(set(numbers)) == tape.played
    assert tape.played + len(tape) == len(calls)


def test_an_attempt_that_was_cut_off_while_it_was_replayed_has_its_tape_still() -> None:
    before = in_turn("a", "b", "c")
    assert spliced(before, ["a", "b"], []) == before


def test_an_attempt_that_went_on_from_its_tape_has_a_longer_one() -> None:
    before = in_turn("a", "b")
    (made,) = in_turn("c")
    assert [call.request for call in spliced(before, ["a", "b"], [made])] == ["a", "b", "c"]


def test_an_attempt_that_went_another_way_has_the_tape_of_that_way() -> None:
    before = in_turn("a", "b", "c")
    (made,) = in_turn("x")
    assert [call.request for call in spliced(before, ["a"], [made])] == ["a", "x"]
