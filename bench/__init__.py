"""Benchmarks: what Paceline promises to reach, measured against peers in the same run.

    python -m bench                 all of them; each prints its table and writes bench/results/NAME.json
    python -m bench.noop --quick    one of them, with sizes that only show that it works
    python -m bench.report          the tables of docs/benchmarks.md, anew from bench/results/

Whoever is compared runs in a process of its own, in turn with the others, round after round, so that a slow
minute of the machine is everybody's. What counts are ratios within a round. Nothing here is part of the
package.
"""
