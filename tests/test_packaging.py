"""What a stranger gets: a wheel that installs into an empty environment, and a checkout that sets itself up.

Real builds, real environments, and the package index that pip is configured for.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

import paceline

ROOT = Path(__file__).resolve().parent.parent
# As it was before the tests gave themselves an empty home: that may be where pip learns of its index. What
# `make test` tells a make below it would have that one speak of itself, and is not what a stranger's has.
AS_STARTED = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("PACELINE_", "PYTHON", "MAKE")) and name != "MFLAGS"
}
PINNED = re.compile(r"^[\w.-]+==\S+", re.MULTILINE)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.xdist_group("packaging")]


def run(
    *command: str | Path, cwd: Path, env: Mapping[str, str] = AS_STARTED
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )


def must(*command: str | Path, cwd: Path, env: Mapping[str, str] = AS_STARTED) -> str:
    """What a command prints; it has to succeed."""
    ended = run(*command, cwd=cwd, env=env)
    assert ended.returncode == 0, f"{command}:\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


# ---- the wheel ----


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("built")
    must(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", folder, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def stranger(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that holds the wheel and what it asks for, at the pinned versions."""
    folder = tmp_path_factory.mktemp("elsewhere")
    versions = folder / "versions.txt"
    versions.write_text("\n".join(PINNED.findall((ROOT / "constraints" / "core.txt").read_text())))
    must(sys.executable, "-m", "venv", "environment", cwd=folder)
    programs = folder / "environment" / "bin"
    must(programs / "python", "-m", "pip", "install", "--quiet", "-c", versions, wheel, cwd=folder)
    return programs


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    source = ROOT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in source.rglob("*")
        if path.suffix in {".py", ".mjs", ".css"} or path.name == "py.typed"
    }
    held = set(zipfile.ZipFile(wheel).namelist())
    about = {name for name in held if name.startswith(f"paceline-{paceline.__version__}.dist-info/")}
    assert "paceline/py.typed" in wanted
    assert {name for name in held - about if name.endswith((".py", ".mjs", ".css", ".typed"))} == wanted
    assert {name for name in held - about if not name.startswith("paceline/")} == set()
    assert {Path(name).name for name in about} == {
        "METADATA",
        "WHEEL",
        "RECORD",
        "LICENSE",
        "entry_points.txt",
    }


def test_the_source_distribution_holds_what_the_wheel_is_built_from(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as held_files:
        held = {name.split("/")[1] for name in held_files.getnames()}
    assert {"src", "docs", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"} <= held
    assert not held & {".venv", "runs", "tests", "constraints", ".git"}


def test_an_empty_environment_has_all_that_the_wheel_needs(stranger: Path, tmp_path: Path) -> None:
    assert "No broken requirements" in must(stranger / "python", "-m", "pip", "check", cwd=tmp_path)
    probe = "import paceline; print(paceline.__file__); from paceline import *"
    place = Path(must(stranger / "python", "-c", probe, cwd=tmp_path).strip())
    assert stranger.parent in place.parents
    assert paceline.__version__ in must(stranger / "paceline", "--version", cwd=tmp_path)


def test_the_readme_is_true_for_a_stranger(stranger: Path, tmp_path: Path) -> None:
    home, here = tmp_path / "home", tmp_path / "my project"
    home.mkdir()
    here.mkdir()
    bare = {"HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8"}
    must(stranger / "python", ROOT / "tests" / "documents.py", ROOT / "README.md", cwd=here, env=bare)
    assert list(home.iterdir()) == []


# ---- the checkout ----


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What set-up needs of a fresh checkout, at a path that scripts often stumble over."""
    folder = tmp_path / "my checkout, fresh"
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "Makefile"):
        shutil.copy(ROOT / name, folder)
    for name in ("scripts", "constraints", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def with_python(python: str | Path) -> dict[str, str]:
    return {**AS_STARTED, "PYTHON": str(python)}


def test_a_fresh_checkout_sets_itself_up_and_does_so_once(checkout: Path) -> None:
    env = with_python(Path(sys.base_prefix, "bin", "python3"))
    before = set(checkout.iterdir())
    assert "each held against its hash" in must("make", "core", cwd=checkout, env=env)
    assert paceline.__version__ in must(checkout / ".venv" / "bin" / "paceline", "--version", cwd=checkout)
    assert must("make", "core", cwd=checkout, env=env) == ""
    assert {path.name for path in set(checkout.iterdir()) - before} == {".venv"}
    must("make", "clean", cwd=checkout)
    assert set(checkout.iterdir()) == before


def test_a_package_that_is_not_the_pinned_one_is_refused(checkout: Path) -> None:
    pins = checkout / "constraints" / "core.txt"
    pins.write_text(re.sub(r"sha256:\w+", "sha256:" + "0" * 64, pins.read_text()))
    ended = run("make", "core", cwd=checkout, env=with_python(Path(sys.base_prefix, "bin", "python3")))
    assert ended.returncode != 0
    assert "DO NOT MATCH THE HASHES" in ended.stderr
    assert not list(checkout.glob(".venv/*.stamp"))


def test_without_a_usable_python_it_says_what_to_install(checkout: Path) -> None:
    ended = run("make", "core", cwd=checkout, env=with_python("/nowhere/python3"))
    assert ended.returncode != 0
    assert "no usable Python 3.11 or newer was found at PYTHON=/nowhere/python3" in ended.stderr
    assert "python3-venv" in ended.stderr


def test_the_pins_cover_all_that_the_project_asks_for() -> None:
    """A requirement that was added to pyproject.toml alone would be installed by nobody."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    layers = {
        "core": project["project"]["dependencies"] + project["build-system"]["requires"],
        "dev": [
            requirement for name in ("all", "dev", *extras["all"]) for requirement in extras.get(name, [])
        ],
        "bench": extras["bench"],
    }
    pinned: set[str] = set()
    for layer, requirements in layers.items():
        text = (ROOT / "constraints" / f"{layer}.txt").read_text()
        pinned |= {pin.partition("==")[0] for pin in PINNED.findall(text)}
        asked = {re.split(r"[\s\[<>=;!~]", requirement)[0].lower() for requirement in requirements}
        assert asked - pinned <= {"paceline"}, f"run scripts/pin.py --keep ({layer})"
