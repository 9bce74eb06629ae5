"""Comparison: two runs or more, held against each other case by case.

    compared = compare("runs/before", "runs/after")
    compared.verdict, compared.pairs[0].metrics, compared.to_dict()
    compared.print()

    sides      what is compared: a run, a variant, a saved baseline, results of another harness
    foreign    what other harnesses have written
    pairing    keys that are in both, and what has become of each
    metrics    per figure: both values, the paired difference, how sure one can be, a sentence
    differing  what else is not the same: cases, deadlines, judges, models
    comparing  all of it together

A failure counts as a failure on whichever side it is, and never as a row that is not there. The statistics
are those of `statistics`.
"""

from paceline.comparison.comparing import Comparison, Pair, compare
from paceline.comparison.metrics import Metric
from paceline.comparison.sides import Side

__all__ = ["Comparison", "Metric", "Pair", "Side", "compare"]
