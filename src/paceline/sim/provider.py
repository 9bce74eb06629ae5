"""The provider: a scenario carried out, as a machine without waiting.

    arrived = provider.arrive(now, key="k", model="m", input_tokens=300, output_tokens=200)
    Admitted(seconds=4.1, ...)     the caller waits so long, then: provider.leave(arrived.id, now)
    Refused(status=429, ...)

`now` is seconds since the provider began, and is never asked for. Chance comes from the seed alone; refusals
do not move what is drawn for answers: the hundredth call that is accepted takes as long whoever calls, and is
the one that goes wrong. So a server can stand on it, and so can a simulation of millions of calls.

What is refused first, where several reasons would do: a key, a model, an outage, spent money, overload, calls
in flight, requests, tokens, growth.

Knows quotas, latency and chance. Knows nothing of HTTP, or of what an answer says.
"""

from __future__ import annotations

import bisect
import math
import random
from collections import OrderedDict
from typing import Final, Literal, NamedTuple

import msgspec

from paceline.pace.messages import Advertised, Cause
from paceline.sim.buckets import Bucket, Growth
from paceline.sim.scenario import FAULT_KINDS, Scenario

Fault = Literal["error", "reset", "stall", "truncate", "slow", "stream_error"]

REMEMBERED: Final = 4096
"""Accounts whose buckets are kept; of more, those that have long been idle start anew."""
MINUTE: Final = 60.0


class Admitted(msgspec.Struct, frozen=True, gc=False):
    """The call is worked on."""

    id: int
    seconds: float
    """From arrival to the end of the answer."""
    first_token: float
    """From arrival to its beginning."""
    fault: Fault | None = None
    advertised: Advertised | None = None


class Refused(msgspec.Struct, frozen=True, gc=False):
    """The call is not worked on."""

    status: int
    cause: Cause
    seconds: float
    """From arrival to the end of the refusal."""
    retry_after: float | None = None
    """Only where the scenario reveals it."""
    told: bool = True
    """Whether the text says what it is about."""
    advertised: Advertised | None = None


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider has seen so far."""

    arrived: int
    accepted: int
    refused: dict[str, int]
    """By cause; overload and outages are `unknown`."""
    faults: dict[str, int]
    """Accepted calls that were made to go wrong, by kind."""
    in_flight: int
    in_flight_peak: int
    answered: int
    """Accepted calls whose whole answer was waited for, and was right."""
    goodput: list[int]
    """The same by second, from the first on, or of the last seconds that were asked for."""


class _Live(NamedTuple):
    pool: _Pool
    ends: float
    fault: Fault | None
    reserved: float
    """Tokens to be given back when it ends."""


class _Pool:
    """One quota that calls share."""

    __slots__ = ("growth", "in_flight", "requests", "requests_told", "tokens", "tokens_told")

    def __init__(self, rules: Scenario, now: float) -> None:
        self.in_flight = 0
        self.requests = _bucket(rules.rpm, rules.burst, now)
        self.tokens = _bucket(rules.tpm, rules.burst, now)
        minute = _minute(rules)
        self.requests_told = _bucket(rules.rpm, minute, now)
        """What headers speak of: the minute, although less is had at once."""
        self.tokens_told = _bucket(rules.tpm, minute, now)
        self.growth = Growth(rules.ramp, now) if rules.ramp else None

    def change(self, rules: Scenario, now: float) -> None:
        self.requests = _changed(self.requests, rules.rpm, rules.burst, now)
        self.tokens = _changed(self.tokens, rules.tpm, rules.burst, now)
        minute = _minute(rules)
        self.requests_told = _changed(self.requests_told, rules.rpm, minute, now)
        self.tokens_told = _changed(self.tokens_told, rules.tpm, minute, now)
        if rules.ramp is None:
            self.growth = None
        elif self.growth is None or self.growth.rules != rules.ramp:
            self.growth = Growth(rules.ramp, now)


class _Spent:
    """What an account has used in all."""

    __slots__ = ("requests", "tokens")

    def __init__(self) -> None:
        self.requests = 0
        self.tokens = 0.0


class Provider:
    """One simulated provider."""

    def __init__(self, scenario: Scenario, *, seed: int | None = None) -> None:
        self.scenario = scenario
        seed = scenario.seed if seed is None else seed
        self._latency = random.Random(f"latency {seed}")
        self._mishap = random.Random(f"mishap {seed}")
        self._overload = random.Random(f"overload {seed}")
        self._phases = scenario.phases()
        self._rules = self._phases.pop(0)[1]
        self._odds = _odds(self._rules)
        self._mu = _mu(self._rules)
        self._pools: OrderedDict[tuple[str, str], _Pool] = OrderedDict()
        self._spent: dict[str, _Spent] = {}
        self._live: dict[int, _Live] = {}
        self._now = 0.0
        self._next_id = 0
        self._arrived = 0
        self._accepted = 0
        self._answered = 0
        self._peak = 0
        self._refused: dict[str, int] = {}
        self._faults: dict[str, int] = {}
        self._goodput: dict[int, int] = {}

    def arrive(
        self,
        now: float,
        *,
        key: str = "",
        model: str = "",
        input_tokens: float,
        output_tokens: float,
        max_tokens: float | None = None,
    ) -> Admitted | Refused:
        """A call arrives, and will have so many tokens."""
        now = self._advanced(now)
        self._arrived += 1
        rules = self._rules
        if (refused := self._refusal_at_the_door(now, key, model)) is not None:
            return refused
        pool = self._pool(key, model, now)
        used = input_tokens + output_tokens
        charged = used if rules.charge == "used" else input_tokens + (max_tokens or output_tokens)
        if (refused := self._refusal(now, pool, key, charged)) is not None:
            return refused
        self._take(pool, key, now, charged)
        return self._admit(now, pool, input_tokens, output_tokens, charged - used)

    def leave(self, id: int, now: float) -> None:  # noqa: A002  # what an Admitted calls it
        """The answer has ended, or the caller has gone."""
        live = self._live.pop(id, None)
        if live is None:
            return
        now = self._advanced(now)
        live.pool.in_flight -= 1
        if live.reserved and self._rules.charge == "corrected":
            for bucket in (live.pool.tokens, live.pool.tokens_told):
                if bucket is not None:
                    bucket.give(live.reserved, now)
        if now >= live.ends - 1e-6 and live.fault in {None, "slow"}:
            self._answered += 1
            second = int(now)
            self._goodput[second] = self._goodput.get(second, 0) + 1

    def lets_in(self, key: str, now: float) -> bool:
        """Whether a key is one that is accepted."""
        self._advanced(now)
        return _is_accepted(key, self._rules)

    @property
    def accepted(self) -> int:
        """Calls that were accepted until now."""
        return self._accepted

    def stats(self, now: float, *, last: int | None = None) -> Stats:
        """What it has seen until now; of goodput, the `last` seconds."""
        ended = int(max(now, self._now)) + 1
        begun = 0 if last is None else max(0, ended - last)
        return Stats(
            arrived=self._arrived,
            accepted=self._accepted,
            refused=dict(self._refused),
            faults=dict(self._faults),
            in_flight=len(self._live),
            in_flight_peak=self._peak,
            answered=self._answered,
            goodput=[self._goodput.get(second, 0) for second in range(begun, ended)],
        )

    # What holds now

    def _advanced(self, now: float) -> float:
        """The time, which never goes back; the rules that hold from then on are in force."""
        self._now = now = max(now, self._now)
        while self._phases and now >= self._phases[0][0]:
            at, self._rules = self._phases.pop(0)
            self._odds, self._mu = _odds(self._rules), _mu(self._rules)
            for pool in self._pools.values():
                pool.change(self._rules, at)
        return now

    def _pool(self, key: str, model: str, now: float) -> _Pool:
        accounts = self.scenario.accounts
        name = (key if accounts.per_key else "", model if accounts.per_model else "")
        pool = self._pools.get(name)
        if pool is None:
            pool = self._pools[name] = _Pool(self._rules, now)
            if len(self._pools) > REMEMBERED:
                self._forget_one()
        else:
            self._pools.move_to_end(name)
        return pool

    def _forget_one(self) -> None:
        """Whoever invents keys must not fill the memory."""
        for name, pool in self._pools.items():
            if pool.in_flight == 0:
                del self._pools[name]
                return

    # Refusals

    def _refusal_at_the_door(self, now: float, key: str, model: str) -> Refused | None:
        """Those that have nothing to do with how much is asked for."""
        rules = self._rules
        if not _is_accepted(key, rules):
            return self._refuse(401, "auth")
        if rules.models and model not in rules.models:
            return self._refuse(404, "unknown")
        for outage in self.scenario.outages:
            if outage.at <= now < outage.until:
                return self._refuse(outage.status, "unknown", self._said(outage.retry_after))
        return None

    def _refusal(self, now: float, pool: _Pool, key: str, charged: float) -> Refused | None:
        rules = self._rules
        if self._is_spent(key):
            return self._refuse(429, "quota", None, self._advertised(pool, now))
        if self._is_overloaded(pool):
            return self._refuse(rules.overload.status, "unknown", None, self._advertised(pool, now))
        cause, wait = self._limit_reached(now, pool, charged)
        if cause is None:
            return None
        if rules.rejects_consume:
            for bucket in (pool.requests, pool.requests_told):
                if bucket is not None:
                    bucket.waste(1.0, now)
        return self._refuse(429, cause, self._said(wait), self._advertised(pool, now))

    def _is_spent(self, key: str) -> bool:
        quota = self._rules.quota
        if quota.requests is None and quota.tokens is None:
            return False
        spent = self._spent.get(key if self.scenario.accounts.per_key else "")
        return spent is not None and (
            (quota.requests is not None and spent.requests >= quota.requests)
            or (quota.tokens is not None and spent.tokens >= quota.tokens)
        )

    def _is_overloaded(self, pool: _Pool) -> bool:
        overload = self._rules.overload
        if overload.above is not None and pool.in_flight >= overload.above:
            return True
        return overload.rate > 0 and self._overload.random() < overload.rate

    def _limit_reached(self, now: float, pool: _Pool, charged: float) -> tuple[Cause | None, float | None]:
        """Which limit stands in the way, and for how long where that is known."""
        in_flight = self._rules.in_flight
        if in_flight is not None and pool.in_flight >= in_flight:
            return "concurrency", None
        if pool.requests is not None and (wait := pool.requests.wait(1.0, now)) > 0:
            return "requests", wait
        if pool.tokens is not None and (wait := pool.tokens.wait(charged, now)) > 0:
            return "tokens", wait
        if pool.growth is not None and not pool.growth.allows(now):
            return "ramp", None
        return None, None

    def _refuse(
        self,
        status: int,
        cause: Cause,
        retry_after: float | None = None,
        advertised: Advertised | None = None,
    ) -> Refused:
        self._refused[cause] = self._refused.get(cause, 0) + 1
        rules = self._rules
        return Refused(status, cause, rules.refusal_seconds, retry_after, rules.told, advertised)

    def _said(self, wait: float | None) -> float | None:
        """A wait as headers can say it: OpenAI's know milliseconds, others whole seconds."""
        if wait is None or not self._rules.retry_after:
            return None
        return math.ceil(wait * 1000) / 1000 if self._rules.headers == "openai" else float(math.ceil(wait))

    # Acceptance

    def _take(self, pool: _Pool, key: str, now: float, charged: float) -> None:
        for bucket in (pool.requests, pool.requests_told):
            if bucket is not None:
                bucket.take(1.0, now)
        for bucket in (pool.tokens, pool.tokens_told):
            if bucket is not None:
                bucket.take(charged, now)
        if pool.growth is not None:
            pool.growth.take(now)
        quota = self._rules.quota
        if quota.requests is not None or quota.tokens is not None:
            if len(self._spent) > 16 * REMEMBERED:
                del self._spent[next(iter(self._spent))]
            spent = self._spent.setdefault(key if self.scenario.accounts.per_key else "", _Spent())
            spent.requests += 1
            spent.tokens += charged

    def _admit(
        self, now: float, pool: _Pool, input_tokens: float, output_tokens: float, reserved: float
    ) -> Admitted:
        pool.in_flight += 1
        seconds = self._seconds(pool.in_flight, input_tokens, output_tokens)
        fault = self._fault()
        first_token = self._rules.latency.constant + (
            (seconds - self._rules.latency.constant) * self._rules.latency.first_token
        )
        if fault is not None:
            seconds, first_token = self._with_fault(fault, seconds, first_token)
        self._next_id += 1
        self._accepted += 1
        self._live[self._next_id] = _Live(pool, now + seconds, fault, reserved)
        self._peak = max(self._peak, len(self._live))
        return Admitted(self._next_id, seconds, first_token, fault, self._advertised(pool, now))

    def _seconds(self, in_flight: int, input_tokens: float, output_tokens: float) -> float:
        rules = self._rules
        latency = rules.latency
        work = latency.per_input_token * input_tokens + latency.per_output_token * output_tokens
        if latency.mean:
            # Drawn even where sigma is 0, so that a change of sigma does not move the calls after it.
            work += math.exp(self._mu + latency.sigma * self._latency.gauss(0.0, 1.0))
        if rules.knee is not None and in_flight > rules.knee:
            work *= (in_flight / rules.knee) ** rules.knee_steepness
        return latency.constant + work

    def _fault(self) -> Fault | None:
        if not self._odds:
            return None
        drawn = bisect.bisect_right(self._odds, self._mishap.random())
        if drawn == len(self._odds):
            return None
        fault: Fault = FAULT_KINDS[drawn]
        self._faults[fault] = self._faults.get(fault, 0) + 1
        return fault

    def _with_fault(self, fault: Fault, seconds: float, first_token: float) -> tuple[float, float]:
        """How long a call takes that goes wrong: errors come at any moment of it."""
        faults = self._rules.faults
        match fault:
            case "error" | "reset":
                seconds *= self._mishap.random()
                return seconds, min(first_token, seconds)
            case "stall":
                return seconds + faults.stall_seconds, first_token
            case "slow":
                return seconds + faults.slow_seconds, first_token + faults.slow_seconds
            case "truncate" | "stream_error":
                return seconds, first_token

    # Headers

    def _advertised(self, pool: _Pool, now: float) -> Advertised | None:
        if self._rules.headers == "none":
            return None
        requests, tokens = pool.requests_told, pool.tokens_told
        if requests is None and tokens is None:
            return None
        return Advertised(
            requests=self._rules.rpm,
            requests_left=None if requests is None else max(0.0, float(math.floor(requests.level_at(now)))),
            requests_reset=None if requests is None else requests.until_full(now),
            tokens=self._rules.tpm,
            tokens_left=None if tokens is None else max(0.0, float(math.floor(tokens.level_at(now)))),
            tokens_reset=None if tokens is None else tokens.until_full(now),
        )


def _is_accepted(key: str, rules: Scenario) -> bool:
    return not rules.keys or key in rules.keys


def _minute(rules: Scenario) -> float:
    """Its seconds in a minute of the world's: that is what limits are told for."""
    return MINUTE * rules.time_scale


def _mu(rules: Scenario) -> float:
    """Of the log-normal whose mean is asked for."""
    latency = rules.latency
    return math.log(latency.mean) - latency.sigma**2 / 2 if latency.mean else 0.0


def _odds(rules: Scenario) -> list[float]:
    """The share of calls that have this fault or one before it; empty where nothing goes wrong."""
    total, odds = 0.0, []
    for kind in FAULT_KINDS:
        total += getattr(rules.faults, kind)
        odds.append(total)
    return odds if total else []


def _bucket(per_minute: float | None, seconds: float, now: float) -> Bucket | None:
    return None if per_minute is None else Bucket(per_minute / MINUTE, seconds, now)


def _changed(bucket: Bucket | None, per_minute: float | None, seconds: float, now: float) -> Bucket | None:
    if bucket is None or per_minute is None:
        return _bucket(per_minute, seconds, now)
    bucket.change(per_minute / MINUTE, seconds, now)
    return bucket
