import pytest
from kit.durations import parse_duration


def test_minutes_and_hours_are_understood() -> None:
    assert parse_duration("10m") == 600
    assert parse_duration("1h30m") == 5400
    assert parse_duration("1h1s") == 3601


def test_what_is_no_duration_is_an_error() -> None:
    for text in ("", "h", "5", "3d"):
        with pytest.raises(ValueError):
            parse_duration(text)
