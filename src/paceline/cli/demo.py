"""`paceline demo`: the main job, against a simulated provider, with a kill in the middle.

It starts a run as anybody would, kills that process with SIGKILL when half of the cases are on record,
starts the same command again, and counts in a file of the task's own what was run twice. What was asked of
the model, the provider tells.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

import click

from paceline.cli.ctrl_c import CUT_OFF
from paceline.cli.verb import Verb, say, warn
from paceline.errors import PacelineError, UsageError

if TYPE_CHECKING:
    from paceline.sim.server import RunningSim

CASES: Final = 200
SCENARIO: Final = {
    "name": "demo",
    "rpm": 3000,
    "burst": 2,
    "headers": "openai",
    "latency": {"mean": 1.0, "sigma": 0.4},
    "overload": {"rate": 0.02},
    # Now and then a model does not know.
    "answers": {"rules": [{"when": r"question \d*[05]7\)", "reply": "about a hundred"}]},
}
"""Fifty calls a second, of a second each."""
FAST: Final = {"time_scale": 8}
PATIENCE: Final = 120.0
"""Seconds until half of the cases have to be on record."""


@click.command("demo", cls=Verb)
@click.option(
    "-o", "--output", metavar="DIR", help="Keep the suite and its run here; else they are thrown away."
)
@click.option("--fast", is_flag=True, help="With a model that answers eight times as fast.")
def command(output: str | None, fast: bool) -> int:
    """Run 200 cases, 50 at once, kill the run half way, resume it, and show what was run twice: nothing.

    The model is a simulated one, so no key is needed and nothing is paid.
    """
    with _folder(output) as folder, _provider(fast=fast) as sim:
        suite = folder / "demo.py"
        suite.write_text(
            Path(__file__).with_name("demo_suite.py").read_text(encoding="utf-8"), encoding="utf-8"
        )
        environ = {
            **os.environ,
            "OPENAI_BASE_URL": f"{sim.url}/v1",
            "OPENAI_API_KEY": "none",
            # What a simulated provider bears is nobody else's, and not to be learned for good.
            "PACELINE_SHARE_POOLS": "false",
            "PACELINE_STATE": str(folder / "state"),
        }
        try:
            code = _demonstrate(folder, environ, sim)
        except KeyboardInterrupt:
            return CUT_OFF
    if output is None:
        say("\nThe suite and its run are thrown away now; `paceline demo -o DIR` keeps them.")
    else:
        say(f"\nThe suite and its run are kept: paceline report {quote(str(folder / 'run'))}")
    return code


@contextmanager
def _folder(output: str | None) -> Iterator[Path]:
    if output is None:
        with tempfile.TemporaryDirectory(prefix="paceline-demo-") as thrown_away:
            yield Path(thrown_away)
        return
    if not output:
        raise UsageError("-o names no place", hint="a directory to keep the demo in")
    folder = Path(output)
    if (folder / "run").exists():
        raise UsageError(f"there is a demo in {folder} already", hint="choose another -o, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    yield folder


@contextmanager
def _provider(*, fast: bool) -> Iterator[RunningSim]:
    from paceline.sim.scenario import Scenario
    from paceline.sim.server import start_in_thread

    with start_in_thread(Scenario.of({**SCENARIO, **(FAST if fast else {})})) as sim:
        yield sim


def _demonstrate(folder: Path, environ: dict[str, str], sim: RunningSim) -> int:
    """The three acts: a run that is killed, the same command again, and the count."""
    shown = ["run", "demo.py", "-j", "auto", "-o", "run"]
    program = [sys.executable, "-m", "paceline.cli", *shown]

    say(f"$ paceline {' '.join(shown)}")
    with subprocess.Popen(program, cwd=folder, env=environ) as first:
        recorded = _kill_half_way(first, folder / "run")
    begun = _calls(folder)
    lost = len(set(begun) - recorded)
    warn("")
    say(f"\nKilled with SIGKILL: {len(recorded)} of {CASES} cases are on record,")
    say(f"and the {lost} that were in flight are lost. The same command again:\n")
    say(f"$ paceline {' '.join(shown)}")
    again = subprocess.run(program, cwd=folder, env=environ, check=False)
    if again.returncode != 0:
        return again.returncode
    code = _tell_count(folder, recorded, _calls(folder)[len(begun) :])
    seen = sim.stats()
    say(
        f"The provider was called {seen.arrived} times: it answered {seen.answered}, "
        f"refused {sum(seen.refused.values())} for now, and lost {seen.hung_up} callers to the kill."
    )
    return code


def _kill_half_way(process: subprocess.Popen[bytes], run: Path) -> set[str]:
    """Kill the process when half of the cases are on record; the names of those that are."""
    deadline = time.monotonic() + PATIENCE
    try:
        while len(_recorded(run)) < CASES // 2:
            if process.poll() is not None or time.monotonic() > deadline:
                raise PacelineError("the run did not get half way", hint="see what it said above")
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    return _recorded(run)


def _recorded(run: Path) -> set[str]:
    """The cases whose outcome is on record, read while the run is writing."""
    from paceline.journal.reading import Recorded, read_lines
    from paceline.journal.records import OutcomeLine

    if not (run / "journal.jsonl").exists():
        return set()
    lines = (entry.line for entry in read_lines(run) if isinstance(entry, Recorded))
    return {line.case for line in lines if isinstance(line, OutcomeLine)}


def _calls(folder: Path) -> list[str]:
    log = folder / "calls.log"
    return log.read_text(encoding="utf-8").split() if log.exists() else []


def _tell_count(folder: Path, recorded: set[str], calls_after: list[str]) -> int:
    """Whether the promise was kept, as counted by the task itself and as audited from the record."""
    from paceline.api import verify
    from paceline.cli.verify import in_words

    twice = sorted(recorded & set(calls_after))
    audit = verify(folder / "run")
    say(f"\nOf the {len(recorded)} cases that were on record at the kill, {len(twice)} were run again.")
    say(in_words(audit))
    if twice or not audit.ok:
        warn(f"error: the promise was broken: {', '.join(twice) or 'see the audit'}")
        return 3
    return 0
