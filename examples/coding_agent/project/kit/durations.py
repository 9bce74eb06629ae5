"""Lengths of time."""


def parse_duration(text: str) -> int:
    """The seconds that a text such as 45s means."""
    return int(text.removesuffix("s"))
