"""Only what a model call needs passes the gateway, and only with a ticket."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.gateway.refusals import Refusal
from paceline.gateway.requests import Passing, checked
from paceline.gateway.tickets import Allowance, Ticket, Tickets
from paceline.gateway.upstreams import upstreams_in
from paceline.sim.requests import Request

UPSTREAMS = upstreams_in(
    {"OPENAI_API_KEY": "sk-real", "ANTHROPIC_API_KEY": "ant-real", "GEMINI_API_KEY": "goo-real"}
)
BODY = json.dumps({"model": "gpt-5"}).encode()


def request(
    path: str, *, method: str = "POST", body: bytes = BODY, query: str = "", **headers: str
) -> Request:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request(method, path, named, body, True, True, query)


class Office:
    """Tickets of two attempts."""

    def __init__(self) -> None:
        self.tickets = Tickets()
        self._open = [self.tickets.issued(), self.tickets.issued()]
        self.mine, self.other = (each.__enter__() for each in self._open)

    def check(self, asked: Request) -> Passing | Refusal:
        return checked(asked, self.tickets, UPSTREAMS)


@pytest.fixture
def office() -> Office:
    return Office()


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("openai/v1/chat/completions", "https://api.openai.com/v1/chat/completions"),
        ("openai/chat/completions", "https://api.openai.com/v1/chat/completions"),
        ("openai/v1/responses", "https://api.openai.com/v1/responses"),
        ("anthropic/v1/messages", "https://api.anthropic.com/v1/messages"),
        ("anthropic/v1/messages/count_tokens", "https://api.anthropic.com/v1/messages/count_tokens"),
        (
            "gemini/v1beta/models/gemini-3:generateContent",
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:generateContent",
        ),
    ],
)
def test_a_call_goes_where_its_upstream_is(office: Office, path: str, url: str) -> None:
    passing = office.check(request(f"/{office.mine.token}/{path}"))
    assert isinstance(passing, Passing)
    assert passing.url == url
    assert passing.ticket is office.mine


def test_the_real_key_takes_the_place_of_the_ticket(office: Office) -> None:
    token = office.mine.token
    for path, header, sent in (
        ("openai/v1/responses", "authorization", "Bearer sk-real"),
        ("anthropic/v1/messages", "x-api-key", "ant-real"),
        ("gemini/v1beta/models/g:generateContent", "x-goog-api-key", "goo-real"),
    ):
        passing = office.check(
            request(
                f"/{token}/{path}",
                authorization=f"Bearer {token}",
                x_api_key=token,
                query=f"key={token}&alt=sse",
            )
        )
        assert isinstance(passing, Passing)
        assert passing.headers[header] == sent
        assert token not in str(passing.headers) + passing.url
        assert passing.url.endswith("?alt=sse")


def test_a_ticket_may_stand_in_the_key_alone(office: Office) -> None:
    path, token = "/openai/v1/responses", office.mine.token
    assert isinstance(office.check(request(path, authorization=f"Bearer {token}")), Passing)
    assert isinstance(office.check(request(path, x_api_key=token)), Passing)


def test_what_is_no_ticket_does_not_pass(office: Office) -> None:
    for asked in (
        request("/openai/v1/responses"),
        request("/openai/v1/responses", authorization="Bearer sk-real"),
        request("/pl-unknown/openai/v1/responses"),
        request(f"/{office.mine.token}/openai/v1/responses", x_api_key=office.other.token),
    ):
        refusal = office.check(asked)
        assert isinstance(refusal, Refusal)
        assert refusal.status == 401


def test_a_ticket_is_void_when_its_attempt_is_over() -> None:
    tickets = Tickets()
    with tickets.issued() as ticket:
        asked = request(f"/{ticket.token}/openai/v1/responses")
        assert isinstance(checked(asked, tickets, UPSTREAMS), Passing)
    assert isinstance(checked(asked, tickets, UPSTREAMS), Refusal)
    assert len(tickets) == 0


@pytest.mark.parametrize(
    "path",
    [
        "openai/v1/files",
        "openai/v1/fine_tuning/jobs",
        "openai/../../admin/chat/completions",
        "openai/v1/./chat/completions",
        "openai//chat/completions",
        "openai/v1%2fchat/completions",
        "openai/%2e%2e/chat/completions",
        "openai/v1%5cchat/completions",
        "openai/%00/chat/completions",
        "openai/%0d%0aHost:evil/chat/completions",
        "openai",
        "",
        "elsewhere/v1/chat/completions",
    ],
)
def test_what_leads_to_no_model_call_does_not_pass(office: Office, path: str) -> None:
    refusal = office.check(request(f"/{office.mine.token}/{path}"))
    assert isinstance(refusal, Refusal)
    assert refusal.status == 404


def test_which_models_there_are_may_be_asked(office: Office) -> None:
    for path in ("openai/v1/models", "openai/v1/models/gpt-5"):
        passing = office.check(request(f"/{office.mine.token}/{path}", method="GET"))
        assert isinstance(passing, Passing)
        assert not passing.is_call
    refusal = office.check(request(f"/{office.mine.token}/openai/v1/responses", method="DELETE"))
    assert isinstance(refusal, Refusal)
    assert refusal.status == 405


def test_headers_that_are_nobodys_business_stay_here(office: Office) -> None:
    passing = office.check(
        request(
            f"/{office.mine.token}/anthropic/v1/messages",
            anthropic_version="2023-06-01",
            x_stainless_lang="python",
            cookie="session=1",
            x_forwarded_for="10.0.0.1",
            openai_organization="org-1",
            host="127.0.0.1:1",
            content_length="17",
        )
    )
    assert isinstance(passing, Passing)
    assert set(passing.headers) == {
        "anthropic-version",
        "x-stainless-lang",
        "accept-encoding",
        "x-api-key",
    }


def test_without_a_real_key_the_remedy_is_said() -> None:
    tickets = Tickets()
    with tickets.issued() as ticket:
        refusal = checked(request(f"/{ticket.token}/anthropic/v1/messages"), tickets, upstreams_in({}))
    assert isinstance(refusal, Refusal)
    assert refusal.status == 401
    assert "it needs ANTHROPIC_API_KEY" in refusal.reason
    assert json.loads(refusal.body)["error"]["type"] == "authentication_error"


def test_models_that_are_not_allowed_are_refused() -> None:
    tickets = Tickets()
    with tickets.issued(None, Allowance(models=("gpt-5*", "claude-*"))) as ticket:
        for model, passes in (("gpt-5-mini", True), ("gpt-4", False), ("", False)):
            body = json.dumps({"model": model}).encode()
            asked = request(f"/{ticket.token}/openai/v1/responses", body=body)
            assert isinstance(checked(asked, tickets, UPSTREAMS), Passing) is passes
        gemini = request(f"/{ticket.token}/gemini/v1beta/models/gemini-3:generateContent", body=b"{}")
        assert isinstance(checked(gemini, tickets, UPSTREAMS), Refusal)
    assert ticket.refused == 3


@given(st.text(max_size=60), st.sampled_from(["GET", "POST", "PUT"]), st.binary(max_size=30))
def test_whatever_is_asked_leaves_the_host_as_it_is(path: str, method: str, body: bytes) -> None:
    office = Office()
    ticket: Ticket = office.mine
    for asked in (f"/{path}", f"/{ticket.token}/{path}", f"/{ticket.token}/openai/{path}"):
        passing = office.check(request(asked, method=method, body=body))
        if isinstance(passing, Passing):
            assert passing.url.startswith("https://api.openai.com/v1/")
            assert ".." not in passing.url
