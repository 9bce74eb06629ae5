"""Links are asked for: what is there, what is not, what nobody can say, and what must not be asked at all."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.evaluators.templates import links
from paceline.evaluators.templates.links import LinkUnknown, is_public, links_in
from tests.evaluators.templates.asked import found, passes

STATUS = {"/ok": 200, "/login": 401, "/busy": 429, "/gone": 404, "/gone-for-good": 410, "/broken": 500}


class Site:
    """A server on this machine that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                site.asked.append((self.command, self.path))
                if self.path.startswith("/to?"):
                    self.send_response(302)
                    self.send_header("Location", self.path.partition("?")[2])
                else:
                    self.send_response(STATUS.get(self.path, 404))
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Nobody wants to know."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site that is taken for one of the public network."""
    monkeypatch.setattr(links, "is_public", lambda _: True)
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield site
    site.server.shutdown()
    site.server.server_close()
    thread.join()


@pytest.mark.parametrize("path", ["/ok", "/login", "/busy", "/to?/ok", "/to?/to?/login"])
def test_a_page_that_is_there_is_a_good_link(site: Site, path: str) -> None:
    text = f"See {site.url}{path}."
    assert passes("contains_valid_link", text=text)
    assert passes("no_invalid_links", text=text)
    assert {command for command, _ in site.asked} == {"HEAD"}


@pytest.mark.parametrize("path", ["/gone", "/gone-for-good", "/to?/gone"])
def test_a_page_that_is_not_there_is_a_bad_link(site: Site, path: str) -> None:
    text = f"See {site.url}{path}."
    assert not passes("contains_valid_link", text=text)
    said = found("no_invalid_links", text=text)
    assert said.value is False
    assert "status 4" in said.reason


def test_one_good_link_is_enough_for_one_and_one_bad_one_for_the_other(site: Site) -> None:
    text = f"({site.url}/gone) and <{site.url}/ok>, or {site.url}/broken"
    assert passes("contains_valid_link", text=text)
    assert not passes("no_invalid_links", text=text)


@pytest.mark.parametrize("name", ["contains_valid_link", "no_invalid_links"])
def test_what_a_broken_server_says_decides_nothing(site: Site, name: str) -> None:
    with pytest.raises(LinkUnknown, match="status 500"):
        passes(name, text=f"See {site.url}/broken")


def test_a_link_that_leads_in_a_circle_is_bad(site: Site) -> None:
    site.asked.clear()
    circle = f"{site.url}/to?{'/to?' * 20}/ok"
    assert not passes("no_invalid_links", text=circle)
    assert len(site.asked) == 1 + 5


def test_a_text_without_links_has_no_valid_one_and_no_invalid_one() -> None:
    assert not passes("contains_valid_link", text="no link, only example.com and a@b.com")
    assert passes("no_invalid_links", text="")


def test_nobody_listening_and_no_such_host_are_bad_and_no_answer_of_the_resolver_is_unknown(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        assert not passes("no_invalid_links", text=f"http://127.0.0.1:{taken.getsockname()[1]}/")

    def no_answer(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(errors[0], "told")

    monkeypatch.setattr(socket, "getaddrinfo", no_answer)
    errors = [socket.EAI_NONAME]
    assert not passes("no_invalid_links", text="https://nowhere.example/")
    errors[0] = socket.EAI_AGAIN
    with pytest.raises(LinkUnknown):
        passes("no_invalid_links", text="https://nowhere.example/")


# What must not be asked ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "224.0.0.1",
        ),
        *(
            "::1",
            "fe80::1%eth0",
            "fd00::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "2002:7f00:1::",
            "ff02::1",
        ),
    ],
)
def test_addresses_that_mean_something_only_here_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_addresses_of_the_public_network_are(address: str) -> None:
    assert is_public(address)


def test_a_host_that_is_not_public_is_never_asked(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "is_public", is_public)
    for url in (site.url, site.url.replace("127.0.0.1", "localhost")):
        with pytest.raises(LinkUnknown, match="not public"):
            passes("contains_valid_link", text=f"{url}/ok")
    assert site.asked == []


def test_a_redirect_to_such_a_host_is_not_followed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def resolved(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        address = "127.0.0.1" if host == "127.0.0.1" else "10.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    monkeypatch.setattr(links, "is_public", lambda address: address == "127.0.0.1")
    with pytest.raises(LinkUnknown, match=r"inside\.example has an address that is not public"):
        passes("contains_valid_link", text=f"{site.url}/to?http://inside.example/ok")
    assert len(site.asked) == 1


def test_more_links_than_anybody_reads_are_refused_before_any_is_asked(site: Site) -> None:
    with pytest.raises(UsageError, match="51 links are too many"):
        passes("no_invalid_links", text=" ".join(f"{site.url}/{number}" for number in range(51)))
    assert site.asked == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://a.example/x?y=1#z.", ["https://a.example/x?y=1#z"]),
        ("[here](http://a.example/b), <https://c.example>", ["http://a.example/b", "https://c.example"]),
        ("www.a.example, www.a.example!", ["https://www.a.example"]),
        ("a@b.example and ftp://c.example", []),
    ],
)
def test_links_are_found_without_what_stands_around_them(text: str, expected: list[str]) -> None:
    assert links_in(text) == expected
