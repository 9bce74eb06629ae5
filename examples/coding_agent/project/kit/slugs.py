"""Names for addresses."""

import re


def slugify(title: str) -> str:
    """A title in small letters and digits, with single dashes between words."""
    return re.sub(r"[^a-z0-9]", "-", title.lower())
