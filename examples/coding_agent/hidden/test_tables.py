from kit.tables import render


def test_columns_may_be_aligned_to_the_right() -> None:
    assert render([["a", "10"], ["bc", "9"]], right=[1]) == "a   10\nbc   9"
