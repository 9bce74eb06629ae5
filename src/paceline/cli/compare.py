"""`paceline compare`: two runs or more, held against each other case by case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from paceline.cli.options import json_flag
from paceline.cli.verb import Verb, say, unless_gone


@click.command("compare", cls=Verb)
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option("--variants", is_flag=True, help="Compare the variants of one run.")
@click.option(
    "--lower",
    "lower",
    multiple=True,
    metavar="SCORE",
    help="A score of which less is better; may be given again.",
)
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="OURS=THEIRS",
    help="How rows of JSONL call `case`, `passed`, `scores.NAME`, ...; `B.passed=...` is for run B only.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of intervals and verdicts.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option("--html", "as_html", is_flag=True, help="Write one HTML file.")
@json_flag
@click.option(
    "-o",
    "--output",
    "output",
    type=click.Path(path_type=Path),
    help="Write to this file instead of stdout; of --html, comparison.html here, if not said.",
)
@click.option("--open", "open_it", is_flag=True, help="Open the HTML file in the browser.")
def command(
    runs: tuple[str, ...],
    as_json: bool,
    as_markdown: bool,
    as_html: bool,
    output: Path | None,
    open_it: bool,
    **asked: Any,
) -> int:
    """Hold runs against each other, B with A: what is better, what is worse, what cannot be told.

    Each RUN is a path or an id, a saved baseline, a log of Inspect, a report of Pydantic Evals, or JSONL.
    """
    from paceline import compare
    from paceline.errors import UsageError

    if as_json + as_markdown + as_html > 1:
        raise UsageError("it is one of --json, --markdown and --html", hint="leave the others out")
    if open_it and not as_html:
        raise UsageError("--open says what becomes of a page", hint="add --html")
    found = compare(
        *map(_named, runs),
        variants=asked["variants"],
        lower=asked["lower"],
        fields=_fields(asked["mapping"]),
        confidence=asked["confidence"],
    )
    if as_html:
        _show(found.to_html(output or Path("comparison.html")).absolute(), open_it=open_it)
        return 0
    if as_json:
        text = found.to_json()
    else:
        text = found.to_markdown().rstrip("\n") if as_markdown else found.render(_width(to_file=output))
    if output is None:
        with unless_gone():
            say(text)
        return 0
    from paceline.files import write_whole

    write_whole(output, f"{text}\n".encode(errors="backslashreplace"))
    return 0


def _show(path: Path, *, open_it: bool) -> None:
    say(path.as_uri())
    if open_it:
        import webbrowser

        webbrowser.open(path.as_uri())


def _named(run: str) -> str:
    """A path as it is; a run's id as its path."""
    from paceline.cli.find import find_run

    return run if Path(run).exists() else str(find_run(run))


def _width(*, to_file: Path | None) -> int:
    import shutil
    import sys

    at_terminal = to_file is None and sys.stdout.isatty()
    return min(shutil.get_terminal_size().columns, 120) if at_terminal else 80


def _fields(written: tuple[str, ...]) -> dict[str, str]:
    from paceline.errors import UsageError

    fields: dict[str, str] = {}
    for each in written:
        ours, sign, theirs = each.partition("=")
        if not (ours and sign and theirs):
            raise UsageError(f"--map {each!r} maps nothing", hint="write --map passed=is_correct")
        if fields.setdefault(ours, theirs) != theirs:
            raise UsageError(f"{ours!r} is mapped twice", hint="leave one of the two out")
    return fields
