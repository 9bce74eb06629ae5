"""PythonTests: does a generated function pass its tests? HumanEval's, MBPP's, and one's own.

The answer's code runs in a cell (`paceline.containment`): no network, no files but the system's, limits on
time, CPU, memory, processes and output. It is not in the process of its tests, which call it over a line, so
that it can neither see them nor say how they went (`judge`, and docs/design/containment.md).
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from paceline.containment import Cell, Contained, Source, check, means
from paceline.containment.view import interpreter_paths
from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator, Verdict
from paceline.evaluators.code.answers import function_tested, program
from paceline.evaluators.code.judging import NotJudged, in_cell, not_contained
from paceline.evaluators.wording import brief, kind_of
from paceline.processes.launch import MIB, Ended, Launch, Limits
from paceline.processes.running import run

JUDGE: Final = tuple(f"{__package__}.{name}" for name in ("line", "answering", "judge"))
TEST_FIELDS: Final = ("test", "tests", "test_list")
KEPT: Final = 64 * 1024
"""Bytes that are kept of what an answer prints; what prints 64 times as much is ended."""
_OWN_PROCESSES: Final = 2
"""The judge and the answering process."""


@dataclass
class PythonTests(Evaluator[object, object, object]):
    """The output is Python code whose function passes the tests.

    What is not given is taken from the case: `tests` from its metadata (`test`, `tests` or `test_list`);
    `entry_point`, the function's name, from there or from the tests; `prompt` from its metadata or inputs.
    """

    tests: str | list[str] | None = None
    entry_point: str | None = None
    prompt: str | None = None
    timeout: float = 10.0
    memory_mb: int = 512
    processes: int = 16
    python: str | None = None
    """The interpreter, from 3.10 on; by default the one that runs this."""
    packages: bool = False
    """Let the code import what is installed beside the interpreter."""
    allow_uncontained: bool = False
    """Run it also where files and the network would be open to it."""
    evaluation_name: str | None = None

    keeps_time: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, least in (("timeout", 0.0), ("memory_mb", 15), ("processes", 0)):
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not least < value < math.inf:
                raise UsageError(
                    f"PythonTests cannot have {brief(value)} for {name}",
                    hint="timeout=10.0, memory_mb=512, processes=16",
                )

    def check_ready(self) -> None:
        """Raise a UsageError if this machine cannot contain an answer, or has no such interpreter."""
        if self.python is not None:
            interpreter_paths(self.python)
        if not self.allow_uncontained:
            check(self._cell(), means(), what="generated code")

    async def evaluate(self, ctx: AnyContext) -> Verdict:
        self.check_ready()
        if not isinstance(ctx.output, str):
            return EvaluationReason(False, f"the output is {kind_of(ctx.output)}, not code")
        judge = Source(JUDGE, python=self.python or sys.executable, packages=self.packages)
        async with in_cell(judge, self._cell(), means()) as inside:
            ended = await run(self._launch(inside, json.dumps(self._told(ctx, ctx.output)).encode()))
            found = _found(ended, self)
        name = self.get_default_evaluation_name()
        gaps = not_contained(name, inside.gaps)
        return {name: found, **gaps} if gaps else found

    def _cell(self) -> Cell:
        return Cell(etc=False, processes=self.processes + _OWN_PROCESSES)

    def _launch(self, inside: Contained, told: bytes) -> Launch:
        memory = self.memory_mb * MIB
        return Launch(
            argv=inside.argv,
            env=inside.env,
            cwd=inside.cwd,
            stdin=told,
            kept=KEPT,
            timeout_s=self.timeout,
            grace_s=0.0,
            limits=Limits(
                memory=memory,
                address_space=memory,
                # The kernel's bound is the cell's. This is the watch over it, for where there is none.
                processes=self.processes + _OWN_PROCESSES + _AROUND,
                cpu_s=math.ceil(self.timeout) + 1,
                file_size=self._cell().scratch,
                open_files=256,
            ),
        )

    def _told(self, ctx: AnyContext, answer: str) -> dict[str, Any]:
        """What the judge is told."""
        tests = self._tests(ctx)
        entry_point = (
            self.entry_point or _text_of(ctx.metadata, "entry_point") or function_tested("\n".join(tests))
        )
        if not entry_point:
            raise NotJudged(
                "nothing says which function the tests are for: give `entry_point`, here or in the metadata"
            )
        made = program(answer, entry_point, self._prompt(ctx))
        return {
            "before": made.before,
            "program": made.source,
            "entry_point": entry_point,
            "tests": list(tests),
        }

    def _tests(self, ctx: AnyContext) -> Sequence[str]:
        tests: object = self.tests
        if tests is None and isinstance(ctx.metadata, Mapping):
            tests = next((ctx.metadata[name] for name in TEST_FIELDS if name in ctx.metadata), None)
        if isinstance(tests, str) and tests.strip():
            return [tests]
        listed = tests if isinstance(tests, list | tuple) else ()
        if listed and all(isinstance(each, str) and each.strip() for each in listed):
            return [str(each) for each in listed]
        raise NotJudged(f"the case has no tests: `tests` here, or {' or '.join(TEST_FIELDS)} in its metadata")

    def _prompt(self, ctx: AnyContext) -> str:
        if self.prompt is not None:
            return self.prompt
        inputs = ctx.inputs if isinstance(ctx.inputs, str) else _text_of(ctx.inputs, "prompt")
        return _text_of(ctx.metadata, "prompt") or inputs


_AROUND: Final = 2
"""Bubblewrap's own processes outside of the cell."""


def _text_of(value: object, name: str) -> str:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


def _found(ended: Ended, asked: PythonTests) -> EvaluationReason:
    """What the end of the judge says about the answer. It passes by a verdict alone."""
    begun, _, said = ended.stdout.read().partition(b"\n")
    if begun != b"+":
        raise NotJudged(f"the judge did not begin: {how_it_went(ended)}")
    limit = {
        "timeout": f"it took longer than {asked.timeout:g} s",
        "memory": f"it used more than {asked.memory_mb} MB of memory",
        "processes": f"it started more than {asked.processes} processes",
        "flood": "it printed without end",
    }.get(ended.how)
    if limit is not None:
        return EvaluationReason(False, limit)
    if not ended.ok or not said.endswith(b"\n"):
        raise NotJudged(f"the judge ended without a verdict: {how_it_went(ended)}")
    return _read(json.loads(said))


def how_it_went(ended: Ended) -> str:
    """How a command ended, in words, with the end of what it said."""
    ways = {"exited": f"it ended with {ended.code}", "signalled": f"it was ended by signal {ended.signal}"}
    said = ended.stderr.read().decode(errors="replace").strip()[-300:]
    return "; ".join(part for part in (ways.get(ended.how, ended.how), ended.error, said) if part)


def _read(verdict: Mapping[str, Any]) -> EvaluationReason:
    if verdict["broken"]:
        raise NotJudged(verdict["broken"])
    if verdict["over"]:
        return EvaluationReason(False, verdict["over"])
    n, failed = verdict["tests"], verdict["failed"]
    if failed or not n:
        of = f"{failed} of {n} tests fail, the first: " if n > 1 else ""
        return EvaluationReason(False, f"{of}{verdict['why']}")
    return EvaluationReason(True)
