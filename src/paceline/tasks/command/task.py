"""A command line program as a task: what users write, and what is looked after over a run.

    CommandTask(["my-agent", "{{ inputs.task }}"], workspace={"repository": "https://...", "commit": "main"})
    CommandTask("python {{ suite }}/answer.py", stdin="{{ inputs }}", output={"json": "answer"})

Each attempt has a process group of its own and, unless it is told otherwise, a folder of its own. The
program is ended with everything it has started when its time is up, and when we are gone.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any, Literal

from paceline.errors import UsageError
from paceline.journal.records import Key
from paceline.tasks.attempt import RunPlace, current_attempt
from paceline.tasks.command import grounds
from paceline.tasks.command.attempting import Attempting
from paceline.tasks.command.boxes import check as check_box
from paceline.tasks.command.engines import Container
from paceline.tasks.command.environment import check_passed
from paceline.tasks.command.keeping import Kept, name_of
from paceline.tasks.command.spec import Keep, spec_of
from paceline.workspaces.ground import Ground, grounds_root, moved
from paceline.workspaces.sources import WorkspaceError
from paceline.workspaces.workspace import check as check_source

Size = int | str
Duration = float | str


class CommandTask:
    """A task that runs a command for each case."""

    needs_place = True
    is_process = True
    """Each attempt is a process of its own already, whatever `isolation` says."""

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        stdin: str | None = None,
        env: Mapping[str, str | int | float] | None = None,
        pass_env: Sequence[str] | None = None,
        cwd: str | None = None,
        setup: str | Sequence[str] | None = None,
        timeout: Duration | None = None,
        setup_timeout: Duration | None = None,
        grace: Duration | None = None,
        output: Literal["stdout", "diff"] | Mapping[str, str] | None = None,
        exit_codes: Sequence[int] | Literal["any"] | None = None,
        workspace: Literal["empty", "none"] | Mapping[str, Any] | None = None,
        files: str | Mapping[str, Any] | None = None,
        keep: Keep | None = None,
        limits: Mapping[str, Any] | None = None,
        output_limit: Size | None = None,
        gateway: bool | None = None,
        allow: Mapping[str, Any] | None = None,
        docker: str | Mapping[str, Any] | None = None,
        podman: str | Mapping[str, Any] | None = None,
        bubblewrap: bool | Mapping[str, Any] | None = None,
        folder: str | Path | None = None,
    ) -> None:
        """Texts may have places: `{{ inputs.field }}`, `{{ workspace }}`, `{{ suite }}`, `{{ case.name }}`.

        A `command` that is a text is read by a shell, with values as single words; a list is not. `folder` is
        where its files are named from, the current directory if not said. What each of the others means is in
        docs/how-to/commands.md.
        """
        said = {name: value for name, value in locals().items() if name not in ("self", "folder")}
        self.folder = Path(folder or Path.cwd()).absolute()
        self.spec = spec_of({name: value for name, value in said.items() if value is not None}, self.folder)
        self.wants_gateway = self.spec.wants_gateway
        # What a rehearsal is told, which nobody is to pay for.
        self.asks_elsewhere = (
            False if self.wants_gateway else "its model calls do not go by the gateway, but to the provider"
        )
        self.timeout = self.spec.timeout
        self.grace = self.spec.grace
        self.version = self.spec.version
        # What reports call the task, as they call a function by its name.
        self.__qualname__ = self.spec.program

    def __repr__(self) -> str:
        return f"CommandTask({self.spec.program!r}, {self.version})"

    def check_ready(self) -> None:
        """Raise a `UsageError` with the remedy where it cannot be run here: no program, no git, no engine."""
        spec = self.spec
        check_passed(spec.pass_env)
        check_box(spec.box)
        if spec.box is None and "PATH" not in spec.env:
            self._check_program()
        if spec.source is None:
            return
        try:
            grounds_root()
            if spec.source.is_fixed:
                check_source(spec.source.source({}, self.folder))
        except WorkspaceError as error:
            raise UsageError(str(error), hint=error.hint)

    def _check_program(self) -> None:
        if not self.spec.argv or self.spec.argv[0].places:
            return
        program = self.spec.argv[0].source
        if "/" in program:
            there = (self.folder / program).is_file() or not Path(
                program
            ).is_absolute()  # it may be in the workspace
        else:
            there = shutil.which(program) is not None
        if not there:
            raise UsageError(
                f"there is no program {program}",
                hint="it is looked for in PATH; with a `/` in its name, in the suite's folder or workspace",
            )

    # Over a run

    def begin_run(self, place: RunPlace) -> None:
        """Claim what a run needs, and sweep what a killed process has left of it."""
        if self.spec.keep != "never" and place.files is None:
            raise UsageError(
                "workspaces are kept in the run directory, and this run has none",
                hint="leave `keep` out, or give the run a journal",
            )
        if self.spec.source is not None:
            grounds.begin(place)
        if isinstance(self.spec.box, Container):
            self.spec.box.sweep(place.run_id)

    def end_run(self, place: RunPlace) -> None:
        """Let go of all that, once what is under way is done."""
        grounds.end(place)

    def case_ended(self, place: RunPlace, key: Key, *, failed: bool) -> None:
        """A key has come to its end, its evaluators included: its workspaces are kept or cleared away."""
        if self.spec.source is not None:
            grounds.clearing.submit(self._clear, place, key, failed)

    def _clear(self, place: RunPlace, key: Key, failed: bool) -> None:
        name = name_of(key)
        with grounds.ground_for(place) as ground:
            if place.files is not None and (
                self.spec.keep == "always" or (self.spec.keep == "failed" and failed)
            ):
                for attempt in sorted((ground.path / name).glob("*/work")):
                    moved(attempt, place.files / name / attempt.parent.name / "workspace")
            ground.forget(name)

    # One attempt

    async def __call__(self, inputs: Any) -> Any:
        """Run the command for these inputs, and note what came of it."""
        attempt = current_attempt.get()
        place = attempt.run if attempt is not None else None
        name = name_of(attempt.key) if attempt is not None else "call"
        number = attempt.number if attempt is not None else 1
        with grounds.ground_for(place) as ground:
            kept = Kept(place.files if place is not None else None, name, number)
            attempting = Attempting(
                self.spec,
                inputs,
                folder=self.folder,
                attempt=attempt,
                ground=ground,
                kept=kept,
                name=f"{name}/{number}",
            )
            answered = False
            try:
                answer = await attempting.carry_out()
                answered = True
                return answer
            finally:
                if not answered and self.spec.keep == "never":
                    grounds.clearing.submit(_forget, ground, f"{name}/{number}", attempting.keeping)
                kept.close()


def _forget(ground: Ground, name: str, keeping: Future[Any] | None) -> None:
    """Clear an attempt's workspace away, once what has become of it is on record."""
    if keeping is not None:
        wait([keeping])  # asked for before this was, so it is done or under way: nobody waits for a thread
    ground.forget(name)
