"""pytest as its users start it: a folder with a suite of ten cases and tests in it, and a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import paceline

SUITE = """
import os
from paceline import Case, Dataset
from paceline.evaluators import EqualsExpected

dataset = Dataset(
    name="doubles",
    cases=[Case(name=f"case-{n}", inputs=n, expected_output=2 * n) for n in range(10)],
    evaluators=[EqualsExpected()],
)

def task(n):
    if n >= int(os.environ.get("WORKS", 10)):
        raise ValueError(f"no idea of {n}")
    return 2 * n
"""


class Pytest:
    """A folder with tests in it, and pytest as a process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("suite.py", SUITE)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def runs(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        home = str(Path(paceline.__file__).parents[1])
        # Named, so that it is loaded once, whether it has been installed since it is there or not.
        plugins = ("-p", "paceline.pytest_plugin", "-p", "no:cacheprovider", "--strict-markers")
        env = {
            **os.environ,
            "PYTHONPATH": home,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",
            **environ,
        }
        return subprocess.run(
            [sys.executable, "-m", "pytest", *plugins, *arguments],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
