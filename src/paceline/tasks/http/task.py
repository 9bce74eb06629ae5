"""An HTTP endpoint as a task: what users write.

    HttpTask("https://api.example.com/ask", body={"question": "{{ inputs }}"}, answer="result.text")

It is paced, sent again and recorded like the call of a model, with a pool of its own. Deadlines are those of
every attempt.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from paceline.errors import UsageError
from paceline.tasks.attempt import current_attempt
from paceline.tasks.http.answers import HttpUnreachable, answer_in
from paceline.tasks.http.spec import spec_of
from paceline.tasks.notes import set_eval_attribute


class HttpTask:
    """A task that asks an endpoint once for each case."""

    needs_place = True
    asks_elsewhere = True
    """No simulated provider answers for it: a rehearsal would be the run itself."""

    def __init__(
        self,
        url: str,
        *,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | Mapping[str, Any] | Sequence[Any] | None = None,
        answer: str | None = None,
        stream: bool = False,
    ) -> None:
        """`url`, `headers` and `body` may have places: `{{ inputs.field }}`, `{{ env.NAME }}` and
        `{{ case.name }}`.

        `method` is POST where there is a body, else GET. `answer` is the path to the answer in the JSON of
        the response; without it, all of that, or the text where it is none. `stream` puts together an answer
        that comes as server-sent events.
        """
        self._said = {
            "url": url,
            "method": method,
            "headers": dict(headers) if headers else None,
            "body": body,
            "answer": answer,
            "stream": stream,
        }
        self._spec = spec_of(url, method=method, headers=headers, body=body, answer=answer, stream=stream)
        written = msgspec.json.encode({name: said for name, said in self._said.items() if said})
        self.version = written.decode()
        self.__qualname__ = f"{self._spec.method} {self._spec.url.source.partition('?')[0]}"

    def __repr__(self) -> str:
        return f"HttpTask({self.__qualname__!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self._said,)

    def check_ready(self) -> None:
        """Raise a `UsageError` with the remedy where a variable that it wants is not set."""
        self._spec.check_ready()

    async def __call__(self, inputs: Any) -> Any:
        """Ask, and take the answer out of the response."""
        import httpx2

        from paceline.tasks.http.asking import ask

        url, headers, body = self._spec.request(_values(inputs))
        if self._spec.stream:
            headers.setdefault("accept", "text/event-stream")
        try:
            told = await ask(self._spec.method, url, headers, body)
        except httpx2.InvalidURL as error:
            raise UsageError(f"http: {url} cannot be asked: {error}") from None
        except httpx2.TransportError as error:
            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise HttpUnreachable(f"{self.__qualname__} did not answer: {said}") from None
        set_eval_attribute("http_status", told.status)
        return answer_in(self._spec, told.status, told.content_type, told.body)


def _values(inputs: Any) -> dict[str, Any]:
    attempt = current_attempt.get()
    case: dict[str, Any] = {"name": "", "repeat": 0, "variant": "", "attempt": 1}
    if attempt is not None:
        key = attempt.key
        case = {
            "name": key.case,
            "repeat": key.repeat,
            "variant": key.variant,
            "attempt": attempt.number,
        }
    return {"inputs": inputs, "env": os.environ, "case": case}


def _made(said: Mapping[str, Any]) -> HttpTask:
    return HttpTask(**said)
