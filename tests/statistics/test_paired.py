"""Paired differences, held against SciPy, against the methods' definitions, and against real outcomes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.statistics.interval import normal_quantile
from paceline.statistics.means import mean_interval
from paceline.statistics.paired import PairedDifference, mcnemar, paired_difference, sign_flips, tango

SOLUTIONS = Path(__file__).resolve().parents[3] / "shared" / "data" / "gsm8k_model_solutions.jsonl"
pairs_that_disagree = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60))
grades = st.lists(st.integers(-8, 8).map(lambda each: each / 4), min_size=1, max_size=9)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def found(first: list[float], second: list[float], clusters: list[int] | None = None) -> PairedDifference:
    difference = paired_difference(first, second, rng(), clusters=clusters)
    assert difference is not None
    return difference


# Yes or no


def test_models_that_solved_the_same_problems_have_the_published_p_value() -> None:
    if not SOLUTIONS.exists():
        pytest.skip("../shared/data/gsm8k_model_solutions.jsonl is not here")
    rows = [json.loads(line) for line in SOLUTIONS.read_text().splitlines()]
    models = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
    solved = {model: [float(row[model]["is_correct"]) for row in rows] for model in models}
    accuracies = {model: round(sum(each) / len(each), 4) for model, each in solved.items()}
    assert accuracies == {
        "6b_finetuning": 0.2168,
        "6b_verification": 0.3904,
        "175b_finetuning": 0.3472,
        "175b_verification": 0.5625,
    }
    difference = found(solved["6b_verification"], solved["175b_finetuning"])
    assert (difference.n, difference.only_first, difference.only_second) == (1319, 209, 152)
    assert difference.test == "mcnemar"
    assert round(difference.p, 5) == 0.00315
    assert difference.difference == pytest.approx((152 - 209) / 1319)
    assert difference.interval is not None
    assert difference.interval.high < 0


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test_of_the_pairs_that_disagree(first: int, second: int) -> None:
    from scipy.stats import binomtest

    theirs = binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(theirs)


def likeliest_variance(lost: int, gained: int, same: int, difference: float) -> float:
    """The variance of one pair where losses are as frequent as makes this sample likeliest, by search."""
    from scipy.optimize import minimize_scalar

    def unlikely(share: float) -> float:
        terms = [(gained, share + difference), (lost, share), (same, 1 - 2 * share - difference)]
        return -sum(count * math.log(max(chance, 1e-300)) for count, chance in terms if count)

    low, high = max(0.0, -difference), (1 - difference) / 2
    share = float(minimize_scalar(unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x)
    return 2 * share + difference - difference**2


@given(pairs_that_disagree)
def test_at_the_ends_of_tangos_interval_the_score_test_is_on_the_line(counts: tuple[int, int, int]) -> None:
    lost, gained, same = counts
    n = lost + gained + same
    interval = tango(lost, gained, n)
    if interval is None:
        assert n == 0
        return
    for end in (interval.low, interval.high):
        if abs(end) > 0.999:
            continue
        error = math.sqrt(likeliest_variance(lost, gained, same, end) / n)
        assert abs((gained - lost) / n - end) / error == pytest.approx(normal_quantile(0.95), rel=1e-3)


@given(pairs_that_disagree)
def test_the_interval_of_the_other_way_round_is_its_mirror_image(counts: tuple[int, int, int]) -> None:
    lost, gained, same = counts
    one, other = tango(lost, gained, lost + gained + same), tango(gained, lost, lost + gained + same)
    if one is None or other is None:
        assert one is other
        return
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert one.low - 1e-12 <= (gained - lost) / one.n <= one.high + 1e-12


def test_no_disagreement_is_not_taken_for_certainty() -> None:
    difference = found([1.0] * 20, [1.0] * 20)
    assert (difference.difference, difference.p) == (0.0, 1.0)
    assert difference.interval is not None
    assert difference.interval.low == -difference.interval.high
    assert difference.interval.high == pytest.approx(0.161, abs=5e-4)  # z² / (n + z²)


# Graded


@given(grades)
def test_going_through_all_signs_is_the_permutation_test_by_its_definition(differences: list[float]) -> None:
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert sign_flips(differences, rng()) == (sum(each >= observed for each in sums) / len(sums), None)


def test_sign_flips_are_scipys_permutation_test_of_pairs() -> None:
    from scipy.stats import permutation_test

    values = list(np.random.default_rng(1).normal(0.4, 1, size=12))
    theirs = permutation_test(
        (values, [0.0] * 12), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flips(values, rng()).p == pytest.approx(theirs.pvalue)


def test_drawn_signs_say_what_all_of_them_would() -> None:
    """Twenty are gone through; with two more that differ by nothing to speak of, signs are drawn."""
    differences = list(np.random.default_rng(2).normal(0.3, 1, size=20))
    every = sign_flips(differences, rng())
    sampled = sign_flips([*differences, 1e-6, 1e-6], rng(), draws=40_000)
    assert (every.draws, sampled.draws) == (None, 40_000)
    assert sampled.p == pytest.approx(every.p, abs=4 * math.sqrt(every.p / 40_000))


def test_drawn_signs_of_values_on_a_scale_say_what_all_of_them_would() -> None:
    """Forty differences of a few sizes, whose sums can be counted."""
    differences = np.random.default_rng(3).choice([-2, -1, 1, 2, 3], size=40)
    ways = {0: 1}
    for each in differences:
        reached: dict[int, int] = {}
        for total, count in ways.items():
            for signed in (total + int(each), total - int(each)):
                reached[signed] = reached.get(signed, 0) + count
        ways = reached
    observed = abs(int(differences.sum()))
    every = sum(count for total, count in ways.items() if abs(total) >= observed) / 2**40
    sampled = sign_flips([each / 4 for each in differences], rng(), draws=40_000)
    assert sampled.p == pytest.approx(every, abs=4 * math.sqrt(every / 40_000))
    assert sampled.draws == 40_000


def test_a_sampled_p_value_is_never_zero_and_the_same_each_time() -> None:
    difference = found([0.5] * 40, [0.9, 0.8] * 20)
    assert difference.test == "sampled sign flips"
    assert difference.p == pytest.approx(1 / 10_001)
    assert difference == found([0.5] * 40, [0.9, 0.8] * 20)


def test_a_hundred_thousand_graded_pairs_are_drawn_from_less_often() -> None:
    chance = np.random.default_rng(3)
    flips = sign_flips(list(chance.normal(size=100_000)), rng())
    assert flips.draws == 2_000
    assert 0 < flips.p <= 1


def test_graded_differences_have_students_interval_and_none_without_spread() -> None:
    first, second = [0.1, 0.5, 0.4, 0.9], [0.4, 0.5, 0.9, 1.0]
    difference = found(first, second)
    assert difference.interval == mean_interval([0.3, 0.0, 0.5, 0.1])
    assert (difference.only_first, difference.only_second) == (None, None)
    assert found([0.5] * 8, [0.5] * 8).interval is None


# Clusters


def test_repeats_are_flipped_as_a_whole() -> None:
    """Four repeats of five cases in which the second is always right: five cases show that, not twenty."""
    first, second = [0.0] * 20, [1.0] * 20
    cases = [number // 4 for number in range(20)]
    difference = found(first, second, cases)
    assert difference.p == 2 / 2**5
    assert difference.units == 5
    assert found(first, second).p < 1e-5
    assert difference.interval is not None
    assert difference.interval.n == 5
    assert difference.interval.low < 0.6


def test_repeats_that_never_differ_are_worth_one_case_each() -> None:
    chance = np.random.default_rng(4)
    first, second = (chance.integers(2, size=300).astype(float) for _ in range(2))
    alone = found(list(first), list(second))
    thrice = found(list(np.repeat(first, 3)), list(np.repeat(second, 3)), list(np.repeat(np.arange(300), 3)))
    assert alone.interval is not None
    assert thrice.interval is not None
    assert (thrice.interval.low, thrice.interval.high) == pytest.approx(
        (alone.interval.low, alone.interval.high), abs=0.002
    )
    assert thrice.units == 300


# What is not there


def test_of_no_pair_nothing_is_said_and_one_pair_shows_nothing() -> None:
    assert paired_difference([], [], rng()) is None
    assert found([0.0], [1.0]).p == 1.0
    assert found([0.25], [1.0]).p == 1.0
    assert found([0.25], [1.0]).interval is None


def test_columns_of_different_length_and_values_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        paired_difference([0.0, 1.0], [1.0], rng())
    with pytest.raises(ValueError, match="not a number"):
        paired_difference([math.nan], [1.0], rng())


# What is promised


@pytest.mark.parametrize(("losses", "gains"), [(0.05, 0.05), (0.1, 0.1), (0.05, 0.15), (0.1, 0.3)])
def test_over_all_samples_there_are_tangos_interval_holds_the_truth_as_often_as_it_says(
    losses: float, gains: float
) -> None:
    n = 50
    held = sum(
        chance
        for lost, gained, chance in samples_of_pairs(n, losses, gains)
        if (interval := tango(lost, gained, n)) and interval.low <= gains - losses <= interval.high
    )
    assert 0.93 <= held <= 0.97


@pytest.mark.parametrize("share", [0.02, 0.1, 0.4])
def test_over_all_samples_there_are_mcnemar_finds_nothing_where_there_is_nothing(share: float) -> None:
    found = sum(
        chance for lost, gained, chance in samples_of_pairs(60, share, share) if mcnemar(lost, gained) <= 0.05
    )
    assert found <= 0.05


def samples_of_pairs(n: int, losses: float, gains: float) -> Iterator[tuple[int, int, float]]:
    """Every sample there can be, and its chance."""
    same = 1 - losses - gains
    for lost, gained in product(range(n + 1), repeat=2):
        if lost + gained <= n:
            ways = math.comb(n, lost) * math.comb(n - lost, gained)
            yield lost, gained, ways * losses**lost * gains**gained * same ** (n - lost - gained)


@pytest.mark.parametrize("n", [50, 200])
def test_repeats_of_the_same_cases_leave_interval_and_test_right(n: int) -> None:
    """Two runs that only chance tells apart. The seeds are fixed, so this cannot fail by chance."""
    dice, samples, repeats = np.random.default_rng(n), 400, 3
    held = found = 0
    for _ in range(samples):
        rates = np.repeat(np.where(dice.random(n) < 0.6, 0.9, 0.3), repeats)
        first, second = ((dice.random(n * repeats) < rates).astype(float).tolist() for _ in range(2))
        difference = paired_difference(
            first, second, dice, clusters=np.repeat(np.arange(n), repeats).tolist()
        )
        assert difference is not None
        assert difference.interval is not None
        held += difference.interval.low <= 0 <= difference.interval.high
        found += difference.p <= 0.05
    assert 0.93 <= held / samples <= 0.97
    assert found / samples <= 0.055


@pytest.mark.parametrize("n", [12, 50])
def test_sign_flips_of_graded_pairs_find_nothing_where_there_is_nothing(n: int) -> None:
    dice, samples = np.random.default_rng(n), 600
    found = sum(
        sign_flips((dice.normal(size=n) - dice.normal(size=n)).tolist(), dice, draws=499).p <= 0.05
        for _ in range(samples)
    )
    assert 0.02 <= found / samples <= 0.055
