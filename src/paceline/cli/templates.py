"""`paceline templates`: what `paceline.evaluate` and the evaluator `Template` can judge."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

import click

from paceline.cli.options import json_flag
from paceline.cli.verb import Verb, say, say_json, table

if TYPE_CHECKING:
    from paceline.evaluators.templates.listing import TemplateInfo

BY: Final[dict[str, str]] = {
    "code": "code",
    "model": "a judge",
    "vectors": "vectors",
    "nobody": "not supported",
}


@click.command("templates", cls=Verb)
@click.argument("name", required=False)
@json_flag
def command(name: str | None, as_json: bool) -> int:
    """List the templates, or tell all about the one called NAME.

    A template is a check or a judgement with a name: what it needs, and what comes out of it.
    """
    from paceline.evaluators.templates.listing import template_info, templates

    if name is not None:
        info = template_info(name)
        if as_json:
            say_json(info.to_dict())
        else:
            say(_told(info))
        return 0
    listed = templates()
    if as_json:
        say_json({"templates": [each.to_dict() for each in listed]})
    else:
        rows = [
            (each.name, BY[each.judged_by], each.output or "", ", ".join(each.required)) for each in listed
        ]
        say(table(rows, head=("TEMPLATE", "JUDGED BY", "OUTPUT", "NEEDS")))
    return 0


def _told(info: TemplateInfo) -> str:
    lines = [info.name, textwrap.fill(info.about, 100), ""]
    facts = {
        "judged by": BY[info.judged_by],
        "output": info.output or "",
        "choices": ", ".join(info.choices),
        "instead": info.instead,
    }
    lines += [f"{name + ':':<11}{fact}" for name, fact in facts.items() if fact]
    for which, names in (("needs", info.required), ("takes", info.optional)):
        for number, name in enumerate(names):
            kind = f"  ({info.kinds[name]})" if name in info.kinds else ""
            lines.append(f"{which + ':' if number == 0 else '':<11}{name}{kind}")
    if info.rubric:
        lines += ["", "what the judge is asked:", textwrap.indent(info.rubric, "  ")]
    return "\n".join(lines)
