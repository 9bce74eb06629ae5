"""A scenario: how a simulated provider behaves, as plain values in a file, by name, or in Python.

    name: small-account
    rpm: 600                 # a bucket that holds `burst` seconds' worth: 600 a minute are 10 a second
    latency: {mean: 2, sigma: 0.5}
    headers: openai
    steps:
      - {at: 60, set: {rpm: 300}}
    outages:
      - {at: 120, until: 180, status: 503}

What is left out is not limited and does not fail. A field that nobody knows is an error: a misspelt limit
would be none. Seconds are the provider's own, before `time_scale`.

Knows values and files. What they lead to is `provider`'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_type_hints

import msgspec

from paceline.errors import UsageError
from paceline.settings import nearest

MOST: Final = 1e12
"""Above any number that means something here; infinity is not one."""

Positive = Annotated[float, msgspec.Meta(gt=0, le=MOST)]
NotNegative = Annotated[float, msgspec.Meta(ge=0, le=MOST)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1, le=10**12)]

Headers = Literal["openai", "anthropic", "none"]
Charge = Literal["used", "reserved", "corrected"]


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A group of fields of a scenario."""


class Latency(Part, frozen=True):
    """How long an answer takes: `constant + load x (log-normal + tokens)`; a number alone is the mean."""

    mean: NotNegative = 1.0
    """Of the log-normal part, in seconds; 0 is none."""
    sigma: Annotated[float, msgspec.Meta(ge=0, le=5)] = 0.0
    """Of the logarithm: 0.6 is usual for calls of one kind, above 1 they have little in common."""
    per_input_token: NotNegative = 0.0
    """Seconds that each token of the prompt takes."""
    per_output_token: NotNegative = 0.0
    """Seconds that each token of the answer takes."""
    constant: NotNegative = 0.0
    """Seconds that come on top whatever the load: the way there and back."""
    first_token: Share = 0.2
    """The share of it that passes before the first token."""


class Ramp(Part, frozen=True):
    """Growing too fast is refused (`slow_down`): by more than `growth` over the last `over` seconds."""

    above: Positive
    """Requests a minute that are always fine."""
    growth: Positive = 0.5
    """0.5 allows half as many again."""
    over: Positive = 60.0
    """Seconds that it is measured over."""


class Overload(Part, frozen=True):
    """Refusals because the provider has too much to do, whoever asks."""

    rate: Share = 0.0
    """The share of calls that are refused at any load."""
    above: Count | None = None
    """With so many calls in flight, each further one is refused."""
    status: Literal[503, 529] = 503
    """OpenAI's or Anthropic's."""


class Faults(Part, frozen=True):
    """The shares of accepted calls that go wrong, and how."""

    error: Share = 0.0
    """500."""
    reset: Share = 0.0
    """The connection is reset before or within the answer."""
    stall: Share = 0.0
    """The answer begins, and then nothing comes for `stall_seconds`."""
    truncate: Share = 0.0
    """A whole answer by its status, whose JSON ends in the middle."""
    slow: Share = 0.0
    """The first byte comes `slow_seconds` late."""
    stream_error: Share = 0.0
    """An error inside a stream that began with 200; a 500 where nothing is streamed."""
    stall_seconds: NotNegative = 60.0
    """Then the connection is closed."""
    slow_seconds: NotNegative = 10.0
    """How late `slow` is."""


class Quota(Part, frozen=True):
    """What an account may spend in all; then it gets `insufficient_quota`, and no waiting helps."""

    requests: Count | None = None
    """Accepted ones."""
    tokens: Count | None = None
    """Input and output."""


class Accounts(Part, frozen=True):
    """Who shares limits with whom."""

    per_key: bool = True
    """Whether each key has limits of its own."""
    per_model: bool = True
    """Whether each model has."""


class Rule(Part, frozen=True):
    """What is answered to a prompt in which a regular expression is found."""

    when: str
    """The expression. It is looked for in what was said last: by the user, or as the result of a tool."""
    reply: str = ""
    """Text, with groups of the expression as `\\1` or `\\g<name>`."""
    call: str = ""
    """The name of a tool to call instead, where the prompt has that tool."""
    arguments: dict[str, Any] | None = None
    """Of the call; made to fit the schema of the tool where they are left out."""
    on_result: bool = False
    """Whether it is for the results of tools, and only for these. Otherwise a `call` is for what the user
    says, and a `reply` for both: a model that called a tool on each result would never come to an end."""
    asked: str = ""
    """An expression that has to be found in what the user has said, too, however long ago: what the
    conversation is about, where results of tools do not tell."""


class Answers(Part, frozen=True):
    """What the simulated model says: the first rule that fits, else the script, else `otherwise`."""

    rules: tuple[Rule, ...] = ()
    """What is said to some prompts: `when`, and `reply` or `call`."""
    script: tuple[str, ...] = ()
    """One answer after another, in the order in which calls are accepted; then from the beginning."""
    otherwise: Literal["function", "echo"] = "function"
    """`echo` says the prompt again; `function` does sums, gives verdicts where a judge is asked for them, and
    says the prompt again where it can do neither."""
    judge: Literal["honest", "gullible"] = "honest"
    """How it judges what a judge's prompt shows: by a simple rule; or as anything outside of the marks of
    that prompt tells it to, for tests of a fence."""
    output_tokens: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] | None = None
    """Text is filled up to so many tokens, for load."""


class Step(Part, frozen=True):
    """From second `at` on, some fields have other values."""

    at: NotNegative
    """Seconds since the first call."""
    set: dict[str, Any]
    """Fields and their new values; of a group, those that are not named stay as they are."""


class Outage(Part, frozen=True):
    """From second `at` until second `until`, everything is refused."""

    at: NotNegative
    """Seconds since the first call."""
    until: Positive
    """Likewise, and later."""
    status: Literal[429, 500, 502, 503, 529] = 503
    """What everybody gets meanwhile."""
    retry_after: Positive | None = None
    """Seconds that refusals ask to wait."""


class Scenario(Part, frozen=True):
    """How a simulated provider behaves."""

    name: str = ""
    """What it is called in `/stats` and in reports; a file's own name where it is left out."""
    about: str = ""
    """One sentence for people."""
    seed: int = 0
    """Of all that is left to chance."""
    time_scale: Positive = 1.0
    """10 makes a simulated second a tenth of a real one; rates and waits go with it."""

    rpm: Positive | None = None
    """Requests a minute."""
    tpm: Positive | None = None
    """Tokens a minute."""
    burst: Positive = 1.0
    """Seconds' worth of requests and tokens that the buckets hold. Providers enforce limits per minute by the
    second; 60 would be a whole minute at once."""
    in_flight: Count | None = None
    """Calls at once; one more is refused."""
    charge: Charge = "used"
    """What a call counts for in `tpm`: input and output as they are, input and `max_tokens`, or the latter
    until the answer is there."""
    rejects_consume: bool = False
    """Whether refused calls count in `rpm` too."""

    latency: Latency = Latency()
    """How long answers take: see below. A number alone is the mean."""
    knee: Count | None = None
    """Above so many in flight, latency grows in proportion, so that no more gets done."""
    knee_steepness: Annotated[float, msgspec.Meta(ge=0, le=10)] = 1.0
    """1: in proportion; above 1 less gets done than at the knee; below 1 still a little more."""
    refusal_seconds: NotNegative = 0.15
    """How long a refusal takes."""

    headers: Headers = "none"
    """Whose rate limit headers answers carry."""
    retry_after: bool = True
    """Whether a refusal says how long to wait, where that is known."""
    told: bool = True
    """Whether the text of a refusal says what it is about."""

    ramp: Ramp | None = None
    """Refusals of traffic that grows too fast."""
    overload: Overload = Overload()
    """Refusals because the provider has too much to do."""
    faults: Faults = Faults()
    """Accepted calls that go wrong."""
    quota: Quota = Quota()
    """What may be spent in all."""
    keys: tuple[str, ...] = ()
    """Those that are accepted; none named, all are."""
    models: tuple[str, ...] = ()
    """Those that there are; none named, any name will do."""
    accounts: Accounts = Accounts()
    """Who shares limits with whom."""
    answers: Answers = Answers()
    """What is said."""

    steps: tuple[Step, ...] = ()
    """How it changes over time."""
    outages: tuple[Outage, ...] = ()
    """When nobody is served."""

    @classmethod
    def load(cls, source: str | Path) -> Scenario:
        """A scenario by its name, or from a YAML, JSON or TOML file."""
        from paceline.sim.builtin import SCENARIOS

        if isinstance(source, str) and source in SCENARIOS:
            return cls.of({"name": source, **SCENARIOS[source]})
        path = Path(source)
        if not path.suffix and not path.exists():
            raise UsageError(
                f"there is no scenario {str(source)!r}{nearest(str(source), SCENARIOS)}",
                hint=f"scenarios are {', '.join(SCENARIOS)}; or name a YAML, JSON or TOML file",
            )
        return cls.of({"name": path.stem, **_read(path)}, where=str(source))

    @classmethod
    def of(cls, fields: Mapping[str, Any], *, where: str = "scenario") -> Scenario:
        """A scenario from a mapping. UsageError for what cannot be one, with the place and the remedy."""
        try:
            scenario = msgspec.convert(_written_out(fields), cls, strict=False)
        except msgspec.ValidationError as error:
            raise _complaint(str(error), where) from None
        try:
            scenario.phases()
        except UsageError as error:
            raise UsageError(f"{where}: {error}", hint=error.hint) from None
        return scenario

    def as_mapping(self) -> dict[str, Any]:
        """What it takes to make it again; defaults are left out."""
        mapping = msgspec.to_builtins(self)
        assert isinstance(mapping, dict)
        return mapping

    def changed(self, fields: Mapping[str, Any], *, where: str = "scenario") -> Scenario:
        """The same with other values; of a group, those that are not named stay as they are."""
        return type(self).of(_merged(self.as_mapping(), _written_out(fields)), where=where)

    def phases(self) -> list[tuple[float, Scenario]]:
        """What holds from which second on, steps applied in turn; the first is from 0."""
        check_outages(self.outages)
        check_faults(self)
        check_rules(self.answers)
        phases = [(0.0, self)]
        for number, step in enumerate(sorted(self.steps, key=lambda step: step.at), start=1):
            if fixed := sorted(FIXED & step.set.keys()):
                raise UsageError(
                    f"step {number} sets {fixed[0]}, which holds for the whole time",
                    hint=f"a step sets any field but {', '.join(sorted(FIXED))}",
                )
            before = msgspec.structs.replace(phases[-1][1], steps=())
            phases.append((step.at, before.changed(step.set, where=f"step {number}")))
        return phases


FIXED: Final = frozenset(
    {"name", "about", "seed", "time_scale", "headers", "accounts", "answers", "steps", "outages"}
)
GROUPS: Final[Mapping[str, type[Part]]] = {
    "latency": Latency,
    "ramp": Ramp,
    "overload": Overload,
    "faults": Faults,
    "quota": Quota,
    "accounts": Accounts,
    "answers": Answers,
    "steps": Step,
    "outages": Outage,
}


def check_outages(outages: tuple[Outage, ...]) -> None:
    """Each ends after it began."""
    for outage in outages:
        if outage.until <= outage.at:
            raise UsageError(
                f"an outage at {outage.at:g} s ends at {outage.until:g} s, which is not later",
                hint="`at` and `until` are seconds from the start",
            )


def check_faults(scenario: Scenario) -> None:
    """A call goes wrong in one way at most."""
    faults = scenario.faults
    if (total := sum(getattr(faults, kind) for kind in FAULT_KINDS)) > 1 + 1e-9:
        raise UsageError(
            f"the faults come to {total:g} of all calls", hint="they are shares, and together at most 1"
        )


def check_rules(answers: Answers) -> None:
    """Each has an expression that can be one, and something to say."""
    for number, rule in enumerate(answers.rules, start=1):
        for expression in (rule.when, rule.asked):
            try:
                re.compile(expression)
            except re.error as error:
                raise UsageError(
                    f"rule {number}: {expression!r} is no regular expression: {error}",
                    hint="signs such as ( [ * + ? . that are meant as such want a backslash",
                ) from None
        if bool(rule.reply) == bool(rule.call):
            raise UsageError(
                f"rule {number} wants either `reply` or `call`",
                hint="`reply` is a text, `call` the name of a tool",
            )


FAULT_KINDS: Final = ("error", "reset", "stall", "truncate", "slow", "stream_error")


# Reading ------------------------------------------------------------------------------------------


def _read(path: Path) -> Mapping[str, Any]:
    """The mapping that a file holds, by its ending."""
    try:
        text = path.read_text(encoding="utf-8")
        fields = _parsed(text, path.suffix.lower())
    except FileNotFoundError:
        raise UsageError(
            f"there is no file {path}", hint="`paceline sim --list` shows the scenarios that have names"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="it is a text file in UTF-8") from None
    except ValueError as error:
        cause = " ".join(str(error).split())
        raise UsageError(f"{path} cannot be read: {cause}", hint="it is YAML, JSON or TOML, by its ending")
    if not isinstance(fields, dict):
        raise UsageError(f"{path} holds no fields", hint="a scenario is a mapping, such as `rpm: 600`")
    return fields


def _parsed(text: str, suffix: str) -> Any:
    if suffix == ".toml":
        import tomllib

        return tomllib.loads(text)
    if suffix == ".json":
        return msgspec.json.decode(text)
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _written_out(fields: Mapping[str, Any]) -> dict[str, Any]:
    """With short forms written in full: `latency: 5` is a mean."""
    latency = fields.get("latency")
    if isinstance(latency, int | float | str) and not isinstance(latency, bool):
        return {**fields, "latency": {"mean": latency}}
    return dict(fields)


def _merged(base: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for name, value in fields.items():
        before = merged.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            value = {**before, **value}
        merged[name] = value
    return merged


_PLACE: Final = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`")
_MISSING: Final = re.compile(r"Object missing required field `(?P<name>[^`]*)`")
_BOUND: Final = re.compile(r"Expected `[^`]*` (?P<sign>[<>]=?) (?P<bound>\S+)")
_CHOICE: Final = re.compile(r"Invalid enum value (?P<value>.+)")
_KIND: Final = re.compile(r"Expected `(?P<kind>[^`| ]*)[^`]*`(?:, got `(?P<got>.*)`)?")
_SIGNS: Final = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
_KINDS: Final = {
    "float": "a number",
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a mapping",
}


def _complaint(said: str, where: str) -> UsageError:
    """An error of ours from one of msgspec's: the place as it is written in a file, and what to do."""
    place = _PLACE.search(said)
    path = place["path"] if place else ""
    said = said[: place.start()] if place else said
    kind = Rule if path.startswith("answers.rules[") else GROUPS.get(re.split(r"[.\[]", path)[0], Scenario)
    if unknown := _UNKNOWN.match(said):
        name = f"{path}.{unknown['name']}" if path else unknown["name"]
        known = kind.__struct_fields__
        return UsageError(
            f"{where}: there is no field {name!r}{nearest(unknown['name'], known)}",
            hint=f"{'fields of ' + path if path else 'fields'} are {', '.join(known)}",
        )
    hint = "the manual's page on the simulated provider lists every field and its values"
    if choice := _CHOICE.match(said):
        said = f"it cannot be {choice['value']}"
        field = get_type_hints(kind).get(path.rpartition(".")[2])
        hint = f"it is one of {', '.join(map(str, get_args(field)))}"
    return UsageError(f"{where}: {path or 'the scenario'}: {_in_words(said)}", hint=hint)


def _in_words(said: str) -> str:
    if bound := _BOUND.match(said):
        return f"it has to be {_SIGNS[bound['sign']]} {float(bound['bound']):g}"
    if missing := _MISSING.match(said):
        return f"{missing['name']} is missing"
    if kind := _KIND.match(said):
        got = f", not {_KINDS.get(kind['got'], kind['got'])}" if kind["got"] else ""
        return f"expected {_KINDS.get(kind['kind'], kind['kind'])}{got}"
    return f"{said[:1].lower()}{said[1:]}"
