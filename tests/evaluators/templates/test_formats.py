"""Is it JSON, an address, XML, SQL, code that parses, or personal data?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from tests.evaluators.templates.asked import found, passes

GOOD = {
    "is_email": ["ann@example.com", "first.last+tag@sub.example.co.uk", "o'neil@x.io", " a@b.de "],
    "is_url": [
        "https://example.com",
        "http://sub.example.co.uk:8080/path?q=1#x",
        "https://münchen.example/straße",
        "http://localhost:3000/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "ftp://files.example.org/a.zip",
        "mailto:ann@example.com",
        "tel:+15551234567",
        "file:///etc/hosts",
    ],
    "is_json": ['{"a": [1, 2.5, null, true]}', "[]", '"text"', " 12 "],
    "is_xml": ["<a/>", '<?xml version="1.0"?><a b="c"><d>é</d></a>'],
    "is_html": [
        "<p>hello</p>",
        "<ul><li>one<li>two</ul>",
        "<br>",
        "before <b><i>x</i></b> after",
        "<img src=x/>",
    ],
    "is_sql": [
        "SELECT * FROM users WHERE id = ?",
        "select a, count(*) from t join u on t.id = u.id group by a having count(*) > 1 order by 2 limit 5;",
        "INSERT INTO t (a) VALUES ('it''s')",
        "UPDATE t SET x = 1 WHERE y IS NULL",
        "WITH r AS (SELECT 1 AS n) SELECT n FROM r",
        "CREATE TABLE t (id INTEGER PRIMARY KEY); DROP TABLE t;",
        "SELECT 1 -- it's a comment",
    ],
}
BAD = {
    "is_email": [
        *(
            "a..b@x.com",
            ".a@x.com",
            "a.@x.com",
            "a@.x.com",
            "a@-x.com",
            "a@x-.com",
            "a@x",
            "@x.com",
            "a@b@c.com",
        ),
        *("Ann <ann@example.com>", "", f"{'a' * 65}@x.com", "a b@x.com"),
    ],
    "is_url": [
        "not a url",
        "example.com",
        "http://",
        "http://.example.com",
        "http://-example.com",
        "https://a b.com",
    ],
    "is_json": ["{'a': 1}", "[1,]", "NaN", "", "```json\n{}\n```", "{", '{"a": Infinity}'],
    "is_xml": ["<a>", "<a></b>", "text", "", "<a/><b/>", '<!DOCTYPE l [<!ENTITY x "y">]><l>&x;</l>'],
    "is_html": ["plain text", "<p></p></p>", "<b></i></b>", "<div><span></div>", "<b>never closed", "1 < 2"],
    "is_sql": [
        "DROP me like a hot potato",
        "SELECT",
        "SELECT * FROM",
        "hello",
        "",
        "-- only a comment",
        "SELECT (1",
    ],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in GOOD.items() for text in texts])
def test_what_is_well_formed_passes(name: str, text: str) -> None:
    assert passes(name, text=text)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BAD.items() for text in texts])
def test_what_is_not_well_formed_fails(name: str, text: str) -> None:
    said = found(name, text=text)
    assert said.value is False
    assert said.reason


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_is_written_as_json_is_json(document: Any) -> None:
    assert passes("is_json", text=json.dumps(document))


@pytest.mark.parametrize(
    "name", ["is_email", "is_url", "is_json", "is_xml", "is_html", "is_sql", "is_refusal"]
)
@given(text=st.text(max_size=200))
def test_every_text_gets_a_verdict(name: str, text: str) -> None:
    passes(name, text=text)


def test_looking_at_sql_carries_nothing_out(tmp_path: Any) -> None:
    target = tmp_path / "made.db"
    found("is_sql", text=f"ATTACH DATABASE '{target}' AS other; CREATE TABLE other.t (a);")
    assert not target.exists()


@pytest.mark.parametrize(
    ("language", "good", "bad"),
    [
        ("python", "def f(x):\n    return x + 1", "def f(x) return x"),
        ("json", "[1]", "[1"),
        ("sql", "SELECT 1", "SELEC 1"),
        ("xml", "<a/>", "<a>"),
        ("html", "<p>a</p>", "<b>a</i>"),
    ],
)
def test_syntax_is_that_of_the_language_that_is_named(language: str, good: str, bad: str) -> None:
    assert passes("syntax_validation", text=good, language=language)
    assert not passes("syntax_validation", text=bad, language=language)


def test_without_a_language_it_is_python_and_a_language_that_nothing_parses_is_refused() -> None:
    assert passes("syntax_validation", text="x = 1")
    assert not passes("syntax_validation", text="(" * 10_000)
    with pytest.raises(UsageError, match="language is 'javascript', and wants python"):
        found("syntax_validation", text="let x = 1", language="javascript")


# Shapes -------------------------------------------------------------------------------------------

PERSON = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}


@pytest.mark.parametrize(
    ("actual", "expected", "fits"),
    [
        ({"name": "Ann"}, PERSON, True),
        ('{"name": 5}', PERSON, False),
        ({"name": "Ann", "age": 3}, {"name": "Bob", "age": 41.5}, True),
        ({"name": "Ann"}, {"name": "Bob", "age": 41}, False),
        ({"name": "Ann", "age": "3"}, {"name": "Bob", "age": 41}, False),
        ([{"a": 1}, {"a": 2}], [{"a": 0}], True),
        ([{"a": 1}, {"b": 2}], [{"a": 0}], False),
        ([], [1], True),
        ({"type": "fruit", "n": 1}, {"type": "berry", "n": 2}, True),
        ({"type": "fruit"}, {"type": "berry", "n": 2}, False),
        (True, 1, False),
    ],
)
def test_json_fits_a_schema_or_the_keys_and_types_of_an_example(
    actual: Any, expected: Any, fits: bool
) -> None:
    assert passes("json_scheme_validation", actual_json=actual, expected_json=expected) is fits


def test_it_is_told_where_json_does_not_fit() -> None:
    example = {"users": [{"name": "", "age": 0}]}
    said = found("json_scheme_validation", actual_json={"users": [{"name": "Ann"}]}, expected_json=example)
    assert said.reason == "$.users[0] lacks age"


# Personal data ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("write to ann.lee@example.com today", "email"),
        ("SSN 123-45-6789.", "ssn"),
        ("card 4111 1111 1111 1111", "credit_card"),
        ("call (555) 123-4567", "phone"),
        ("call +49 30 1234 5678", "phone"),
        ("from 192.168.0.17", "ip_address"),
    ],
)
def test_personal_data_is_told_by_its_form(text: str, kinds: str) -> None:
    said = found("regex_pii_detection", text=text)
    assert said.value is False
    assert kinds in said.reason
    assert not passes("regex_pii_detection", text=text, detect_types=kinds)
    others = [
        each for each in ("ssn", "credit_card", "phone", "email", "ip_address") if each not in said.reason
    ]
    assert passes("regex_pii_detection", text=text, detect_types=others)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "version 1.2.3",
        "2026-11-20",
        "order 4111 1111 1111 1112",
        "000-12-3456",
        "999.1.1.1",
        "pi is 3.14159265",
    ],
)
def test_other_numbers_are_no_personal_data(text: str) -> None:
    assert passes("regex_pii_detection", text=text)


def test_a_kind_of_personal_data_that_is_not_known_is_refused_and_not_passed_over() -> None:
    with pytest.raises(UsageError, match="passport"):
        found("regex_pii_detection", text="x", detect_types=["email", "passport"])
