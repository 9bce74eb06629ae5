"""Templates about the form of a text: is it JSON, an address, well-formed XML, code that parses?

Each is decided by a parser where there is one, and never by running or fetching what is looked at.
"""

from __future__ import annotations

import ast
import ipaddress
import json
import re
import sqlite3
import warnings
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any, Final, Literal
from urllib.parse import urlsplit
from xml.parsers import expat

from paceline.errors import UsageError
from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, holds
from paceline.evaluators.templates.kinds import Json, Keywords
from paceline.evaluators.wording import brief, kind_of

Language = Literal["python", "json", "sql", "xml", "html"]
Personal = Literal["ssn", "credit_card", "phone", "email", "ip_address"]

_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST: Final = re.compile(rf"(?:{_LABEL}\.)+(?:[a-z]{{2,63}}|xn--[a-z0-9-]{{2,59}})", re.IGNORECASE)
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL: Final = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")


def _names(written: str) -> frozenset[str]:
    return frozenset(written.split())


class _Fault(Exception):
    """What is wrong with a text."""


def _judged(check: Callable[[str], None], text: str, right: str) -> Finding:
    try:
        check(text)
    except _Fault as fault:
        return holds(False, str(fault))
    return holds(True, right)


# Addresses ----------------------------------------------------------------------------------------


def is_email(text: str) -> Finding:
    """The text is an e-mail address and nothing else: RFC 5322's plain form, at a host with a name."""
    local, at, host = text.strip().rpartition("@")
    fine = bool(at and len(local) <= 64 and _LOCAL.fullmatch(local) and len(host) <= 253)
    fine = fine and _HOST.fullmatch(host) is not None
    return holds(fine, f"{brief(text)} is {'an' if fine else 'no'} e-mail address")


def is_url(text: str) -> Finding:
    """The text is an absolute URL and nothing else, at a host that can be one where its scheme has hosts."""
    return _judged(_check_url, text.strip(), "it is an absolute URL")


_WITHOUT_HOST: Final = _names("mailto tel sms urn data news geo")


def _check_url(text: str) -> None:
    if not text or re.search(r"\s", text):
        raise _Fault("it has a space in it, or is empty")
    try:
        parts = urlsplit(text)
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        raise _Fault(f"it is no URL: {error}") from error
    if not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9+.-]*", parts.scheme):
        raise _Fault("it has no scheme, such as https")
    if parts.scheme.lower() in _WITHOUT_HOST:
        if not parts.path:
            raise _Fault(f"nothing follows {parts.scheme}:")
    elif parts.scheme.lower() != "file" and not (host and is_host(host)):
        raise _Fault(f"{brief(host or '')} is no host")


def is_host(host: str) -> bool:
    """Whether this can be a host: a name with a dot in it, localhost, or an IP address."""
    if host == "localhost" or _HOST.fullmatch(ascii_host(host)):
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def ascii_host(host: str) -> str:
    """A host as the network writes it."""
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return host


# Documents ----------------------------------------------------------------------------------------


def is_json(text: str) -> Finding:
    """All of the text is JSON, as RFC 8259 has it: no NaN, no trailing comma, no fence around it."""
    return _judged(_check_json, text, "it is JSON")


def _check_json(text: str) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise _Fault(f"it is not JSON: {error}") from error


def is_xml(text: str) -> Finding:
    """The text is well-formed XML. One with a document type is refused: its entities may grow without end."""
    return _judged(_check_xml, text, "it is well-formed XML")


def _check_xml(text: str) -> None:
    def refuse(*_: object) -> None:
        raise _Fault("it has a document type, which is refused")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text.strip().encode(), True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise _Fault(f"it is not well-formed: {error}") from error


def is_html(text: str) -> Finding:
    """The text holds HTML elements, and each is closed within the one that it is in."""
    return _judged(_check_html, text, "its elements are closed in order")


_VOID: Final = _names("area base br col embed hr img input link meta source track wbr")
_MAY_STAY_OPEN: Final = _names(
    "html head body p li dt dd tr td th thead tbody tfoot option optgroup rt rp colgroup"
)


def _check_html(text: str) -> None:
    parser = _Elements()
    parser.feed(text)
    parser.close()
    if not parser.seen:
        raise _Fault("there is no element in it")
    if left := [tag for tag in parser.open if tag not in _MAY_STAY_OPEN]:
        raise _Fault(f"<{left[-1]}> is never closed")


class _Elements(HTMLParser):
    """Which elements are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen = False

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002  # as the base class has it
        self.seen = True
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002  # as the base class has it
        self.seen = True

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1] != tag and self.open[-1] in _MAY_STAY_OPEN and tag in self.open:
            self.open.pop()
        if not self.open or self.open[-1] != tag:
            raise _Fault(f"</{tag}> closes nothing that is open there")
        self.open.pop()


# Code ---------------------------------------------------------------------------------------------


def is_sql(text: str) -> Finding:
    """The text is SQL that SQLite's grammar takes. Tables need not exist, and nothing is carried out."""
    return _judged(_check_sql, text, "it parses as SQL")


_NO_SYNTAX: Final = ("syntax error", "incomplete input", "unrecognized token", "parser stack overflow")


LONGEST_SQL: Final = 50_000
"""Characters, each of which is looked at once for every semicolon in a text."""


def _check_sql(text: str) -> None:
    if len(text) > LONGEST_SQL:
        raise UsageError(
            f"SQL of {len(text):,} characters is too long to be looked at",
            hint=f"{LONGEST_SQL:,} characters are the most",
        )
    if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in text):
        raise _Fault("it is not SQL: a letter in it can stand in no statement")
    statements = _statements(text)
    if not statements:
        raise _Fault("there is no statement in it")
    with_nothing = sqlite3.connect(":memory:")
    try:
        # What would touch files or settings is not even prepared.
        with_nothing.set_authorizer(_only_look)
        for statement in statements:
            _prepare(with_nothing, statement)
    finally:
        with_nothing.close()


def _only_look(action: int, *_: object) -> int:
    touchy = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA}
    return sqlite3.SQLITE_DENY if action in touchy else sqlite3.SQLITE_OK


def _prepare(connection: sqlite3.Connection, statement: str) -> None:
    try:
        # It is compiled and not run. That a table is missing is found only after it was parsed.
        connection.execute(f"EXPLAIN {statement}")
    except sqlite3.ProgrammingError:
        pass  # it has places for values, and none were given: it was parsed
    except (sqlite3.Error, ValueError) as error:
        if any(sign in str(error) for sign in _NO_SYNTAX) or isinstance(error, ValueError):
            raise _Fault(f"it is not SQL: {error}") from error


def _statements(text: str) -> list[str]:
    """The statements of a text, without those that are only space or comments."""
    found, begun = [], ""
    for part in re.split(r"(?<=;)", text):
        begun += part
        if sqlite3.complete_statement(begun):
            found.append(begun)
            begun = ""
    return [each for each in (*found, begun) if _without_comments(each).strip(" \t\r\n;")]


def _without_comments(text: str) -> str:
    return re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)


def _check_python(text: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
        told = error.msg if isinstance(error, SyntaxError) else f"{type(error).__name__}: {error}"
        raise _Fault(f"it is not Python: {told}{line}") from error


_CHECKS: Final[Mapping[Language, Callable[[str], None]]] = {
    "python": _check_python,
    "json": _check_json,
    "sql": _check_sql,
    "xml": _check_xml,
    "html": _check_html,
}


def syntax_validation(text: str, *, language: Language = "python") -> Finding:
    """The text parses as what it is said to be. Nothing is run."""
    return _judged(_CHECKS[language], text, f"it parses as {language}")


# Shapes -------------------------------------------------------------------------------------------

_OF_SCHEMAS: Final = _names(
    "$schema $ref $defs type properties items required anyOf oneOf allOf not enum const additionalProperties "
    "patternProperties prefixItems pattern minimum maximum minLength maxLength minItems maxItems"
)
_TYPES: Final = _names("object array string number integer boolean null")


def json_scheme_validation(actual_json: Json, expected_json: Json) -> Finding:
    """The JSON fits: a JSON schema, or the keys and types of an example."""
    if _is_schema(expected_json):
        from paceline.evaluators.base import EvaluatorContext
        from paceline.evaluators.schema import JSONSchema

        said = JSONSchema(expected_json).evaluate(EvaluatorContext(name="", inputs=None, output=actual_json))
        return holds(said.value is True, said.reason or "it fits the schema")
    fault = _unlike(actual_json, expected_json, "$")
    return holds(fault is None, fault or "it has the keys and types of the example")


def _is_schema(document: Any) -> bool:
    if isinstance(document, bool):
        return True
    if not isinstance(document, dict) or not document.keys() & _OF_SCHEMAS:
        return False
    kind = document.get("type")
    # An example may well have a field `type`; the value tells.
    kinds = kind if isinstance(kind, list) else [kind]
    return "type" not in document or all(isinstance(each, str) and each in _TYPES for each in kinds)


def _unlike(actual: Any, example: Any, where: str) -> str | None:
    """Where something is not of the type of the example, or lacks a key."""
    if isinstance(example, dict) and isinstance(actual, dict):
        if missing := [key for key in example if key not in actual]:
            return f"{where} lacks {', '.join(missing)}"
        faults = (_unlike(actual[key], inner, f"{where}.{key}") for key, inner in example.items())
        return next((fault for fault in faults if fault), None)
    if isinstance(example, list) and isinstance(actual, list):
        if not example:
            return None
        faults = (_unlike(each, example[0], f"{where}[{place}]") for place, each in enumerate(actual))
        return next((fault for fault in faults if fault), None)
    if _type(actual) != _type(example):
        return f"{where} is {kind_of(actual)}, and {kind_of(example)} is wanted"
    return None


def _type(value: Any) -> type:
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


# What should not be there -------------------------------------------------------------------------

_PERSONAL: Final[Mapping[Personal, re.Pattern[str]]] = {
    "ssn": re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])"),
    "credit_card": re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])"),
    "phone": re.compile(
        r"(?<![\w.+-])(?<!\d[ -])(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,4}\)[ .-]?|\d{2,4}[ .-])\d{3,4}[ .-]\d{3,4}"
        r"(?![\w-]| \d)"
    ),
    "email": re.compile(rf"(?<![\w.+-])[\w.+-]+@(?:{_LABEL}\.)+[a-z]{{2,63}}", re.IGNORECASE),
    "ip_address": re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d)"),
}


def regex_pii_detection(text: str, *, detect_types: Keywords | None = None) -> Finding:
    """There is no personal data in the text that can be told by its form: ssn, credit_card, phone, email,
    ip_address, or those that `detect_types` names.
    """
    wanted = detect_types or tuple(_PERSONAL)
    if unknown := [each for each in wanted if each not in _PERSONAL]:
        raise UsageError(
            f"there is no kind of personal data {', '.join(unknown)}", hint=f"there is {', '.join(_PERSONAL)}"
        )
    found = [name for name, pattern in _PERSONAL.items() if name in wanted and _occurs(name, pattern, text)]
    told = f"found: {', '.join(found)}" if found else f"none of {', '.join(wanted)}"
    return holds(not found, told)


def _occurs(name: Personal, pattern: re.Pattern[str], text: str) -> bool:
    matches = (match.group() for match in pattern.finditer(text))
    if name == "credit_card":
        return any(_checksum_holds(match) for match in matches)
    if name == "ip_address":
        return any(all(int(part) <= 255 for part in match.split(".")) for match in matches)
    return any(True for _ in matches)


def _checksum_holds(number: str) -> bool:
    """Luhn's, which every card number satisfies, and one other number in ten."""
    digits = [int(each) for each in reversed(number) if each.isdigit()]
    doubled = (each * 2 - 9 * (each > 4) if place % 2 else each for place, each in enumerate(digits))
    return len(set(digits)) > 1 and sum(doubled) % 10 == 0


TEMPLATES: Final = (
    computed(is_email, "Pass/Fail"),
    computed(is_url, "Pass/Fail"),
    computed(is_json, "Pass/Fail"),
    computed(is_xml, "Pass/Fail"),
    computed(is_html, "Pass/Fail"),
    computed(is_sql, "Pass/Fail"),
    computed(syntax_validation, "Pass/Fail"),
    computed(json_scheme_validation, "Pass/Fail"),
    computed(regex_pii_detection, "Pass/Fail"),
)
