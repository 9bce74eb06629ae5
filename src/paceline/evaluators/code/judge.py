"""The program that judges an answer which is Python code. It runs in a cell, given to an interpreter as text.

Two processes, because code that is judged shares no memory with its judge:

    judge      has the tests, calls the function over a line, compares, and writes the verdict
    answering  has the answer's code, and nothing else: it is forked before the judge reads the tests

Only values cross the line, and the judge makes plain ones of them: a number that claims to equal everything
is a number here. The judge cannot be looked into (it is not dumpable, so neither /proc nor ptrace opens it),
and the verdict leaves by a file that the answering process has never had. Whatever that does (exit, print,
patch, raise), the worst it can bring about is that there is no verdict, which is no pass.

Stands alone with `line` and `answering`: the standard library, and nothing else of ours. The verdict is a
line of JSON after a line with `+`, which says that judging has begun.
"""

from __future__ import annotations

import builtins
import json
import os
import signal
import socket
import sys
import time
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import Any, NoReturn

from paceline.evaluators.code.answering import LONGEST_WORDS, answer, words_of
from paceline.evaluators.code.line import Garbled, Line, Unspeakable, speak, understand


class Over(BaseException):
    """The answer cannot pass any more, whatever a test makes of it: tests that catch all do not see this."""


class TestsBroken(Exception):
    """The tests are at fault, not the answer."""


class Raised(Exception):
    """What the answer raised, where that is no exception of Python's own."""


class Called:
    """The judge's view of the answering process, and what is known of it."""

    def __init__(self, line: Line, process: int, entry_point: str) -> None:
        self._line = line
        self._process = process
        self._entry_point = entry_point
        self.calls = 0
        self.last = ""
        """The last call and its answer, in words."""
        self.raised: Exception | None = None
        """What the answer raised last; `last` tells of it."""
        self.over = ""
        """Why the answer cannot pass any more."""

    def run(self, program: str) -> None:
        """Let the answer's code define what it defines."""
        if not self._asked({"ask": "run", "program": program, "entry_point": self._entry_point}, "the code"):
            self.end(f"the answer defines no function {self._entry_point}")

    def call(self, number: int, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        shown = [*map(brief, arguments), *(f"{key}={brief(each)}" for key, each in keywords.items())]
        words = f"{name}({', '.join(shown)})"[:LONGEST_WORDS]
        self.calls += 1
        self.last = f"{words} did not answer"
        message = {
            "ask": "call",
            "of": number,
            "arguments": [self._spoken(each) for each in arguments],
            "keywords": {key: self._spoken(each) for key, each in keywords.items()},
        }
        answered = self._asked(message, words)
        self.last = f"{words} answered {brief(answered)}"
        return answered

    def ask(self, what: str, number: int, **more: Any) -> Any:
        spoken = {name: self._spoken(each) for name, each in more.items()}
        return self._asked({"ask": what, "of": number, **spoken}, what)

    def _spoken(self, value: Any) -> Any:
        if isinstance(value, Held):
            return {"held": [number_of(value), ""]}
        try:
            return speak(value, _refuse)
        except RecursionError:
            raise TestsBroken("the tests hand over what is nested too deeply, or contains itself") from None

    def _asked(self, message: dict[str, Any], words: str) -> Any:
        if self.over:
            raise Over(self.over)
        reply = self._exchanged(message, words)
        if "raised" in reply:
            kind, said, where = reply["raised"]
            said_so, at = f": {said}" if said else "", f" ({where})" if where else ""
            self.last = f"{words} raised {kind}{said_so}{at}"
            self.raised = _exception(kind, said)
            raise self.raised
        if "unspeakable" in reply:
            why = str(reply["unspeakable"])[:LONGEST_WORDS]
            self.end(f"what {words} answered cannot be judged: {why}")
        return reply["said"]

    def _exchanged(self, message: dict[str, Any], words: str) -> dict[str, Any]:
        """What comes back, made plain; none of what is raised on the way is the answer's own."""
        try:
            self._line.say(message)
            reply = self._line.hear()
            if "raised" in reply:
                kind, said, where = map(str, reply["raised"])
                return {"raised": (kind, said[:LONGEST_WORDS], where[:LONGEST_WORDS])}
            return reply if "unspeakable" in reply else {"said": understand(reply["said"], self._held)}
        except Unspeakable as error:
            raise TestsBroken(f"the tests hand over a value that is too much: {error}") from None
        except (EOFError, OSError):
            self.end(f"{words}: {self._how_it_ended()}")
        except (Garbled, KeyError, TypeError, ValueError, RecursionError) as error:
            self.end(f"what {words} answered cannot be read: {str(error)[:LONGEST_WORDS]}")

    def _held(self, number: int, kind: str) -> Held:
        return Held(self, number, kind)

    def end(self, why: str) -> NoReturn:
        """Settle that the answer does not pass."""
        self.over = why
        raise Over(why)

    def _how_it_ended(self) -> str:
        until = time.monotonic() + 1.0
        while True:
            gone, status = os.waitpid(self._process, os.WNOHANG)
            if gone:
                break
            if time.monotonic() > until:
                return "the code closed its line to the judge"
            time.sleep(0.005)
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return f"the code was ended by {_name_of_signal(number)}{_MEANING.get(number, '')}"
        return f"the code ended its process, with exit code {os.WEXITSTATUS(status)}"


_MEANING: dict[int, str] = {
    signal.SIGXCPU: ": it used more CPU than it may",
    signal.SIGXFSZ: ": it wrote more than it may",
    signal.SIGSEGV: ": it crashed the interpreter",
}


def _name_of_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _refuse(value: Any) -> NoReturn:
    name = type(value).__name__
    raise TestsBroken(f"the tests hand over a {name}, and only plain values can be handed to the answer")


def _exception(kind: str, said: str) -> Exception:
    """The exception that the answer raised, where it is one of Python's; anything else as `Raised`."""
    known = getattr(builtins, kind, None)
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            return known(said)
        except TypeError:  # such as UnicodeDecodeError, which takes more
            pass
    return Raised(f"{kind}: {said}")


def _refused(name: str) -> Any:
    def refuse(self: Held, *_: object) -> NoReturn:
        called = called_by(self)
        called.end(f"{called.last}: that is an object of its own, and only plain values can be compared")

    refuse.__name__ = name
    return refuse


class Held:
    """Something that stays in the answering process: the function itself, an iterator, an object of a class.

    It can be called, gone through and asked for its attributes; what comes of that is plain again. It is
    never compared: its own idea of being equal is not to be believed.
    """

    __slots__ = ("_called", "_kind", "_number")

    def __init__(self, called: Called, number: int, kind: str) -> None:
        self._called = called
        self._number = number
        self._kind = kind

    def __repr__(self) -> str:
        return f"<{self._kind}>"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._called.call(self._number, self._kind, arguments, keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._called.ask("attribute", self._number, name=name)

    def __getitem__(self, key: Any) -> Any:
        return self._called.ask("item", self._number, key=key)

    def __bool__(self) -> bool:
        if self._number:
            _refused("__bool__")(self)
        return True  # the function is there

    def __len__(self) -> int:
        return int(self._called.ask("length", self._number))

    def __iter__(self) -> Any:
        return self._called.ask("iterator", self._number)

    def __next__(self) -> Any:
        return self._called.ask("next", self._number)

    __eq__ = _refused("__eq__")
    __ne__ = _refused("__ne__")
    __lt__ = _refused("__lt__")
    __le__ = _refused("__le__")
    __gt__ = _refused("__gt__")
    __ge__ = _refused("__ge__")
    __contains__ = _refused("__contains__")
    __hash__ = None  # type: ignore[assignment]  # what is not compared has no place in a set


def called_by(held: Held) -> Called:
    return object.__getattribute__(held, "_called")  # type: ignore[no-any-return]


def number_of(held: Held) -> int:
    return object.__getattribute__(held, "_number")  # type: ignore[no-any-return]


def brief(value: Any) -> str:
    """A value in a few words."""
    import reprlib

    try:
        return reprlib.repr(value)
    except Exception:
        return f"a {type(value).__name__}"


def judge(called: Called, told: dict[str, Any]) -> dict[str, Any]:
    """The verdict: how many tests there were and failed, why the first did, what went wrong besides."""
    results: list[str] = []
    broken = ""
    try:
        function = Held(called, 0, told["entry_point"])
        names = _names_for(told, function)
        tests = [_compiled(each, place) for place, each in enumerate(told["tests"])]
        try:
            called.run(told["program"])
        except Exception:
            called.over = called.last
        for each, code in zip(told["tests"], tests, strict=True):
            if not called.over:
                results += _carried_out(each, code, names, function)
    except TestsBroken as why:
        broken = str(why)
    except Over:
        pass
    if not (broken or called.over or called.calls):
        broken = f"the tests never called {told['entry_point']}: they say nothing about the answer"
    failures = [why for why in results if why]
    return {
        "tests": len(results),
        "failed": len(failures),
        "why": failures[0] if failures else "",
        "over": called.over,
        "broken": broken,
    }


def _names_for(told: dict[str, Any], function: Held) -> dict[str, Any]:
    """What the tests find defined: what stands before the function in the prompt, and the function."""
    module = ModuleType("tests")
    sys.modules["tests"] = module
    names = module.__dict__
    if told["before"]:
        try:
            exec(compile(told["before"], "<prompt>", "exec"), names)  # noqa: S102  # in a cell
        except Exception as error:
            raise TestsBroken(f"the prompt's code raises {type(error).__name__}: {error}") from error
    names[told["entry_point"]] = names["candidate"] = function
    return names


def _compiled(source: str, place: int) -> CodeType:
    try:
        return compile(source, f"<tests {place}>", "exec")
    except (SyntaxError, ValueError) as error:
        raise TestsBroken(f"the tests do not compile: {error}") from error


def _carried_out(source: str, code: CodeType, names: dict[str, Any], function: Held) -> list[str]:
    """Why each test of a source fails: all of it, its `check(candidate)`, or its functions `test_...()`."""

    def carry_out(one: Any) -> str:
        return _failure_of(one, called_by(function), code.co_filename, source)

    before = dict(names)
    whole = carry_out(lambda: exec(code, names))  # noqa: S102  # in a cell
    if whole:
        return [whole]
    defined = {
        name: value
        for name, value in names.items()
        if isinstance(value, FunctionType)
        and value.__code__.co_filename == code.co_filename
        and before.get(name) is not value
    }
    if "check" in defined:
        return [carry_out(lambda: defined["check"](function))]
    own = [
        name for name, value in defined.items() if name.startswith("test") and not value.__code__.co_argcount
    ]
    return [carry_out(defined[name]) for name in own] or [whole]


def _failure_of(test: Any, called: Called, file: str, source: str) -> str:
    """Why a test fails; empty where it does not."""
    called.last = ""
    try:
        test()
    except (Over, TestsBroken):
        raise
    except BaseException as error:
        if isinstance(error, ImportError) and error is not called.raised:
            raise TestsBroken(f"the tests cannot import what they need: {error}") from error
        at = _line_of(error.__traceback__, file, source)
        said = words_of(error)
        words = f"{type(error).__name__}{f': {said}' if said else ''}"
        told = error is called.raised or (type(error) is AssertionError and not said and at)
        return "; ".join(part for part in (at, "" if told else words, called.last) if part)
    # A test that caught the end of the answer has not seen it pass.
    return called.over


def _line_of(trace: TracebackType | None, file: str, source: str) -> str:
    """The line of the tests at which one failed."""
    found = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            found = trace.tb_lineno
        trace = trace.tb_next
    return source.splitlines()[found - 1].strip()[:LONGEST_WORDS] if found else ""


# ---- both ----


def close_to_others() -> None:
    """Let no other process look into this one, not even of the same user."""
    if sys.platform != "linux":
        return
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    none = ctypes.c_ulong(0)
    if libc.prctl(4, none, none, none, none) != 0 or libc.prctl(3, none, none, none, none) != 0:
        raise OSError(ctypes.get_errno(), "the judge cannot be closed to others")


def main() -> NoReturn:
    verdict = os.dup(1)
    # What the tests print, and what the answer prints, is not the verdict.
    os.dup2(2, 1)
    close_to_others()
    ours, theirs = socket.socketpair()
    process = os.fork()
    if process == 0:
        os.close(verdict)
        ours.close()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        try:
            answer(Line(theirs))
        finally:
            os._exit(0)
    theirs.close()
    told = json.loads(sys.stdin.buffer.read())
    os.write(verdict, b"+\n")
    found = judge(Called(Line(ours), process, told["entry_point"]), told)
    with os.fdopen(verdict, "wb") as file:
        file.write(json.dumps(found).encode() + b"\n")
    # What is left of the answer goes with the cell.
    os._exit(0)


if __name__ == "__main__":
    main()
