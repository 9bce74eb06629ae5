"""Where a command runs: as a process like any other, in a container, or in bubblewrap's namespaces.

Each comes to the same: what to start, where, with which environment and limits, and what to run in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from paceline.errors import UsageError
from paceline.processes.launch import Limits
from paceline.settings import nearest
from paceline.tasks.command.engines import (
    Container,
    client_environment,
    container_name,
    for_the_container,
)

CELL_KEYS: Final = ("network", "readable", "writable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubblewrap:
    """A command that sees the system's files, its workspace, and what it is given by name."""

    network: bool = True
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()


Box = Container | Bubblewrap


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a box is to be put around."""

    workspace: Path | None
    base: Path
    """The workspace's folder, or where it works without one."""
    cwd: str
    """From there."""
    name: str
    """Of the attempt, and of what is done in it: no other has it."""
    label: str
    """Of the run."""
    seen: tuple[Path, ...] = ()
    """What it has to be able to read besides."""
    image: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """What to start, with the box around it."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    limits: Limits
    finally_run: tuple[str, ...] = ()


@contextmanager
def inside(
    box: Box | None,
    place: Place,
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    common: Mapping[str, str],
    limits: Limits,
    has_stdin: bool = False,
) -> Iterator[Inside]:
    """A command with its box around it, for as long as the block lasts.

    `env` is what it was given by name; `common` is what every program sees of our environment, which means
    nothing in a container.
    """
    match box:
        case None:
            cwd = place.base / place.cwd
            yield Inside(argv=tuple(argv), env={**common, **env}, cwd=cwd, limits=limits)
        case Container():
            yield _in_container(box, place, argv, env, limits=limits, has_stdin=has_stdin)
        case Bubblewrap():
            from paceline.containment import Cell, contained

            cell = Cell(
                cwd=place.base / place.cwd,
                writable=(place.base, *box.writable),
                readable=(*box.readable, *place.seen),
                network=box.network,
                processes=limits.processes,
            )
            with contained(argv, cell) as cellular:
                # Home and temporary folder are its own; where programs are, and the rest, it may know.
                own = {name: cellular.env[name] for name in ("HOME", "TMPDIR") if name in cellular.env}
                whole = {**cellular.env, **common, **own, **env}
                yield Inside(argv=cellular.argv, env=whole, cwd=cellular.cwd, limits=limits)


def _in_container(
    box: Container,
    place: Place,
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    limits: Limits,
    has_stdin: bool,
) -> Inside:
    name = container_name(place.label, place.name)
    by_name, options = for_the_container(env)
    started = box.argv(
        argv,
        name=name,
        label=place.label,
        image=place.image,
        workspace=place.workspace,
        seen=place.seen,
        cwd=place.cwd,
        env=by_name,
        more=options,
        limits=limits,
        has_stdin=has_stdin,
    )
    return Inside(
        argv=started,
        env=client_environment(by_name),
        cwd=Path("/"),
        limits=Limits(),  # the engine keeps them: these would be those of its client
        finally_run=box.removal(name),
    )


def check(box: Box | None) -> None:
    """Raise a `UsageError` where there is no such box on this machine."""
    match box:
        case Container():
            box.check()
        case Bubblewrap():
            from paceline.containment import means

            found = means()
            if found.way != "bubblewrap":
                raise UsageError(
                    f"bubblewrap cannot be used on this machine: {found.why_not}",
                    hint="install it: `apt-get install bubblewrap`; or leave `bubblewrap:` out",
                )
        case None:
            pass


def bubblewrap_of(said: object, folder: Path) -> Bubblewrap | None:
    """The bubblewrap that was said: true, or what is open in it."""
    hint = "`bubblewrap: true`, or `bubblewrap: {network: false, readable: [~/.agent], writable: [cache]}`"
    if said is None or said is False:
        return None
    if said is True:
        return Bubblewrap()
    if not isinstance(said, Mapping):
        raise UsageError(f"bubblewrap cannot be {said!r:.60}", hint=hint)
    for key in said:
        if key not in CELL_KEYS:
            raise UsageError(f"bubblewrap has no key {key!r}{nearest(str(key), CELL_KEYS)}", hint=hint)
    network = said.get("network", True)
    if not isinstance(network, bool):
        raise UsageError("bubblewrap: network is true or false", hint=hint)
    return Bubblewrap(
        network=network,
        readable=_paths(said, "readable", folder, hint),
        writable=_paths(said, "writable", folder, hint),
    )


def _paths(said: Mapping[str, Any], key: str, folder: Path, hint: str) -> tuple[Path, ...]:
    listed = said.get(key) or ()
    if (
        isinstance(listed, str)
        or not isinstance(listed, Sequence)
        or not all(isinstance(each, str) for each in listed)
    ):
        raise UsageError(f"bubblewrap: {key} wants a list of paths", hint=hint)
    paths = tuple((folder / Path(each).expanduser()).resolve() for each in listed)
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"bubblewrap: {key}: there is no {path}", hint="it has to be there before the run"
            )
    return paths
