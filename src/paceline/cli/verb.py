"""What all commands have in common: how they speak, and how they end.

A command returns its exit code. Errors of ours are told as a message and its hint, and end it with the code
that they carry; with `--json` they are told on stdout as well, as a document. Whatever else is raised is a
defect or a broken environment: exit 3.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import click

from paceline.cli.ctrl_c import CUT_OFF
from paceline.errors import PacelineError, UsageError

DEFECT: Final = 3
FRAMES: Final = 4
"""Of an unexpected error, without --debug."""


class StdoutLost(PacelineError):
    """What was to be printed cannot be, and that is not because its reader has seen enough."""


class Verb(click.Command):
    """A command that returns its exit code, and whose errors become messages."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["paceline.written"] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> None:
        ctx.exit(self._exit_code(ctx))

    def _exit_code(self, ctx: click.Context) -> int:
        try:
            with warnings_in_words():
                _stand_somewhere()
                return int(super().invoke(ctx) or 0)
        except StdoutLost as error:
            complain(error, as_json=False)
            return error.exit_code
        except PacelineError as error:
            complain(error, as_json=bool(ctx.params.get("as_json")))
            return error.exit_code
        except (click.Abort, KeyboardInterrupt):
            warn("interrupted")
            return CUT_OFF
        except (click.ClickException, click.exceptions.Exit):
            raise
        except Exception as error:
            _tell_defect(error, in_full=bool(ctx.params.get("debug", True)))
            return DEFECT


def _stand_somewhere() -> None:
    """Settings, runs and suites are looked for from the current directory."""
    try:
        os.getcwd()  # noqa: PTH109  # asked only whether it is there
    except OSError as error:
        raise UsageError(
            f"the current directory cannot be used: {error.strerror}", hint="`cd` to one that is there"
        ) from error


def written_arguments(ctx: click.Context) -> list[str]:
    """The arguments of a command as they were typed."""
    return list(ctx.meta["paceline.written"])


def say(text: str = "") -> None:
    """Facts, on stdout."""
    with unless_gone():
        print(text)


def say_json(document: object) -> None:
    """The one document that `--json` prints."""
    import json

    say(json.dumps(document, indent=2, ensure_ascii=False, default=str))


def warn(text: str) -> None:
    """Anything that is not a fact asked for, on stderr."""
    with suppress(OSError, ValueError):  # nobody is left to be told
        print(text, file=sys.stderr, flush=True)


@contextmanager
def warnings_in_words() -> Iterator[None]:
    """Print warnings for users as such: the line of Python that warned means nothing to them."""
    import warnings

    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if category is UserWarning:
            warn(f"warning: {message}")
        else:
            usual(message, category, *place, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = usual


def complain(error: PacelineError, *, as_json: bool) -> None:
    """Tell an error of ours: what happened, and what to do next."""
    warn(f"error: {error}")
    if error.hint:
        warn(f"hint: {error.hint}")
    if as_json:
        told = {"kind": type(error).__name__, "message": str(error), "hint": error.hint}
        say_json({"error": told, "exit_code": error.exit_code})


def _tell_defect(error: Exception, *, in_full: bool) -> None:
    import traceback

    warn("".join(traceback.format_exception(error, limit=None if in_full else -FRAMES)).rstrip())
    warn(f"error: this should not have happened: {type(error).__name__}. What was recorded is safe.")
    if not in_full:
        warn("hint: run it again with --debug to see the whole traceback")


@contextmanager
def unless_gone() -> Iterator[None]:
    """Print to stdout as long as somebody reads it; from then on, to nowhere."""
    try:
        yield
        sys.stdout.flush()
    except ValueError:
        if not sys.stdout.closed:
            raise
        _let_stdout_go()
    except OSError as error:
        _let_stdout_go()
        if error.errno != errno.EPIPE:
            raise StdoutLost(
                f"stdout cannot be written: {error.strerror}", hint="nothing that is on record is lost"
            ) from error
    except SystemExit:
        # What rich raises where the reader is gone; the exit code is not for it to choose.
        _let_stdout_go()


def _let_stdout_go() -> None:
    """Send what is still buffered nowhere, or the interpreter would complain about it when it exits."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def stdout_for_the_document(wanted: bool) -> Iterator[None]:
    """While the user's code runs, let whatever it prints go to stderr, so that stdout holds one document."""
    if not wanted:
        yield
        return
    from contextlib import redirect_stdout

    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)  # child processes and C code print past `sys.stdout`
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def table(rows: Sequence[tuple[str, ...]], *, head: tuple[str, ...]) -> str:
    """Columns of text, as wide as they have to be."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)
    )
    return "\n".join(line.rstrip() for line in lines)


def given_of(params: Mapping[str, Any], ctx: click.Context) -> dict[str, Any]:
    """Those parameters that were given on the command line."""
    given = click.core.ParameterSource.COMMANDLINE
    return {name: value for name, value in params.items() if ctx.get_parameter_source(name) is given}
