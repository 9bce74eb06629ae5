"""Sync tasks that block: a hundred of 0.2 s, 50 at a time, should take two rounds of 0.2 s."""

from __future__ import annotations

import asyncio
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.contest import Contestant, Timed, in_turn, middle
from bench.peers import ABSENT, pydantic_evals
from bench.results import Result, at_most, program
from bench.script import run_all

CASES = 100
SECONDS = 0.2
WIDTH = 50
ROUNDS = 7
LIMIT_S = 0.6


def blocking(prompt: str) -> str:
    """The task of everyone."""
    time.sleep(SECONDS)
    return prompt


def pool(*, cases: int) -> Timed:
    """Threads and nothing else: what the machine allows."""
    yield
    with ThreadPoolExecutor(WIDTH) as threads:
        done = list(threads.map(blocking, map(str, range(cases))))
    yield
    return {"done": len(done)}


def script(*, cases: int) -> Timed:
    """The plain script with `asyncio.to_thread`, whose threads are as many as the machine's cores allow."""
    tasks = [{"id": str(number), "prompt": str(number)} for number in range(cases)]
    out = Path("results.jsonl")

    async def answer(prompt: str) -> str:
        return await asyncio.to_thread(blocking, prompt)

    yield
    asyncio.run(run_all(tasks, answer, out, width=WIDTH))
    yield
    return {"done": len(out.read_text().splitlines())}


def paceline(*, cases: int) -> Timed:
    """Ours."""
    from paceline import Case, Dataset
    from paceline.evaluators import EqualsExpected

    yield
    dataset = Dataset(
        name="threads",
        cases=[
            Case(name=str(number), inputs=str(number), expected_output=str(number)) for number in range(cases)
        ],
        evaluators=[EqualsExpected()],
    )
    report = dataset.evaluate_sync(blocking, max_concurrency=WIDTH, journal=Path("run"), progress=False)
    yield
    return {"done": report.n_scored}


def evals(*, cases: int) -> Timed:
    """Pydantic Evals."""
    warnings.simplefilter("ignore")
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import EqualsExpected

    yield
    dataset = Dataset(
        name="threads",
        cases=[
            Case(name=str(number), inputs=str(number), expected_output=str(number)) for number in range(cases)
        ],
        evaluators=[EqualsExpected()],
    )
    report = dataset.evaluate_sync(blocking, max_concurrency=WIDTH, progress=False)
    yield
    return {"done": len(report.cases)}


def measure(quick: bool) -> Result:
    """Everyone in turn."""
    cases, rounds = (10, 1) if quick else (CASES, ROUNDS)
    settings = {"cases": cases}
    contestants = [
        Contestant(name=f"a pool of {WIDTH} threads, bare", does="bench.threads:pool", settings=settings),
        Contestant(name="plain script, asyncio.to_thread", does="bench.threads:script", settings=settings),
        Contestant(name="Paceline", does="bench.threads:paceline", settings=settings),
    ]
    peer = pydantic_evals()
    if peer is not None:
        contestants.append(
            Contestant(name=peer.name, does="bench.threads:evals", settings=settings, python=peer.python)
        )
    costs = in_turn(contestants, rounds=rounds)
    assert all(cost.facts["done"] == cases for each in costs.values() for cost in each)
    return Result(
        title=f"{cases} sync tasks that block for {SECONDS:g} s, {WIDTH} at a time",
        settings={"cases": cases, "seconds": SECONDS, "width": WIDTH, "rounds": rounds},
        rows=[
            {
                "what": name,
                "wall_s": middle(each, "wall_s"),
                "cpu_s": middle(each, "cpu_s"),
            }
            for name, each in costs.items()
        ],
        bars=[at_most("Paceline, the whole call", LIMIT_S, middle(costs["Paceline"], "wall_s"), "s")],
        notes=() if peer else (ABSENT,),
    )


if __name__ == "__main__":
    program("threads", measure)
