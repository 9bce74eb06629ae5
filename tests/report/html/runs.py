"""Runs for pages to show: one with a bit of everything, and one in which everything is hostile."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from paceline.journal.encoding import encode_line, seal
from paceline.journal.records import ErrorFacts, Line, Score
from tests.report.journals import (
    again,
    begin,
    called,
    ended,
    failed,
    manifest,
    mute,
    no,
    raw,
    resumed,
    retried,
    run,
    says,
    scored,
    yes,
)

STARTED = 1795040919.0
CITIES = ["Paris", "Rome", "Oslo", "Bonn", "Lima", "Cairo", "Quito", "Minsk", "Dakar", "Hanoi"]
TOPICS = ("geography", "history", "number theory")
TRAJECTORY = [
    {"role": "system", "content": "You are a clerk."},
    {"role": "user", "content": "Which city?"},
    {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": '{"q": "city"}'}}
        ],
        "model": "m-1",
    },
    {"role": "tool", "tool_call_id": "1", "content": "Paris"},
    {"role": "assistant", "content": "It is Paris."},
]
PATCH = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old = 1\n+new = 2\n"


def put(folder: Path, *lines: Line) -> Path:
    """A run directory with these lines."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "journal.jsonl").write_bytes(b"".join(seal(encode_line(line)) for line in lines))
    return folder


def everyday(folder: Path, cases: int = 300) -> Path:
    """A run that was resumed once, with passes, failures, errors, tries, calls, a trajectory and a patch."""
    (folder / "files").mkdir(parents=True)
    (folder / "files" / "changes.patch").write_text(PATCH)
    facts = {"started": STARTED, "expected": cases, "command": ["paceline", "run", "capitals.yaml"]}
    first = run("EqualsExpected", "Similarity", "Tone", **facts, versions={"paceline": "0.1"})
    chance = random.Random(7)
    lines: list[Line] = [first]
    for n in range(cases):
        at = STARTED + n * 0.4 + (3600 if n >= cases // 2 else 0)
        if n == cases // 2:
            lines.append(resumed(at - 1))
        lines += _case(n, at, chance)
    return put(folder, *lines, manifest(cases), ended(wall=70.0, at=at + 8))


def _case(n: int, at: float, chance: random.Random) -> Iterator[Line]:
    name, city = f"city {n}", CITIES[n % len(CITIES)]
    metadata = raw({"topic": TOPICS[n % 3], "level": n % 5, "source": {"page": n}})
    question = {"question": f"Which city is number {n} of the list, and of which country is it the capital?"}
    yield begin(name, at=at, inputs=question, expected=f"It is {city}.", metadata=metadata)
    took = chance.lognormvariate(0, 0.7)
    if n == 7:
        yield retried(name, at=at + 1, error_class="rate_limited", retry_in=2.0, waited=0.5)
        yield again(name)
    yield called(name, 1, at=at + took, seconds=took, first_token=0.2, streamed=True)
    end = {"at": at + took + 0.5, "seconds": took, "total": took + 0.5, "waited": 0.2 * (n % 4)}
    if n % 11 == 5:
        error = ErrorFacts(
            type="ValueError", message=f"no such city: {n}", trace="Traceback\n  line 1\nValueError"
        )
        yield failed(name, "timeout" if n % 2 else "task_error", error, **end)
    elif n % 29 == 3:
        yield scored(name, yes("EqualsExpected"), outcome="evaluator_error", failures=[mute("Tone")], **end)
    else:
        wrong = n % 6 == 1
        equal = no("EqualsExpected", reason=f"expected {city}") if wrong else yes("EqualsExpected")
        answer = f"It is {'Rom' if city == 'Rome' else 'Berlin'}." if wrong else f"It is {city}."
        tone = says(("kind", "curt")[n % 2], "Tone", reason="it says so", seconds=0.3)
        more = (
            {"trajectory": raw(TRAJECTORY), "attributes": raw({"patch": "files/changes.patch"})}
            if n == 1
            else {}
        )
        similar = says(round(chance.random(), 3), "Similarity")
        yield scored(name, equal, similar, tone, answer=answer, **end, **more)


def repeated(folder: Path) -> Path:
    """Twenty cases, five times each, some of which pass now and then."""
    chance = random.Random(3)
    lines: list[Line] = [run("Equals", repeat=5, started=STARTED, expected=100)]
    for n in range(20):
        ease = chance.random()
        for repeat in range(5):
            case = f"task {n}"
            lines.append(begin(case, repeat=repeat, at=STARTED + n))
            passed: Score = yes() if chance.random() < ease else no()
            lines.append(scored(case, passed, repeat=repeat, at=STARTED + n + 2, total=2.0))
    return put(folder, *lines, manifest(100), ended(wall=25.0, at=STARTED + 25))


SPICES = (
    "<script>pwned()</script>",
    "</script><script>pwned()</script>",
    "<img src=x onerror=pwned()>",
    "<svg onload=pwned()>",
    '" onmouseover="pwned()',
    "' autofocus onfocus='pwned()",
    "javascript:pwned()",
    "<iframe srcdoc='<script>pwned()</script>'>",
    "<a href='https://example.org/'>x</a>",
    "<link rel=stylesheet href=//example.org/x.css>",
    "<style>@import '//example.org/x.css'</style>",
    "<!--",
    "-->",
    "]]>",
    "<![CDATA[<script>pwned()</script>]]>",
    "<meta http-equiv=refresh content='0;url=//example.org/'>",
    "<base href=//example.org/>",
    "<form action=//example.org/><button>x</button></form>",
    "{{constructor.constructor('pwned()')()}}",
    "${pwned()}",
    "`+pwned()+`",
    "\u2028pwned()\u2029",
    "\x1b]0;title\x07\x1b[2J\x1b[31m",
    "\u202egnp.exe\u202c",
    "\u2066\u2067\u2068",
    "\x00\x01\x7f\x9b",
    "__proto__",
    "constructor",
    "=cmd|' /C calc'!A0",
    "%3Cscript%3Epwned()%3C/script%3E",
    "&lt;script&gt;pwned()&lt;/script&gt;",
    "\ufeff\ufffe\U000e0041",
    "מזל שלום <b>",
    "👩\u200d🚀" * 3,
)


def hostile(folder: Path, cases: int = 250) -> Path:
    """A run in which every string that may come from elsewhere is hostile: some four for each case."""
    chance = random.Random(5)

    def nasty() -> str:
        return " ".join(chance.choices(SPICES, k=chance.randint(1, 3)))

    names = [f"{SPICES[n % len(SPICES)]} {n}" for n in range(cases)]
    judge = SPICES[0]
    first = run(
        judge, suite=nasty(), name=SPICES[1], metadata={nasty(): nasty()}, command=[nasty()], started=STARTED
    )
    lines: list[Line] = [first]
    for n, name in enumerate(names):
        metadata = raw({SPICES[n % 5]: nasty(), "list": [nasty()]})
        inputs = "x" * 10_000_000 if n == 3 else {nasty(): [nasty()]}
        lines.append(begin(name, inputs=inputs, expected=nasty(), metadata=metadata, at=STARTED + n))
        if n % 7 == 2:
            error = ErrorFacts(type=nasty(), message=nasty(), trace=nasty(), stage="task")
            lines += [retried(name, error=error), again(name), failed(name, error=error, at=STARTED + n + 1)]
        else:
            said = [no(judge, reason=nasty()), says(nasty(), nasty()), says(0.5, SPICES[5])]
            more = {
                "trajectory": raw(
                    [{"role": nasty(), "content": nasty(), "tool_calls": [{"function": nasty()}]}]
                )
            }
            more["attributes"] = raw({nasty(): nasty()})
            lines.append(called(name, pool=nasty(), error=nasty(), model=nasty()))
            lines.append(scored(name, *said, answer=nasty(), at=STARTED + n + 1, **more))
    return put(folder, *lines, manifest(cases), ended())
