"""Containers: the command runs in one of its own, with its workspace mounted, and is removed by its name.

What runs in a container is no child of ours: ending the engine's client does not end it. So each has a name
and the run's label; whoever watches over the client removes the container by its name when that is over,
also when we are gone; and a resume removes what carries the label of its run.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from paceline.errors import UsageError
from paceline.processes.launch import Limits
from paceline.settings import nearest
from paceline.tasks.command.environment import ALWAYS, passed
from paceline.tasks.template import Template

ENGINES: Final = ("docker", "podman")
KEYS: Final = ("image", "mounts", "network", "user", "workdir", "cpus", "options")
LABEL: Final = "paceline.run"
ASKED_S: Final = 30.0
_OWN: Final = (
    *ALWAYS,
    "DOCKER_*",
    "CONTAINER_*",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
)
"""What the engine's client sees of our environment. None of it reaches the container."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """How a command is to run in a container."""

    engine: str
    image: Template
    mounts: tuple[str, ...] = ()
    network: str | None = None
    user: str | None = None
    workdir: str = "/workspace"
    cpus: float | None = None
    options: tuple[str, ...] = ()

    def argv(
        self,
        command: Sequence[str],
        *,
        name: str,
        label: str,
        image: str,
        workspace: Path | None,
        seen: Sequence[Path],
        cwd: str,
        env: Mapping[str, str],
        more: Sequence[str],
        limits: Limits,
        has_stdin: bool,
    ) -> tuple[str, ...]:
        """The engine's client, and what it is told."""
        user = self.user if self.user is not None else f"{os.getuid()}:{os.getgid()}"
        return (
            *(self.engine, "run", "--name", name, "--label", f"{LABEL}={label}", "--init"),
            *(("--interactive",) if has_stdin else ()),
            *(("--volume", f"{workspace}:{self.workdir}") if workspace is not None else ()),
            # Under their own names: by these the workspace refers to them.
            *(part for path in seen for part in ("--volume", f"{path}:{path}:ro")),
            *("--workdir", self.workdir if cwd in ("", ".") else f"{self.workdir}/{cwd}"),
            *(part for mount in self.mounts for part in ("--volume", mount)),
            *(("--network", self.network) if self.network is not None else ()),
            *(("--user", user) if user and user != "0:0" else ()),
            *(("--cpus", f"{self.cpus:g}") if self.cpus is not None else ()),
            *_limits(limits),
            # By name only: what stands in arguments is seen by everybody on the machine.
            *(part for variable in sorted(env) for part in ("--env", variable)),
            *more,
            *self.options,
            image,
            *command,
        )

    def removal(self, name: str) -> tuple[str, ...]:
        """What removes the container, whether or not it runs."""
        return (self.engine, "rm", "--force", "--volumes", name)

    def check(self) -> None:
        """Raise a `UsageError` where no engine answers."""
        try:
            asked = self._ask(
                "version", "--format", "{{.Server.Version}}" if self.engine == "docker" else "json"
            )
        except FileNotFoundError:
            raise UsageError(
                f"there is no {self.engine} on this machine",
                hint=f"install it, or leave `{self.engine}:` out: the command runs as a plain process then",
            )
        except subprocess.TimeoutExpired:
            raise UsageError(
                f"{self.engine} does not answer within {ASKED_S:g} s", hint=f"does `{self.engine} ps`?"
            )
        if asked.returncode:
            said = asked.stderr.decode(errors="backslashreplace").strip().splitlines() or ["it said nothing"]
            raise UsageError(
                f"no {self.engine} engine answers: {said[-1][:300]}",
                hint=f"start it, so that `{self.engine} ps` works; or leave `{self.engine}:` out",
            )

    def sweep(self, label: str) -> int:
        """Remove containers that carry the label of a run; how many there were."""
        found = self._ask("ps", "--all", "--quiet", "--filter", f"label={LABEL}={label}")
        names = found.stdout.decode(errors="backslashreplace").split()
        if names:
            self._ask("rm", "--force", "--volumes", *names)
        return len(names)

    def _ask(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [self.engine, *arguments],
            capture_output=True,
            check=False,
            timeout=ASKED_S,
            env=client_environment({}),
            stdin=subprocess.DEVNULL,
        )


def client_environment(env: Mapping[str, str]) -> dict[str, str]:
    """What the engine's client sees: what it needs, and what it is to hand on."""
    return {**env, **passed(_OWN)}


def for_the_container(env: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The variables to hand on by name, and options for those whose name means something to the client."""
    taken = passed(_OWN, env)
    by_name = {name: value for name, value in env.items() if name not in taken}
    return by_name, tuple(part for name in sorted(taken) for part in ("--env", f"{name}={env[name]}"))


def container_name(run_id: str, attempt: str) -> str:
    """A name that no other attempt has, in the engine's alphabet."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", f"paceline-{run_id}-{attempt}")


def _limits(limits: Limits) -> tuple[str, ...]:
    options: list[str] = []
    if limits.memory is not None:
        options += ["--memory", str(limits.memory), "--memory-swap", str(limits.memory)]
    if limits.processes is not None:
        options += ["--pids-limit", str(limits.processes)]
    for name, most in (("cpu", limits.cpu_s), ("fsize", limits.file_size), ("nofile", limits.open_files)):
        if most is not None:
            options += ["--ulimit", f"{name}={most}:{most}"]
    return tuple(options)


def container_of(engine: str, said: object, roots: Sequence[str], folder: Path) -> Container:
    """The container that was said: an image, or an image with more."""
    hint = f"`{engine}: python:3.12-slim`, or `{engine}: {{image: ..., mounts: [...], network: none}}`"
    if isinstance(said, str):
        said = {"image": said}
    if not isinstance(said, Mapping) or not isinstance(said.get("image"), str):
        raise UsageError(f"{engine} wants an image", hint=hint)
    for key in said:
        if key not in KEYS:
            raise UsageError(f"{engine} has no key {key!r}{nearest(str(key), KEYS)}", hint=hint)
    cpus = said.get("cpus")
    if cpus is not None and (isinstance(cpus, bool) or not isinstance(cpus, int | float) or cpus <= 0):
        raise UsageError(f"{engine}: cpus wants a number, more than 0", hint="`cpus: 1.5`")
    return Container(
        engine=engine,
        image=Template(said["image"], where=f"{engine}.image", roots=roots),
        mounts=tuple(_mount(each, folder, engine) for each in _texts(said, "mounts", engine)),
        network=_text(said, "network", engine),
        user=_text(said, "user", engine),
        workdir=_text(said, "workdir", engine) or "/workspace",
        cpus=None if cpus is None else float(cpus),
        options=_texts(said, "options", engine),
    )


def _mount(said: str, folder: Path, engine: str) -> str:
    """`from:to` or `from:to:ro`; a path here is from the suite's folder, a volume has a plain name."""
    source, colon, rest = said.partition(":")
    if not colon or not rest.startswith("/"):
        raise UsageError(f"{engine}: {said!r} is no mount", hint="`fixtures:/fixtures:ro`")
    path = Path(source).expanduser()
    is_path = "/" in source or source in (".", "..") or (folder / path).exists()
    return f"{(folder / path).resolve()}:{rest}" if is_path else said


def _text(said: Mapping[str, Any], key: str, engine: str) -> str | None:
    value = said.get(key)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{engine}: {key} wants a text, not {value!r:.60}", hint=f"`{key}: '...'`")
    return value


def _texts(said: Mapping[str, Any], key: str, engine: str) -> tuple[str, ...]:
    value = said.get(key) or ()
    if (
        isinstance(value, str)
        or not isinstance(value, Sequence)
        or not all(isinstance(each, str) for each in value)
    ):
        raise UsageError(f"{engine}: {key} wants a list of texts", hint=f"`{key}: ['...']`")
    return tuple(value)
