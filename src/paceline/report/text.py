"""Text for people: foreign text made harmless, numbers made readable.

`clean` makes one line of whatever a model says (see `printable`). A rate is never rounded up to 100 % or down
to 0 %.
"""

from __future__ import annotations

import math
import re
import textwrap
from typing import Final

from paceline.printable import harmless

UNKNOWN: Final = "unknown"


def clean(text: str, *, limit: int = 300, encoding: str = "utf-8") -> str:
    """One line of text that no terminal does anything but show; what was replaced stands as an escape."""
    shown = " ".join(text[: limit + 1].split())
    if len(text) > limit:
        shown = shown[:limit].rstrip() + "…"
    shown = harmless(shown, lines=False)
    if encoding.lower().replace("-", "") != "utf8":
        shown = shown.replace("…", "...").encode(encoding, "backslashreplace").decode(encoding)
    return shown


def natural(text: str) -> list[str | int]:
    """What to sort text by, so that `case 2` comes before `case 10`."""
    parts: list[str | int] = re.split(r"([0-9]{1,18})", text)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def folded(text: str, width: int) -> str:
    """Text on lines of this width, broken between phrases, and within one only if it is longer than that."""
    lines = [""]
    for phrase in re.split(r"(?<=[,;:]) ", text):
        joined = f"{lines[-1]} {phrase}" if lines[-1] else phrase
        if len(joined) <= width:
            lines[-1] = joined
        elif len(phrase) <= width:
            lines.append(phrase)
        else:
            lines[-1:] = textwrap.wrap(joined, max(1, width))
    return "\n".join(lines)


def shown_value(value: object, *, limit: int = 200) -> str:
    """Any value as text: a str as it is, everything else as Python writes it."""
    if isinstance(value, str):
        return value[: limit + 1]
    try:
        return repr(value)[: limit + 1]
    except Exception as error:  # someone else's `__repr__`
        return f"<{type(value).__name__}: its repr raises {type(error).__name__}>"


def percent(rate: float | None) -> str:
    """A share in percent; what is not all is never shown as all."""
    if rate is None:
        return UNKNOWN
    if 0 < rate < 0.001:
        return "<0.1%"
    if 0.999 < rate < 1:
        return ">99.9%"
    return f"{rate:.1%}"


def seconds(duration: float | None) -> str:
    """A duration in the unit that suits it."""
    if duration is None:
        return UNKNOWN
    if duration < 0.9995:
        return f"{duration * 1000:.3g} ms" if duration else "0 s"
    if duration < 59.95:
        return f"{duration:.2f} s" if duration < 9.995 else f"{duration:.1f} s"
    whole = round(duration)
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min"


def number(value: float | None) -> str:
    """A number with as many digits as mean something."""
    if value is None:
        return UNKNOWN
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def short(count: float) -> str:
    """A count in a few characters: `9,950`, `12.3k`, `4.56M`."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(count) >= 0.9995 * size and abs(count) >= 9999.5:
            return f"{count / size:#.3g}".rstrip(".") + unit
    return f"{count:,.0f}"


def dollars(sum_: float) -> str:
    """A sum of money; a small one is never rounded down to nothing, and is written as money is."""
    if 0 < abs(sum_) < 1e-4:
        return f"${sum_:.{1 - math.floor(math.log10(abs(sum_)))}f}"
    if 0 < abs(sum_) < 0.995:
        return f"${sum_:.2g}"
    return f"${sum_:,.2f}" if abs(sum_) < 1000 else f"${sum_:,.0f}"


def times(factor: float) -> str:
    """How many times something is something else."""
    return f"{factor:.1f}" if factor < 100 else f"{factor:,.0f}"


def counted(count: int, thing: str, things: str = "") -> str:
    """`1 case`, `2 cases`."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


__all__ = [
    "UNKNOWN",
    "clean",
    "counted",
    "dollars",
    "folded",
    "natural",
    "number",
    "percent",
    "seconds",
    "short",
    "shown_value",
    "times",
]
