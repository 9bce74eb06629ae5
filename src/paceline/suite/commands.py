"""Commands as what is under test, said in a suite.yaml: no Python is needed.

    command: [my-agent, --task, "{{ inputs.task }}"]
    workspace: {repository: https://github.com/me/app, commit: "{{ inputs.commit }}"}
    timeout: 20m
    output: diff

What stands at the top holds for every variant that is a command, unless the variant says otherwise.

Knows how it is written. What runs, and when it cannot, is the command task's to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from paceline.errors import SuiteError, UsageError

if TYPE_CHECKING:
    from paceline.tasks.command import CommandTask

PARTS: Final = (
    *(
        "stdin",
        "env",
        "pass_env",
        "cwd",
        "setup",
        "timeout",
        "setup_timeout",
        "grace",
        "output",
        "exit_codes",
    ),
    *(
        "workspace",
        "files",
        "keep",
        "limits",
        "output_limit",
        "gateway",
        "allow",
        "docker",
        "podman",
        "bubblewrap",
    ),
)
"""What may be said of a command task beside its command."""


class CommandsOf(NamedTuple):
    """What a file says of commands, and where errors are to say that it stands."""

    command: Any
    parts: Mapping[str, Any]
    base: Path
    where: Callable[[str], str]
    """The place of a key, as errors name it."""

    def task(self, key: str = "command", said: Mapping[str, Any] | None = None) -> CommandTask:
        """The command task of the file, or of a variant that says some of it otherwise."""
        from paceline.tasks.command import CommandTask

        said = said or {}
        command = said.get("command", self.command)
        parts = {**self.parts, **{name: said[name] for name in PARTS if name in said}}
        try:
            return CommandTask(command, folder=self.base, **parts)
        except UsageError as error:
            about = re.match(r"\w+", str(error))
            near = about[0] if about is not None and about[0] in self.parts and about[0] not in said else key
            raise SuiteError(f"{self.where(near)}: {error}", hint=error.hint) from None

    def variant(self, name: str, said: object) -> CommandTask | None:
        """The task of a variant, if that is a command."""
        if not isinstance(said, Mapping) or "task" in said or "model" in said:
            return None
        if "command" not in said and (self.command is None or not set(said) & set(PARTS)):
            return None
        key = f"variants.{name}"
        if unknown := [word for word in said if word not in ("command", *PARTS)]:
            raise SuiteError(
                f"{self.where(key)}: variant {name!r} has no {unknown[0]!r}",
                hint=f"beside command there are {', '.join(PARTS)}",
            )
        return self.task(key, said)


def commands_of(values: Mapping[str, Any], base: Path, where: Callable[[str], str]) -> CommandsOf:
    """What is said of commands, which is of no use without one."""
    parts = {name: values[name] for name in PARTS if values.get(name) is not None}
    command = values.get("command")
    other = next((name for name in ("task", "model") if command is not None and values.get(name)), None)
    if other is not None:
        raise SuiteError(
            f"{where('command')}: there is a {other}, and there is a command",
            hint="each of them is what is under test: keep one of them",
        )
    variants = (values.get("variants") or {}).values()
    if (
        parts
        and command is None
        and not any(isinstance(said, Mapping) and "command" in said for said in variants)
    ):
        part = next(iter(parts))
        raise SuiteError(
            f"{where(part)}: {part} is for a command, and none is named",
            hint="say which: `command: [my-agent, '{{ inputs.task }}']`",
        )
    return CommandsOf(command, parts, base, where)
