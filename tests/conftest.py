"""What holds for every test."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Machines that run tests are shared and slow at times: a slow example says nothing about the code.
settings.register_profile("paceline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("paceline")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--screenshots", action="store_true", help="take the pictures of the manual anew")


@pytest.fixture(scope="session", autouse=True)
def _a_shell_without_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing that whoever runs the tests has set decides a test, and nothing is written to their home."""
    with pytest.MonkeyPatch.context() as shell:
        for name in [name for name in os.environ if name.startswith("PACELINE_")]:
            shell.delenv(name)
        shell.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        shell.setenv("NO_COLOR", "1")
        shell.setenv("COLUMNS", "120")
        yield


@pytest.fixture(autouse=True)
def _an_environment_that_no_test_leaves_behind() -> Iterator[None]:
    """A rehearsal puts keys away for good, and is called in this process too."""
    before = dict(os.environ)
    yield
    if before != dict(os.environ):
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture(scope="session", autouse=True)
def _signals_as_in_a_terminal() -> Iterator[None]:
    """Under `nohup` SIGHUP is ignored, and in a script's background SIGINT: what is started here would
    inherit that, and heed it."""
    usual: dict[int, Any] = {signal.SIGHUP: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
