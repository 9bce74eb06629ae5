from kit.dates import is_leap


def test_centuries_are_none() -> None:
    assert not is_leap(1900)


def test_every_fourth_century_is_one() -> None:
    assert is_leap(2000)
