"""Lines to fill journals with, and strategies that draw them."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from paceline.journal.encoding import encode_line, seal
from paceline.journal.records import (
    FORMAT,
    LIMITS,
    NOTHING,
    AttemptLine,
    BeginLine,
    CallLine,
    EndedLine,
    ErrorFacts,
    EvaluatorFailure,
    KeyedLine,
    Line,
    ManifestLine,
    OutcomeLine,
    OutputLine,
    PoolEnd,
    ResumedLine,
    RunLine,
    Score,
    ScoresLine,
    VerdictLine,
)


def run_line(**fields: Any) -> RunLine:
    written: dict[str, Any] = {
        "format": FORMAT,
        "run_id": "r1",
        "suite": "demo",
        "started": 100.0,
        "fingerprint": {"task": "answer"},
    }
    return RunLine(**{**written, **fields})


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def begin(case: str, **fields: Any) -> BeginLine:
    return BeginLine(
        **{"case": case, "at": 101.0, "hash": f"hash of {case}", "inputs": raw("question"), **fields}
    )


def call(case: str, **fields: Any) -> CallLine:
    return CallLine(**{"case": case, "at": 102.0, "pool": "openai:small", **fields})


def attempt(case: str, **fields: Any) -> AttemptLine:
    written: dict[str, Any] = {
        "case": case,
        "at": 102.0,
        "error": ErrorFacts(type="TimeoutError"),
        "error_class": "transient",
        "seconds": 0.5,
    }
    return AttemptLine(**{**written, **fields})


def output(case: str, **fields: Any) -> OutputLine:
    return OutputLine(**{"case": case, "at": 103.0, "seconds": 0.5, "output": raw("out"), **fields})


def verdict(case: str, part: str = "vote 1", value: object = True, **fields: Any) -> VerdictLine:
    written: dict[str, Any] = {"by": "judge", "seen": "s1", "at": 103.5, "value": raw(value)}
    return VerdictLine(case=case, part=part, **{**written, **fields})


def scores(case: str, *values: bool | float | str, **fields: Any) -> ScoresLine:
    return ScoresLine(**{"case": case, "at": 104.0, "scores": _scores(values), **fields})


def outcome(case: str, how: str = "scored", *values: bool | float | str, **fields: Any) -> OutcomeLine:
    return OutcomeLine(**{"case": case, "at": 105.0, "outcome": how, "scores": _scores(values), **fields})


def _scores(values: tuple[bool | float | str, ...]) -> list[Score]:
    return [Score(name=f"s{place}", value=value, by=f"s{place}") for place, value in enumerate(values)]


def manifest(keys: int, digest: str = "") -> ManifestLine:
    return ManifestLine(keys=keys, digest=digest)


def resumed(**fields: Any) -> ResumedLine:
    return ResumedLine(**{"at": 200.0, "pid": 1, **fields})


def ended(**fields: Any) -> EndedLine:
    return EndedLine(**{"at": 300.0, "how": "complete", "wall": 10.0, **fields})


def file_of(*lines: Line) -> bytes:
    """A journal with these lines, as it stands on disk."""
    return b"".join(seal(encode_line(line)) for line in lines)


def finished(*cases: str) -> list[KeyedLine]:
    """The two lines of each case that passed at once."""
    return [
        line for case in cases for line in (begin(case), outcome(case, "scored", True, output=raw("out")))
    ]


# Text as tasks produce it: quotes, escapes, newlines, NUL, emoji. Lone surrogates are `values`' business,
# but for names and messages, which stand in a line as they are.
texts = st.text(st.characters(codec="utf-8"), max_size=20)
cases = st.sampled_from(["a", "b", "c"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
raws = json_values.map(raw)
score_values = st.booleans() | st.integers(-5, 5) | st.floats(0, 1) | texts
score_lists = st.lists(st.builds(Score, name=texts, value=score_values, by=texts), max_size=3)
errors = st.builds(ErrorFacts, type=texts, message=texts)
failure_lists = st.lists(st.builds(EvaluatorFailure, by=texts, error=errors), max_size=1)
times = st.floats(0, 2e9)
seconds = st.floats(0, 100)
attempts = st.sampled_from([1, 1, 1, 2, 3, 254, 255, 256, 1000])
keyed: dict[str, st.SearchStrategy[Any]] = {
    "case": cases,
    "repeat": st.sampled_from([0, 0, 1]),
    "variant": st.sampled_from(["", "", "big"]),
    "at": times,
}
counts = st.none() | st.integers(0, 10**6)
prices = st.none() | st.floats(0, 100)
call_lines: st.SearchStrategy[CallLine] = st.builds(
    CallLine,
    **keyed,
    attempt=attempts,
    ordinal=st.integers(1, 3),
    pool=st.sampled_from(["openai:small", "anthropic:big"]),
    host=st.sampled_from(["", "https://api.example"]),
    status=st.sampled_from([None, 200, 400, 429, 500]),
    outcome=st.sampled_from(["ok", "ok", "rate_limited", "overloaded", "transient", "fatal", "cancelled"]),
    input_tokens=counts,
    output_tokens=counts,
    cached_tokens=counts,
    price=prices,
    seconds=seconds,
    first_token=st.none() | seconds,
    waited=seconds,
    tries=st.integers(1, 5),
    simulated=st.booleans(),
    error=texts,
)
pool_ends = st.builds(
    PoolEnd,
    pool=st.sampled_from(["openai:small", "anthropic:big"]),
    window=st.none() | st.floats(1, 100),
    rate=st.none() | st.floats(0, 100),
    accepted=st.integers(0, 100),
    by_cause=st.dictionaries(st.sampled_from(["requests", "tokens"]), st.integers(1, 9)),
)
outcome_kinds = st.sampled_from(
    ["scored"] * 3
    + ["task_error", "timeout", "infra_error", "evaluator_error", "skipped_budget", "cancelled"]
)

keyed_lines: st.SearchStrategy[KeyedLine] = st.one_of(
    st.builds(BeginLine, **keyed, attempt=attempts, hash=st.sampled_from(["h1", "h1", "h2"]), inputs=raws),
    st.builds(
        AttemptLine,
        **keyed,
        attempt=attempts,
        error=errors,
        error_class=st.sampled_from(["transient", "permanent"]),
        seconds=seconds,
    ),
    call_lines,
    st.builds(OutputLine, **keyed, attempt=attempts, seconds=seconds, output=raws),
    st.builds(VerdictLine, **keyed, by=texts, part=texts, seen=texts, value=raws),
    st.builds(ScoresLine, **keyed, scores=score_lists, failures=failure_lists),
    st.builds(
        OutcomeLine,
        **keyed,
        attempt=attempts,
        outcome=outcome_kinds,
        seconds=seconds,
        output=raws | st.just(NOTHING),
        scores=score_lists,
        failures=failure_lists,
    ),
)
lines: st.SearchStrategy[Line] = st.one_of(
    keyed_lines,
    st.builds(ManifestLine, keys=st.integers(0, 9), digest=texts),
    st.builds(ResumedLine, at=times, pid=st.just(1), fingerprint=st.none() | st.just({"task": "another"})),
    st.builds(
        EndedLine,
        at=times,
        how=st.just("complete"),
        wall=seconds,
        limited=st.dictionaries(st.sampled_from(LIMITS), seconds, max_size=3),
        pools=st.lists(pool_ends, max_size=2),
    ),
)
