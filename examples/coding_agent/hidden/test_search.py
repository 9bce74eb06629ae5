from kit.search import index_of


def test_each_number_is_found() -> None:
    numbers = [2, 3, 5, 7, 11, 13]
    assert [index_of(numbers, number) for number in numbers] == [0, 1, 2, 3, 4, 5]


def test_others_are_not() -> None:
    assert index_of([2, 3, 5], 4) is None
    assert index_of([2, 3, 5], 9) is None
