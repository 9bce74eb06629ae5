"""Each way of containing is held to the same verdicts."""

from __future__ import annotations

import pytest

from paceline.containment import Means
from tests.containment.ways import means_of


@pytest.fixture(params=["bubblewrap", "landlock"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Means:
    """A machine that contains in this way."""
    return _made_to_look_like(request.param, monkeypatch)


@pytest.fixture
def only_limits(monkeypatch: pytest.MonkeyPatch) -> Means:
    """A machine that has nothing to contain with but limits."""
    return _made_to_look_like("limits", monkeypatch)


def _made_to_look_like(way: str, monkeypatch: pytest.MonkeyPatch) -> Means:
    found = means_of(way)
    for module in ("python_tests", "commanding"):
        monkeypatch.setattr(f"paceline.evaluators.code.{module}.means", lambda: found)
    return found
