"""A process that makes calls through a shared desk, and writes down when each began and ended.

    python -m tests.pace.sharer STATE STAMPS CALLS AT_ONCE SECONDS LIMITS

Says `ready` when it is at the desk, and begins with its calls when it is told to, by a line.
A stamp is one line, appended in one write, so that the file tells what all processes did: `pid + number time`
when a call begins, `pid - number time` when it ends, on the clock that all processes of the machine share.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from paceline.pace.messages import Limits, PoolId, Result
from paceline.pace.sharing import open_desk

POOL = PoolId(provider="openai", host="https://example.test", model="gpt", account="a1b2")


class Stamp(NamedTuple):
    """A call has begun, or ended."""

    at: float
    pid: int
    begins: bool
    number: int


def stamps_in(text: str) -> list[Stamp]:
    """All of a file, in the order of time."""
    lines = [line.split() for line in text.splitlines()]
    return sorted(Stamp(float(at), int(pid), sign == "+", int(number)) for pid, sign, number, at in lines)


def most_at_once(stamps: Iterable[Stamp], killed: dict[int, float]) -> int:
    """How many calls were under way at once, those of all processes together; what was under way in a process
    that was killed ended with it.
    """
    under_way: set[tuple[int, int]] = set()
    most = 0
    for at, pid, begins, number in sorted(stamps):
        under_way = {(who, call) for who, call in under_way if killed.get(who, at) >= at}
        if begins:
            under_way.add((pid, number))
        else:
            under_way.discard((pid, number))
        most = max(most, len(under_way))
    return most


def main(state: str, stamps: str, calls: str, at_once: str, seconds: str, limits: str) -> None:
    """Make the calls."""
    desk = open_desk(limits=Limits(**json.loads(limits)), state=Path(state), learn=False)
    out = os.open(stamps, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    numbers = iter(range(int(calls)))

    def stamp(sign: str, number: int) -> None:
        os.write(out, f"{os.getpid()} {sign} {number} {time.monotonic()!r}\n".encode())

    def work() -> None:
        for number in numbers:
            grant = desk.acquire_sync(POOL)
            stamp("+", number)
            time.sleep(float(seconds))
            stamp("-", number)
            desk.settle(grant, Result(seconds=float(seconds)))

    print("ready", flush=True)
    sys.stdin.readline()
    threads = [threading.Thread(target=work, daemon=True) for _ in range(int(at_once))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    desk.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
