"""The commands by name, with their help; the code of each is loaded when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import click

from paceline import __version__
from paceline.cli.ctrl_c import CUT_OFF

COMMANDS: Final = {
    "run": "Run a suite, or go on with a run of it.",
    "resume": "Go on with a run that was interrupted.",
    "rescore": "Score stored outputs again, without running the task.",
    "report": "Show what a run has found.",
    "view": "Show runs in the browser, live.",
    "check": "Hold a run against rules: green or red.",
    "compare": "Hold runs against each other, case by case.",
    "calibrate": "Hold a judge against what people have said.",
    "ramp": "Find out how many calls at a time a provider bears.",
    "verify": "Audit the record of a run.",
    "ls": "List runs.",
    "rm": "Remove runs.",
    "sim": "Serve a simulated provider of models.",
    "gateway": "Pace and record the model calls of any program.",
    "templates": "List what can be judged by name.",
    "config": "Show all settings, and where each value came from.",
    "demo": "Run 200 cases, kill the run half way, resume it.",
}
"""Every command, in the order in which people need them. `paceline.cli.NAME` holds its code as `command`."""


class LazyGroup(click.Group):
    """A group that knows the names and the help of its commands before it knows the commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"paceline.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(error.message + _meant(args[0]), ctx)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # before a command could say so; click's own exit code for it is 1
            click.echo("interrupted", err=True)
            ctx.exit(CUT_OFF)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _meant(written: str) -> str:
    """What was probably meant by a word that is no command."""
    from difflib import get_close_matches
    from pathlib import Path

    if Path(written).exists():
        return f" `paceline run {written}` runs it."
    close = get_close_matches(written, COMMANDS, n=1)
    return f" Did you mean `paceline {close[0]}`?" if close else ""


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="paceline")
def paceline() -> None:
    """Evaluations of LLM applications and coding agents: durable, paced, and never a false green."""
