"""The server of a view: for reading, on this machine, and nothing beyond the runs that it has listed."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.errors import UsageError
from paceline.journal.places import locate
from paceline.view.server import MOST_FOLLOWED, View
from tests.report.html.runs import SPICES, put
from tests.report.html.written import read_pack
from tests.report.journals import ended, manifest, passing, run


@pytest.fixture
def view(tmp_path: Path) -> Iterator[View]:
    """Two runs, served."""
    put(tmp_path / "runs" / "one", run(started=2.0), *passing("a", "b"), manifest(2), ended())
    put(tmp_path / "runs" / "two", run(started=1.0), *passing("a"), manifest(1), ended())
    (tmp_path / "secret.txt").write_text("what nobody may see")
    with View(tmp_path / "runs", port=0) as view:
        yield view


def ask(
    view: View, target: str, *, method: str = "GET", host: str | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", view.port, timeout=30)
    try:
        connection.putrequest(method, target, skip_host=True)
        connection.putheader("Host", host if host is not None else f"127.0.0.1:{view.port}")
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def runs_of(view: View) -> list[str]:
    """The ids, latest first."""
    return [each["id"] for each in json.loads(ask(view, "/api/runs")[2])]


def test_the_list_leads_to_reports_and_these_to_their_cases(view: View) -> None:
    first, second = runs_of(view)
    status, headers, body = ask(view, f"/run/{first}")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert f'data-source="/run/{first}"'.encode() in body
    head, columns = read_pack(ask(view, f"/run/{first}/sheet?since=0")[2])
    assert columns["/case"] == ["a", "b"]
    assert head["report"]["pass_rate"] == 1.0
    assert len(ask(view, f"/run/{first}/bodies?from=0")[2].split(b"\n")) == 2
    assert json.loads(ask(view, f"/run/{second}/report")[2])["report"]["n"] == 1


def test_two_runs_are_held_against_each_other(view: View) -> None:
    first, second = runs_of(view)
    told = json.loads(ask(view, f"/api/compare?a={second}&b={first}")[2])
    assert told["pairs"][0]["n_changes"]["new"] == 1
    assert told["runs"]["A"]["n"] == 1


@pytest.mark.parametrize("names", ["", "?a=x&b=y", "?a=../one&b=../two", "?a={0}", "?a={0}&b=" + "0" * 12])
def test_only_runs_that_were_listed_are_compared(view: View, names: str) -> None:
    first = runs_of(view)[0]
    assert ask(view, f"/api/compare{names.format(first)}")[0] == 404


def test_a_bookmark_of_a_run_works_before_anybody_has_seen_the_list(view: View, tmp_path: Path) -> None:
    first = runs_of(view)[0]
    with View(tmp_path / "runs", port=0) as another:
        assert ask(another, f"/run/{first}/sheet?since=0")[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "localhost.evil:{port}"]
)
def test_a_page_of_somebody_else_gets_nothing(view: View, host: str) -> None:
    """A name that was made to point here is still the name of somebody else."""
    for target in ("/", "/api/runs"):
        status, _, body = ask(view, target, host=host.format(port=view.port))
        assert status == 403
        assert b"one" not in body


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}"])
def test_this_machine_may_be_called_by_any_of_its_names(view: View, host: str) -> None:
    assert ask(view, "/api/runs", host=host.format(port=view.port))[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "BREW"])
def test_nothing_but_reading_is_answered(view: View, method: str) -> None:
    status, headers, _ = ask(view, "/api/runs", method=method)
    assert status == 405
    assert headers["allow"] == "GET"


@pytest.mark.parametrize(
    "target",
    [
        "/secret.txt",
        "/../secret.txt",
        "/run/../secret.txt",
        "/run/..%2f..%2fsecret.txt",
        "/run/" + "0" * 12,
        "/run/" + "0" * 12 + "/sheet",
        "/run/one",
        "/run/ONE/sheet",
        "/run//sheet",
        "//etc/passwd",
        "/etc/passwd",
        "/run/{id}/../../secret.txt",
        "/run/{id}/journal.jsonl",
        "/run/{id}/sheet/",
        "/run/{id}%00/sheet",
        "/run/{id}\\..\\secret.txt",
        "/api/runs/..",
        "/static/main.mjs",
        "http://127.0.0.1/secret.txt",
    ],
)
def test_no_address_leads_to_a_file(view: View, target: str) -> None:
    name = runs_of(view)[0]
    status, _, body = ask(view, target.replace("{id}", name))
    assert status == 404
    assert b"nobody may see" not in body


@pytest.mark.parametrize("number", ["", "-1", "x", "1e9", "9" * 40, "0x10", "1;2", "%00"])
def test_a_number_that_is_none_is_the_beginning(view: View, number: str) -> None:
    name = runs_of(view)[0]
    assert ask(view, f"/run/{name}/sheet?since={number}")[0] == 200
    assert ask(view, f"/run/{name}/bodies?from={number}")[0] == 200


def test_every_answer_says_that_nobody_else_may_use_it(view: View) -> None:
    name = runs_of(view)[0]
    for target in ("/", f"/run/{name}", "/api/runs", f"/run/{name}/sheet", "/nothing"):
        headers = ask(view, target)[1]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
    policy = ask(view, "/")[1]["content-security-policy"]
    assert re.fullmatch(
        r"default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; .*", policy
    )
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_a_request_that_is_none_ends_nothing(view: View) -> None:
    for noise in (
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET " + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", view.port), timeout=30) as connection:
            connection.sendall(noise)
            answer = connection.recv(1000)
            assert b"<" not in answer.partition(b"\r\n\r\n")[2]
    assert ask(view, "/api/runs")[0] == 200


def test_a_run_that_was_removed_is_said_to_be_gone(view: View, tmp_path: Path) -> None:
    name = runs_of(view)[0]
    assert ask(view, f"/run/{name}/sheet?since=0")[0] == 200
    locate(tmp_path / "runs" / "one").journal.unlink()
    status, _, body = ask(view, f"/run/{name}/sheet?since=0")
    assert status == 410
    assert b"cannot be read" in body
    assert name not in runs_of(view)
    assert ask(view, f"/run/{name}/sheet?since=0")[0] == 404


def test_only_so_many_runs_are_held(tmp_path: Path) -> None:
    for n in range(MOST_FOLLOWED + 4):
        put(tmp_path / f"run {n}", run(), *passing("a"), manifest(1), ended())
    with View(tmp_path, port=0) as view:
        for name in runs_of(view):
            assert ask(view, f"/run/{name}/sheet?since=0")[0] == 200
        assert len(view._followed) == MOST_FOLLOWED


def test_names_of_runs_may_hold_anything(tmp_path: Path) -> None:
    for n, spice in enumerate(SPICES):
        put(
            tmp_path / f"{n}",
            run(suite=spice, name=spice, run_id=spice),
            *passing(spice),
            manifest(1),
            ended(),
        )
    with View(tmp_path, port=0) as view:
        told = json.loads(ask(view, "/api/runs")[2])
        assert {each["name"] for each in told} == set(SPICES)
        assert all(ask(view, f"/run/{each['id']}/sheet?since=0")[0] == 200 for each in told)


def test_a_port_that_is_taken_is_an_error_only_where_it_was_asked_for(tmp_path: Path) -> None:
    with View(tmp_path, port=0) as first:
        with pytest.raises(UsageError, match=f"port {first.port} cannot be used"):
            View(tmp_path, port=first.port)
        with View(tmp_path) as second, View(tmp_path) as third:
            assert second.port != third.port
