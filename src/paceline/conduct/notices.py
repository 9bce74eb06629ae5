"""Notices: what a person is to be told once a run is over, beside its report.

Functions of what the run has found. Who hears of it is the books'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paceline.engine.run import Ending, Run
from paceline.engine.source import OpenKeys


class Notice(NamedTuple):
    """Something to tell, and what to do about it."""

    message: str
    hint: str = ""


def notices(
    run: Run, source: OpenKeys, ending: Ending, *, limits_in_vain: Sequence[str], pools: Sequence[str]
) -> Iterator[Notice]:
    """All there is to tell. `pools` are those that calls went to."""
    if changed := source.reasons["content changed"]:
        yield Notice(f"{changed} cases were run again: their content is not what was on record")
    if run.purse.unknown:
        yield Notice(
            f"the budget could not be kept: {run.purse.unknown}",
            "report them with increment_eval_metric, or set no budget on them",
        )
    if limits_in_vain and ending.how == "complete":
        yield Notice(
            f"limits were set for {', '.join(limits_in_vain)}, and no call went there",
            f"calls went to {', '.join(sorted(set(pools)))}",
        )
    if source.vague:
        yield Notice(
            f"the inputs of {source.vague} cases hold objects that cannot be recorded: "
            "a resume would not notice a change of them",
            "give their class fields: a dataclass, or a model of msgspec or Pydantic",
        )
