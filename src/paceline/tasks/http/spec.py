"""What may be said of an endpoint, checked as a whole before anything is sent.

    url: https://api.example.com/ask           places: {{ inputs.field }}, {{ env.NAME }}, {{ case.name }}
    headers: {Authorization: "Bearer {{ env.EXAMPLE_KEY }}"}
    body: {question: "{{ inputs }}", top_k: 3}
    answer: result.text

A text that is nothing but a place stands for the value there, whatever it is, wherever JSON is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from paceline.errors import UsageError
from paceline.settings import nearest
from paceline.tasks.template import ROOT, Place, Template, found

ROOTS: Final = (ROOT, "env", "case")
"""What places may begin with: `case` has `name`, `repeat`, `variant` and `attempt`."""
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_PATH_HINT: Final = "such as `result.answer` or `choices[0].message.content`"

Body = Any
"""JSON with templates in the place of texts; or one template, for a body that is text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What was said, taken apart."""

    method: str
    url: Template
    headers: Mapping[str, Template]
    body: Body = None
    answer: Place | None = None
    """Where the answer is in the JSON of a response, or of each piece of a stream; None is all of it."""
    stream: bool = False

    def request(self, values: Mapping[str, Any]) -> tuple[str, dict[str, str], bytes]:
        """Address, headers and body for a case."""
        url = self.url.fill_from(values)
        headers = {name.lower(): text.fill_from(values) for name, text in self.headers.items()}
        if self.body is None:
            return url, headers, b""
        if isinstance(self.body, Template) and self.body.only_place() is None:
            headers.setdefault("content-type", "text/plain; charset=utf-8")
            return url, headers, self.body.fill_from(values).encode()
        headers.setdefault("content-type", "application/json")
        return url, headers, msgspec.json.encode(_filled(self.body, values))

    def variables(self) -> list[str]:
        """Variables of the environment that it wants, by name."""
        texts = [self.url, *self.headers.values(), *_templates(self.body)]
        places = [place for text in texts for place in text.places if place.root == "env"]
        return sorted({str(place.path[0]) for place in places if place.path})

    def check_ready(self) -> None:
        """Raise a `UsageError` for a variable that is not there."""
        for name in self.variables():
            if not os.environ.get(name):
                raise UsageError(f"http: {name} is not set here", hint=f"set it: export {name}=...")


def spec_of(
    url: object,
    *,
    method: object = None,
    headers: object = None,
    body: object = None,
    answer: object = None,
    stream: object = None,
) -> Spec:
    """What was said, or a `UsageError` that says what of it cannot be."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://", "{{")):
        raise UsageError(f"http: url is {url!r}", hint="such as https://api.example.com/ask")
    if url.startswith("http") and not urlsplit(url.partition("{{")[0]).netloc and "{{" not in url:
        raise UsageError(f"http: {url} names no host", hint="such as https://api.example.com/ask")
    chosen = str(method or ("GET" if body is None else "POST")).upper()
    if chosen not in METHODS:
        raise UsageError(
            f"http: method cannot be {method!r}{nearest(chosen, METHODS)}",
            hint=f"one of {', '.join(METHODS)}",
        )
    if not isinstance(headers, Mapping | None):
        raise UsageError("http: headers are names with values", hint="headers: {X-Version: '2'}")
    if not isinstance(stream, bool | None):
        raise UsageError(f"http: stream is {stream!r}", hint="true, for an answer that comes in pieces")
    return Spec(
        method=chosen,
        url=_template(url, "url"),
        headers={str(name): _template(str(text), str(name)) for name, text in (headers or {}).items()},
        body=None if body is None else _body(body),
        answer=None if answer is None else path_of(answer),
        stream=bool(stream),
    )


def path_of(written: object) -> Place:
    """`result.answer` as a place in a document."""
    if not isinstance(written, str):
        raise UsageError(f"http: answer is {written!r}", hint=_PATH_HINT)
    path = f"answer.{written}" if written and not written.startswith("[") else f"answer{written}"
    place = Template(f"{{{{ {path} }}}}", where="answer", roots=("answer",)).only_place()
    if place is None:
        raise UsageError(f"http: answer: {written!r} is no path in JSON", hint=_PATH_HINT)
    return place


def _template(text: str, where: str) -> Template:
    return Template(text, where=f"http: {where}", roots=ROOTS)


def _body(written: object) -> Body:
    match written:
        case str():
            return _template(written, "body")
        case Mapping():
            return {str(name): _body(each) for name, each in written.items()}
        case list() | tuple():
            return [_body(each) for each in written]
        case None | bool() | int() | float():
            return written
    raise UsageError(f"http: body holds a {type(written).__name__}", hint="a body is text, or JSON")


def _filled(body: Body, values: Mapping[str, Any]) -> Any:
    match body:
        case Template():
            place = body.only_place()
            return body.fill_from(values) if place is None else found(values[place.root], place, body.where)
        case dict():
            return {name: _filled(each, values) for name, each in body.items()}
        case list():
            return [_filled(each, values) for each in body]
    return body


def _templates(body: Body) -> Iterator[Template]:
    match body:
        case Template():
            yield body
        case dict():
            for each in body.values():
                yield from _templates(each)
        case list():
            for each in body:
                yield from _templates(each)
