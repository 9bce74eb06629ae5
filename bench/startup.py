"""What it costs to be there: importing the library, and asking the command for help.

Each is a fresh interpreter with its modules compiled, in turn. An import is timed by the interpreter that
does it, so the start of Python is not in it; `process` is the whole process, as a user waits for it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.contest import scratch
from bench.peers import ABSENT, pydantic_evals
from bench.results import Result, at_most, program

ROUNDS = 21
CLOCKED = "import time; started = time.perf_counter()\n{}\nprint(time.perf_counter() - started)"

PYTHON = "python -c pass"
OURS, THEIRS = "import paceline", "import pydantic_evals"
OURS_IN_HAND, THEIRS_IN_HAND = (
    "from paceline import Case, Dataset",
    "from pydantic_evals import Case, Dataset",
)
BARE, HELP = "bare_click.py --help", "paceline --help"
BARE_CLICK = '''
import click


@click.command()
@click.argument("target", required=False)
def main(target):
    """One command."""


if __name__ == "__main__":
    main()
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One process that was started."""

    wall_s: float
    cpu_s: float
    inside_s: float | None
    """What it said itself that it took."""


def start(command: Sequence[str]) -> Start:
    """Start a process and wait for its end."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    try:
        inside = float(said)
    except ValueError:
        inside = None
    return Start(wall_s=wall, cpu_s=usage.ru_utime + usage.ru_stime, inside_s=inside)


def importing(python: str, statement: str) -> list[str]:
    """The command that times one statement in a fresh interpreter."""
    return [python, "-c", CLOCKED.format(statement)]


def commands(click_program: Path) -> dict[str, list[str]]:
    """Everything that is started, by what it is called in the table."""
    paceline = str(Path(sys.executable).with_name("paceline"))
    found = {
        PYTHON: [sys.executable, "-c", "pass"],
        OURS: importing(sys.executable, OURS),
        OURS_IN_HAND: importing(sys.executable, OURS_IN_HAND),
        BARE: [sys.executable, str(click_program), "--help"],
        HELP: [paceline, "--help"],
        "paceline run --help": [paceline, "run", "--help"],
    }
    if peer := pydantic_evals():
        found[THEIRS] = importing(peer.python, THEIRS)
        found[THEIRS_IN_HAND] = importing(peer.python, THEIRS_IN_HAND)
    return found


def measure(quick: bool) -> Result:
    """All commands in turn, a first round for compiling aside."""
    rounds = 2 if quick else ROUNDS
    with scratch() as folder:
        click_program = Path(folder, "bare_click.py")
        click_program.write_text(BARE_CLICK)
        started: dict[str, list[Start]] = {name: [] for name in commands(click_program)}
        for number in range(-1, rounds):
            for name, command in commands(click_program).items():
                once = start(command)
                if number >= 0:
                    started[name].append(once)

    return Result(
        title="Starting",
        settings={"rounds": rounds},
        rows=[
            {
                "what": f"`{name}`",
                "import_ms": None if each[0].inside_s is None else typical(each, inside) * 1e3,
                "process_ms": typical(each, wall) * 1e3,
                "process_cpu_ms": typical(each, lambda it: it.cpu_s) * 1e3,
            }
            for name, each in started.items()
        ],
        bars=[
            at_most(
                "`import paceline`, of `import pydantic_evals`",
                1 / 8,
                share(started, OURS, THEIRS, inside),
                "×",
            ),
            at_most(
                "the same with `Case` and `Dataset`",
                1 / 8,
                share(started, OURS_IN_HAND, THEIRS_IN_HAND, inside),
                "×",
            ),
            at_most(
                "`paceline --help`, of a bare click program's", 2.0, share(started, HELP, BARE, wall), "×"
            ),
        ],
        notes=() if THEIRS in started else (ABSENT,),
    )


def wall(each: Start) -> float:
    """The whole process."""
    return each.wall_s


def inside(each: Start) -> float:
    """The import alone."""
    assert each.inside_s is not None
    return each.inside_s


def typical(starts: Sequence[Start], value: Callable[[Start], float]) -> float:
    """The median of a value."""
    return statistics.median(map(value, starts))


def share(
    started: Mapping[str, Sequence[Start]], mine: str, theirs: str, value: Callable[[Start], float]
) -> float | None:
    """Ours as a share of theirs, the median over the rounds; None where they are absent."""
    if theirs not in started:
        return None
    pairs = zip(started[mine], started[theirs], strict=True)
    return statistics.median(value(our) / value(their) for our, their in pairs)


if __name__ == "__main__":
    program("startup", measure)
