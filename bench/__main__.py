"""All benchmarks, one after the other: `python -m bench [--quick] [NAME ...]`.

Exits with 1 if a bar is not met. `python -m bench.report` then puts the tables into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from bench.results import RESULTS, Bar, bar_row, carry_out, table

PROGRAMS = (
    "noop",
    "forloop",
    "makespan",
    "threads",
    "startup",
    "statistics",
    "million",
    "fold",
    "html",
    "sim",
    "pace",
    "warm",
    "gateway",
    "unchanged",
    "ramp",
    "transport",
    "commands",
    "worktrees",
    "calibration",
    "requirements",
)


def main() -> int:
    """Run them, and say at the end which bars are met."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run the benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PROGRAMS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="small sizes: do they work?")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="where the JSON goes")
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - set(PROGRAMS)):
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    bars: list[Bar] = []
    for name in given.names or PROGRAMS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        measure = import_module(f"bench.{name}").measure
        bars += carry_out(name, measure, quick=given.quick, results=given.results).bars
    print(f"\n{table([bar_row(asdict(bar)) for bar in bars])}")
    return int(any(bar.met is False for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
