"""The pace of a process: its desk is made when a call asks for leave, and not before."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from paceline.errors import DeskClosed, UsageError
from paceline.pace.desk import Desk, Granting, current_desk
from paceline.pace.messages import Limits, PoolId, Result
from paceline.pace.opening import DeskOnDemand, Opening, stated
from paceline.pace.pool import Closed

POOL = PoolId(provider="openai", host="api.openai.com", model="m")


def test_without_a_call_nobody_is_met_and_nothing_is_written(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with Opening(state=state)() as desk:
        assert desk.facts() == []
    assert not state.exists()


def test_the_first_call_opens_the_desk_that_all_others_share(tmp_path: Path) -> None:
    with Opening(state=tmp_path / "state", share=False)() as desk:
        assert current_desk() is desk
        for _ in range(2):
            desk.settle(desk.acquire_sync(POOL), Result(outcome="ok", seconds=0.1))
        assert [each.accepted for each in desk.facts()] == [2]
    assert current_desk() is None
    assert [each.accepted for each in desk.facts()] == [2]
    assert (tmp_path / "state" / "limits.json").exists()


def test_threads_that_come_at_once_are_given_one_desk() -> None:
    made: list[Granting] = []

    def make() -> Granting:
        made.append(Desk(limits=Limits(window=8)))
        return made[-1]

    desk, together = DeskOnDemand(make), threading.Barrier(8)

    def call() -> None:
        together.wait()
        desk.settle(desk.acquire_sync(POOL), Result())

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert [each.accepted for each in desk.facts()] == [8]
    desk.close()


def test_a_desk_that_was_closed_before_its_first_call_grants_none() -> None:
    desk = DeskOnDemand(Desk)
    desk.close()
    with pytest.raises(DeskClosed):
        desk.acquire_sync(POOL)


def test_who_asked_to_be_told_is_told_which_pool_has_closed() -> None:
    told: list[tuple[PoolId, Closed]] = []
    desk = DeskOnDemand(Desk, lambda pool, closed: told.append((pool, closed)))
    desk.settle(desk.acquire_sync(POOL), Result(outcome="fatal", cause="auth", message="no such key"))
    assert [(pool, closed.cause) for pool, closed in told] == [(POOL, "auth")]
    desk.close()


def test_limits_are_for_all_pools_or_for_single_ones() -> None:
    assert stated(None) == (Limits(), {})
    assert stated({"rpm": 600, "openai:m": {"window": 8}}) == (
        Limits(rpm=600),
        {"openai:m": Limits(window=8)},
    )
    with pytest.raises(UsageError, match="cannot be read"):
        stated({"rpm": {}})
