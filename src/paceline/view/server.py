"""The server of a view: pages and what they ask for, on this machine, for reading only.

    /                          the list of runs
    /api/runs                  what it shows
    /run/ID                    the report of one
    /run/ID/sheet?since=N      its figures and columns, or what of them is new
    /run/ID/bodies?from=ROW    some cases in full
    /run/ID/report             its figures alone
    /api/compare?a=ID&b=ID     two of them held against each other

It listens on the loopback interface, answers GET and nothing else, and only where the `Host` is this
machine: a page of somebody else that has its own name point here gets nothing. An address names a run by
an id that the listing has given out, and a row by its number; no part of it ever becomes a path.

Knows HTTP. What is in the answers is for `listing`, `following` and `pages` to say.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, Self
from urllib.parse import parse_qs, urlsplit

import msgspec

from paceline.errors import JournalError, PacelineError, UsageError
from paceline.pages.assembly import CLOSING, assembled
from paceline.view.following import Followed
from paceline.view.listing import Listing

LOOPBACK: Final = "127.0.0.1"
NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
USUAL_PORT: Final = 7411
MOST_FOLLOWED: Final = 8
"""Runs whose tables are held at a time; the one that nobody has asked for longest makes way."""
PATIENCE: Final = 0.5
"""Seconds that a list may take to count runs; the others are counted when it is asked for again."""
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_RUN = re.compile(r"/run/([0-9a-f]{12})(?:/(sheet|bodies|report))?")
_NUMBER = re.compile(r"[0-9]{1,15}")


class Answer(NamedTuple):
    """What a request gets."""

    status: int
    kind: str
    body: bytes
    headers: Mapping[str, str] = {}


def _plain(status: int, text: str) -> Answer:
    return Answer(status, "text/plain; charset=utf-8", f"{text}\n".encode())


class View:
    """The runs of a folder, served."""

    def __init__(self, root: Path, *, port: int | None = None) -> None:
        self.listing = Listing(root)
        self._followed: OrderedDict[str, Followed] = OrderedDict()
        self._lock = threading.Lock()
        self._http = _listen(self, port)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{LOOPBACK}:{self.port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._http.hang_up()
        self._thread.join()

    def answer(self, host: str | None, target: str) -> Answer:
        """What a GET request gets."""
        if host not in {f"{name}:{self.port}" for name in NAMES}:
            return _plain(403, "this is not the address of this server")
        place = urlsplit(target)
        asked = {name: values[-1] for name, values in parse_qs(place.query).items()}
        if place.path == "/":
            return _page("runs/main.mjs", title="Runs", source="/api")
        if place.path == "/api/runs":
            runs = self.listing.runs(patience=PATIENCE, now=time.monotonic)
            return _json([run.document() for run in runs])
        if place.path == "/api/compare":
            return self._compared(asked.get("a", ""), asked.get("b", ""))
        found = _RUN.fullmatch(place.path)
        if found is None:
            return _plain(404, "there is nothing here")
        return self._of_a_run(found[1], found[2], asked)

    def _of_a_run(self, name: str, part: str | None, asked: Mapping[str, str]) -> Answer:
        try:
            followed = self._follow(name)
            if followed is None:
                return _plain(404, "there is no such run")
            if part is None:
                return _page("report/main.mjs", title="Report", source=f"/run/{name}")
            if part == "bodies":
                return Answer(200, "application/octet-stream", followed.bodies(_number(asked.get("from"))))
            followed.advance()
            if part == "report":
                return _json(followed.report())
            return Answer(200, "application/octet-stream", followed.pack(_number(asked.get("since"))))
        except (JournalError, OSError) as error:
            return _plain(410, f"this run cannot be read: {error}")

    def _compared(self, first: str, second: str) -> Answer:
        """Two runs held against each other, the second against the first."""
        from paceline.comparison import compare

        paths = self._path(first), self._path(second)
        if None in paths:
            return _plain(404, "there is no such run")
        try:
            return _json(compare(*filter(None, paths)).to_dict())
        except PacelineError as error:
            return _plain(409, f"{error}{f' ({error.hint})' if error.hint else ''}")

    def _follow(self, name: str) -> Followed | None:
        """The run of that name; a name that was not given out leads nowhere."""
        path = self._path(name)
        with self._lock:
            if path is None:
                self._followed.pop(name, None)
                return None
            if name not in self._followed:
                self._followed[name] = Followed(path)
                while len(self._followed) > MOST_FOLLOWED:
                    self._followed.popitem(last=False)
            self._followed.move_to_end(name)
            return self._followed[name]

    def _path(self, name: str) -> Path | None:
        """Where a run lies that was listed."""
        path = self.listing.path_of(name)
        if path is None:
            # Somebody may come by a bookmark, before anybody has seen the list.
            self.listing.runs(patience=0, now=time.monotonic)
            path = self.listing.path_of(name)
        return path


def _number(text: str | None) -> int:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else 0


def _json(value: object) -> Answer:
    try:
        body = msgspec.json.encode(value)
    except UnicodeEncodeError:  # half a surrogate in a name: as an escape it can be told
        body = json.dumps(value).encode()
    return Answer(200, "application/json", body)


def _page(entry: str, *, title: str, source: str) -> Answer:
    page = assembled(entry)
    text = f"{page.opening(title=title, source=source, asks=True)}{page.script}{CLOSING}"
    policy = f"{page.policy(asks=True)}; frame-ancestors 'none'"
    return Answer(200, "text/html; charset=utf-8", text.encode(), {"Content-Security-Policy": policy})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Leave no browser on a line that nobody is going to answer."""
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # a browser that goes away in the middle is no news
            super().handle_error(request, client_address)


def _listen(view: View, port: int | None) -> _Server:
    """At the port that was named; else at the usual one, or at any other where that is taken."""
    handler = type("Handler", (_Handler,), {"view": view})
    for each in (port,) if port is not None else (USUAL_PORT, 0):
        try:
            return _Server((LOOPBACK, each), handler)
        except OSError as error:
            problem = error
    raise UsageError(f"port {port} cannot be used: {problem.strerror}", hint="name another one with --port")


class _Handler(BaseHTTPRequestHandler):
    """One connection of a browser."""

    view: ClassVar[View]
    protocol_version = "HTTP/1.1"
    server_version = "paceline"
    sys_version = ""
    timeout = 60
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s\n"

    def do_GET(self) -> None:
        self._send(self.view.answer(self.headers.get("Host"), self.path))

    def _refuse(self) -> None:
        self.close_connection = True  # a body may follow that nobody is going to read
        self._send(_plain(405, "this server is for reading only"), {"Allow": "GET"})

    def __getattr__(self, name: str) -> Any:
        # Whatever method a request has, the base class looks for one of ours that is called after it.
        if name.startswith("do_"):
            return self._refuse
        raise AttributeError(name)

    def _send(self, answer: Answer, more: Mapping[str, str] = {}) -> None:
        self.send_response(answer.status)
        length = {"Content-Length": str(len(answer.body)), "Content-Type": answer.kind}
        for name, value in {**HEADERS, **length, **answer.headers, **more}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name that is overridden
        """Nobody reads a log of what a browser asks for."""


__all__ = ["LOOPBACK", "USUAL_PORT", "View"]
