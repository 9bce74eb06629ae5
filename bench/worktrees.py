"""What workspaces of one repository cost: so many of them, made as a run makes them, and cleared away.

Each is a checkout of its own of a repository of 5,000 files; the objects stay in one store. They are made on
as many threads as a run uses, and one at a time; the time for each is the whole time by their number. On
disk, and in memory where the system has a folder for that: what a disk makes of a million small files is its
own.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.child import cpu_seconds
from bench.contest import Contestant, Timed, in_turn
from bench.results import Result, at_most, program

FILES = 5_000
WORKSPACES = 200
KEPT = 20
"""Workspaces there are at a time, as many as a run has cases in progress: the disk is not the matter here."""
ROUNDS = 3
MEMORY = Path("/dev/shm")  # the one folder that Linux keeps in memory


def worktrees(*, files: int, workspaces: int, width: int, in_memory: bool) -> Timed:
    """Make workspaces, look at what has changed in each, and clear them away."""
    with ExitStack() as folders:
        place = Path("grounds").absolute()
        if in_memory:
            place = Path(folders.enter_context(tempfile.TemporaryDirectory(dir=MEMORY)))
        facts = yield from _worktrees(place, files, workspaces, width)
    return facts


def _worktrees(place: Path, files: int, workspaces: int, width: int) -> Timed:
    from paceline.workspaces.ground import Ground
    from paceline.workspaces.sources import Repository
    from paceline.workspaces.workspace import Workspace, make

    os.environ["PACELINE_CACHE"] = str(Path("cache").absolute())
    source = Repository(str(_repository(Path("repository"), files)))
    ground = Ground(place, "run")
    ground.claim()
    started = time.perf_counter()
    make(ground, "first", source, {})
    first = time.perf_counter() - started
    spent = {"make": 0.0, "compare": 0.0, "clear": 0.0}

    def each(what: str, does: Any, items: Any) -> list[Any]:
        begun = time.perf_counter()
        with ThreadPoolExecutor(width) as threads:
            done = list(threads.map(does, items))
        spent[what] += time.perf_counter() - begun
        return done

    def compare(workspace: Workspace) -> None:
        (workspace.path / "new.txt").write_text("new")
        assert len(workspace.changes(workspace.path.parent / "patch").files) == 1

    yield
    cpu = cpu_seconds()
    own_objects = 0
    for names in _portions(workspaces):
        made = each("make", lambda name: make(ground, name, source, {}), names)
        own_objects += sum(_objects(each.path / ".git") for each in made)
        each("compare", compare, made)
        each("clear", ground.forget, names)
    cpu = cpu_seconds() - cpu
    yield
    ground.close()
    return {
        "first_s": first,
        "own_objects": own_objects,
        "stores": len(list(Path("cache/repositories").glob("*.git"))),
        "cpu_s": cpu / workspaces,
        **{f"{what}_s": seconds / workspaces for what, seconds in spent.items()},
    }


def _portions(workspaces: int) -> Iterator[list[str]]:
    for start in range(0, workspaces, KEPT):
        yield [f"case-{number}" for number in range(start, min(start + KEPT, workspaces))]


def _objects(repository: Path) -> int:
    """Objects that lie in a repository itself."""
    return sum(
        1 for path in (repository / "objects").rglob("*") if path.is_file() and path.name != "alternates"
    )


def _repository(folder: Path, files: int) -> Path:
    """A repository of so many files of a few KB, in folders of twenty."""
    dice = random.Random(1)
    for number in range(files):
        path = folder / f"part{number // 400}" / f"module{number // 20}" / f"file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"value_{line} = {dice.random()}" for line in range(dice.randint(5, 120))]
        path.write_text("\n".join(lines))
    author = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for command in (("init", "--quiet"), ("add", "--all"), (*author, "commit", "--quiet", "-m", "all")):
        subprocess.run(["git", "-C", folder, *command], check=True)
    return folder.absolute()


def measure(quick: bool) -> Result:
    """At the width of a run and one at a time, in turn."""
    files, workspaces, rounds = (100, 4, 1) if quick else (FILES, WORKSPACES, ROUNDS)
    widths = {"as a run does": max(os.cpu_count() or 1, 4), "one at a time": 1}
    places = {"on disk": False, **({"in memory": True} if MEMORY.is_dir() else {})}
    contestants = [
        Contestant(
            name=f"{name}, {where}",
            does="bench.worktrees:worktrees",
            settings={"files": files, "workspaces": workspaces, "width": width, "in_memory": in_memory},
        )
        for where, in_memory in places.items()
        for name, width in widths.items()
    ]
    costs = in_turn(contestants, rounds=rounds)
    rows, bars = [], []
    for name in costs:
        facts = [cost.facts for cost in costs[name]]

        medians = {what: statistics.median(each[what] for each in facts) for what in facts[0]}
        rows.append(
            {
                "made": name,
                "first_with_its_store_s": medians["first_s"],
                "each_s": medians["make_s"],
                "compared_s": medians["compare_s"],
                "cleared_away_s": medians["clear_s"],
                "processor_time_s": medians["cpu_s"],
            }
        )
        stores = max(each["stores"] for each in facts) + max(each["own_objects"] for each in facts)
        bars.append(at_most(f"{name}: making one", 0.15, medians["make_s"], "s"))
        bars.append(at_most(f"{name}: stores of objects", 1, stores, ""))
    return Result(
        title=f"{workspaces} workspaces of a repository of {files:,} files",
        settings={"files": files, "workspaces": workspaces, "at_a_time": KEPT, "rounds": rounds},
        rows=rows,
        bars=bars,
        notes=[
            "Medians over the rounds. Compared: with what it was, one file being new; with its patch.",
            "Processor time is that of all three for one workspace, git included.",
        ],
    )


if __name__ == "__main__":
    program("worktrees", measure)
