"""What was learned of pools, between runs: kept with time and evidence, aged, and never a reason to fail."""

from __future__ import annotations

import json
import multiprocessing
import stat
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.desk import Desk
from paceline.pace.learned import (
    NAME,
    TOO_OLD_S,
    Learned,
    LearnedLimits,
    key_of,
    learned_limits,
    state_directory,
)
from paceline.pace.messages import PoolId, Result
from tests.pace.stands import OTHER, POOL, Clock, desk_with

NOW = 1_795_000_000.0
FOUND = Learned(window=37.0, rps=9.5, tps=20_000.0, accepted=3_000, rejected=29, knee=True)


def limits(folder: Path, *, now: float = NOW) -> LearnedLimits:
    return LearnedLimits(folder / NAME, clock=lambda: now)


def test_what_one_run_stores_another_finds_with_its_time_and_its_evidence(tmp_path: Path) -> None:
    limits(tmp_path).store(POOL, FOUND)
    found = limits(tmp_path, now=NOW + 60).load(POOL)
    assert found == msgspec.structs.replace(FOUND, at=NOW)
    assert limits(tmp_path).load(OTHER) is None


def test_each_pool_has_its_own_and_the_last_word_counts(tmp_path: Path) -> None:
    file = limits(tmp_path)
    file.store(POOL, FOUND)
    file.store(OTHER, Learned(window=5.0))
    file.store(POOL, Learned(window=99.0))
    assert [(found := file.load(pool)) and found.window for pool in (POOL, OTHER)] == [99.0, 5.0]


def test_after_a_month_it_is_quicker_to_learn_again_than_to_be_wrong(tmp_path: Path) -> None:
    limits(tmp_path).store(POOL, FOUND)
    assert limits(tmp_path, now=NOW + TOO_OLD_S).load(POOL) is not None
    assert limits(tmp_path, now=NOW + TOO_OLD_S + 1).load(POOL) is None


def test_what_is_too_old_does_not_gather_in_the_file(tmp_path: Path) -> None:
    limits(tmp_path).store(OTHER, FOUND)
    limits(tmp_path, now=NOW + TOO_OLD_S + 1).store(POOL, FOUND)
    assert list(json.loads((tmp_path / NAME).read_text())) == [key_of(POOL)]


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"\xff\xfe\x00", b"[]", b'{"a b c d": {"window": "wide"}}', b"[" * 10_000]
)
def test_a_damaged_file_is_set_aside_and_learned_anew(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / NAME).write_bytes(damage)
    file = limits(tmp_path)
    assert file.load(POOL) is None
    assert (tmp_path / NAME).with_suffix(".damaged").read_bytes() == damage
    file.store(POOL, FOUND)
    assert file.load(POOL) is not None


@given(st.binary(max_size=200))
def test_no_bytes_in_the_file_can_make_a_run_fail(damage: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        path.write_bytes(damage)
        file = LearnedLimits(path, clock=lambda: NOW)
        file.load(POOL)
        file.store(POOL, FOUND)
        assert file.load(POOL) is not None


def test_a_place_that_cannot_be_written_costs_nothing_but_a_slow_start(tmp_path: Path) -> None:
    blocked = tmp_path / "state"
    blocked.write_text("a file where a folder should be")
    file = limits(blocked)
    file.store(POOL, FOUND)
    assert file.load(POOL) is None


def test_only_its_owner_can_read_it_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "here"
    limits(folder).store(POOL, FOUND)
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [file.name for file in folder.iterdir()] == [NAME]


def test_it_can_be_read_by_people_and_names_no_key(tmp_path: Path) -> None:
    limits(tmp_path).store(POOL, FOUND)
    text = (tmp_path / NAME).read_text()
    assert json.loads(text)[key_of(POOL)]["rps"] == 9.5
    assert "\n" in text.strip()
    assert key_of(POOL) == "openai https://example.test gpt a1b2"


def store_many(folder: str, number: int) -> None:
    for _ in range(20):
        limits(Path(folder)).store(PoolId("openai", "", f"model {number}"), FOUND)


def test_runs_that_end_together_never_leave_half_a_file(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    runs = [spawn.Process(target=store_many, args=(str(tmp_path), number)) for number in range(3)]
    for run in runs:
        run.start()
    while any(run.is_alive() for run in runs):
        limits(tmp_path).load(POOL)
    for run in runs:
        run.join()
    assert json.loads((tmp_path / NAME).read_text())
    assert not (tmp_path / NAME).with_suffix(".damaged").exists()


def test_state_is_kept_where_the_environment_says_else_in_the_users_own_place(tmp_path: Path) -> None:
    home = Path.home()
    assert state_directory({"PACELINE_STATE": "~/mine", "XDG_STATE_HOME": "/x"}) == home / "mine"
    assert state_directory({"XDG_STATE_HOME": "/x"}) == Path("/x/paceline")
    assert state_directory({"PACELINE_STATE": ""}) == home / ".local" / "state" / "paceline"
    assert learned_limits({"PACELINE_STATE": str(tmp_path)}, clock=lambda: 0.0).path == tmp_path / NAME


# ---- a desk that learns


def test_a_desk_begins_where_the_last_one_ended_and_keeps_what_it_learns_itself(tmp_path: Path) -> None:
    limits(tmp_path).store(POOL, FOUND)
    clock = Clock()
    desk = Desk(learned=limits(tmp_path, now=NOW + 9), now=clock.now, alarm=clock.alarm)
    desk.settle(desk.acquire_sync(POOL), Result())
    desk.settle(desk.acquire_sync(POOL), Result(outcome="rate_limited", cause="requests"))
    (facts,) = desk.facts()
    assert facts.window == FOUND.window
    desk.close()
    kept = limits(tmp_path).load(POOL)
    assert kept is not None
    assert (kept.at, kept.accepted, kept.rejected) == (NOW + 9, 1, 1)


def test_a_desk_that_has_found_out_nothing_leaves_what_is_known_as_old_as_it_is(tmp_path: Path) -> None:
    limits(tmp_path).store(POOL, FOUND)
    clock = Clock()
    desk = Desk(learned=limits(tmp_path, now=NOW + 9), now=clock.now, alarm=clock.alarm)
    desk.settle(desk.acquire_sync(POOL), Result())
    desk.close()
    kept = limits(tmp_path).load(POOL)
    assert kept is not None
    assert kept.at == NOW


def test_a_desk_that_was_not_asked_anything_overwrites_nothing(tmp_path: Path) -> None:
    limits(tmp_path).store(POOL, FOUND)
    before = (tmp_path / NAME).read_bytes()
    desk = desk_with(Clock(), learned=limits(tmp_path), window=1)
    desk.acquire_sync(POOL)
    desk.close()
    assert (tmp_path / NAME).read_bytes() == before
