"""A real browser for tests: Debian's chromium, spoken to over a pipe.

    with Browser() as browser, browser.page() as page:
        page.open(path.as_uri())
        page.press("j")
        assert page.ask("document.title") == "..."
        assert page.complaints == []

It speaks the DevTools protocol on two file descriptors: no port, no driver, no package. A page keeps what
went wrong in it (`complaints`) and what it asked for (`requests`). Waiting is for a condition, never for a
time.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
ABSENT: Final = "chromium is not installed"
FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-default-apps", "--disable-extensions", "--no-default-browser-check", "--mute-audio"),
    *(
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--force-color-profile=srgb",
        "--remote-debugging-pipe",
    ),
)
PATIENCE: Final = 60.0
"""Seconds until something that was waited for counts as never coming."""
GONE: Final = ("navigated or closed", "context was destroyed", "Cannot find context")
"""What is said of a question to a page that has made way for another one."""
KEYS: Final = {"Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36} | {
    "ArrowUp": 38,
    "ArrowDown": 40,
}


class BrowserError(AssertionError):
    """The browser, or the program of a page, says that something is wrong."""


class Process:
    """A browser that was started, and the two pipes to it."""

    def __init__(self, profile: str) -> None:
        assert CHROMIUM is not None, ABSENT
        theirs_in, ours_out = _pipe()
        ours_in, theirs_out = _pipe()
        quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
        pipes = [(os.POSIX_SPAWN_DUP2, theirs_in, 3), (os.POSIX_SPAWN_DUP2, theirs_out, 4)]
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        environ = {**os.environ, "HOME": profile}
        self.pid = os.posix_spawn(CHROMIUM, command, environ, file_actions=[*quiet, *pipes], setpgroup=0)
        os.close(theirs_in)
        os.close(theirs_out)
        self.writing = open(ours_out, "wb", buffering=0)  # noqa: SIM115  # closed by `end`
        self.reading = ours_in

    def end(self) -> None:
        """See that it is gone, with all of its children."""
        self.writing.close()  # whereupon it leaves
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _pipe() -> tuple[int, int]:
    """A pipe whose descriptors are none of those that the browser expects something on."""
    both = os.pipe()
    high = tuple(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in both)
    for fd in both:
        os.close(fd)
    return high[0], high[1]


class Browser:
    """A browser with a profile of its own that is thrown away."""

    def __enter__(self) -> Self:
        self._profile = tempfile.TemporaryDirectory(prefix="paceline-browser-", ignore_cleanup_errors=True)
        self._process = Process(self._profile.name)
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._listeners: dict[str, Callable[[str, dict[str, Any]], None]] = {}
        self.heard = threading.Condition()
        self._gone = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.end()
        self._reader.join(PATIENCE)
        self._profile.cleanup()

    def _read(self) -> None:
        rest = b""
        with open(self._process.reading, "rb", buffering=0) as file:
            while piece := file.read(1 << 20):
                *messages, rest = (rest + piece).split(b"\0")
                for message in map(json.loads, messages):
                    self._take(message)
        with self.heard:
            self._gone = True
            self.heard.notify_all()

    def _take(self, message: dict[str, Any]) -> None:
        with self.heard:
            if "id" in message:
                self._answers[message["id"]] = message
            elif listener := self._listeners.get(message.get("sessionId", "")):
                listener(message["method"], message["params"])
            self.heard.notify_all()

    def send(self, method: str, session: str = "", **params: Any) -> Any:
        """One command, and its answer."""
        with self.heard:
            self._number += 1
            number = self._number
            address = {"sessionId": session} if session else {}
            command = {"id": number, "method": method, "params": params, **address}
            self._process.writing.write(json.dumps(command).encode() + b"\0")
            self.heard.wait_for(lambda: number in self._answers or self._gone, PATIENCE)
            if number not in self._answers:
                raise BrowserError(f"{method}: the browser {'is gone' if self._gone else 'does not answer'}")
            answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    @contextmanager
    def page(self, *, width: int = 1280, height: int = 860, dark: bool = False) -> Iterator[Page]:
        """A new page with nothing in it."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        self._listeners[session] = page.take
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.send(f"{domain}.enable")
        page.resize(width, height)
        page.prefer(dark=dark)
        try:
            yield page
        finally:
            self.send("Target.closeTarget", targetId=target)
            del self._listeners[session]


class Page:
    """One page, and what has happened in it."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        self._loads = 0
        self.complaints: list[str] = []
        """Exceptions, errors and warnings of the console, and what the content policy refused."""
        self.requests: list[str] = []
        """Addresses that were asked for, that of the page itself among them."""
        self.dialogs: list[str] = []
        """What a script has said in a box: no script of a page of ours does."""

    def send(self, method: str, **params: Any) -> Any:
        """One command about this page."""
        return self._browser.send(method, self._session, **params)

    def take(self, method: str, params: dict[str, Any]) -> None:
        """Something has happened; called by the browser's reader."""
        match method:
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.complaints.append(details.get("exception", {}).get("description") or details["text"])
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.complaints.append(str([each.get("value") for each in params["args"]]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.complaints.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Page.javascriptDialogOpening":
                self.dialogs.append(params["message"])
            case "Page.loadEventFired":
                self._loads += 1

    def open(self, address: str, *, ready: str = "document.querySelector('main')?.childElementCount") -> None:
        """Go to an address, and wait until the page is there."""
        before = self._loads
        self.send("Page.navigate", url=address)
        with self._browser.heard:
            assert self._browser.heard.wait_for(lambda: self._loads > before, PATIENCE), "never loaded"
        self.until(ready)

    def ask(self, expression: str) -> Any:
        """The value of an expression; a promise is waited for."""
        answer = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            said = details.get("exception", {}).get("description") or details["text"]
            raise BrowserError("\n".join([said, *self.complaints]))
        return answer["result"].get("value")

    def until(self, expression: str) -> Any:
        """Wait until an expression holds, on whatever page the browser is by then; its value."""
        waiting = (
            "new Promise((done, fail) => { const end = performance.now() + %d; const look = () => {"
            " let value; try { value = %s } catch (error) { return fail(error) }"
            " if (value) done(value); else if (performance.now() > end) fail(new Error('never: ' + %s));"
            " else setTimeout(look, 10); }; look(); })"
        )
        while True:
            try:
                return self.ask(waiting % (PATIENCE * 500, expression, json.dumps(expression)))
            except BrowserError as error:
                if not any(each in str(error) for each in GONE):
                    raise

    def text(self, selector: str) -> str:
        """What an element shows."""
        return str(self.ask(f"document.querySelector({json.dumps(selector)}).innerText"))

    def texts(self, selector: str) -> list[str]:
        """What all such elements show."""
        found = self.ask(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.innerText)"
        )
        return [str(each) for each in found]

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        for key in keys:
            typed = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
            code = {"windowsVirtualKeyCode": KEYS[key]} if key in KEYS else {}
            self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **typed, **code)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def write(self, text: str) -> None:
        """Type text into the field that has the focus."""
        self.send("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click in the middle of an element."""
        place = self.ask(
            f"(() => {{ const node = document.querySelector({json.dumps(selector)});"
            " node.scrollIntoView({ block: 'nearest' }); const box = node.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )

    def choose(self, selector: str, value: str) -> None:
        """Choose an entry of a menu."""
        self.ask(
            f"(() => {{ const menu = document.querySelector({json.dumps(selector)});"
            f" menu.value = {json.dumps(value)}; menu.dispatchEvent(new Event('change')); }})()"
        )

    def resize(self, width: int, height: int) -> None:
        """Give the page another size."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, *, dark: bool = False, paper: bool = False) -> None:
        """What the reader's system says: light or dark, screen or paper."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media="print" if paper else "", features=[scheme])

    def screenshot(self, path: Path) -> None:
        """What the page looks like."""
        taken = self.send("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(taken["data"]))
