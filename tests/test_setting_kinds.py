"""How limits are written: as a mapping in files, as JSON in the environment."""

from __future__ import annotations

import pytest

from paceline.setting_kinds import LIMITS, limits, prices, rate


@pytest.mark.parametrize(
    ("given", "read"),
    [(600, 600.0), ("600", 600.0), ("0.5", 0.5), ("500k", 500_000.0), ("2M", 2_000_000.0)],
)
def test_a_rate_is_a_number_that_may_be_written_short(given: object, read: float) -> None:
    assert rate(given) == read


@pytest.mark.parametrize("given", [0, -1, True, "fast", float("nan"), float("inf"), None])
def test_what_is_no_rate_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match=repr(given)[:4].strip("'")):
        rate(given)


def test_limits_hold_for_all_pools_or_for_those_they_name() -> None:
    assert limits({"rpm": "1k", "window": 8, "openai:gpt-5": {"tpm": "2M", "rpm": None}}) == {
        "rpm": 1000.0,
        "window": 8,
        "openai:gpt-5": {"tpm": 2_000_000.0, "rpm": None},
    }


def test_limits_in_the_environment_are_json() -> None:
    assert LIMITS.read('{"rps": 2}') == {"rps": 2.0}


@pytest.mark.parametrize(
    "given",
    [
        5,
        "rpm=600",
        ["rpm"],
        {"rpm": 0},
        {"rpm": {}},
        {"window": 2.5},
        {"speed": 3},
        {"openai:gpt-5": {"speed": 3}},
        {"openai:gpt-5": {"openai:gpt-4": {"rpm": 3}}},
    ],
)
def test_limits_that_mean_nothing_are_refused(given: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        limits(given)


def test_prices_name_at_least_input_and_output_and_may_be_nothing() -> None:
    assert prices({"local": {"input": 0, "output": 0}}) == {"local": {"input": 0.0, "output": 0.0}}
    for given in ({"m": {"input": 1}}, {"m": {"input": 1, "output": 1, "speed": 1}}, {"m": 5}):
        with pytest.raises(ValueError, match=r"\w"):
            prices(given)
