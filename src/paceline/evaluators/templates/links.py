"""Templates about links: does a text lead anywhere? Each is asked for over the network, with HEAD.

What a model writes may name any host, those inside of your network too. So only hosts are asked whose
addresses are public, at the very address that was looked at, redirects included; no body is read, nothing is
sent along, and no proxy is used.

A link is good if its server says so (a page behind a login is there), and bad if its server says that there
is no such page, if there is no such host, or if nobody listens there. What was silent, broken or not public
may be good: where that decides, there is no verdict.
"""

from __future__ import annotations

import errno
import http.client
import ipaddress
import re
import socket
import ssl
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote, urljoin, urlsplit

from paceline.errors import UsageError
from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, holds
from paceline.evaluators.templates.formats import ascii_host, is_host
from paceline.evaluators.wording import brief

MOST: Final = 50
"""Links that one text may have."""
AT_ONCE: Final = 8
HOPS: Final = 5
_LINK: Final = re.compile(r"\bhttps?://[^\s<>\"'`\])}]+|\bwww\.[^\s<>\"'`\])}]+", re.IGNORECASE)
_IS_THERE: Final = frozenset({401, 402, 403, 405, 406, 407, 411, 426, 428, 429, 451})
"""Refusals of whoever asks, and of how, and not of what is asked for."""
_NO_SUCH_HOST: Final = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})

State = Literal["good", "bad", "unknown"]


class LinkUnknown(ConnectionError):
    """Whether a link is good could not be found out."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link, and what became of it."""

    url: str
    state: State
    why: str

    def __str__(self) -> str:
        return f"{brief(self.url)}: {self.why}"


def contains_valid_link(text: str, *, timeout: float = 5.0) -> Finding:
    """The text has at least one link that leads somewhere. Asks the network, public addresses only."""
    found = _looked_at(text, timeout)
    if good := _in_state(found, "good"):
        return holds(True, str(good[0]))
    _refuse_unknown(found)
    return holds(False, "; ".join(map(str, found[:3])) or "there is no link in it")


def no_invalid_links(text: str, *, timeout: float = 5.0) -> Finding:
    """The text has no link that leads nowhere. Asks the network, public addresses only."""
    found = _looked_at(text, timeout)
    if bad := _in_state(found, "bad"):
        return holds(False, "; ".join(map(str, bad[:3])))
    _refuse_unknown(found)
    return holds(True, f"all of {len(found)} links lead somewhere" if found else "there is no link in it")


def _in_state(links: Iterable[Link], state: State) -> list[Link]:
    return [link for link in links if link.state == state]


def _refuse_unknown(links: Iterable[Link]) -> None:
    if unknown := _in_state(links, "unknown"):
        raise LinkUnknown("; ".join(map(str, unknown[:3])))


def links_in(text: str) -> list[str]:
    """The links of a text, each once, without the punctuation after them."""
    found = (match.group().rstrip(".,;:!?…") for match in _LINK.finditer(text))
    return list(dict.fromkeys(link if "://" in link else f"https://{link}" for link in found))


def _looked_at(text: str, timeout: float) -> list[Link]:
    if not 0 < timeout <= 60:
        raise UsageError(f"a link cannot have {timeout:g} s of time", hint="timeout=5")
    links = links_in(text)
    if len(links) > MOST:
        raise UsageError(f"{len(links)} links are too many to ask for", hint=f"{MOST} are the most")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda url: _link(url, timeout), links))


def _link(url: str, timeout: float) -> Link:
    try:
        return _followed(url, timeout)
    except _NotPublic as error:
        return Link(url, "unknown", str(error))
    except socket.gaierror as error:
        state: State = "bad" if error.errno in _NO_SUCH_HOST else "unknown"
        return Link(url, state, "there is no such host" if state == "bad" else f"its host: {error}")
    except ssl.SSLCertVerificationError as error:
        return Link(url, "bad", f"its certificate is not valid: {error.verify_message}")
    except OSError as error:
        refused = error.errno == errno.ECONNREFUSED
        return Link(url, "bad" if refused else "unknown", f"{error.strerror or error}")
    except (http.client.HTTPException, ValueError) as error:
        return Link(url, "unknown", f"{type(error).__name__}: {error}")


def _followed(url: str, timeout: float) -> Link:
    """Where a link leads, after redirects."""
    place = url
    for _ in range(HOPS + 1):
        parts = urlsplit(place)
        if parts.scheme not in ("http", "https") or not parts.hostname or not is_host(parts.hostname):
            return Link(url, "bad", "it is no link")
        status, onward = _asked(place, timeout)
        if 300 <= status < 400 and onward:
            place = urljoin(place, onward)
            continue
        if status < 400 or status in _IS_THERE:
            return Link(url, "good", f"status {status}")
        return Link(url, "bad" if status < 500 else "unknown", f"status {status}")
    return Link(url, "bad", f"it leads on more than {HOPS} times")


class _NotPublic(Exception):
    """An address that only means something here, and that nobody outside is to have asked for."""


def is_public(address: str) -> bool:
    """Whether an address is one of the public network, whatever it is wrapped in."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo and found.teredo[1])
        if inner:
            return is_public(str(inner))
    return found.is_global and not found.is_multicast


def _asked(url: str, timeout: float) -> tuple[int, str | None]:
    """The status of a link, and where it leads on to."""
    parts = urlsplit(url)
    assert parts.hostname is not None, "whoever asks has looked"
    port = parts.port or (443 if parts.scheme == "https" else 80)
    connection = _Pinned(ascii_host(parts.hostname), port, timeout, encrypted=parts.scheme == "https")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(
            "HEAD",
            quote(path, safe="%/:=&?~+!$,;'@()*[]"),
            headers={"User-Agent": "paceline", "Accept": "*/*"},
        )
        answer = connection.getresponse()
        return answer.status, answer.getheader("Location")
    finally:
        connection.close()


class _Pinned(http.client.HTTPConnection):
    """A connection to the address that was looked at: asked for again, a name may lead elsewhere."""

    def __init__(self, host: str, port: int, timeout: float, *, encrypted: bool) -> None:
        super().__init__(host, port, timeout=timeout)
        self._encrypted = encrypted
        self._wait = timeout

    def connect(self) -> None:
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        if not all(map(is_public, addresses)):
            raise _NotPublic(f"{self.host} has an address that is not public, and is not asked")
        plain = socket.create_connection((addresses[0], self.port), self._wait)
        self.sock = plain
        if self._encrypted:
            self.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=self.host)


TEMPLATES: Final = (
    computed(contains_valid_link, "Pass/Fail"),
    computed(no_invalid_links, "Pass/Fail"),
)
