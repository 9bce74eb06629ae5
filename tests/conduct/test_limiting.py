"""What limits a run: the answer at a moment, and the account of all moments."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.conduct.limiting import Limiting, Moment, Shares, limited_by
from paceline.journal.encoding import encode_line, seal, unseal
from paceline.journal.records import LIMITS, EndedLine, PoolEnd
from paceline.pace.messages import PoolId
from paceline.pace.pool import Binding, PoolFacts

SMALL = PoolId("openai", "https://api.example", "small", "f1")
BIG = PoolId("anthropic", "https://api.example", "big", "f2")


def pool(
    id: PoolId = SMALL,  # noqa: A002 - the word of messages
    *,
    waiting: int = 0,
    binding: Binding = "",
    in_flight: int = 0,
    window: float | None = None,
    rate: float | None = None,
) -> PoolFacts:
    return PoolFacts(
        id=id,
        window=window,
        in_flight=in_flight,
        waiting=waiting,
        binding=binding,
        rate=rate,
        token_rate=None,
        blocked_until=None,
        accepted=7,
        rejected=2,
        by_cause={"requests": 2},
        lost=0,
        knee=False,
    )


FULL = Moment(working=50, places=50)


@pytest.mark.parametrize(
    ("moment", "shares"),
    [
        # Nothing waits in a pool
        (FULL, {"cases": 1}),
        (Moment(working=12, places=50), {"idle": 1}),
        (Moment(working=12, places=None), {"idle": 1}),
        (Moment(places=50), {"idle": 1}),
        (Moment(working=50, places=50, scoring_full=True), {"scoring": 1}),
        (Moment(working=50, places=50, lagging=True), {"journal": 1}),
        # Places that are kept by who only waits to try again
        (Moment(working=40, retrying=10, places=50), {"cases": 0.8, "backoff": 0.2}),
        (Moment(working=50, retrying=10, places=50), {"cases": 1}),
        (Moment(working=50, backing_off=25, places=50), {"cases": 0.5, "backoff": 0.5}),
        (Moment(working=50, backing_off=60, places=50), {"backoff": 1}),
        # No case is left to start
        (Moment(working=3, places=50, exhausted=True), {"stragglers": 1}),
        (Moment(working=50, places=50, exhausted=True), {"stragglers": 1}),
        (Moment(working=3, retrying=1, places=50, exhausted=True), {"stragglers": 0.75, "backoff": 0.25}),
        (Moment(retrying=2, scoring=1, places=50, exhausted=True), {"backoff": 1}),
        (Moment(scoring=4, places=50, exhausted=True), {"scoring": 1}),
        (Moment(places=50, exhausted=True), {"idle": 1}),
    ],
)
def test_without_queues_it_is_places_the_end_or_what_keeps_places(moment: Moment, shares: Shares) -> None:
    assert limited_by(moment) == pytest.approx(shares)


@pytest.mark.parametrize("binding", ["requests", "tokens", "window", "blocked", "outage"])
def test_where_calls_queue_for_a_pool_it_is_the_limit_though_all_places_are_taken(binding: Binding) -> None:
    moment = Moment(working=50, places=50, pools=(pool(waiting=40, binding=binding),))
    assert limited_by(moment) == {binding: 1}


def test_a_pool_is_the_limit_to_the_very_end() -> None:
    waits = (pool(waiting=2, binding="requests"),)
    assert limited_by(Moment(working=3, places=50, exhausted=True, pools=waits)) == {"requests": 1}


def test_a_short_queue_has_its_part_and_the_rest_is_what_it_would_be_without() -> None:
    """A pool that is not full to the brim has a caller waiting now and then: more places would help."""
    waits = (pool(waiting=1, binding="window"),)
    moment = Moment(working=50, places=50, pools=waits)
    assert limited_by(moment) == pytest.approx({"window": 0.2, "cases": 0.8})


def test_where_places_follow_the_pools_a_short_queue_says_as_much_as_a_long_one() -> None:
    waits = (pool(waiting=1, binding="requests"),)
    assert limited_by(Moment(working=50, places=50, places_follow=True, pools=waits)) == {"requests": 1}


@pytest.mark.parametrize("binding", ["blocked", "outage"])
def test_a_pool_in_which_nothing_may_go_is_the_limit_however_few_wait(binding: Binding) -> None:
    waits = (pool(waiting=1, binding=binding),)
    assert limited_by(Moment(working=50, places=50, pools=waits)) == {binding: 1}


def test_several_pools_share_by_how_many_wait_in_each() -> None:
    waits = (pool(waiting=30, binding="requests"), pool(BIG, waiting=10, binding="tokens"))
    moment = Moment(working=50, places=50, pools=waits)
    assert limited_by(moment) == pytest.approx({"requests": 0.75, "tokens": 0.25})


def test_a_pool_that_holds_nobody_back_is_no_limit() -> None:
    idle = (pool(waiting=0, binding="requests"), pool(BIG, waiting=3, binding=""))
    assert limited_by(Moment(working=50, places=50, pools=idle)) == {"cases": 1}


def test_a_judge_that_waits_for_its_quota_is_a_pool_like_any_other() -> None:
    assert limited_by(Moment(scoring=5, exhausted=True, pools=(pool(waiting=5, binding="tokens"),))) == {
        "tokens": 1
    }


def test_a_busy_machine_comes_before_windows_and_places_and_after_rates() -> None:
    """A window is full too where answers are taken in too slowly; an empty bucket is empty all the same."""
    window = Moment(working=50, places=50, pools=(pool(waiting=9, binding="window"),))
    requests = Moment(working=50, places=50, pools=(pool(waiting=9, binding="requests"),))
    assert limited_by(FULL, busy=0.95) == limited_by(window, busy=0.95) == {"machine": 1}
    assert limited_by(requests, busy=0.95) == {"requests": 1}
    assert limited_by(FULL, busy=0.8) == {"cases": 1}


# The account


def test_the_time_since_the_last_look_goes_to_what_limits_now() -> None:
    limiting = Limiting(100.0)
    found = []
    for now, moment in (
        (101.0, Moment(places=50)),
        (111.0, FULL),
        (115.0, Moment(working=4, places=50, exhausted=True)),
    ):
        limiting.tick(now, moment)
        found.append(limiting.current)
    assert found == ["idle", "cases", "stragglers"]
    assert limiting.seconds == {"idle": 1.0, "cases": 10.0, "stragglers": 4.0}


def test_time_in_which_the_loop_was_blocked_goes_first() -> None:
    limiting = Limiting(0.0)
    limiting.tick(10.0, Moment(working=50, places=50, blocked_s=8.0))
    assert limiting.current == "loop"
    limiting.tick(12.0, Moment(working=50, places=50, blocked_s=8.0))
    assert limiting.seconds == {"cases": 4.0, "loop": 8.0}
    # What was blocked before the last look was told too late: it does not make the time longer.
    limiting.tick(13.0, Moment(working=50, places=50, blocked_s=20.0))
    assert limiting.seconds == {"cases": 4.0, "loop": 9.0}


def test_what_the_loop_s_thread_computes_is_held_against_the_time_since_the_last_look() -> None:
    limiting = Limiting(0.0)
    limiting.tick(1.0, Moment(working=50, places=50, loop_cpu_s=0.97))
    limiting.tick(2.0, Moment(working=50, places=50, loop_cpu_s=1.2))
    assert limiting.seconds == {"machine": 1.0, "cases": 1.0}


def test_pools_are_left_with_their_part_of_the_blame_and_the_most_that_was_in_flight() -> None:
    limiting = Limiting(0.0)
    waits = pool(waiting=30, binding="requests", in_flight=12), pool(BIG, waiting=10, binding="tokens")
    limiting.tick(4.0, Moment(working=50, places=50, pools=waits))
    left = pool(in_flight=1, window=math.inf, rate=math.inf), pool(BIG, window=8.0, rate=2.5)
    small, big = limiting.ends(left, closed={BIG: "the quota is spent"})
    assert small == PoolEnd(
        pool="openai:small",
        host="https://api.example",
        account="f1",
        accepted=7,
        rejected=2,
        by_cause={"requests": 2},
        peak=12,
        limited={"requests": 3.0},
    )
    assert (big.window, big.rate, big.peak, big.limited) == (8.0, 2.5, 0, {"tokens": 1.0})
    assert big.closed == "the quota is spent"


def test_the_account_goes_on_record_and_comes_back() -> None:
    limiting = Limiting(0.0)
    limiting.tick(4.0, Moment(working=50, places=50, pools=(pool(waiting=30, binding="requests"),)))
    line = EndedLine(
        at=4.0, how="complete", wall=4.0, limited=limiting.seconds, pools=limiting.ends([pool()]), places=50
    )
    assert unseal(seal(encode_line(line))[:-1]) == line


pools = st.builds(
    pool,
    st.sampled_from([SMALL, BIG]),
    waiting=st.integers(0, 60),
    binding=st.sampled_from(["", "window", "requests", "tokens", "blocked", "outage"]),
    in_flight=st.integers(0, 60),
)
moments = st.builds(
    Moment,
    working=st.integers(0, 60),
    places=st.none() | st.integers(1, 60),
    places_follow=st.booleans(),
    exhausted=st.booleans(),
    retrying=st.integers(0, 60),
    backing_off=st.integers(0, 60),
    scoring=st.integers(0, 60),
    scoring_full=st.booleans(),
    lagging=st.booleans(),
    blocked_s=st.floats(0, 100),
    loop_cpu_s=st.floats(0, 100),
    pools=st.lists(pools, max_size=3, unique_by=lambda facts: facts.id).map(tuple),
)


@given(moments, st.floats(0, 1))
def test_whatever_the_moment_the_shares_are_parts_of_one(moment: Moment, busy: float) -> None:
    shares = limited_by(moment, busy=busy)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert all(share > 0 and limit in LIMITS for limit, share in shares.items())


@given(st.lists(st.tuples(st.floats(-5, 50), moments), max_size=20))
def test_the_seconds_add_up_to_the_time_that_has_passed(looks: list[tuple[float, Moment]]) -> None:
    """Also where the clock was set back, and where what was computed or blocked is told late or twice."""
    limiting, now, latest = Limiting(1000.0), 1000.0, 1000.0
    for step, moment in looks:
        now += step
        latest = max(latest, now)
        limiting.tick(now, moment)
    assert math.fsum(limiting.seconds.values()) == pytest.approx(latest - 1000.0, abs=1e-6)
    assert all(seconds > 0 for seconds in limiting.seconds.values())
    of_pools = [
        sum(end.limited.values()) for end in limiting.ends([pool(SMALL, in_flight=1), pool(BIG, in_flight=1)])
    ]
    told = [
        limiting.seconds.get(limit, 0.0) for limit in ("window", "requests", "tokens", "blocked", "outage")
    ]
    assert sum(of_pools) == pytest.approx(sum(told), abs=1e-6)
