"""Verdicts: what a part of an evaluator concludes is concluded once, and reads back as what it is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.evaluators.verdicts import concluded, current_verdicts, digest_of


class Judged(msgspec.Struct, frozen=True):
    passed: bool | None
    score: float | None = None
    reason: str = ""


class Kept:
    """Verdicts in a dict."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], msgspec.Raw] = {}
        self.under_way: list[str] = []

    def on_record(self, part: str, seen: str, *, of_this_run: bool = False) -> msgspec.Raw | None:
        return self.found.get((part, seen))

    @contextmanager
    def concluding(self, part: str, seen: str) -> Iterator[None]:
        self.under_way.append(part)
        yield
        self.under_way.remove(part)

    def keep(self, part: str, seen: str, value: msgspec.Raw) -> None:
        self.found[part, seen] = value


@contextmanager
def kept() -> Iterator[Kept]:
    verdicts = Kept()
    token = current_verdicts.set(verdicts)
    try:
        yield verdicts
    finally:
        current_verdicts.reset(token)


class Judge:
    """Concludes what it is told to, and counts."""

    def __init__(self, *said: object) -> None:
        self.said = list(said)
        self.asked = 0

    async def __call__(self) -> Judged:
        self.asked += 1
        said = self.said.pop(0)
        if isinstance(said, Exception):
            raise said
        assert isinstance(said, Judged)
        return said


YES, NO = Judged(passed=True, reason="as asked"), Judged(passed=False)


def test_a_verdict_on_record_is_not_concluded_again() -> None:
    judge = Judge(YES)
    with kept():
        first = asyncio.run(concluded("vote 1", "s", judge, Judged))
        again = asyncio.run(concluded("vote 1", "s", judge, Judged))
    assert first == again == YES
    assert judge.asked == 1


@pytest.mark.parametrize(("part", "seen"), [("vote 2", "s"), ("vote 1", "another judge")])
def test_another_part_or_one_that_sees_something_else_concludes_anew(part: str, seen: str) -> None:
    judge = Judge(YES, NO)
    with kept():
        asyncio.run(concluded("vote 1", "s", judge, Judged))
        assert asyncio.run(concluded(part, seen, judge, Judged)) == NO


def test_an_error_is_no_verdict() -> None:
    judge = Judge(ConnectionError("gone"), YES)
    with kept() as verdicts:
        with pytest.raises(ConnectionError):
            asyncio.run(concluded("vote 1", "s", judge, Judged))
        assert verdicts.found == {}
        assert asyncio.run(concluded("vote 1", "s", judge, Judged)) == YES


def test_outside_of_a_run_nothing_is_kept() -> None:
    judge = Judge(YES, NO)
    assert asyncio.run(concluded("vote 1", "s", judge, Judged)) == YES
    assert asyncio.run(concluded("vote 1", "s", judge, Judged)) == NO


def test_a_verdict_that_an_earlier_version_has_written_otherwise_is_concluded_anew() -> None:
    with kept() as verdicts:
        verdicts.keep("vote 1", "s", msgspec.Raw(b'{"passed":"maybe"}'))
        assert asyncio.run(concluded("vote 1", "s", Judge(YES), Judged)) == YES
        assert msgspec.json.decode(verdicts.found["vote 1", "s"], type=Judged) == YES


def test_a_verdict_that_is_no_number_is_an_error_and_not_kept() -> None:
    with kept() as verdicts:
        with pytest.raises(ValueError, match="read back"):
            asyncio.run(concluded("vote 1", "s", Judge(Judged(passed=None, score=float("nan"))), Judged))
        assert verdicts.found == {}


@given(
    st.builds(
        Judged,
        passed=st.none() | st.booleans(),
        score=st.none() | st.floats(allow_nan=False, allow_infinity=False),
        reason=st.text(st.characters(codec="utf-8")),
    )
)
def test_whatever_is_concluded_reads_back_as_what_it_is(said: Judged) -> None:
    with kept():
        assert asyncio.run(concluded("vote 1", "s", Judge(said), Judged)) == said
        assert asyncio.run(concluded("vote 1", "s", Judge(), Judged)) == said


def test_a_digest_is_of_what_stands_where_and_not_of_the_order_of_fields() -> None:
    assert digest_of({"a": 1, "b": [True]}, "x") == digest_of({"b": [True], "a": 1}, "x")
    different = [
        ("ab",),
        ("a", "b"),
        ("b", "a"),
        ("a", ["b"]),
        ("a", None),
        ("a",),
        (1,),
        (1.0,),
        (True,),
        (),
    ]
    assert len({digest_of(*what) for what in different}) == len(different)
