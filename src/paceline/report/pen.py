"""The pen: writes what the stream can show, and foreign text so that it does no harm.

Knows an encoding. Knows nothing of what is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paceline.report.text import clean

if TYPE_CHECKING:
    from rich.text import Text


class Pen:
    """Writes what the stream can show."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self.unicode = encoding.lower().replace("-", "") == "utf8"

    def say(self, text: str, style: str = "", *, limit: int = 300) -> Text:
        """Foreign text, harmless and on one line."""
        from rich.text import Text

        return Text(clean(text, limit=limit, encoding=self.encoding), style=style)

    def join(self, *parts: Text | str, style: str = "") -> Text:
        """Pieces in one text; those that are not text yet are ours, and are left as they are."""
        from rich.text import Text

        return Text.assemble(*parts, style=style)

    @property
    def box(self) -> Any:
        from rich import box

        return box.SIMPLE_HEAD if self.unicode else box.ASCII2

    @property
    def by(self) -> str:
        return "×" if self.unicode else "x"

    @property
    def bar(self) -> str:
        """What a bar is drawn with."""
        return "█" if self.unicode else "#"


__all__ = ["Pen"]
