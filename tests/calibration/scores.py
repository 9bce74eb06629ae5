"""Labelled items for tests: with scores as given, or drawn from a judge whose true correlation is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paceline.calibration.measuring import Scored

EVEN = (0.2, 0.4, 0.6, 0.8)
"""Where a normal score is cut into five levels that are used alike."""
LATENT = {0.80: 0.849682, 0.95: 0.982421}
"""Of two normal scores that are cut like that: Pearson's correlation before, by Spearman's after."""


def items(human: Sequence[float], judge: Sequence[float | None], **more: Sequence[object]) -> list[Scored]:
    """Items with these scores, and whatever else is said of each."""
    return [
        Scored(
            where=f"labels.jsonl:{place + 1}",
            human=meant,
            humans=(meant,),
            judge=said,
            **{name: values[place] for name, values in more.items()},  # type: ignore[arg-type]
        )
        for place, (meant, said) in enumerate(zip(human, judge, strict=True))
    ]


def drawn(rho: float, n: int, rng: np.random.Generator) -> list[Scored]:
    """Items of a judge whose Spearman correlation with people is `rho`, on five levels with many ties."""
    from scipy.stats import norm

    latent = LATENT[rho]
    human = rng.normal(size=n)
    judge = latent * human + np.sqrt(1 - latent**2) * rng.normal(size=n)
    cuts = norm.ppf(EVEN)
    return items(
        [float(level) for level in np.digitize(human, cuts)],
        [float(level) for level in np.digitize(judge, cuts)],
    )
