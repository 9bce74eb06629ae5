from kit.roman import to_roman


def test_fours_and_nines_are_taken_away() -> None:
    assert [to_roman(number) for number in (4, 9, 40, 90, 400, 900)] == ["IV", "IX", "XL", "XC", "CD", "CM"]


def test_a_year() -> None:
    assert to_roman(1994) == "MCMXCIV"
