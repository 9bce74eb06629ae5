"""Parts of a run: its variants, or the values of a field, with the figures that they can be compared by.

Knows tables and rows. Where the rows of a part come from, others know.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Any

from paceline.report.calls import KeyUse
from paceline.report.figures import CostFigures, PartFigures, PerCaseFigures, VariantFigures
from paceline.report.passing import (
    ASSERTED,
    CODES_NOT_RUN,
    COUNTING,
    Units,
    headline,
    latencies_of,
    mean_of,
    proportion,
    share,
    tries_of,
    with_verdicts,
    without_interval,
)
from paceline.report.quantiles import spread
from paceline.report.spending import PICO, Amount
from paceline.report.table import OPEN, PASSED, SCORED, Table
from paceline.statistics.repeats import by_tries, pass_at_k, pass_hat_k


def variants_of(table: Table, units: Units, *, whole: bool) -> list[VariantFigures]:
    """The variants side by side; none where there is only one."""
    if not any(table.variants):
        return []
    rows: list[array[int]] = [array("I") for _ in table.variants]
    for row in range(len(table)):
        rows[table.variant[row]].append(row)
    return [
        _variant(table, name, members, units, whole=whole)
        for name, members in zip(table.variants, rows, strict=True)
        if members
    ]


def _variant(table: Table, name: str, rows: Sequence[int], units: Units, *, whole: bool) -> VariantFigures:
    repeats = len({table.groups[row] for row in rows}) < len(rows) if table.groups is not None else False
    tries = tries_of(table, with_verdicts(table, COUNTING, rows), table.groups) if whole and repeats else []
    return VariantFigures(
        name=name,
        pass_at=by_tries(tries, pass_at_k),
        pass_hat=by_tries(tries, pass_hat_k),
        **part_of(table, rows, units, whole=whole),
    )


def part_of(table: Table, rows: Sequence[int], units: Units, *, whole: bool) -> dict[str, Any]:
    """The fields of `PartFigures`, for these rows."""
    codes = Counter(table.outcome[row] for row in rows)
    ended, scored = codes.total() - codes[OPEN], codes[SCORED]
    not_run = sum(codes[code] for code in CODES_NOT_RUN)
    passed = headline(table, rows, units)
    run = codes.total() - not_run
    means = {name: mean_of(column, rows, units) for name, column in table.findings.scores.items()}
    fields = PartFigures(
        n=ended,
        n_cases=len(rows) if table.groups is None else len({table.groups[row] for row in rows}),
        n_scored=scored,
        n_failed=ended - scored,
        n_open=codes[OPEN],
        n_not_run=not_run,
        passed=passed if whole else without_interval(passed, of=passed.of),
        passed_of_scored=proportion(table, with_verdicts(table, ASSERTED, rows), units),
        error_rate=share(run - scored, run),
        latency=spread(seconds for _, seconds in latencies_of(table, rows)),
        scores={name: mean for name, mean in means.items() if mean.n},
        cost=cost_of(table, rows),
    )
    return {name: getattr(fields, name) for name in fields.__struct_fields__}


# What calls have used


def cost_of(table: Table, rows: Sequence[int]) -> CostFigures | None:
    """What real calls of these rows have cost; None where none was seen."""
    if not table.calls:
        return None
    uses = (table.calls.use_of(table.hash_of(row)) for row in rows)
    real = [use for use in uses if use is not None and not use.simulated]
    if not real:
        return None
    total = Amount(sum(use.picodollars for use in real) / PICO, sum(use.unpriced for use in real))
    return shared(total, n=len(rows), passed=sum(table.verdict[row] == PASSED for row in rows))


def shared(total: Amount, *, n: int, passed: int) -> CostFigures | None:
    """A cost by key and by key that passed."""
    if not n:
        return None
    return CostFigures(
        total=total,
        per_case=Amount(total.known / n, total.unknown),
        per_pass=Amount(total.known / passed, total.unknown) if passed else None,
    )


def per_case(table: Table) -> PerCaseFigures | None:
    """What single keys have used: of real providers, or of simulated ones where nothing else was called."""
    real = [use for use in table.calls.uses() if not use.simulated]
    return _per_case(real or list(table.calls.uses()))


def _per_case(uses: Sequence[KeyUse]) -> PerCaseFigures | None:
    if not uses:
        return None
    return PerCaseFigures(
        n=len(uses),
        calls=spread(use.calls for use in uses),
        input_tokens=spread(use.input_tokens for use in uses if use.input_tokens is not None),
        output_tokens=spread(use.output_tokens for use in uses if use.output_tokens is not None),
        cost=spread(use.picodollars / PICO for use in uses if not use.unpriced),
    )


__all__ = ["cost_of", "part_of", "per_case", "shared", "variants_of"]
