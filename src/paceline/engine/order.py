"""In which order cases are begun.

    given      as the dataset has them
    longest    longest expected first, by what earlier runs took: the last lanes then end close together
    shuffle    at random, from a seed: any prefix is then a fair sample
    auto       longest where durations are known and the whole set will run; shuffled where a budget may end
               the run before its last case, so that what has run is a fair sample; as given otherwise

Where only some cases have run before, the others are taken as long as the typical one of those.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from paceline.settings import Order

AS_GIVEN: Final = "as given"


def arrange(
    names: Sequence[str],
    order: Order,
    *,
    durations: Mapping[str, float],
    whole: bool,
    seed: int,
    fair: bool = False,
) -> tuple[Sequence[int], str]:
    """Positions of the cases in the order to begin them, and what to call that order.

    `whole` says that nothing will stop the run before its last case, `fair` that something may that has
    nothing to do with the cases themselves.
    """
    positions = range(len(names))
    if order == "shuffle" or (order == "auto" and fair):
        return random.Random(seed).sample(positions, len(names)), f"shuffled, seed {seed}"
    known = [durations[name] for name in names if name in durations]
    if order == "longest" or (order == "auto" and whole and 2 * len(known) >= len(names) > 1):
        typical = median(known) if known else 0.0
        by_length = sorted(positions, key=lambda position: -durations.get(names[position], typical))
        return by_length, "longest expected first"
    return positions, AS_GIVEN
