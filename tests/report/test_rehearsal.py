"""What a rehearsal predicts: time from the scenario rather than from this machine, cost from the calls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.report import Report
from paceline.report.figures import RehearsalFigures
from tests.report.journals import Lines, begin, called, ended, manifest, run, scored, yes

FAST = {"scenario": "rehearsal", "time_scale": 20.0, "mean_s": 2.0}


def prediction(
    cases: int = 10, *, played: Any = FAST, places: int = 5, wall: float = 1.0, **call: Any
) -> RehearsalFigures | None:
    """Of cases of a tenth of a second each that make one call of a tenth of a second."""
    lines = [
        line
        for case in map(str, range(cases))
        for line in (
            begin(case),
            called(case, simulated=True, **{"seconds": 0.1, **call}),
            scored(case, yes(), seconds=0.1),
        )
    ]
    fingerprint = {"suite": "capitals", **({"simulated": played} if played is not None else {})}
    first, last = run("Equals", fingerprint=fingerprint), ended(wall=wall, places=places)
    return Report.read(Lines(first, *lines, manifest(cases), last)).figures.rehearsal


def seconds(*arguments: Any, **given: Any) -> float:
    figures = prediction(*arguments, **given)
    assert figures is not None
    assert figures.seconds is not None
    return figures.seconds


def test_cases_take_what_the_scenario_says_of_their_calls_as_many_at_once_as_may_be() -> None:
    assert seconds(10, places=5) == pytest.approx(2.0 + 2.0)  # five behind five
    assert seconds(10, places=10) == pytest.approx(2.0)
    assert seconds(10, places=1) == pytest.approx(20.0)
    assert seconds(10, places=0) == pytest.approx(2.0)  # no bound: all at once


def test_tokens_take_their_time_where_the_scenario_says_so() -> None:
    played = {**FAST, "per_output_token_s": 0.01, "per_input_token_s": 0.001, "constant_s": 0.5}
    assert seconds(1, played=played) == pytest.approx(2.0 + 0.5 + 10 * 0.01 + 100 * 0.001)


def test_what_a_case_does_beside_its_calls_is_not_any_faster_in_a_rehearsal() -> None:
    assert seconds(1, seconds=0.04) == pytest.approx(2.0 + 0.06)


def test_rates_and_calls_at_once_of_the_scenario_are_kept() -> None:
    assert seconds(10, played={**FAST, "rpm": 60}, places=10) == pytest.approx(10.0)
    assert seconds(10, played={**FAST, "tpm": 1100}, places=10) == pytest.approx(60.0)
    assert seconds(10, played={**FAST, "in_flight": 2}, places=10) == pytest.approx(4 * 2.0 + 2.0)


def test_where_calls_differ_in_length_the_longest_ends_alone() -> None:
    assert seconds(100, played={**FAST, "sigma": 0.5}, places=100) > 2 * seconds(100, places=100)


def test_a_scenario_at_its_own_speed_has_been_measured() -> None:
    assert seconds(10, played={**FAST, "time_scale": 1.0}, wall=77.0) == 77.0


def test_the_cost_is_that_of_the_calls_and_unknown_where_one_price_is() -> None:
    known, unknown = prediction(10), prediction(10, price=None)
    assert known is not None
    assert unknown is not None
    assert (known.usd, unknown.usd) == (0.01, None)


def test_a_run_that_was_no_rehearsal_predicts_nothing() -> None:
    assert prediction(played=None) is None
    # What older or newer versions may have written there, and people.
    for odd in ("rehearsal", [1], {"time_scale": "fast", "mean_s": None}):
        figures = prediction(played=odd)
        assert figures is None or figures.seconds == 1.0  # at its own speed, as far as is known


def test_the_prediction_is_told_in_words_and_in_the_document() -> None:
    lines = [begin("a"), called("a", simulated=True, seconds=0.1), scored("a", yes(), seconds=0.1)]
    last = ended(places=5)
    report = Report.read(Lines(run("Equals", fingerprint={"simulated": FAST}), *lines, manifest(1), last))
    said = " ".join(report.render(width=200).split())
    assert "SIMULATED a rehearsal, not a result: a simulated provider answered all 1 call" in said
    assert (
        "Predicted the run would take about 2.00 s with 1 case in progress, if the provider is as scenario "
        "rehearsal plays it, and cost about $0.001, if answers are as long as these"
    ) in said
    assert report.to_dict()["rehearsal"] == {
        "scenario": "rehearsal",
        "at_once": 1,
        "seconds": pytest.approx(2.0),
        "usd": 0.001,
    }


@given(
    cases=st.integers(1, 30),
    places=st.integers(0, 60),
    sigma=st.floats(0, 5),
    mean=st.floats(0, 1000),
)
def test_more_places_never_take_longer_and_no_run_is_shorter_than_a_case(
    cases: int, places: int, sigma: float, mean: float
) -> None:
    played = {**FAST, "sigma": sigma, "mean_s": mean}
    few, more = (
        seconds(cases, played=played, places=number) for number in (places or 61, (places or 61) + 1)
    )
    assert mean <= more * (1 + 1e-9)
    assert more <= few * (1 + 1e-9)
