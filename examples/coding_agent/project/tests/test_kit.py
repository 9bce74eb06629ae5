from kit.caches import Recent
from kit.chunks import chunked
from kit.dates import is_leap
from kit.durations import parse_duration
from kit.money import format_cents
from kit.roman import to_roman
from kit.search import index_of
from kit.slugs import slugify
from kit.stats import median
from kit.tables import render


def test_slugs() -> None:
    assert slugify("Hello world") == "hello-world"


def test_money() -> None:
    assert format_cents(1234) == "$12.34"


def test_dates() -> None:
    assert is_leap(2024)
    assert not is_leap(2023)


def test_chunks() -> None:
    assert list(chunked([1, 2, 3, 4], 2)) == [[1, 2], [3, 4]]


def test_roman() -> None:
    assert to_roman(1066) == "MLXVI"


def test_durations() -> None:
    assert parse_duration("45s") == 45


def test_tables() -> None:
    assert render([["a", "10"], ["bc", "9"]]) == "a   10\nbc  9"


def test_stats() -> None:
    assert median([1, 2, 3]) == 2


def test_search() -> None:
    assert index_of([], 3) is None


def test_caches() -> None:
    kept = Recent(2)
    kept.put("a", 1)
    assert kept.get("a") == 1
    assert kept.get("b") is None
