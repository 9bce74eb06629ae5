from kit.stats import median


def test_an_even_count_has_the_mean_of_the_middle_two() -> None:
    assert median([1, 2, 3, 4]) == 2.5


def test_numbers_need_not_be_in_order() -> None:
    assert median([3, 1, 2]) == 2
