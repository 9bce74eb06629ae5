from kit.chunks import chunked


def test_the_rest_is_a_part() -> None:
    assert list(chunked([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]


def test_few_are_one_part() -> None:
    assert list(chunked([1], 2)) == [[1]]
