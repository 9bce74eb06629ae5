"""Values in words, for reasons: short whatever the size of the value, so that saying why costs nothing."""

from __future__ import annotations

import reprlib


class _Brief(reprlib.Repr):
    """`repr`, bounded: long text keeps both its ends, containers their first entries."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = 100
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = 5
        self.maxlevel = 3

    def repr_int(self, value: int, level: int) -> str:
        # Python refuses to write out the largest.
        return super().repr_int(value, level) if value.bit_length() < 2000 else "a huge int"

    def repr_bytes(self, value: bytes, level: int) -> str:
        # The general case would write all of it out before cutting it.
        return super().repr_instance(value[: self.maxother], level)

    repr_bytearray = repr_bytes


brief = _Brief().repr


def kind_of(value: object) -> str:
    """What a value is, as it stands in a sentence: `a dict`, `an int`, `None`."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def error_in_words(error: BaseException, *, limit: int = 1_000) -> str:
    """Type and message of an error that foreign code has raised: bounded, however it resists."""
    name = getattr(type(error), "__name__", "error")
    try:
        message = str.__str__(str(error)).strip()
    except BaseException as broken:
        message = f"<no message: its __str__ raised {type(broken).__name__}>"
    message = message.encode("utf-8", "backslashreplace").decode("utf-8")
    cut = message if len(message) <= limit else f"{message[: limit - 1]}…"
    return f"{name}: {cut}" if cut else name
