"""Roman numerals."""

SIGNS = ((1000, "M"), (500, "D"), (100, "C"), (50, "L"), (10, "X"), (5, "V"), (1, "I"))


def to_roman(number: int) -> str:
    """A number from 1 to 3999 in Roman numerals."""
    written = ""
    for value, sign in SIGNS:
        written += sign * (number // value)
        number %= value
    return written
