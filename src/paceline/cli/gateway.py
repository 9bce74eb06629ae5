"""`paceline gateway`: the pace for any program, in any language, until Ctrl-C or for as long as it runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, TextIO

import click

from paceline.cli.beside import Ending, WithProgram, program_of, run_beside
from paceline.cli.verb import say, say_json, warn
from paceline.errors import UsageError

if TYPE_CHECKING:
    from paceline.gateway.tickets import Allowance, Ticket
    from paceline.gateway.upstreams import Upstream
    from paceline.pace.calls import Call
    from paceline.pace.opening import Opening


@click.command("gateway", cls=WithProgram)
@click.option("--window", metavar="N", help="Calls in flight at most to each model.")
@click.option("--rps", metavar="N", help="Calls per second at most to each model.")
@click.option("--rpm", metavar="N", help="Calls per minute at most to each model.")
@click.option("--tpm", metavar="N", help="Tokens per minute at most to each model.")
@click.option(
    "--calls", type=click.IntRange(min=1), metavar="N", help="Let so many calls through, and no more."
)
@click.option("--tokens", type=click.IntRange(min=1), metavar="N", help="Stop at so many tokens.")
@click.option(
    "--usd",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Stop at so many dollars.",
)
@click.option("--allow-model", "models", metavar="PATTERN", multiple=True, help="Only such models: gpt-5*.")
@click.option(
    "--upstream",
    "upstreams",
    metavar="NAME=URL,KEY_VARIABLE",
    multiple=True,
    help="One more provider: openrouter=https://openrouter.ai/api/v1,OPENROUTER_API_KEY.",
)
@click.option(
    "--port", type=click.IntRange(0, 65_535), metavar="N", default=0, help="0, the default, takes a free one."
)
@click.option("--log", metavar="FILE", help="Append each call to a file, as a line of JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Tell where it listens, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout: where it listens.")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> int:
    """Pace, count and price the model calls of any program, in the formats of OpenAI, Anthropic and Gemini.

    The keys are read from this environment and stay here; PROGRAM, or whoever is given the printed variables,
    has another key, which only this gateway knows. It ends with Ctrl-C, or with PROGRAM. Runs of suites start
    a gateway of their own for each command they test.
    """
    program = program_of(ctx, as_json=given["as_json"])
    found = _upstreams(given["upstreams"])
    with Ending() as ending, _Log(given["log"]) as log:
        return _serve(found, given, program, ending, log)


def _serve(
    found: Mapping[str, Upstream],
    given: Mapping[str, Any],
    program: list[str] | None,
    ending: Ending,
    log: _Log,
) -> int:
    from paceline.gateway.running import start_in_thread

    started = start_in_thread(
        found,
        _opening(given),
        log,
        allowance=_allowance(given),
        port=given["port"],
        on_closed=lambda pool, closed: warn(f"{pool} answers no more calls: {closed.message}"),
    )
    code = 0
    try:
        with started as gateway:
            if given["as_json"]:
                say_json({"url": gateway.url, **gateway.environment, "pid": os.getpid()})
            elif program is None:
                _tell_where(gateway.url, gateway.environment, quiet=given["quiet"])
            if program is None:
                ending.asked.wait()
            else:
                code = run_beside(program, gateway.environment, ending)
            ticket = gateway.ticket
    except OSError as error:
        raise UsageError(
            f"port {given['port']} cannot be had: {error.strerror}", hint="leave --port out for a free one"
        ) from None
    if not given["quiet"]:
        warn(summary(ticket, log))
    return code


def _upstreams(written: tuple[str, ...]) -> dict[str, Upstream]:
    from paceline.gateway.upstreams import upstreams_in

    more: dict[str, dict[str, str]] = {}
    for each in written:
        name, equals, rest = each.partition("=")
        url, _, key = rest.partition(",")
        if not equals:
            raise UsageError(f"--upstream {each} names no address", hint="write NAME=URL,KEY_VARIABLE")
        more[name] = {"base_url": url, **({"key_env": key} if key else {})}
        more[name] |= {"url_env": f"{name.upper()}_BASE_URL"}
    found = upstreams_in(os.environ, more)
    if not any(each.key for each in found.values()):
        names = ", ".join(name for each in found.values() for name in each.key_names)
        raise UsageError("there is no key for any provider", hint=f"set one of {names}")
    return found


def _opening(given: Mapping[str, Any]) -> Opening:
    from paceline.pace.opening import Opening, stated

    limits = {name: given[name] for name in ("window", "rps", "rpm", "tpm") if given[name] is not None}
    general, single = stated(limits)
    return Opening(limits=general, per_pool=single)


def _allowance(given: Mapping[str, Any]) -> Allowance:
    from paceline.gateway.tickets import Allowance

    return Allowance(
        calls=given["calls"], tokens=given["tokens"], usd=given["usd"], models=tuple(given["models"])
    )


def _tell_where(url: str, variables: Mapping[str, str], *, quiet: bool) -> None:
    if not quiet:
        warn(f"gateway at {url}")
    say("\n".join(f"export {name}={quote(value)}" for name, value in variables.items()))
    if not quiet:
        warn("Ctrl-C ends it")


class _Log:
    """Hears of each call: counts, and writes a line of it where somebody wants that."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._file: TextIO | None = None
        self._lock = threading.Lock()
        self.waited = 0.0
        self.failed = 0

    def __enter__(self) -> _Log:
        if self._path is not None:
            try:
                self._file = Path(self._path).open("a", encoding="utf-8")
            except OSError as error:
                raise UsageError(
                    f"--log {self._path} cannot be written: {error.strerror}",
                    hint="name a file in a folder that exists",
                ) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def begun(self) -> None:
        """Nothing is said before it is over."""

    def waiting(self) -> None:
        """As above."""

    def going(self) -> None:
        """As above."""

    def ended(self, call: Call | None) -> None:
        """One line of it."""
        if call is None:
            return
        import msgspec

        with self._lock:
            self.waited += call.waited
            self.failed += call.outcome != "ok"
            if self._file is not None:
                print(msgspec.json.encode(call).decode(), file=self._file, flush=True)


def summary(ticket: Ticket, log: _Log) -> str:
    """What has passed, in a line or two."""
    lines = [f"{ticket.calls:,} calls, {log.failed:,} without an answer; waited {log.waited:,.1f} s in all"]
    cost = f"${ticket.usd:,.4f}" if not ticket.unpriced else f"at least ${ticket.usd:,.4f}"
    unknown = f", and {ticket.unpriced:,} calls of unknown price" if ticket.unpriced else ""
    lines.append(f"{ticket.tokens:,} tokens, {cost}{unknown}")
    if ticket.refused:
        lines.append(f"{ticket.refused:,} calls were not let through")
    return "\n".join(lines)
