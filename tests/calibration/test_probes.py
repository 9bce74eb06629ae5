"""Probes: judges with a known weakness are caught, and those without it are not."""

from __future__ import annotations

import numpy as np
import pytest

from paceline.calibration.measuring import measure
from paceline.calibration.probes import length, position, probes_of, retest, scale_use
from tests.calibration.scores import items


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_judge_that_likes_long_answers_is_caught_and_one_that_does_not_is_not(
    rng: np.random.Generator,
) -> None:
    human = list(rng.integers(1, 6, size=200).astype(float))
    lengths = [int(each) for each in rng.lognormal(5, 0.8, size=200)]
    noise = 0.4 * rng.normal(size=200)
    fair = [label + off for label, off in zip(human, noise, strict=True)]
    likes_long = [score + 0.6 * np.log2(long) for score, long in zip(fair, lengths, strict=True)]
    assert length(items(human, fair, length=lengths), rng).state == "ok"
    caught = length(items(human, likes_long, length=lengths), rng)
    assert caught.state == "alarm"
    assert caught.figures["per_doubling"] == pytest.approx(0.6 / np.std(likes_long), rel=0.1)
    low, high = caught.figures["per_doubling_low"], caught.figures["per_doubling_high"]
    assert low is not None
    assert high is not None
    assert 0 < low < high


def test_length_is_not_probed_without_texts_or_where_all_are_alike(rng: np.random.Generator) -> None:
    human, judge = [1.0, 2.0] * 20, [2.0, 1.0] * 20
    assert "--map output=" in length(items(human, judge), rng).said
    assert length(items(human, judge, length=[10] * 40), rng).state == "not probed"
    assert length(items(human[:4], judge[:4], length=[1, 2, 3, 4]), rng).state == "not probed"


def test_a_judge_that_prefers_the_first_answer_is_caught(rng: np.random.Generator) -> None:
    as_shown = [1.0] * 40 + [0.0] * 40
    fair = position(items(as_shown, as_shown, orders=list(zip(as_shown, as_shown, strict=True))))
    assert (fair.state, fair.figures["consistency"]) == ("ok", 1.0)
    # In the other order the first is the other one: of the forty, it now prefers that.
    swapped = [0.0] * 20 + [1.0] * 20 + [0.0] * 40
    caught = position(items(as_shown, as_shown, orders=list(zip(as_shown, swapped, strict=True))))
    assert caught.state == "alarm"
    assert caught.figures["consistency"] == 0.75
    assert caught.figures["first_share"] == 1.0
    assert "of the other 20, the one shown first won 20" in caught.said


def test_a_few_pairs_that_differ_at_random_are_no_alarm() -> None:
    as_shown = [1.0, 0.0] * 50
    swapped = [0.0, 1.0] * 2 + [1.0, 0.0] * 48
    assert position(items(as_shown, as_shown, orders=list(zip(as_shown, swapped, strict=True)))).state == "ok"


def test_position_is_not_probed_for_judges_of_single_answers() -> None:
    assert position(items([1.0, 2.0], [1.0, 2.0])).state == "not probed"


def test_a_judge_that_changes_its_mind_is_caught_and_a_steady_one_is_not(rng: np.random.Generator) -> None:
    human = list(rng.integers(1, 6, size=30).astype(float))
    same = [(label, label) for label in human]
    steady = retest(items(human, human, again=same), rng)
    assert (steady.state, steady.figures["alpha"]) == ("ok", 1.0)
    random = [tuple(rng.integers(1, 6, size=2).astype(float)) for _ in human]
    assert retest(items(human, human, again=random), rng).state == "alarm"
    assert "--retest 3" in retest(items(human, human), rng).said


def test_a_judge_that_always_says_the_same_is_steady(rng: np.random.Generator) -> None:
    found = retest(items([1.0, 2.0] * 10, [3.0] * 20, again=[(3.0,)] * 20), rng)
    assert (found.state, found.figures["alpha"]) == ("ok", None)


def test_a_judge_that_uses_one_level_is_caught(rng: np.random.Generator) -> None:
    one_level = measure(items([1.0, 2.0] * 20, [5.0] * 36 + [4.0] * 4), rng)
    assert scale_use(one_level).state == "alarm"
    assert scale_use(measure(items([1.0, 2.0] * 20, [5.0] * 20 + [4.0] * 20), rng)).state == "ok"
    assert scale_use(measure(items([1.0, 2.0], [None, None]), rng)).state == "not probed"


def test_every_probe_says_what_it_found_or_how_to_make_it(rng: np.random.Generator) -> None:
    scored = items([1.0, 2.0, 3.0] * 20, [1.0, 3.0, 2.0] * 20)
    found = probes_of(scored, measure(scored, rng), rng)
    assert [probe.name for probe in found] == ["length", "position", "retest", "scale"]
    assert all(probe.said for probe in found)
