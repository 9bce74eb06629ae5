"""Sums of money."""


def format_cents(cents: int) -> str:
    """An amount in cents as dollars: 1234 is $12.34, and -5 is -$0.05."""
    return f"${cents // 100}.{cents % 100:02d}"
