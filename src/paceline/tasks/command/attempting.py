"""One attempt at a command, step by step: workspace, setup, the command itself, what came of it.

What is made ready before the command, and compared after it, is not the command's doing: the clock of the
attempt stands still meanwhile. Once the command has been started, what it has printed and changed is kept
however it ends, a cancellation included.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from paceline.pace.calls import current_listener
from paceline.processes.launch import Ended, Launch, Limits
from paceline.processes.running import KeeperLost, run
from paceline.tasks.attempt import Attempt
from paceline.tasks.command import boxes
from paceline.tasks.command.engines import Container
from paceline.tasks.command.environment import ALWAYS, of_attempt, passed
from paceline.tasks.command.failures import (
    BadFiles,
    CommandLost,
    NotStarted,
    SetupFailed,
    WorkspaceFailed,
    WorkspaceRemoved,
    about_keys,
    failure_of,
    telling,
)
from paceline.tasks.command.grounds import clearing
from paceline.tasks.command.keeping import Kept, cleaned, redactor_for, tail_of, told_of, told_of_changes
from paceline.tasks.command.spec import Spec
from paceline.tasks.failures import TaskFailure
from paceline.tasks.notes import increment_eval_metric, set_eval_attribute
from paceline.tasks.template import Place, Template, as_text, found
from paceline.workspaces.changes import Changes
from paceline.workspaces.ground import Ground
from paceline.workspaces.inside import parts_of, write
from paceline.workspaces.sources import Source, WorkspaceError, WorkspaceGone
from paceline.workspaces.workspace import Workspace, make

LAST_MOMENT_S: Final = 1.5
"""For keeping what a command has left that was cut off: whoever cut it off waits for that."""
MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a command: what the record says of it, and an answer or a failure."""

    told: Mapping[str, Any]
    answer: Any = None
    failure: Exception | None = None


class Attempting:
    """One attempt under way."""

    def __init__(
        self,
        spec: Spec,
        inputs: Any,
        *,
        folder: Path,
        attempt: Attempt | None,
        ground: Ground,
        kept: Kept,
        name: str,
    ) -> None:
        self._spec = spec
        self._folder = folder
        self._attempt = attempt
        self._ground = ground
        self._kept = kept
        self._name = name
        self._workspace: Workspace | None = None
        self._setup: list[list[str]] = []
        self._env: dict[str, str] = {}
        self._keyless = False
        """Whether there was a gateway, and no key to lead anybody there with."""
        self.keeping: Future[Came] | None = None
        """The work of putting it on record, once it has begun."""
        self._values: dict[str, Any] = {
            "inputs": inputs,
            "suite": str(folder),
            "workspace": "",
            "case": _case(attempt),
        }

    async def carry_out(self) -> Any:
        """The answer; whatever went wrong is raised, once it is on record."""
        spec = self._spec
        with self._clock_held():
            await self._prepare()
        with self._gateway() as given:
            self._env = self._environment(given)
            if spec.setup:
                with self._clock_held():
                    await self._set_up()
            ended, cut = await self._run()
        with self._clock_held() if cut is None else nullcontext():
            came = await self._keep(ended, last_moment=cut is not None)
        for name, value in came.told.items():
            set_eval_attribute(name, value)
        if cut is not None:
            raise cut
        if came.failure is not None:
            raise came.failure
        return came.answer

    def _clock_held(self) -> AbstractContextManager[None]:
        return nullcontext() if self._attempt is None else self._attempt.clock_held()

    # Before

    async def _prepare(self) -> None:
        spec = self._spec
        if spec.source is None:
            self._values["workspace"] = str(self._folder)
            return
        source = spec.source.source(self._values, self._folder)
        files = self._files()
        try:
            self._workspace = await clearing.done(self._made, source, files)
        except WorkspaceError as error:
            raise WorkspaceFailed(f"{error}; {error.hint}" if error.hint else str(error))
        except OSError as error:
            raise WorkspaceFailed(f"its workspace cannot be made: {error}")
        self._values["workspace"] = (
            spec.box.workdir if isinstance(spec.box, Container) else str(self._workspace.path)
        )

    def _made(self, source: Source, files: Mapping[str, bytes]) -> Workspace:
        workspace = make(self._ground, self._name, source, files)
        if files:
            self._kept.given.mkdir()
        for path, content in files.items():
            write(self._kept.given, path, content)
        return workspace

    def _files(self) -> dict[str, bytes]:
        """The files of the case, by their paths in the workspace."""
        said = self._spec.files
        if isinstance(said, Template):
            place = said.only_place()
            assert place is not None, "the spec has seen to it"
            given = found(self._values[place.root], place, said.where) or {}
            if not isinstance(given, Mapping):
                raise BadFiles(
                    f"files wants names with contents, and {place.written} is a {type(given).__name__}"
                )
        else:
            given = {name: self._filled(content) for name, content in said.items()}
        files: dict[str, bytes] = {}
        for name, content in given.items():
            if not isinstance(content, str | bytes):
                raise BadFiles(
                    f"{name}: the content of a file is text, and this is a {type(content).__name__}"
                )
            try:
                parts_of(str(name))
            except WorkspaceError as error:
                raise BadFiles(f"{error}; {error.hint}")
            files[str(name)] = (
                content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
            )
        return files

    def _filled(self, content: Template | Path) -> str | bytes:
        return content.read_bytes() if isinstance(content, Path) else content.fill_from(self._values)

    def _environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """What the command is given by name, beside what every command sees."""
        spec = self._spec
        workspace = self._values["workspace"] if self._workspace is not None else None
        return {
            **of_attempt(self._attempt, workspace=workspace, suite=self._folder),
            **passed(spec.pass_env),
            # After what is passed on: where there is a gateway, no child sees a provider's key.
            **given,
            **{name: template.fill_from(self._values) for name, template in spec.env.items()},
        }

    @contextmanager
    def _gateway(self) -> Iterator[Mapping[str, str]]:
        """Leave to ask models by way of the gateway, where the run has one."""
        server = sys.modules.get("paceline.gateway.server")  # whoever has started one has loaded it
        gateway = server.current_gateway.get() if server is not None and self._spec.wants_gateway else None
        if gateway is None:
            yield {}
            return
        from paceline.gateway.upstreams import environment

        # A provider of which we have neither key nor address is the program's own: it may be logged in.
        ours = [
            each for each in gateway.upstreams.values() if each.key or set(each.url_names) & os.environ.keys()
        ]
        self._keyless = not ours
        with gateway.ticket(current_listener.get(), self._spec.allowance()) as ticket:
            yield environment(gateway.url, ticket.token, ours)

    async def _set_up(self) -> None:
        for number, script in enumerate(self._spec.setup, start=1):
            argv = (*script.argv, *(self._text(place) for place in script.places))
            out = self._kept.folder / f"setup-{number}.txt"
            err = out.with_suffix(".err.txt")
            with self._inside(argv, f"setup{number}", limits=Limits()) as box:
                launch = Launch(
                    argv=box.argv,
                    env=box.env,
                    cwd=box.cwd,
                    stdout=out,
                    stderr=err,
                    timeout_s=self._spec.setup_timeout,
                    grace_s=self._spec.grace,
                    finally_run=box.finally_run,
                )
                ended = await _carried_out(launch)
            self._setup.append(list(argv))
            await clearing.done(self._clean, out, err)
            last_words = telling(tail_of(err) or tail_of(out))
            failure = failure_of(
                ended,
                limits=Limits(),
                program=f"setup {number}",
                last_words=last_words,
                timeout_s=self._spec.setup_timeout,
                accepted=frozenset({0}),
                by_shell=True,
            )
            if failure is not None:
                raise SetupFailed(str(failure))
        if self._workspace is not None:
            try:
                await clearing.done(self._workspace.settle)
            except WorkspaceError as error:
                raise WorkspaceFailed(str(error))

    # The command

    async def _run(self) -> tuple[Ended, asyncio.CancelledError | None]:
        """Start it and await its end, by itself or by being cut off; then the cancellation comes, too."""
        spec = self._spec
        stdin = (
            b"" if spec.stdin is None else spec.stdin.fill_from(self._values).encode("utf-8", "surrogatepass")
        )
        heard: list[Ended] = []
        with self._inside(self._argv(), "run", limits=spec.limits, has_stdin=bool(stdin)) as box:
            launch = Launch(
                argv=box.argv,
                env=box.env,
                cwd=box.cwd,
                stdin=stdin,
                stdout=self._kept.stdout,
                stderr=self._kept.stderr,
                kept=spec.kept,
                limits=box.limits,
                # In a run the engine keeps the time: its clock stands still while calls wait for their turn.
                timeout_s=spec.timeout if self._attempt is None else None,
                grace_s=spec.grace,
                finally_run=box.finally_run,
            )
            try:
                return await _carried_out(launch, told=heard.append), None
            except asyncio.CancelledError as cut:
                if not heard:
                    raise
                return heard[0], cut

    def _argv(self) -> tuple[str, ...]:
        spec = self._spec
        if spec.script is not None:
            return (*spec.script.argv, *(self._text(place) for place in spec.script.places))
        program, *arguments = (part.fill_from(self._values) for part in spec.argv)
        if "/" in program and (self._folder / program).is_file() and not isinstance(spec.box, Container):
            program = str((self._folder / program).absolute())
        return (program, *arguments)

    def _text(self, place: Place) -> str:
        return as_text(found(self._values[place.root], place, "command"))

    def _inside(
        self, argv: tuple[str, ...], what: str, *, limits: Limits, has_stdin: bool = False
    ) -> AbstractContextManager[Any]:
        spec, workspace = self._spec, self._workspace
        box = spec.box
        place = boxes.Place(
            workspace=workspace.path if workspace is not None else None,
            base=workspace.path if workspace is not None else self._folder,
            cwd=self._cwd(),
            name=f"{self._name}-{what}",
            label=self._ground.path.name,
            seen=(workspace.borrowed,) if workspace is not None and workspace.borrowed is not None else (),
            image=box.image.fill_from(self._values) if isinstance(box, Container) else "",
        )
        common = passed(ALWAYS)
        return boxes.inside(box, place, argv, self._env, common=common, limits=limits, has_stdin=has_stdin)

    def _cwd(self) -> str:
        """The folder that it starts in, from that of its workspace."""
        if self._spec.cwd is None:
            return ""
        cwd = self._spec.cwd.fill_from(self._values)
        if self._workspace is None:
            return cwd
        try:
            return "/".join(parts_of(cwd, git=True)) if cwd not in ("", ".") else ""
        except WorkspaceError as error:
            raise NotStarted(f"cwd: {error}")

    # After

    async def _keep(self, ended: Ended, *, last_moment: bool) -> Came:
        """Put on record what came of it, on a thread."""
        if not isinstance(self._spec.box, Container):
            increment_eval_metric("cpu_s", round(ended.cpu_s, 3))
            increment_eval_metric("peak_memory_mb", round(ended.peak_memory / MIB, 1))
        self.keeping = clearing.submit(self._kept_now, ended)
        keeping = asyncio.wrap_future(self.keeping)
        if not last_moment:
            return await keeping
        try:
            return await asyncio.wait_for(asyncio.shield(keeping), LAST_MOMENT_S)
        except (TimeoutError, asyncio.CancelledError):
            return Came({"command": {"how": ended.how}})  # it goes on being kept, and is not told of

    def _kept_now(self, ended: Ended) -> Came:
        try:
            return self._kept_of(ended)
        except OSError as error:  # the disk is full, say: that is nobody's answer
            return Came(
                {"command": {"how": ended.how}}, failure=WorkspaceFailed(f"nothing can be kept: {error}")
            )

    def _kept_of(self, ended: Ended) -> Came:
        self._clean(self._kept.stdout, self._kept.stderr)
        told: dict[str, Any] = {"command": told_of(ended, self._kept)}
        changes = Changes()
        failure: Exception | None = self._failure_of(ended, told["command"])
        if self._workspace is not None:
            try:
                changes = self._workspace.changes(self._kept.patch)
            except WorkspaceGone as error:
                failure = failure or WorkspaceRemoved(str(error))
            except WorkspaceError as error:
                failure = failure or WorkspaceFailed(f"what it has changed cannot be kept: {error}")
            else:
                self._clean(self._kept.patch)
                told |= told_of_changes(changes, self._kept)
            told["workspace"] = str(self._workspace.path)
            told["workspace_source"] = self._told_of_workspace()
        if failure is not None:
            return Came(told, failure=failure)
        try:
            return Came(told, answer=self._answer(ended, changes))
        except TaskFailure as missing:
            return Came(told, failure=missing)

    def _clean(self, *files: Path) -> None:
        """Take secrets out of files, and away what is empty."""
        redactor = redactor_for(self._attempt.run.redact if self._attempt is not None else (), self._env)
        for file in files:
            cleaned(file, redactor)

    def _answer(self, ended: Ended, changes: Changes) -> Any:
        workspace = self._workspace.path if self._workspace is not None else None
        return self._spec.output.taken(ended, workspace=workspace, patch=changes.patch, most=self._spec.kept)

    def _failure_of(self, ended: Ended, told: Mapping[str, Any]) -> TaskFailure | None:
        said = told["stderr"]["tail"].strip() or told["stdout"]["tail"].strip()
        box = self._spec.box
        failure = failure_of(
            ended,
            limits=self._spec.limits,
            program=self._spec.program,
            last_words=telling(said),
            timeout_s=self._spec.timeout,
            accepted=self._spec.accepted,
            engine=box.engine if isinstance(box, Container) else "",
            by_shell=self._spec.script is not None,
        )
        return about_keys(failure, said) if self._keyless else failure

    def _told_of_workspace(self) -> dict[str, Any]:
        """From what it was made, for whoever needs it once more."""
        assert self._workspace is not None
        told: dict[str, Any] = {"source": dict(self._workspace.record)}
        if self._attempt is not None and (files := self._attempt.run.files) is not None:
            told["run"] = str(files.parent.absolute())
            if self._kept.given.is_dir():
                told["given"] = self._kept.named(self._kept.given)
        if self._setup:
            told["setup"] = self._setup
        if isinstance(self._spec.box, Container):
            told["in"] = self._spec.box.engine
        return told


async def _carried_out(launch: Launch, *, told: Callable[[Ended], None] | None = None) -> Ended:
    try:
        return await run(launch, told=told)
    except KeeperLost as error:
        raise CommandLost(f"{error}; {error.hint}")


def _case(attempt: Attempt | None) -> dict[str, Any]:
    """What templates may say of the case."""
    if attempt is None:
        return {"name": "", "repeat": 0, "variant": "", "attempt": 1}
    key = attempt.key
    return {"name": key.case, "repeat": key.repeat, "variant": key.variant, "attempt": attempt.number}
