"""What other runs learn of a sweep: what is the provider's, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from paceline.pace.learned import LearnedLimits
from paceline.pace.messages import PoolId
from paceline.ramp.learning import learn, learned_from
from paceline.ramp.verdict import Kind, Verdict
from tests.ramp.rows import row

POOL = PoolId("openai", "https://example.test", "m", "a1")
ROWS = [row(1), row(2, rejected=5)]


def test_a_rate_is_kept_with_a_window_that_does_not_bind_it() -> None:
    learned = learned_from(Verdict(kind="requests", window=20, rps=10.0), ROWS)
    assert learned is not None
    assert (learned.window, learned.rps, learned.tps, learned.knee) == (25.0, 10.0, None, False)
    assert (learned.accepted, learned.rejected) == (60, 5)


def test_a_rate_of_tokens_is_kept_as_tokens() -> None:
    learned = learned_from(Verdict(kind="tokens", window=20, rps=10.0, tps=5000.0), ROWS)
    assert learned is not None
    assert (learned.rps, learned.tps) == (None, 5000.0)


@pytest.mark.parametrize(("kind", "knee"), [("concurrency", True), ("latency", True), ("none", False)])
def test_a_window_is_kept_as_what_it_is(kind: Kind, knee: bool) -> None:
    learned = learned_from(Verdict(kind=kind, window=40), ROWS)
    assert learned is not None
    assert (learned.window, learned.knee, learned.rps) == (40.0, knee, None)


@pytest.mark.parametrize("kind", ["cpu", "loop", "task", "limits", "closed", "broken", "nothing"])
def test_what_is_not_the_providers_is_not_kept(kind: Kind, tmp_path: Path) -> None:
    limits = LearnedLimits(tmp_path / "limits.json", clock=lambda: 1.0)
    assert not learn(limits, POOL, Verdict(kind=kind, window=8), ROWS)
    assert limits.load(POOL) is None


def test_a_pool_that_is_known_is_found_by_the_next_run(tmp_path: Path) -> None:
    limits = LearnedLimits(tmp_path / "limits.json", clock=lambda: 1.0)
    assert learn(limits, POOL, Verdict(kind="concurrency", window=40), ROWS)
    assert not learn(limits, None, Verdict(kind="concurrency", window=9), ROWS)
    assert not learn(limits, PoolId("task", "", ""), Verdict(kind="concurrency", window=9), ROWS)
    learned = limits.load(POOL)
    assert learned is not None
    assert learned.window == 40.0
