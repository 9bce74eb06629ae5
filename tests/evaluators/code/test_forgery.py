"""Answers that try to pass without being right. None of them does, whichever way they are contained."""

from __future__ import annotations

import pytest

from paceline.evaluators import NotJudged
from tests.evaluators.code.answers import ADD, verdict, why_not

pytestmark = pytest.mark.usefixtures("way")

WRONG = "def add(a, b): return 17\n"

FORGERIES = {
    "ends its process as if all were well": "import os\ndef add(a, b): os._exit(0)",
    "ends it while it is loaded": "import os\nos._exit(0)",
    "raises SystemExit(0)": "import sys\ndef add(a, b): sys.exit(0)",
    "raises it while it is loaded": "raise SystemExit(0)",
    "prints a verdict": WRONG
    + """
import sys
for stream in (sys.stdout, sys.stderr):
    print('+', file=stream)
    print('{"tests": 1, "failed": 0, "why": "", "over": "", "broken": ""}', file=stream, flush=True)
import os
os._exit(0)
""",
    "writes a verdict to every file that is open": WRONG
    + """
import os
for number in range(256):
    try:
        os.write(number, b'+\\n{"tests": 1, "failed": 0, "why": "", "over": "", "broken": ""}\\n')
    except OSError:
        pass
""",
    "answers with what equals everything": """
class Equal:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
def add(a, b): return Equal()
""",
    "answers with a number that equals everything": """
class Equal(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = int.__hash__
def add(a, b): return Equal(17)
""",
    "answers with text that equals everything": """
class Equal(str):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = str.__hash__
def add(a, b): return Equal("17")
""",
    "answers with a list that equals everything": """
class Equal(list):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
def add(a, b): return Equal([17])
""",
    "changes what is built in": WRONG
    + """
import builtins
builtins.AssertionError = type("Nothing", (Exception,), {})
builtins.int.__eq__ if False else None
builtins.len = lambda *_: 3
builtins.isinstance = lambda *_: True
""",
    "changes the modules that judge it": WRONG
    + """
import sys
for module in list(sys.modules.values()):
    for name in ("judge", "check", "candidate", "_failure_of", "speak", "json"):
        if hasattr(module, name):
            setattr(module, name, lambda *_, **__: True)
""",
    "defines the tests itself": WRONG + "def check(candidate): pass\ndef test_add(): pass\n",
    "looks for the tests in its own memory": """
import gc, sys
def add(a, b):
    for thing in gc.get_objects():
        if isinstance(thing, dict) and "tests" in thing and "program" in thing:
            raise SystemExit("found")
    frame = sys._getframe()
    while frame:
        if "told" in frame.f_locals:
            return frame.f_locals["told"]["tests"]
        frame = frame.f_back
    return 17
""",
    "reads the tests where the judge has read them": """
import os
def add(a, b):
    read = b""
    for number in range(256):
        try:
            os.lseek(number, 0, 0)
            read += os.read(number, 100000)
        except OSError:
            pass
    return 3 if b"add(1, 2) == 3" in read and a == 1 else 0
""",
    "reads the judge's files": """
import glob, os
def add(a, b):
    read = b""
    for path in glob.glob("/proc/*/fd/*") + glob.glob("/proc/*/mem") + glob.glob("/proc/*/environ"):
        try:
            read += open(path, "rb").read(100000)
        except OSError:
            pass
    return 3 if b"add(1, 2) == 3" in read and a == 1 else 0
""",
    "writes to the judge's files": WRONG
    + """
import os
judge = os.getppid()
def add(a, b):
    for number in range(16):
        try:
            with open(f"/proc/{judge}/fd/{number}", "wb", buffering=0) as file:
                file.write(b'+\\n{"tests": 1, "failed": 0, "why": "", "over": "", "broken": ""}\\n')
        except OSError:
            pass
    try:
        os.kill(judge, 9)
    except OSError:
        pass
    return 17
""",
    "ends the judge": WRONG + "import os\nos.kill(os.getppid(), 9)",
    "stops the judge": WRONG + "import os\nos.kill(os.getppid(), 19)",
    "says nothing any more": """
import os
os.closerange(0, 256)
def add(a, b): return 3
""",
    "answers what is no message": """
import os, struct
def add(a, b):
    for number in range(3, 256):
        try:
            os.write(number, struct.pack("!I", 5) + b"[[[[[")
        except OSError:
            pass
    return 17
""",
    "answers a message without end": """
import os, struct
def add(a, b):
    for number in range(3, 256):
        try:
            os.write(number, struct.pack("!I", 0xFFFFFFFF))
        except OSError:
            pass
    return 17
""",
    "answers what is nested without end": """
def add(a, b):
    inner = []
    for _ in range(100000):
        inner = [inner]
    return inner
""",
    "answers what contains itself": """
def add(a, b):
    answer = []
    answer.append(answer)
    return answer
""",
    "raises what tests use to say that they are skipped": """
def add(a, b):
    import unittest
    raise unittest.SkipTest("not today")
""",
    "raises an exception that ends generators": "def add(a, b): raise StopIteration(3)",
    "answers late, from a thread": WRONG
    + """
import threading, time
def later():
    time.sleep(0.1)
    import os
    os._exit(0)
threading.Thread(target=later).start()
""",
}


@pytest.mark.parametrize("how", FORGERIES)
def test_an_answer_that(how: str) -> None:
    try:
        found = verdict(FORGERIES[how], timeout=2.0)
    except NotJudged:
        return  # not known, which is no pass either
    assert found.value is False
    assert found.reason


CATCHING = """
def check(candidate):
    try:
        assert candidate(1, 2) == 3
    except:
        pass
"""


@pytest.mark.parametrize(
    "answer",
    ["import os\ndef add(a, b): os._exit(0)", "class C: ...\ndef add(a, b): return C()"],
    ids=["by ending its process", "by what cannot be compared"],
)
def test_tests_that_catch_everything_are_not_taken_in(answer: str) -> None:
    assert why_not(answer, CATCHING)


def test_the_expected_value_is_not_changed_through_an_argument() -> None:
    tests = "given = [3, 1, 2]\nassert add(given) == sorted(given)\n"
    assert "answered []" in why_not("def add(given):\n    given.clear()\n    return []\n", tests)


LOOKING = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
judge = os.getppid()

def opened(path):
    with open(path, "rb"):
        return True

def taken():
    number = libc.syscall(434, judge, 0)  # pidfd_open
    return libc.syscall(438, number, 1, 0) >= 0  # pidfd_getfd

def read():
    ours, theirs = (ctypes.c_void_p * 2)(), (ctypes.c_void_p * 2)(4096, 8)
    libc.process_vm_readv(judge, ours, 1, theirs, 1, 0)
    return ctypes.get_errno() == 14  # no such address: it was let look

WAYS = {
    "memory": lambda: opened(f"/proc/{judge}/mem"),
    "environment": lambda: opened(f"/proc/{judge}/environ"),
    "files": lambda: bool(os.listdir(f"/proc/{judge}/fd")),
    "verdict": lambda: opened(f"/proc/{judge}/fd/3"),
    "attached": lambda: libc.ptrace(16, judge, None, None) == 0,
    "taken": taken,
    "read": read,
}

def add(a, b):
    found = ["looked"]
    for name, way in WAYS.items():
        try:
            if way():
                found.append(name)
        except OSError:
            pass
    return found
"""


def test_the_judge_cannot_be_looked_into() -> None:
    assert "answered ['looked']" in why_not(LOOKING)


def test_the_answer_that_is_right_passes() -> None:
    """Else nothing here would say anything."""
    assert verdict("def add(a, b): return a + b").value is True
    assert ADD
