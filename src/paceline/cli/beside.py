"""A program beside a server of ours: after `--`, led to the server, and both end together.

paceline sim -- python ask.py          paceline gateway -- my-agent --verbose
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import click

from paceline.cli.verb import Verb
from paceline.errors import UsageError


class WithProgram(Verb):
    """Takes a program after `--`, which click would take for arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, program = _parted(args)
        ctx.meta["paceline.program"] = program
        return super().parse_args(ctx, own)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- PROGRAM ...]"]


def _parted(args: list[str]) -> tuple[list[str], list[str] | None]:
    if "--" not in args:
        return args, None
    place = args.index("--")
    return args[:place], args[place + 1 :]


def program_of(ctx: click.Context, *, as_json: bool) -> list[str] | None:
    """The program after `--`; None where there is none."""
    program: list[str] | None = ctx.meta["paceline.program"]
    name = ctx.info_name
    if program is not None and not program:
        raise UsageError(
            "there is no program after --", hint=f"as in: paceline {name} -- python my_script.py"
        )
    if program is not None and as_json:
        raise UsageError("--json and a program share no stdout", hint="leave --json out")
    return program


class Ending:
    """Whether somebody wants it to end, and who: SIGINT and SIGTERM ask for it once, and then do it."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.by_ctrl_c = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.getsignal(number)
            if self._before[number] is not signal.SIG_IGN:
                signal.signal(number, self._heard)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, frame: object) -> None:  # noqa: ARG002  # a handler's signature
        signal.signal(number, self._before[number])
        self.by_ctrl_c = number == signal.SIGINT
        self.asked.set()


def run_beside(
    program: Sequence[str], variables: Mapping[str, str], ending: Ending, seconds: float | None = None
) -> int:
    """A program, until it ends or is ended; its exit code, as a shell has it."""
    try:
        process = subprocess.Popen(program, env={**os.environ, **variables})
    except OSError as error:
        raise UsageError(
            f"{program[0]} cannot be started: {error.strerror}", hint="what stands after -- is a program"
        ) from None

    def end() -> None:
        ending.asked.wait(seconds)
        if not ending.by_ctrl_c:  # that the terminal has told the program itself, and it may take its time
            process.terminate()  # nothing, where it has ended

    threading.Thread(target=end, name="paceline-ending", daemon=True).start()
    code = process.wait()
    ending.asked.set()
    return code if code >= 0 else 128 - code
