"""Carrying out a command for an evaluator: where, with what, and within which bounds.

A command that judges runs code that was just written. It gets no more of our environment than programs need,
is ended with everything it has started at its deadline, and runs in a cell if that is asked for. Commands in
one workspace come one after the other: two test runs in the same folder would get into each other's way.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final
from weakref import WeakValueDictionary

from paceline.containment import Cell, Gap, check, means
from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, Evaluator
from paceline.evaluators.code.judging import NotJudged, in_cell
from paceline.evaluators.wording import brief
from paceline.processes.launch import MIB, Ended, Launch, Limits
from paceline.processes.running import run
from paceline.tasks.command.environment import ALWAYS, passed
from paceline.workspaces.sources import WorkspaceError

KEPT: Final = 1 * MIB
SCRATCH: Final = 1024 * MIB
"""Bytes in the temporary folder of a contained command."""
SHOWN: Final = 400
"""Characters of what a command has said last that a reason shows."""

WITHOUT_US: Final = {"PYTEST_ADDOPTS": "-p no:paceline"}
"""Our plugin for pytest has no business among tests that judge. In a cell from which our package cannot be
seen, as one that is installed from a checkout, pytest would even end over it."""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has come to its end."""

    ended: Ended
    gaps: frozenset[Gap]


@dataclass(kw_only=True)
class InWorkspace(Evaluator[object, object, object]):
    """An evaluator that carries out a command in the workspace of a case."""

    keeps_time: ClassVar[bool] = True
    """By `timeout`, which begins once it is its turn in the workspace."""

    cwd: str | None = None
    """The folder, where it is not the workspace that the task has worked in."""
    timeout: float = 600.0
    env: dict[str, str] | None = None
    contained: bool = False
    """Let it write nowhere but in the workspace, and see nothing of this machine but its programs."""
    network: bool = False
    """Let a contained command reach the network."""
    readable: list[str] = field(default_factory=list)
    """Files and folders that a contained command may read, beside the system's and its interpreter's."""
    memory_mb: int | None = None
    processes: int | None = None
    allow_uncontained: bool = False
    """Carry it out also where a cell leaves files or network open."""
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        for name in ("timeout", "memory_mb", "processes"):
            value: object = getattr(self, name)
            right = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
            if not right and (name == "timeout" or value is not None):
                raise UsageError(
                    f"{type(self).__name__} cannot have {brief(value)} for {name}", hint="a number above 0"
                )

    def check_ready(self) -> None:
        """Raise a UsageError if the command is to be contained, and cannot be."""
        if self.contained and not self.allow_uncontained:
            check(self._cell(Path("/")), means(), what="the command")

    def _cell(self, *writable: Path) -> Cell:
        return Cell(
            cwd=writable[0],
            writable=writable,
            readable=tuple(map(Path, self.readable)),
            network=self.network,
            processes=self.processes,
            scratch=SCRATCH,
        )

    async def _carried_out(self, command: str | Sequence[str], where: Path, *also_writable: Path) -> Done:
        """Carry a command out in a folder; a text is for the shell. NotJudged if it was not."""
        self.check_ready()
        argv = ("/bin/sh", "-c", command) if isinstance(command, str) else tuple(command)
        # What a command task sees of our environment. Keys are not among it: a model wrote what is judged.
        common = {**passed(ALWAYS), "PACELINE_WORKSPACE": str(where)}
        own = {"PATH": _path(), **WITHOUT_US, **(self.env or {})}
        if self.contained:
            async with in_cell(argv, self._cell(where, *also_writable), means()) as inside:
                env = {**common, **inside.env, **own}
                done = Done(await run(self._launch(inside.argv, inside.cwd, env)), inside.gaps)
        else:
            done = Done(await run(self._launch(argv, where, {**common, **own})), frozenset())
        _require_carried_out(done.ended, command)
        return done

    def _launch(self, argv: tuple[str, ...], where: Path, env: dict[str, str]) -> Launch:
        memory = None if self.memory_mb is None else self.memory_mb * MIB
        return Launch(
            argv=argv,
            env=env,
            cwd=where,
            kept=KEPT,
            timeout_s=self.timeout,
            grace_s=1.0,
            limits=Limits(memory=memory, processes=self.processes),
        )

    def _limit_passed(self, ended: Ended) -> str:
        """Which of its bounds a command has run into; empty where it has not."""
        return {
            "timeout": f"it took longer than {self.timeout:g} s",
            "memory": f"it used more than {self.memory_mb} MB of memory",
            "processes": f"it had more than {self.processes} processes",
            "flood": "it printed without end",
        }.get(ended.how, "")


def _path() -> str:
    """Our PATH, and then the folder of this interpreter: so `pytest` is found that is installed there."""
    return f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{Path(sys.executable).parent}"


def _require_carried_out(ended: Ended, command: str | Sequence[str]) -> None:
    """Raise NotJudged where a command never came to run: nobody's answer is at fault."""
    if ended.how in ("not found", "not started", "lost", "stopped"):
        raise NotJudged(f"{brief(command)} was not carried out: {ended.error or ended.how}")
    # What a shell and a cell say of a program that is not there, or of a cell that cannot be closed.
    if ended.how == "exited" and ended.code in (125, 126, 127):
        raise NotJudged(f"{brief(command)} was not carried out: {last_words(ended) or ended.code}")


def last_words(ended: Ended) -> str:
    """The end of what a command has said."""
    said = [printed.read().decode(errors="replace").strip() for printed in (ended.stdout, ended.stderr)]
    return "\n".join(part[-SHOWN:] for part in said if part)


def how_it_ended(ended: Ended) -> str:
    """How a command ended that did not pass, with the end of what it has said."""
    way = (
        f"it was ended by signal {ended.signal}"
        if ended.how == "signalled"
        else f"it ended with {ended.code}"
    )
    said = last_words(ended)
    return f"{way}: {said}" if said else way


def check_command(command: object, name: str) -> None:
    """Raise a UsageError for what is no command."""
    if isinstance(command, str):
        right = bool(command.strip())
    else:
        right = (
            isinstance(command, list | tuple)
            and bool(command)
            and all(isinstance(each, str) for each in command)
        )
    if not right:
        raise UsageError(
            f"{name} cannot carry out {brief(command)}",
            hint='a text for the shell, "pytest -q", or a list of words, ["pytest", "-q"]',
        )


# ---- where ----


@asynccontextmanager
async def workspace_of(ctx: AnyContext, cwd: str | None) -> AsyncIterator[Path]:
    """The folder that a case is judged in, for nobody else meanwhile: the one given, or its workspace."""
    if cwd is None and "workspace_source" in ctx.attributes:
        async with _returned(ctx) as where, _turns.of(where):
            yield where
        return
    told = cwd if cwd is not None else ctx.attributes.get("workspace")
    if not isinstance(told, str) or not told:
        raise NotJudged("the case has no workspace: its task makes none, and no `cwd` is given")
    where = _folder(told)
    async with _turns.of(where):
        yield where


@asynccontextmanager
async def _returned(ctx: AnyContext) -> AsyncIterator[Path]:
    """The workspace of a command: where it still is, or made anew, which takes its time."""
    from paceline.tasks.command.grounds import clearing
    from paceline.tasks.command.returning import workspace_of as returned

    workspace = returned(ctx)
    try:
        where = await clearing.done(workspace.__enter__)
    except WorkspaceError as error:
        raise NotJudged(f"{error}; {error.hint}" if error.hint else str(error)) from None
    try:
        yield where
    finally:
        await clearing.done(workspace.__exit__, None, None, None)


def _folder(told: str) -> Path:
    where = Path(told).absolute()
    if not where.is_dir():
        raise NotJudged(f"there is no folder {told}")
    return where


class _Turns:
    """Whose turn it is in each folder."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[int, Path], asyncio.Lock] = WeakValueDictionary()

    def of(self, where: Path) -> asyncio.Lock:
        place = (id(asyncio.get_running_loop()), where)
        lock = self._locks.get(place)
        if lock is None:
            lock = self._locks[place] = asyncio.Lock()
        return lock


_turns = _Turns()
