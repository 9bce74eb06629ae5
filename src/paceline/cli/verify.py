"""`paceline verify`: audit the record of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from paceline.cli.options import json_flag
from paceline.cli.verb import Verb, say, say_json

if TYPE_CHECKING:
    from paceline.journal.audit import Audit


@click.command("verify", cls=Verb)
@click.argument("run", required=False)
@json_flag
def command(run: str | None, as_json: bool) -> int:
    """Audit RUN (a path, or an id; the latest by default): torn, damaged, duplicate, missing or edited lines.

    The exit code is 0 if nothing is wrong with the record, 1 if something is.
    """
    from paceline.api import verify
    from paceline.cli.find import find_run

    audit = verify(find_run(run))
    if as_json:
        say_json(_document(audit))
    else:
        say(in_words(audit))
    return 0 if audit.ok else 1


def in_words(audit: Audit) -> str:
    """What an audit has found, and what to do about each kind of finding."""
    of_all = "" if audit.expected is None else f" of {audit.expected:,}"
    head = f"{audit.path}: {audit.lines:,} lines about {audit.keys:,}{of_all} keys"
    if audit.writer is not None:
        head += f"; being written by {audit.writer}"
    if audit.ok:
        return f"{head}; nothing is wrong"
    lines = [head]
    for kind, number in audit.counts.items():
        of_kind = [finding for finding in audit.findings if finding.kind == kind]
        lines.append(f"{kind}: {number:,}; {of_kind[0].remedy}" if of_kind else f"{kind}: {number:,}")
        lines += [f"  {finding}" for finding in of_kind]
        if number > len(of_kind):
            lines.append(f"  ... and {number - len(of_kind):,} more")
    return "\n".join(lines)


def _document(audit: Audit) -> dict[str, Any]:
    return {
        "path": str(audit.path),
        "ok": audit.ok,
        "lines": audit.lines,
        "keys": audit.keys,
        "expected": audit.expected,
        "counts": dict(audit.counts),
        "findings": [
            {"kind": finding.kind, "what": finding.what, "line": finding.line, "remedy": finding.remedy}
            for finding in audit.findings
        ],
        "writer": None if audit.writer is None else str(audit.writer),
    }
