"""What all calls through one door have in common."""

from __future__ import annotations

import gc
import weakref

import httpx
import httpx2
import pytest

from paceline.pace.door import REMEMBERED, REMEMBERED_S
from tests.pace.trips import Stage, answer


def test_what_was_remembered_of_failures_is_bounded_and_forgotten_in_time() -> None:
    stage = Stage()
    seen = [stage.trip(stage.request(seed=number))._seen for number in range(REMEMBERED + 10)]
    for each in seen:
        stage.door.remember_failure(each, httpx2.ReadTimeout("slow"))
    assert len(stage.door._failures) == REMEMBERED
    assert stage.door.failure_of(seen[0]) is None
    assert stage.door.failure_of(seen[-1]) is not None
    stage.clock.move(REMEMBERED_S + 1)
    assert stage.door.failure_of(seen[-1]) is None
    stage.door.remember_failure(seen[0], httpx2.ReadTimeout("slow"))
    assert len(stage.door._failures) == 1


def test_nothing_of_what_led_to_a_failure_is_kept() -> None:
    class Big:
        """Something that a frame of the caller holds."""

    stage = Stage()
    seen = stage.trip(stage.request())._seen

    def fail() -> weakref.ref[Big]:
        big = Big()
        try:
            raise httpx2.ReadTimeout("slow")
        except httpx2.ReadTimeout as error:
            stage.door.remember_failure(seen, error)
        return weakref.ref(big)

    held = fail()
    gc.collect()
    assert held() is None


@pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])
@pytest.mark.parametrize("name", ["ReadTimeout", "ConnectError", "RemoteProtocolError"])
def test_a_failure_is_told_again_in_the_words_of_its_library(library: object, name: str) -> None:
    stage = Stage()
    seen = stage.trip(stage.request())._seen
    stage.door.remember_failure(seen, getattr(library, name)("slow"))
    failure = stage.door.failure_of(seen)
    assert failure is not None
    again = failure.again(library)  # type: ignore[arg-type]  # a module, as far as it goes
    assert (type(again), str(again)) == (getattr(library, name), "slow")


def test_one_that_the_library_has_no_word_for_is_told_as_a_failure_of_the_transport() -> None:
    stage = Stage()
    seen = stage.trip(stage.request())._seen
    stage.door.remember_failure(seen, OSError("gone"))
    failure = stage.door.failure_of(seen)
    assert failure is not None
    assert type(failure.again(httpx2)) is httpx2.TransportError


def test_calls_of_one_pool_learn_from_each_other_what_they_take() -> None:
    stage = Stage()
    seen = stage.trip(stage.request())._seen
    before = stage.door.estimates.tokens(seen)
    stage.says(answer())
    stage.call()
    assert stage.door.estimates.tokens(seen) != before
    assert stage.door.succeeded[seen.pool] == stage.clock.now()
