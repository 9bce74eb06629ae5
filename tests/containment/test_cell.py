"""What a contained command can do, and what it cannot. Real processes, under small limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from paceline.containment import Cell, Means, check, contained, gaps_of
from paceline.errors import UsageError
from tests.containment.ways import WAYS, means_of

CONTAINING = ("bubblewrap", "landlock")
"""The ways that are good enough by themselves."""


@pytest.fixture(params=CONTAINING)
def found(request: pytest.FixtureRequest) -> Means:
    return means_of(request.param)


@pytest.fixture(params=WAYS)
def any_way(request: pytest.FixtureRequest) -> Means:
    return means_of(request.param)


def ran(program: str, cell: Cell, found: Means) -> subprocess.CompletedProcess[str]:
    """A Python program, carried out in a cell."""
    with contained((sys.executable, "-I", "-S", "-c", program), cell, found=found) as inside:
        return subprocess.run(
            inside.argv,
            env=dict(inside.env),
            cwd=inside.cwd,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def said(program: str, cell: Cell, found: Means) -> str:
    """What it prints, which has to be all that it does."""
    ended = ran(program, cell, found)
    assert ended.stderr == ""
    assert ended.returncode == 0
    return ended.stdout.strip()


TRY = """
def tried(what):
    try:
        return what()
    except Exception as error:
        return type(error).__name__
"""


def test_a_command_runs_in_a_temporary_folder_of_its_own(any_way: Means) -> None:
    program = """
import os
open("made", "w").write("x" * 1000)
print(os.getcwd() == os.environ["TMPDIR"] == os.environ["HOME"], os.listdir())
"""
    assert said(program, Cell(), any_way) == "True ['made']"
    assert said(program, Cell(), any_way) == "True ['made']"


def test_its_folder_goes_with_it_whatever_was_done_to_it(
    any_way: Means, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program = "import os; os.makedirs('a/b'); open('a/b/c', 'w'); os.chmod('a/b', 0); os.chmod('a', 0)"
    assert said(program, Cell(), any_way) == ""
    assert list(tmp_path.iterdir()) == []


def test_its_environment_is_what_the_cell_gives_it(any_way: Means, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    names = json.loads(said("import os, json; print(json.dumps(sorted(os.environ)))", Cell(), any_way))
    assert set(names) <= {"HOME", "LANG", "LC_CTYPE", "PATH", "PWD", "TMPDIR"}


def test_files_outside_cannot_be_read(found: Means, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the answers")
    home = Path.home() / "secret"
    home.write_text("the key")
    for path in (secret, home, Path(__file__), Path("/etc/shadow")):
        program = f"{TRY}print(tried(lambda: open({str(path)!r}).read()))"
        assert said(program, Cell(), found) in ("FileNotFoundError", "PermissionError"), path


def test_files_outside_cannot_be_listed(found: Means, tmp_path: Path) -> None:
    program = f"{TRY}import os; print(tried(lambda: os.listdir({str(tmp_path)!r})))"
    assert said(program, Cell(), found) in ("FileNotFoundError", "PermissionError")


@pytest.mark.parametrize("where", ["/", "/usr", "/etc", "/dev", "/dev/shm", "/proc/sys/kernel"])
def test_nothing_can_be_written_outside(found: Means, where: str) -> None:
    program = f"{TRY}print(tried(lambda: open({where!r} + '/paceline-was-here', 'w').name))"
    wrote = said(program, Cell(), found)
    if where == "/dev/shm" and found.way == "bubblewrap":
        assert wrote == "/dev/shm/paceline-was-here"  # in memory, bounded, and its own
    else:
        assert wrote in ("FileNotFoundError", "PermissionError", "OSError")
    assert not Path(where, "paceline-was-here").exists()


def test_a_workspace_can_be_written_and_what_is_beside_it_cannot(found: Means, tmp_path: Path) -> None:
    workspace, beside = tmp_path / "workspace", tmp_path / "beside"
    workspace.mkdir()
    beside.mkdir()
    kept = beside / "kept"
    kept.write_text("kept")
    program = f"""{TRY}
import os
open("made", "w").write("by the agent")
print(tried(lambda: open({str(kept)!r}, "w")), tried(lambda: os.remove({str(kept)!r})))
print(tried(lambda: os.truncate({str(kept)!r}, 0)))
os.symlink({str(beside)!r}, "link")
print(tried(lambda: open("link/made", "w")))
"""
    refused = set(said(program, Cell(cwd=workspace, writable=(workspace,)), found).split())
    assert refused <= {"FileNotFoundError", "PermissionError", "OSError"}
    assert (workspace / "made").read_text() == "by the agent"
    assert kept.read_text() == "kept"
    assert not (beside / "made").exists()


def test_what_is_named_can_be_read_and_not_written(found: Means, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    file = tmp_path / "tests" / "test_it.py"
    file.write_text("def test(): ...")
    program = f"{TRY}print(open({str(file)!r}).read()); print(tried(lambda: open({str(file)!r}, 'a')))"
    lines = said(program, Cell(readable=(tmp_path / "tests",)), found).splitlines()
    assert lines[0] == "def test(): ..."
    assert lines[1] in ("PermissionError", "OSError")


def test_the_network_cannot_be_reached(found: Means) -> None:
    listening = """
import socket
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
server.accept()
print("reached", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", listening], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            program = f"""{TRY}
import socket
print(tried(lambda: socket.create_connection(("127.0.0.1", {port}), timeout=2)))
print(tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 9))))
print(tried(lambda: socket.getaddrinfo("localhost.example", 80)))
"""
            refused = said(program, Cell(), found).split()
        finally:
            server.kill()
        assert server.stdout.read() == ""
    assert set(refused) <= {"ConnectionRefusedError", "PermissionError", "OSError", "gaierror"}


def test_with_the_network_it_can_be_reached(found: Means) -> None:
    program = f"{TRY}import socket; print(tried(lambda: socket.create_server(('127.0.0.1', 0)).family))"
    assert said(program, Cell(network=True), found) == "2"


def test_no_more_processes_than_allowed_can_be_started(any_way: Means) -> None:
    if "processes" in gaps_of(Cell(), any_way):
        pytest.skip("told as not contained here: the number of processes is watched, see tests/processes")
    program = """
import os, time
started = 0
try:
    while started < 100:
        if os.fork() == 0:
            time.sleep(3)
            os._exit(0)
        started += 1
except OSError:
    pass
print(started, flush=True)
"""
    with (
        contained((sys.executable, "-I", "-S", "-c", program), Cell(processes=10), found=any_way) as inside,
        subprocess.Popen(
            inside.argv, env=dict(inside.env), cwd=inside.cwd, stdout=subprocess.PIPE, text=True
        ) as running,
    ):
        assert running.stdout is not None
        started = int(running.stdout.readline())
        running.kill()
    assert 1 <= started < 10


def test_processes_outside_can_neither_be_seen_nor_ended(found: Means) -> None:
    program = f"""{TRY}
import os
print(tried(lambda: os.kill({os.getpid()}, 0)), tried(lambda: open("/proc/{os.getpid()}/environ").read()))
"""
    refused = set(said(program, Cell(), found).split())
    assert refused <= {"ProcessLookupError", "PermissionError", "FileNotFoundError"}


def test_what_it_may_write_is_bounded(found: Means) -> None:
    if "disk" in gaps_of(Cell(), found):
        pytest.skip("told as not contained here: only each file is bounded")
    program = f"""{TRY}
def fill():
    for n in range(100):
        with open(f"{{n}}", "wb") as file:
            file.write(bytes(1 << 20))
    return "all written"
print(tried(fill))
"""
    assert said(program, Cell(scratch=4 << 20), found) == "OSError"


def test_nothing_of_it_outlives_it() -> None:
    found = means_of("bubblewrap")  # without its namespace this is left to those who start processes
    program = """
import os, time
if os.fork() == 0:
    os.setsid()
print("up", flush=True)
time.sleep(60)
"""
    with (
        contained((sys.executable, "-I", "-S", "-c", program), Cell(), found=found) as inside,
        subprocess.Popen(
            inside.argv, env=dict(inside.env), cwd=inside.cwd, stdout=subprocess.PIPE, text=True
        ) as running,
    ):
        assert running.stdout is not None
        running.stdout.readline()
        running.kill()
        running.stdout.read()  # comes to its end only once everyone who holds it is gone


def test_a_program_that_is_not_there_is_told_as_by_a_shell(any_way: Means) -> None:
    with contained(("no-such-program",), Cell(), found=any_way) as inside:
        ended = subprocess.run(
            inside.argv, env=dict(inside.env), cwd=inside.cwd, capture_output=True, text=True, check=False
        )
    assert ended.returncode == 127
    assert ended.stderr.strip() == "no-such-program: No such file or directory"


def test_a_gate_that_cannot_be_shut_lets_nothing_through() -> None:
    with contained(("/bin/echo", "through"), Cell(), found=means_of("landlock")) as inside:
        before, (told, *after) = inside.argv[:5], inside.argv[5:]
        changed = json.loads(told)
        changed["landlock"]["scoped"] = 1 << 60  # no kernel knows such a scope
        ended = subprocess.run(
            [*before, json.dumps(changed), *after],
            cwd=inside.cwd,
            capture_output=True,
            text=True,
            check=False,
        )
    assert ended.returncode == 125
    assert ended.stdout == ""
    assert "the cell could not be closed: OSError" in ended.stderr


# ---- what is told ----


def test_bubblewrap_leaves_nothing_open() -> None:
    assert gaps_of(Cell(), means_of("bubblewrap")) == frozenset()


def test_limits_alone_leave_files_and_network_open_and_are_refused() -> None:
    found = means_of("limits")
    assert gaps_of(Cell(), found) >= {"files", "network"}
    with pytest.raises(UsageError, match="files outside can be read and written and the network") as refused:
        check(Cell(), found, what="generated code")
    assert "apt-get install bubblewrap" in refused.value.hint
    assert "allow_uncontained" in refused.value.hint


def test_a_network_that_was_asked_for_is_no_gap() -> None:
    assert "network" not in gaps_of(Cell(network=True), means_of("limits"))


def test_ways_that_contain_are_not_refused(found: Means) -> None:
    check(Cell(), found, what="generated code")
