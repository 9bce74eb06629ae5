"""Templates that a model judges: what it is asked, in tables by what they are about.

A rubric says what passes, what the ends of a scale are, and what must not count. It never repeats what is
judged: that is shown apart, fenced.
"""

from __future__ import annotations

import textwrap

from paceline.evaluators.templates.entries import Judged, shown
from paceline.evaluators.templates.findings import OutputType


def judged(
    name: str,
    output: OutputType,
    inputs: str,
    about: str,
    rules: str,
    *,
    choices: tuple[str, ...] = (),
    ranks: tuple[float, ...] = (),
) -> Judged:
    """An entry whose rubric is what it is about, and rules for cases that one could see either way."""
    assert not ranks or len(ranks) == len(choices)
    opening = f"It passes if this is so: {about}" if output == "Pass/Fail" else about
    return Judged(
        name=name,
        about=about,
        inputs=shown(*inputs.split()),
        output=output,
        rubric=f"{opening}\n{textwrap.dedent(rules).strip()}",
        choices=choices,
        ranks=ranks,
    )


HOW_OFTEN = ("never", "occasionally", "frequently", "always")
GOOD_WHEN_OFTEN = (0.0, 1 / 3, 2 / 3, 1.0)
GOOD_WHEN_RARE = (1.0, 2 / 3, 1 / 3, 0.0)
