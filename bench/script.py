"""The script that people write instead: a semaphore and an append-only file; and the for loop before it.

In the shape that articles on the subject give it: one coroutine per task with the semaphore inside,
`asyncio.as_completed`, one `open("a")` and one JSON line per result, and on a second start everything skipped
that has a line. Nothing is scored while it runs, nothing is synced, and all tasks are held in memory.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

Task = dict[str, Any]
Answer = Callable[[Any], Awaitable[Any]]


async def run_all(tasks: Sequence[Task], answer: Answer, out: Path, *, width: int) -> None:
    """Answer all tasks that have no line in `out` yet, `width` at a time."""
    places = asyncio.Semaphore(width)

    async def run_one(task: Task) -> dict[str, Any]:
        async with places:
            started = time.perf_counter()
            output = await answer(task["prompt"])
            return {
                "id": task["id"],
                "ok": True,
                "latency_s": round(time.perf_counter() - started, 3),
                "output": output,
            }

    out.touch(exist_ok=True)
    seen = {json.loads(line)["id"] for line in out.read_text().splitlines() if line}
    for finished in asyncio.as_completed([run_one(task) for task in tasks if task["id"] not in seen]):
        try:
            result = await finished
        except Exception as error:
            result = {"ok": False, "error": repr(error)}
        with out.open("a") as file:
            file.write(json.dumps(result) + "\n")


async def one_by_one(tasks: Sequence[Task], answer: Answer) -> list[Any]:
    """The for loop."""
    return [await answer(task["prompt"]) for task in tasks]


def lines_in(out: Path) -> list[dict[str, Any]]:
    """The results that are on file."""
    return [json.loads(line) for line in out.read_text().splitlines() if line]


def run_on(loop: str, main: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine on `asyncio` or on `uvloop`."""
    factory = None
    if loop == "uvloop":
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)
