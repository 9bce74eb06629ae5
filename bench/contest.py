"""Contests: several ways to do the same work, in turn, each time in a process of its own.

A contestant is a generator function. It makes ready, yields (the clock starts), works, yields (the clock
stops), and returns what tells that the work was done. Its current directory is a folder of its own:

    def sleeper(*, seconds: float) -> Timed:
        yield
        time.sleep(seconds)
        yield
        return {"done": 1}

Knows processes and clocks. Knows nothing of what is measured.
"""

from __future__ import annotations

import compileall
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / "build" / "bench"
"""On the disk of the checkout: a journal in memory would be synced for nothing."""

Facts = dict[str, Any]
Timed = Generator[None, None, Facts]
Measure = Literal["wall_s", "cpu_s", "peak_mb"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One way to do the work."""

    name: str
    does: str
    """`module:function` of the generator function."""
    settings: Mapping[str, object] = field(default_factory=dict)
    python: str = sys.executable


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one go at the work took."""

    wall_s: float
    cpu_s: float
    """Of all threads, and of child processes that ended."""
    peak_mb: float
    """Peak resident memory of the process, making ready included."""
    facts: Facts = field(default_factory=dict)

    def amount(self, measure: Measure) -> float:
        """How much of one of them."""
        return {"wall_s": self.wall_s, "cpu_s": self.cpu_s, "peak_mb": self.peak_mb}[measure]


class ContestantFailed(Exception):
    """A contestant did not do its work, so there is nothing to compare."""


@contextmanager
def scratch(prefix: str = "") -> Generator[Path, None, None]:
    """A folder for the files of a contest, gone afterwards."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=SCRATCH, prefix=prefix) as folder:
        yield Path(folder)


def carry_out(contestant: Contestant, *, folder: Path | None = None) -> Cost:
    """Let a contestant work once. Without `folder` it gets an empty one for itself."""
    if folder is None:
        with scratch() as own:
            return carry_out(contestant, folder=own)
    settings = json.dumps(contestant.settings)
    ended = subprocess.run(
        [contestant.python, "-m", "bench.child", contestant.does, settings, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        raise ContestantFailed(f"{contestant.name} ended with {ended.returncode}:\n{ended.stderr[-4000:]}")
    return Cost(**json.loads(ended.stdout.splitlines()[-1]))


def compiled() -> None:
    """Compile our modules, as an installation does. Peers come compiled; where Python is told
    to write no bytecode, each of our processes would compile the package anew.
    """
    for folder in ("src", "bench"):
        compileall.compile_dir(ROOT / folder, quiet=1)


def in_turn(contestants: Sequence[Contestant], *, rounds: int) -> dict[str, list[Cost]]:
    """Let all of them work once per round; the order turns round every time."""
    compiled()
    costs: dict[str, list[Cost]] = {each.name: [] for each in contestants}
    for number in range(rounds):
        for contestant in contestants if number % 2 == 0 else reversed(contestants):
            print(f"  round {number + 1} of {rounds}: {contestant.name}", file=sys.stderr, flush=True)
            costs[contestant.name].append(carry_out(contestant))
    return costs


def middle(costs: Iterable[Cost], measure: Measure) -> float:
    """The median of what it took."""
    return statistics.median(each.amount(measure) for each in costs)


def ratio(theirs: Iterable[Cost], ours: Iterable[Cost], measure: Measure) -> float:
    """How many times as much theirs takes as ours: the median over the rounds of the ratio within a round."""
    return statistics.median(
        their.amount(measure) / our.amount(measure) for their, our in zip(theirs, ours, strict=True)
    )
