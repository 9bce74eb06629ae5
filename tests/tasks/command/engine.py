"""A container engine of ours: a daemon, and a client that is called as docker's is.

    with FakeEngine(folder) as engine:        `docker` and `podman` in PATH are its clients
        engine.running(), engine.asked        containers there are; what was asked, as argv

A container is a process that the daemon has started, in a session of its own: like a real one it is no child
of the client, goes on without it, and ends when it is removed by its name. It sees no other file system: the
workspace is where it starts.
"""

from __future__ import annotations

import array
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

CLIENT = f'#!/bin/sh\nexec {sys.executable} -I -S {Path(__file__).with_name("engine_client.py")} "$@"\n'
WITH_VALUE = {"--name", "--label", "--volume", "--workdir", "--network", "--user", "--cpus", "--memory"}
WITH_VALUE |= {"--memory-swap", "--pids-limit", "--ulimit", "--env", "--filter", "--format"}


class FakeEngine:
    """The daemon, on a thread of the test's own process."""

    def __init__(self, folder: Path, shell: pytest.MonkeyPatch) -> None:
        self.asked: list[list[str]] = []
        self.exit_code: int | None = None
        """What every `run` ends with, in place of running anything."""
        self._containers: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._listening = socket.socket(socket.AF_UNIX)
        path = folder / "engine.sock"
        self._listening.bind(str(path))
        self._listening.listen(64)
        programs = folder / "bin"
        programs.mkdir()
        for name in ("docker", "podman"):
            (programs / name).write_text(CLIENT)
            (programs / name).chmod(0o755)
        shell.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        shell.setenv("DOCKER_HOST", f"unix://{path}")

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in list(self._containers):
            self._remove(name)
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def running(self) -> list[str]:
        """Containers that run."""
        with self._lock:
            return [name for name, each in self._containers.items() if each["process"].poll() is None]

    @property
    def there(self) -> list[str]:
        """Containers that there are, run they or not."""
        with self._lock:
            return list(self._containers)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            said, files = _received(connection)
            self.asked.append(said["argv"])
            try:
                answer = self._do(said, files)
            except Exception as error:  # the client is to see it
                answer = {"code": 125, "err": f"{type(error).__name__}: {error}\n"}
            for fd in files:
                os.close(fd)
            with suppress(OSError):  # the client was killed
                connection.sendall(json.dumps(answer).encode())

    def _do(self, said: dict[str, Any], files: Sequence[int]) -> dict[str, Any]:
        verb, *rest = said["argv"]
        options, words = _parsed(rest)
        if verb == "version":
            return {"out": "27.0\n"}
        if verb == "rm":
            for name in words:
                self._remove(name)
            return {}
        if verb == "ps":
            label = options["--filter"][0].removeprefix("label=")
            with self._lock:
                return {
                    "out": "".join(
                        f"{name}\n" for name, each in self._containers.items() if each["label"] == label
                    )
                }
        assert verb == "run", verb
        if self.exit_code is not None:
            return {"code": self.exit_code, "err": "as ordered\n"}
        process = self._started(options, words[1:], said["env"], files)
        return {"code": process.wait() % 256 if process.returncode >= 0 else 128 - process.returncode}

    def _started(
        self, options: dict[str, list[str]], command: list[str], env: dict[str, str], files: Sequence[int]
    ) -> subprocess.Popen[bytes]:
        named = (each.partition("=") for each in options["--env"])
        own = {name: value if sign else env[name] for name, sign, value in named}
        workspace = options["--volume"][0].partition(":")[0]
        with self._lock:
            process = subprocess.Popen(
                command,
                env={"PATH": "/usr/bin:/bin", **own},
                cwd=workspace,
                stdin=files[0],
                stdout=files[1],
                stderr=files[2],
                start_new_session=True,
            )
            self._containers[options["--name"][0]] = {"process": process, "label": options["--label"][0]}
        process.wait()
        return process

    def _remove(self, name: str) -> None:
        with self._lock:
            container = self._containers.pop(name, None)
        if container is not None:
            with suppress(ProcessLookupError):
                os.killpg(container["process"].pid, signal.SIGKILL)


def _parsed(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Options with their values, and what follows them."""
    options: dict[str, list[str]] = {"--env": []}
    while words and words[0].startswith("-"):
        name = words.pop(0)
        if name in WITH_VALUE:
            options.setdefault(name, []).append(words.pop(0))
    return options, words


def _received(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    files = array.array("i")
    said, ancillary, _flags, _address = connection.recvmsg(4, socket.CMSG_SPACE(3 * files.itemsize))
    for _level, _kind, content in ancillary:
        files.frombytes(content)
    left = int.from_bytes(said, "big")
    body = b""
    while len(body) < left:
        body += connection.recv(left - len(body))
    return json.loads(body), list(files)
