from kit.money import format_cents


def test_debts_have_their_sign_in_front() -> None:
    assert format_cents(-5) == "-$0.05"
    assert format_cents(-1234) == "-$12.34"


def test_nothing_is_no_debt() -> None:
    assert format_cents(0) == "$0.00"
