"""`paceline sim`: a simulated provider on this machine, until Ctrl-C or for as long as a program runs."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

import click

from paceline.cli.beside import Ending, WithProgram, program_of, run_beside
from paceline.cli.verb import say, say_json, table, warn
from paceline.errors import UsageError

if TYPE_CHECKING:
    from paceline.sim.scenario import Scenario
    from paceline.sim.server import RunningSim
    from paceline.sim.tally import Seen

PORT: Final = 8400
LOCAL: Final = ("127.0.0.1", "::1", "localhost")
"""Addresses that no other machine reaches."""
KEY: Final = "simulated"
"""That clients are told to show, where the scenario accepts any."""
FIELDS: Final = ("rpm", "tpm", "in_flight", "latency", "seed", "time_scale")
"""Those of a scenario that have a flag of their own."""


@click.command("sim", cls=WithProgram)
@click.argument("scenario", metavar="[SCENARIO]", default="gentle")
@click.option("--rpm", metavar="N", help="Requests a minute.")
@click.option("--tpm", metavar="N", help="Tokens a minute.")
@click.option("--in-flight", metavar="N", help="Calls at once.")
@click.option("--latency", metavar="SECONDS", help="The mean of it.")
@click.option("--seed", metavar="N", help="Of all that is left to chance.")
@click.option("--time-scale", metavar="X", help="10 makes a simulated second a tenth of a real one.")
@click.option("--set", "sets", metavar="FIELD=VALUE", multiple=True, help="Any field: faults.error=0.1.")
@click.option("--host", metavar="HOST", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="N",
    default=PORT,
    show_default=True,
    help="0 takes a free one.",
)
@click.option("--for", "lasts", metavar="DURATION", help="End after so long, such as 30s.")
@click.option(
    "--stats", "stats_file", metavar="FILE", help="Write what it has seen there at its end, as JSON."
)
@click.option("--list", "lists", is_flag=True, help="List the scenarios that have names.")
@click.option("--show", is_flag=True, help="Print the scenario as a file of its own, and end.")
@click.option("-q", "--quiet", is_flag=True, help="Tell where it listens, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout: where it listens.")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> int:
    """Serve a simulated provider: OpenAI's and Anthropic's formats, with limits, latency and faults.

    SCENARIO is a name (--list tells them) or a YAML, JSON or TOML file. Nothing is paid for and answers are
    the same every time. It ends with Ctrl-C, or with PROGRAM, whose OPENAI_BASE_URL and ANTHROPIC_BASE_URL
    lead to it.
    """
    if given["lists"]:
        return _list(as_json=given["as_json"])
    scenario = chosen(given["scenario"], given)
    if given["show"]:
        return _show(scenario, as_json=given["as_json"])
    program = program_of(ctx, as_json=given["as_json"])
    seconds = _duration(given["lasts"])
    stats_file = _writable(given["stats_file"])
    return _serve(
        scenario,
        program,
        where=(given["host"], given["port"]),
        seconds=seconds,
        stats_file=stats_file,
        quiet=given["quiet"],
        as_json=given["as_json"],
    )


# What is played -----------------------------------------------------------------------------------


def chosen(source: str, flags: Mapping[str, Any]) -> Scenario:
    """The scenario, with what flags change of it; an error names the flag it comes from."""
    from paceline.sim.scenario import Scenario

    scenario = Scenario.load(source)
    for name in FIELDS:
        if flags[name] is not None:
            flag = f"--{name.replace('_', '-')} {flags[name]}"
            scenario = scenario.changed({name: flags[name]}, where=flag)
    for written in flags["sets"]:
        scenario = scenario.changed(field_in(written), where=f"--set {written}")
    return scenario


def field_in(written: str) -> dict[str, Any]:
    """`faults.error=0.1` as `{"faults": {"error": 0.1}}`; values are YAML."""
    import yaml

    path, equals, text = written.partition("=")
    names = [name.strip() for name in path.split(".")]
    if not equals or not all(names):
        raise UsageError(f"--set {written} sets nothing", hint="write field=value: --set faults.error=0.1")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        raise UsageError(
            f"--set {written}: the value cannot be read", hint="it is written as in YAML: 5, true, [a, b]"
        ) from None
    for name in reversed(names):
        value = {name: value}
    assert isinstance(value, dict)
    return value


def _duration(written: str | None) -> float | None:
    from paceline.setting_kinds import duration

    if written is None:
        return None
    try:
        return duration(written)
    except ValueError:
        raise UsageError(f"--for {written} is no duration", hint="such as 30s, 5m or 1h30m") from None


def _writable(written: str | None) -> Path | None:
    """Where the stats go; said now if they cannot, and not after the night."""
    if written is None:
        return None
    path = Path(written)
    try:
        path.open("a", encoding="utf-8").close()
    except OSError as error:
        raise UsageError(
            f"--stats {written} cannot be written: {error.strerror}",
            hint="name a file in a folder that exists",
        ) from None
    return path


def _list(*, as_json: bool) -> int:
    from paceline.sim.builtin import SCENARIOS

    if as_json:
        say_json([{"name": name, **fields} for name, fields in SCENARIOS.items()])
    else:
        say(table([(name, str(of["about"])) for name, of in SCENARIOS.items()], head=("SCENARIO", "IS")))
    return 0


def _show(scenario: Scenario, *, as_json: bool) -> int:
    import yaml

    if as_json:
        say_json(scenario.as_mapping())
    else:
        say(yaml.safe_dump(scenario.as_mapping(), sort_keys=False, allow_unicode=True).rstrip())
    return 0


# While it is served -------------------------------------------------------------------------------


def _serve(
    scenario: Scenario,
    program: Sequence[str] | None,
    *,
    where: tuple[str, int],
    seconds: float | None,
    stats_file: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    from paceline.sim.server import start_in_thread

    host, port = where
    code = 0
    with Ending() as ending:
        with start_in_thread(scenario, host=host, port=port) as sim:
            variables = variables_for(sim.url, scenario)
            if as_json:
                say_json({"url": sim.url, **variables, "pid": os.getpid(), "scenario": scenario.as_mapping()})
            if host not in LOCAL and not quiet:
                warn("whoever reaches this machine may call it; without --host it is yours alone")
            if program is None:
                _tell_where(sim, scenario, variables, quiet=quiet, as_json=as_json)
                _wait(sim, ending.asked, seconds, shows=not quiet and sys.stderr.isatty())
            else:
                code = run_beside(program, variables, ending, seconds)
        seen = sim.stats()
    if stats_file is not None:
        import msgspec

        stats_file.write_bytes(msgspec.json.format(msgspec.json.encode(seen), indent=2) + b"\n")
    if not quiet:
        warn(summary(seen))
    return code


def variables_for(url: str, scenario: Scenario) -> dict[str, str]:
    """What leads the SDKs here."""
    key = scenario.keys[0] if scenario.keys else KEY
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": key,
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": key,
    }


def _tell_where(
    sim: RunningSim, scenario: Scenario, variables: Mapping[str, str], *, quiet: bool, as_json: bool
) -> None:
    if not quiet:
        about = f" ({scenario.about})" if scenario.about else ""
        warn(f"simulated provider at {sim.url}: {scenario.name or 'a scenario without a name'}{about}")
    if not as_json:
        say("\n".join(f"export {name}={quote(value)}" for name, value in variables.items()))
    if not quiet:
        warn(f"Ctrl-C ends it; `curl {sim.url}/stats` tells what it has seen")


def _wait(sim: RunningSim, asked_to_end: threading.Event, seconds: float | None, *, shows: bool) -> None:
    """Until it is to end; a line that is kept up to date, where somebody looks."""
    import time

    deadline = None if seconds is None else time.monotonic() + seconds
    while not asked_to_end.is_set():
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            break
        pause = left if not shows else 1.0 if left is None else min(1.0, left)
        asked_to_end.wait(pause)
        if shows:
            _show_live(live(sim.stats()))
    if shows:
        _show_live("")


def _show_live(text: str) -> None:
    with suppress(OSError, ValueError):
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


# What it has seen ---------------------------------------------------------------------------------


def live(seen: Seen) -> str:
    """A line of it, for now."""
    refused = f", refused {sum(seen.refused.values()):,}" if seen.refused else ""
    recent = seen.goodput[-6:-1] or seen.goodput[-1:]
    rate = sum(recent) / len(recent) * seen.time_scale if recent else 0.0
    return f"answered {seen.answered:,} ({rate:,.1f}/s), in flight {seen.in_flight:,}{refused}"


def summary(seen: Seen) -> str:
    """All of it, in some lines."""
    became = f"{seen.arrived:,} arrived, {seen.accepted:,} accepted, {seen.answered:,} answered well"
    lines = [f"calls: {became}; at most {seen.in_flight_peak:,} in flight"]
    if seen.refused:
        lines.append(f"refused: {_counts(seen.refused)}")
    if seen.faults:
        lines.append(f"went wrong on purpose: {_counts(seen.faults)}")
    if seen.hung_up or seen.invalid:
        lines.append(f"hung up: {seen.hung_up:,}; not understood: {seen.invalid:,}")
    if seen.accepted:
        tokens, prompts = seen.tokens, seen.prompts
        lines.append(f"tokens: {tokens.input:,} in ({tokens.cached:,} cached), {tokens.output:,} out")
        lines.append(
            f"prompts: {prompts.different:,} different, {prompts.answered_twice:,} of them answered twice"
        )
    return "\n".join(lines)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
