"""A nursery of processes: it has Paceline loaded, and forks a child for each run that is asked for.

A run in a process of its own costs milliseconds that way, where the interpreter and its imports would take a
good part of a second; that is what makes hundreds of kills affordable. The children are as real as any: they
open the journal themselves, and after a SIGKILL nothing is left of them but what is on disk.

    python -m tests.crash.nursery       orders on stdin, answers on stdout, a line of JSON each

Knows processes. Which faults a child is born with is for `faults`.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

PATIENCE_S = 60.0
ROOT = Path(__file__).resolve().parents[2]


class Child:
    """A process that carries out one run, or part of it."""

    def __init__(self, nursery: Nursery, pid: int, said: Path) -> None:
        self.pid = pid
        self._nursery = nursery
        self._said = said
        self._code: int | None = None

    def kill(self) -> int:
        """`kill -9`; its exit code, which tells whether it was quicker."""
        os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def signals(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def wait(self, seconds: float = PATIENCE_S) -> int:
        """Its exit code, once it has one: the number of the signal, negative, where one has ended it."""
        if self._code is None:
            answer = self._nursery.ask({"wait": self.pid, "seconds": seconds})
            assert answer["code"] is not None, f"not over after {seconds} s; it said:\n{self.out}{self.err}"
            self._code = int(answer["code"])
        return self._code

    @property
    def out(self) -> str:
        """What it has printed."""
        return self._read(".out")

    @property
    def err(self) -> str:
        """What it has printed on stderr."""
        return self._read(".err")

    def _read(self, kind: str) -> str:
        said = self._said.with_suffix(kind)
        return said.read_text(errors="replace") if said.exists() else ""


class Nursery:
    """The side of whoever orders."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.nursery"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        self._born = 0
        self._answer()

    def runs(self, folder: Path, *arguments: str, **order: Any) -> Child:
        """`paceline ARGUMENTS` in a folder."""
        return self._bear(folder, {"arguments": arguments, **order})

    def scripts(self, folder: Path, script: str, **order: Any) -> Child:
        """`python SCRIPT` in a folder."""
        return self._bear(folder, {"script": script, **order})

    def ask(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Send an order, and get its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _bear(self, folder: Path, order: Mapping[str, Any]) -> Child:
        self._born += 1
        said = folder / f"said-{self._born}"
        return Child(self, self.ask({"folder": str(folder), "said": str(said), **order})["pid"], said)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the nursery is gone"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> Nursery:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(BrokenPipeError):
            self._process.communicate(timeout=10)


# The nursery's own side ---------------------------------------------------------------------------


def serve() -> None:
    """Answer orders until there are no more. Returns in children only to end them as programs end."""
    load_everything()
    gc.freeze()
    print("{}", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            answer: dict[str, Any] = {"code": wait_for(order["wait"], order["seconds"])}
        elif pid := os.fork():
            answer = {"pid": pid}
        else:
            be_born(order)
            return
        print(json.dumps(answer), flush=True)


def load_everything() -> None:
    """What a run would load, so that it need not."""
    import uvloop  # noqa: F401

    import paceline

    for module in pkgutil.walk_packages(paceline.__path__, "paceline."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):
                importlib.import_module(module.name)


def wait_for(pid: int, seconds: float) -> int | None:
    """The exit code of a child; it is killed if it takes too long, and there is no code then."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def be_born(order: Mapping[str, Any]) -> None:
    """In the child: be the program that was ordered."""
    from tests.crash.faults import install

    if order.get("own_group"):
        os.setpgrp()
    os.chdir(order["folder"])
    for number, kind, stream in ((1, ".out", "stdout"), (2, ".err", "stderr")):
        said = os.open(order.get(stream, order["said"] + kind), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.dup2(said, number)
        os.close(said)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115  # for good
    sys.stderr = open(2, "w", closefd=False, buffering=1)  # noqa: SIM115
    os.environ.update(order.get("environ", {}))
    install(order.get("faults", {}))
    sys.path[0] = order["folder"]
    if "script" in order:
        sys.argv = [order["script"]]
        runpy.run_path(order["script"], run_name="__main__")
        return
    from paceline.cli import main

    sys.argv = ["paceline", *order["arguments"]]
    sys.modules["__main__"] = ModuleType(
        "__main__"
    )  # what this process spawns has nothing to do with a nursery
    main()


if __name__ == "__main__":
    serve()
