"""Templates asked as a caller does, by name."""

from __future__ import annotations

from typing import Any

from paceline.evaluators.templates.asking import compute
from paceline.evaluators.templates.catalogue import template_of
from paceline.evaluators.templates.entries import Computed
from paceline.evaluators.templates.findings import Finding
from paceline.evaluators.templates.given import given_to


def found(name: str, **given: Any) -> Finding:
    """What a template that code judges finds."""
    template = template_of(name)
    assert isinstance(template, Computed)
    return compute(template, given_to(template, given))


def value(name: str, **given: Any) -> Any:
    return found(name, **given).value


def passes(name: str, **given: Any) -> bool:
    said = found(name, **given)
    assert isinstance(said.value, bool)
    assert said.score == float(said.value)
    return said.value
