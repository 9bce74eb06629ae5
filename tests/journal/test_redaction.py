"""No secret that can be known as one reaches a file; nothing else is changed by a byte."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from paceline.journal import Journal, Ledger, MemoryJournal, Recorded, Redactor, read_lines
from paceline.journal.encoding import encode_line, seal, unseal
from paceline.journal.records import BeginLine, ErrorFacts, EvaluatorFailure, Key, Line, PoolEnd, Score
from paceline.journal.redaction import KEY_PATTERNS
from tests.journal.disks import HastyDisk
from tests.journal.lines import (
    begin,
    call,
    ended,
    file_of,
    json_values,
    lines,
    outcome,
    output,
    raw,
    run_line,
    texts,
)

ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"


def keys(start: str, alphabet: str, least: int) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least, max_size=least + 30).map(lambda rest: start + rest)


jwt_parts = st.text(WORD, min_size=10, max_size=30)
known_keys = st.one_of(
    keys("sk-", ALNUM, 40),
    keys("sk-proj-", WORD, 40),
    keys("sk-ant-api03-", WORD, 40),
    keys("AIza", WORD, 35),
    keys("ghp_", ALNUM, 36),
    keys("gho_", ALNUM, 36),
    keys("github_pat_", ALNUM + "_", 60),
    keys("xoxb-", string.digits + "-", 20),
    keys("hf_", ALNUM, 34),
    keys("gsk_", ALNUM, 40),
    keys("xai-", ALNUM, 60),
    keys("pplx-", ALNUM, 40),
    keys("r8_", ALNUM, 37),
    st.text(string.ascii_uppercase + string.digits, min_size=16, max_size=16).map("AKIA".__add__),
    st.tuples(jwt_parts, jwt_parts, jwt_parts).map(lambda it: f"eyJ{it[0]}.eyJ{it[1]}.{it[2]}"),
)
# What stands before a key in real texts. After a letter or a digit it is not a key but the end of some word.
befores = st.sampled_from(["", " ", "key=", "'", '"', "\n", "\t", "\\n", "é", "\\u00e9", "=", "(", "\\"])
environment = {"SERVICE_PASSWORD": 'odd "quotes" \\ and é\n', "APP_TOKEN": "plain-value-of-a-token"}
planted = st.one_of(known_keys, st.sampled_from(list(environment.values())))
REDACTOR = Redactor(environ=environment)


def hidden_in(secret: str, how: str) -> Any:
    """A value with the secret somewhere in it, as tasks and traces have them."""
    match how:
        case "text":
            return secret
        case "field":
            return {secret: {"deep": [1, None, 0.1]}}
        case "deep":
            return {"messages": [{"content": ["a", {"b": secret}]}]}
        case "json in text":
            return json.dumps({"tool": {"result": secret}})
        case "readable json in text":
            return json.dumps([f"{secret} tail"], ensure_ascii=False)
        case _:
            return f"Authorization: Bearer {secret}\nAccept: */*"


HOWS = ["text", "field", "deep", "json in text", "readable json in text", "header"]


def traces_of(secret: str) -> list[bytes]:
    """How the secret would stand in a file if it had got there."""
    once = json.dumps(secret)[1:-1]
    readable = msgspec.json.encode(secret)[1:-1].decode()
    forms = {secret, once, readable}
    forms |= {json.dumps(form)[1:-1] for form in forms} | {
        msgspec.json.encode(form)[1:-1].decode() for form in forms
    }
    return [form.encode() for form in forms]


@settings(max_examples=80)
@given(secret=planted, before=befores, how=st.sampled_from(HOWS), where=st.integers(0, 8), after=texts)
def test_no_planted_key_survives_anywhere(
    secret: str,
    before: str,
    how: str,
    where: int,
    after: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    after = "" if after[:1] in WORD + "/+=.~" else after
    value = hidden_in(before + secret + after, how)
    text = value if isinstance(value, str) else json.dumps(value)
    place = tmp_path_factory.mktemp("run")
    plain = begin("plain", inputs=raw("nothing to hide"))
    error = ErrorFacts(type="AuthError", message=text, trace=text)
    candidates: list[Line] = [
        begin("a", inputs=raw(value)),
        begin(text, hash="h"),
        output("a", output=raw(value)),
        output("a", attributes=raw(value)),
        outcome("a", "task_error", error=error),
        outcome("a", "scored", scores=[Score(name=text, value=text, reason=text)]),
        outcome("a", "evaluator_error", failures=[EvaluatorFailure(by="judge", error=error)]),
        run_line(settings={"model": value}, command=["paceline", text]),
        output("a", metrics={text: 1}),
    ]
    line = candidates[where]
    with Journal.create(place, run_line(), redactor=REDACTOR, disk=HastyDisk()) as journal:
        journal.append(plain)
        journal.append(line)
        big = journal.keep(msgspec.json.encode([value, "x" * 300_000]))
        journal.append(output("big", output=big))
    content = (place / "journal.jsonl").read_bytes()
    for path in place.rglob("*"):
        assert path.is_dir() or not any(form in path.read_bytes() for form in traces_of(secret))
    written = content.split(b"\n")
    assert written[1] + b"\n" == file_of(plain)
    assert b"[redacted:" in written[2]
    assert b"[redacted:" in next((place / "blobs").iterdir()).read_bytes()
    entries = list(read_lines(place))
    assert [type(entry.line) for entry in entries if isinstance(entry, Recorded)] == [
        type(each) for each in (run_line(), plain, line, output("big"))
    ]


@given(several=st.lists(lines, max_size=5))
def test_lines_without_a_secret_are_left_byte_for_byte(several: list[Line]) -> None:
    bodies = [encode_line(line) for line in several]
    assert REDACTOR.clean(bodies, b"\n".join(bodies)) is None


@given(lines, known_keys)
def test_beside_a_line_with_a_secret_the_others_stay_as_they_are(line: Line, secret: str) -> None:
    bodies = [encode_line(line), encode_line(begin("a", inputs=raw(secret)))]
    cleaned = REDACTOR.clean(bodies, b"\n".join(bodies))
    assert cleaned is not None
    assert cleaned[0] == bodies[0]
    assert isinstance(unseal(cleaned[1]), BeginLine)
    assert secret.encode() not in cleaned[1]


@given(json_values, known_keys)
def test_rewriting_keeps_numbers_structure_and_all_other_text(value: object, secret: str) -> None:
    content = msgspec.json.encode([value, secret, value])
    before, _, after = msgspec.json.decode(REDACTOR.clean_value(content))
    assert before == after == msgspec.json.decode(msgspec.json.encode(value))


def test_big_and_precise_numbers_are_not_touched() -> None:
    content = b'{"n":123456789012345678901234567890,"x":1.10,"e":1e400,"k":"sk-aaaaaaaaaaaaaaaaaaaaaaaa"}'
    assert REDACTOR.clean_value(content) == content.replace(
        b"sk-aaaaaaaaaaaaaaaaaaaaaaaa", b"[redacted:openai-key]"
    )


@pytest.mark.parametrize(
    "innocent",
    [
        "task-0123456789012345678901234567890",
        "disk-usage-of-all-the-machines-we-have",
        "a sk-learn pipeline",
        "the bearer of good news",
        "bearer responsibilities",
        "hf_hub_download_with_all_options",
        "AIzawa",
        "eyJ is how JWTs begin",
        "xoxo",
        "r8_short",
        "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_what_only_resembles_a_key_is_kept(innocent: str) -> None:
    assert REDACTOR.clean_text(innocent) == innocent
    assert REDACTOR.clean_value(msgspec.json.encode(innocent)) == msgspec.json.encode(innocent)


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("OPENAI_API_KEY", "anything-of-length", True),
        ("DB_PASSWORD", "hunter2hunter2", True),
        ("db_password", "hunter2hunter2", True),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/keys/key.json", False),
        ("SSH_KEY_FILE", "~/.ssh/id_ed25519", False),
        ("MAX_TOKENS", "100000", False),
        ("MAX_TOKENS", "12345678", False),
        ("PIN_TOKEN", "1234567890123456", True),
        ("USE_TOKEN", "true", False),
        ("DB_PASSWORD", "password", False),
        ("SECRET_KEY", "--------", False),
        ("A_KEY", "evaluator_error", False),
        ("A_KEY", "expected_", False),
        ("EDITOR", "some-long-editor-name", False),
    ],
)
def test_which_variables_of_the_environment_hold_secrets(name: str, value: str, secret: bool) -> None:
    cleaned = Redactor(environ={name: value}).clean_text(f"<{value}>")
    assert cleaned == (f"<[redacted:{name}]>" if secret else f"<{value}>")


def test_a_secret_that_begins_like_another_is_taken_whole() -> None:
    redactor = Redactor(environ={"A_KEY": "secret-one", "B_KEY": "secret-one-longer"})
    assert redactor.clean_text("secret-one-longer secret-one") == "[redacted:B_KEY] [redacted:A_KEY]"


def test_configured_names_are_fields_and_variables() -> None:
    redactor = Redactor(names=["pin", "LOGIN"], environ={"LOGIN": "ann"})
    content = b'{"pin":"1234","PIN":"","n":{"Pin":"99","pin":7,"other":"user ann"}}'
    assert msgspec.json.decode(redactor.clean_value(content)) == {
        "pin": "[redacted:pin]",
        "PIN": "",
        "n": {"Pin": "[redacted:pin]", "pin": 7, "other": "user [redacted:LOGIN]"},
    }


def test_a_configured_variable_cannot_take_the_journal_s_own_words_away() -> None:
    redactor = Redactor(names=["LOGIN"], environ={"LOGIN": "value"})
    body = encode_line(outcome("a", "scored", True))
    assert redactor.clean([body], body) is None


def test_an_aws_secret_is_known_by_the_field_it_stands_in() -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    for value in ({"aws_secret_access_key": secret}, {"SecretAccessKey": secret}):
        assert secret.encode() not in REDACTOR.clean_value(msgspec.json.encode(value))
    for text in (f"aws_secret_access_key = {secret}", f'AWS_SECRET_ACCESS_KEY="{secret}"'):
        assert secret not in REDACTOR.clean_text(text)
        assert secret.encode() not in REDACTOR.clean_value(msgspec.json.encode(text))


def test_a_private_key_goes_as_a_whole() -> None:
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"
    content = msgspec.json.encode(f"before {block} after")
    assert REDACTOR.clean_value(content) == b'"before [redacted:private-key] after"'
    assert REDACTOR.clean_text(block[:50]) == "[redacted:private-key]"


def test_own_patterns_are_searched_for_too() -> None:
    redactor = Redactor.standard(patterns={"badge": r"BADGE-\d{4}"})
    assert redactor.clean_value(b'"BADGE-1234 BADGE-x"') == b'"[redacted:badge] BADGE-x"'
    assert "[redacted:openai-key]" in redactor.clean_text("sk-" + "a" * 30)


def test_every_known_pattern_has_its_alarm() -> None:
    examples = {
        "anthropic-key": "sk-ant-" + "a" * 20,
        "openai-key": "sk-" + "a" * 20,
        "google-key": "AIza" + "a" * 30,
        "github-token": "ghs_" + "a" * 30,
        "slack-token": "xoxb-" + "1" * 10,
        "aws-key-id": "ASIA" + "A" * 16,
        "aws-secret-key": "aws_secret_access_key=" + "a" * 40,
        "huggingface-token": "hf_" + "a" * 20,
        "groq-key": "gsk_" + "a" * 20,
        "xai-key": "xai-" + "a" * 20,
        "perplexity-key": "pplx-" + "a" * 20,
        "replicate-token": "r8_" + "a" * 20,
        "bearer-token": "bearer " + "a" * 20,
        "jwt": "eyJ" + "a" * 8 + ".eyJ" + "a" * 8 + "." + "a" * 8,
        "private-key": "-----BEGIN PRIVATE KEY-----",
    }
    assert examples.keys() == KEY_PATTERNS.keys()
    for name, text in examples.items():
        assert f"[redacted:{name}]".encode() in REDACTOR.clean_value(msgspec.json.encode(text))


def test_paceline_s_own_fields_are_never_touched() -> None:
    digest = "0123456789abcdef"
    redactor = Redactor(environ={"CACHE_KEY": digest, "OTHER_KEY": "xscoredx"})
    body = encode_line(begin("a", hash=digest, inputs=raw({"hash": digest, "kind": "xscoredx"})))
    assert redactor.clean([body], body) == [
        body.replace(b'{"hash":"0123456789abcdef"', b'{"hash":"[redacted:CACHE_KEY]"').replace(
            b'"xscoredx"', b'"[redacted:OTHER_KEY]"'
        )
    ]


def test_what_a_pool_is_called_is_never_so_secret_that_its_figures_are_lost() -> None:
    own = ["requests", "accepted", "stragglers", "by_cause", "token_rate"]
    redactor = Redactor(environ={f"OWN_{number}_KEY": word for number, word in enumerate(own)})
    pool = PoolEnd(pool="openai:small", token_rate=9.0, accepted=3, by_cause={"requests": 1})
    body = encode_line(ended(limited={"requests": 3.0, "stragglers": 7.0}, pools=[pool]))
    assert redactor.clean([body], body) is None


def test_a_key_in_the_error_of_a_call_goes_and_the_call_stays() -> None:
    body = encode_line(call("a", outcome="fatal", error="no such key: sk-" + "a1" * 20))
    (cleaned,) = REDACTOR.clean([body], body) or [b""]
    line = unseal(seal(cleaned)[:-1])
    assert line == call("a", outcome="fatal", error="no such key: [redacted:openai-key]")


@given(known_keys, befores)
def test_cleaning_twice_changes_nothing_more(secret: str, before: str) -> None:
    once = REDACTOR.clean_text(before + secret)
    assume("[redacted:" in once)
    assert REDACTOR.clean_text(once) == once


def test_a_key_whose_name_holds_a_secret_is_done_all_the_same(tmp_path: Path) -> None:
    name = "ask with sk-" + "a1" * 20
    with Journal.create(tmp_path / "run", run_line(), redactor=REDACTOR) as journal:
        journal.append(outcome(name, "timeout"))
    assert Ledger.read(tmp_path / "run", redactor=REDACTOR).tally().done == 1
    assert "Done" in str(Ledger.read(tmp_path / "run", redactor=REDACTOR).state(Key(name)))


def test_a_journal_in_memory_keeps_no_secret_from_its_reader_but_that(tmp_path: Path) -> None:
    journal = MemoryJournal(run_line(), redactor=REDACTOR)
    journal.append(begin("a", inputs=raw("sk-" + "a1" * 20)))
    line = list(journal.entries())[1]
    assert isinstance(line, Recorded)
    assert bytes(line.line.inputs) == b'"[redacted:openai-key]"'  # type: ignore[union-attr]
