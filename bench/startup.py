"""What it costs to be there: importing the library, and asking the command for help.

Each is a fresh interpreter with its modules compiled, in turn. An import is timed by the interpreter that does
it, so the start of Python is not in it; `process` is the whole process, as a user waits for it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.contest import scratch
from bench.peers import ABSENT, pydantic_evals
from bench.results import Result, at_most, program

ROUNDS = 21
CLOCKED = "import time; started = time.perf_counter()\n{}\nprint(time.perf_counter() - started)"

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


def measure(quick: bool) -> Result:
    """All commands in turn, a first round for compiling aside."""
    rounds = 2 if quick else ROUNDS
    peer = pydantic_evals()
    with scratch() as folder:
        click_program = Path(folder, "bare.py")
        click_program.write_text(BARE_CLICK)
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import paceline": importing(sys.executable, "import paceline"),
            "from paceline import Case, Dataset": importing(
                sys.executable, "from paceline import Case, Dataset"
            ),
            "a bare click program, --help": [sys.executable, str(click_program), "--help"],
            "paceline --help": [str(Path(sys.executable).with_name("paceline")), "--help"],
            "paceline run --help": [str(Path(sys.executable).with_name("paceline")), "run", "--help"],
        }
        if peer is not None:
            commands["import pydantic_evals"] = importing(peer.python, "import pydantic_evals")
            commands["from pydantic_evals import Case, Dataset"] = importing(
                peer.python, "from pydantic_evals import Case, Dataset"
            )
        starts: dict[str, list[Start]] = {name: [] for name in commands}
        for number in range(-1, rounds):
            for name, command in commands.items():
                started = start(command)
                if number >= 0:
                    starts[name].append(started)

    def share(mine: str, theirs: str, value: Callable[[Start], float | None]) -> float | None:
        """Ours as a share of theirs: the median over the rounds."""
        pairs = zip(starts[mine], starts.get(theirs, []), strict=False)
        ratios = [our / their for our, their in ((value(a), value(b)) for a, b in pairs) if our and their]
        return statistics.median(ratios) if ratios else None

    def inside(name: str) -> float | None:
        found = [each.inside_s for each in starts[name] if each.inside_s is not None]
        return statistics.median(found) * 1e3 if found else None

    return Result(
        title="Starting",
        settings={"rounds": rounds},
        rows=[
            {
                "what": f"`{name}`" if " --" not in name or name.startswith("paceline") else name,
                "import_ms": inside(name),
                "process_ms": statistics.median(each.wall_s for each in each_start) * 1e3,
                "process_cpu_ms": statistics.median(each.cpu_s for each in each_start) * 1e3,
            }
            for name, each_start in starts.items()
        ],
        bars=[
            at_most(
                "`import paceline`, of `import pydantic_evals`",
                1 / 8,
                share("import paceline", "import pydantic_evals", lambda it: it.inside_s),
                "of it",
            ),
            at_most(
                "with `Case` and `Dataset` in hand",
                1 / 8,
                share(
                    "from paceline import Case, Dataset",
                    "from pydantic_evals import Case, Dataset",
                    lambda it: it.inside_s,
                ),
                "of it",
            ),
            at_most(
                "`paceline --help`, of a bare click program's",
                2.0,
                share("paceline --help", "a bare click program, --help", lambda it: it.wall_s),
                "of it",
            ),
        ],
        notes=() if peer else (ABSENT,),
    )


if __name__ == "__main__":
    program("startup", measure)
