"""What holds for every test."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# Machines that run tests are shared and slow at times: a slow example says nothing about the code.
settings.register_profile("paceline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("paceline")


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


@pytest.fixture(scope="session", autouse=True)
def _signals_as_in_a_terminal() -> Iterator[None]:
    """Under `nohup` SIGHUP is ignored, which programs that are started from here would inherit and heed."""
    before = signal.getsignal(signal.SIGHUP)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)
