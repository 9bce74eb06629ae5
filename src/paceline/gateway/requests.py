"""What a child asks, checked: whose it is, where it is to go, and what of it may pass.

    /<ticket>/<upstream>/<path>        the ticket may stand in the key too, as long as the two agree

Nothing is passed on but what a model call needs: a path without tricks that leads to one, its query without
keys, and the headers that SDKs send for the provider to read. Everything else stays here.

Decisions on values. Knows nothing of connections.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

import msgspec

from paceline.gateway.refusals import Refusal
from paceline.gateway.tickets import PREFIX, Ticket, Tickets
from paceline.gateway.upstreams import Upstream
from paceline.pace.providers import Wire, endpoint_of
from paceline.pace.requests import KEY_HEADERS
from paceline.sim.requests import Request

_PLAIN: Final = re.compile(r"/[A-Za-z0-9._~:@!$&'()*+,;=%/-]*")
_TRICKS: Final = re.compile(r"//|/\.{1,2}(?:/|$)|%(?![3-7][0-9A-Fa-f])|%2[eEfF]|%5[cC]|%7[fF]")
"""Empty and dotted steps, and escapes of what would be one, of controls, or of nothing."""
PASSED: Final = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "idempotency-key",
        "openai-beta",
        "user-agent",
        "x-goog-api-client",
    }
)
_PASSED_PREFIX: Final = "x-stainless-"
_WORDS: Final = re.compile(r"[\t -~]*")
"""What may stand in a header that is passed on."""
WORDLESS: Final = frozenset({"models"})
"""Last parts of paths that may be read with GET."""


class Passing(NamedTuple):
    """A request that may go on its way."""

    ticket: Ticket
    upstream: Upstream
    method: str
    url: str
    headers: dict[str, str]
    wire: Wire
    is_call: bool
    """Whether a model is asked, or only which there are."""


def shown(head: Request, tickets: Tickets) -> Ticket | None:
    """The ticket that a request comes with, as far as its head tells."""
    where = _place(head.path)
    return tickets.found([where.ticket if where is not None else "", *_keys(head)])


def checked(request: Request, tickets: Tickets, upstreams: Mapping[str, Upstream]) -> Passing | Refusal:
    """What becomes of a request."""
    where = _place(request.path)
    wire = _wire_of(where.path if where else request.path)
    if where is None:
        return Refusal(404, "there is nothing here: paths are /TICKET/UPSTREAM/...", wire)
    ticket = shown(request, tickets)
    if ticket is None:
        return Refusal(401, "this key is none of an attempt that is under way", wire)
    upstream = upstreams.get(where.upstream)
    if upstream is None:
        known = ", ".join(sorted(upstreams))
        return Refusal(404, f"there is no upstream {where.upstream!r}; there are {known}", wire)
    return _passing(request, where, ticket, upstream, wire)


def _passing(
    request: Request, where: _Place, ticket: Ticket, upstream: Upstream, wire: Wire
) -> Passing | Refusal:
    endpoint = endpoint_of(where.path)
    is_list = request.method in ("GET", "HEAD") and _is_list(where.path)
    if endpoint is None and not is_list and not where.path.endswith("/count_tokens"):
        return Refusal(404, f"{where.path} is no model call", wire)
    if not is_list and request.method != "POST":
        return Refusal(405, f"{request.method} is no way to ask for {where.path}", wire)
    if endpoint is not None and (why := ticket.why_not(endpoint.model or _model_in(request.body))):
        ticket.refused += 1
        return Refusal(403, why, wire)
    if not upstream.key:
        needs = " or ".join(upstream.key_names) or f"a key for {upstream.name}"
        return Refusal(401, f"the run has no key for {upstream.name}: it needs {needs}", wire)
    url = f"{upstream.base_url}{where.path.removeprefix(upstream.prefix)}"
    if query := _query(request.query):
        url = f"{url}?{query}"
    return Passing(
        ticket, upstream, request.method, url, _headers(request, upstream), wire, endpoint is not None
    )


class _Place(NamedTuple):
    ticket: str
    upstream: str
    path: str


def _place(path: str) -> _Place | None:
    if not _PLAIN.fullmatch(path) or _TRICKS.search(path):
        return None
    _, ticket, *rest = path.split("/", 3)
    if not ticket.startswith(PREFIX):
        ticket, rest = "", path[1:].split("/", 1)
    if len(rest) < 2:
        return None
    return _Place(ticket, rest[0], f"/{rest[1]}")


def _is_list(path: str) -> bool:
    parts = path.rstrip("/").split("/")
    return parts[-1] in WORDLESS or (len(parts) > 1 and parts[-2] in WORDLESS)


def _keys(request: Request) -> list[str]:
    headers = request.headers
    keys = [headers.get(name, "").rpartition(" ")[2].strip() for name in KEY_HEADERS]
    return [*keys, *(value for name, value in parse_qsl(request.query) if name == "key")]


def _query(query: str) -> str:
    return urlencode([(name, value) for name, value in parse_qsl(query) if name != "key"])


def _headers(request: Request, upstream: Upstream) -> dict[str, str]:
    passed = {
        name: value
        for name, value in request.headers.items()
        if (name in PASSED or name.startswith(_PASSED_PREFIX)) and _WORDS.fullmatch(value)
    }
    # Not packed: what passes is looked at, and kept.
    return {**passed, "accept-encoding": "identity", **upstream.credentials}


class _Asked(msgspec.Struct):
    model: Any = None


_asked: Final = msgspec.json.Decoder(_Asked).decode


def _model_in(body: bytes) -> str:
    try:
        model = _asked(body).model
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return model if isinstance(model, str) else ""


def _wire_of(path: str) -> Wire:
    endpoint = endpoint_of(path)
    if endpoint is not None:
        return endpoint.wire
    return "anthropic" if "/messages" in path else "gemini" if ":" in path.rpartition("/")[2] else "openai"
