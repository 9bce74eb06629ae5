"""HTTP endpoints as what is under test, said in a suite.yaml: no Python is needed.

    http:
      url: https://api.example.com/ask
      headers: {Authorization: "Bearer {{ env.EXAMPLE_KEY }}"}
      body: {question: "{{ inputs }}"}
      answer: result.text

Knows how it is written. What is sent, and when it cannot be, is the HTTP task's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from paceline.errors import SuiteError, UsageError
from paceline.settings import nearest

if TYPE_CHECKING:
    from paceline.tasks.http import HttpTask

PARTS: Final = ("url", "method", "headers", "body", "answer", "stream")


def endpoint_of(said: object, key: str, where: Callable[[str], str]) -> HttpTask:
    """The task that a mapping describes; `key` is where it stands."""
    from paceline.tasks.http import HttpTask

    if not isinstance(said, Mapping) or "url" not in said:
        raise SuiteError(
            f"{where(key)}: {key} has no url",
            hint="http: {url: 'https://...', body: {question: '{{ inputs }}'}}",
        )
    for name in said:
        if name not in PARTS:
            raise SuiteError(
                f"{where(key)}: {key} has no key {name!r}{nearest(str(name), PARTS)}",
                hint=f"its keys are {', '.join(PARTS)}",
            )
    try:
        return HttpTask(**{str(name): each for name, each in said.items()})
    except UsageError as error:
        raise SuiteError(f"{where(key)}: {error}", hint=error.hint) from None


def variant_of(name: str, said: object, where: Callable[[str], str]) -> HttpTask | None:
    """The task of a variant, if that is an endpoint."""
    if not isinstance(said, Mapping) or set(said) != {"http"}:
        return None
    return endpoint_of(said["http"], f"variants.{name}", where)
