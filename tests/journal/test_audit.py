"""The audit finds what is not as a finished, untouched journal has it, and says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.journal import Audit, Journal, KeyDigest, Redactor
from paceline.journal.audit import SHOWN_PER_KIND, FindingKind, audit
from paceline.journal.blobs import BLOB_OVER
from paceline.journal.encoding import encode_line, seal
from paceline.journal.records import Key, Line, ManifestLine
from tests.journal.lines import (
    attempt,
    begin,
    call,
    ended,
    file_of,
    finished,
    outcome,
    output,
    resumed,
    run_line,
    scores,
)


def manifest_of(*cases: str) -> ManifestLine:
    digest = KeyDigest()
    for case in cases:
        digest.add(Key(case))
    return ManifestLine(keys=digest.keys, digest=digest.hexdigest())


WHOLE: list[Line] = [run_line(), *finished("a", "b"), manifest_of("b", "a"), ended()]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def audited(place: Path, *history: Line, more: bytes = b"") -> Audit:
    place.write_bytes(file_of(*history) + more)
    return audit(place)


def kinds(found: Audit) -> list[FindingKind]:
    assert sum(found.counts.values()) >= len(found.findings)
    assert all(finding.remedy and str(finding) for finding in found.findings)
    return [finding.kind for finding in found.findings]


def test_a_finished_run_has_no_findings(place: Path) -> None:
    found = audited(place, *WHOLE)
    assert found.ok
    assert kinds(found) == []
    assert (found.lines, found.keys, found.expected) == (7, 2, 2)


def test_a_run_that_was_killed_retried_and_rescored_and_came_to_its_end_has_none_either(place: Path) -> None:
    found = audited(
        place,
        *(run_line(), begin("a"), attempt("a"), begin("a", attempt=2), outcome("a", "timeout", attempt=2)),
        *(begin("b"), output("b"), scores("b", True), outcome("b", "evaluator_error"), manifest_of("a", "b")),
        *(resumed(), outcome("b", "scored", True), begin("a", attempt=3), outcome("a", "scored", True)),
        *(manifest_of("a", "b"), ended()),
    )
    assert found.ok, found.findings


def test_calls_are_counted_and_are_no_sign_that_a_key_was_begun(place: Path) -> None:
    calls = call("a", ordinal=1), call("a", ordinal=2), call("never begun")
    found = audited(place, run_line(), *finished("a", "b"), *calls, manifest_of("a", "b"), ended())
    assert found.ok, found.findings
    assert (found.calls, found.keys) == (3, 2)


def test_a_damaged_call_is_found_and_costs_no_key_anything(place: Path) -> None:
    history: list[Line] = [
        run_line(),
        begin("a"),
        call("a"),
        outcome("a", "scored", True),
        manifest_of("a"),
        ended(),
    ]
    place.write_bytes(file_of(*history).replace(b'"small"', b'"Small"').replace(b":small", b":Small"))
    found = audit(place)
    assert kinds(found) == ["damaged"]
    assert found.findings[0].line == 3
    assert (found.calls, found.keys) == (0, 1)


def test_a_torn_end_is_found(place: Path) -> None:
    found = audited(place, *WHOLE, more=b'{"kind":"beg')
    assert kinds(found) == ["torn"]
    assert found.findings[0].line == 8
    assert "12 bytes" in str(found.findings[0])


def test_a_damaged_line_and_what_is_lost_with_it_are_found(place: Path) -> None:
    content = file_of(*WHOLE).replace(b'"scored"', b'"Scored"', 1)
    place.write_bytes(content)
    found = audit(place)
    assert kinds(found) == ["damaged", "open"]
    assert found.findings[0].line == 3
    assert found.findings[0].offset == len(file_of(*WHOLE[:2]))
    assert "a was begun" in str(found.findings[1])
    assert not found.ok


def test_an_unparsable_line_is_found(place: Path) -> None:
    assert kinds(audited(place, *WHOLE, more=b"not json\n")) == ["unparsable"]


def test_a_line_edited_by_hand_is_found(place: Path) -> None:
    found = audited(place, *WHOLE[:-1], more=encode_line(ended()) + b"\n")
    assert kinds(found) == ["unsealed"]
    assert found.findings[0].line == 7
    assert "edited by hand" in str(found.findings[0])


def test_lines_that_do_not_belong_here_are_found(place: Path) -> None:
    alien = b'{"id":"q1","output":"Paris"}\n' + seal(b'{"kind":"novelty"}') + file_of(run_line(run_id="r2"))
    found = audited(place, *WHOLE, more=alien)
    assert kinds(found) == ["foreign"] * 3
    assert [finding.line for finding in found.findings] == [8, 9, 10]


def test_an_outcome_too_many_is_found(place: Path) -> None:
    found = audited(place, *WHOLE, outcome("a", "timeout"))
    assert kinds(found) == ["duplicate"]
    assert audited(place, *WHOLE, begin("a", attempt=2), outcome("a", "timeout", attempt=2)).ok


def test_a_key_without_an_outcome_is_found_whatever_it_has(place: Path) -> None:
    for history in ([begin("c")], [begin("c"), output("c")], [begin("c"), attempt("c")]):
        found = audited(place, run_line(), *history, manifest_of("c"))
        assert kinds(found) == ["open"]
        assert found.findings[0].line in {2, 3}


def test_missing_keys_are_found(place: Path) -> None:
    found = audited(place, run_line(), *finished("a"), manifest_of("a", "b", "c"))
    assert kinds(found) == ["missing"]
    assert "2 of 3 keys" in str(found.findings[0])
    found = audited(place, run_line(), *finished("a"), manifest_of("b"))
    assert kinds(found) == ["missing"]
    assert "not those" in str(found.findings[0])
    found = audited(place, run_line(), *finished("a"))
    assert kinds(found) == ["missing"]
    assert "never seen to its end" in str(found.findings[0])


def test_keys_that_the_run_no_longer_has_are_found(place: Path) -> None:
    found = audited(place, run_line(), *finished("a", "b"), manifest_of("a"))
    assert kinds(found) == ["unexpected"]


def test_missing_and_altered_blobs_are_found_once_each(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with Journal.create(place, run_line(), redactor=Redactor()) as journal:
        big = [journal.keep(b'"%b%b"' % (letter, b"x" * BLOB_OVER)) for letter in (b"a", b"b", b"c")]
        for case, value in zip("abc", big, strict=True):
            journal.append(begin(case, inputs=value))
            journal.append(outcome(case, "scored", True, output=value))
        journal.append(manifest_of("a", "b", "c"))
    assert audit(place).ok
    first, second, _ = sorted((place / "blobs").iterdir(), key=lambda path: path.read_bytes())
    first.unlink()
    second.write_bytes(b"something else")
    found = audit(place)
    assert kinds(found) == ["blob", "blob"]
    assert [finding.line for finding in found.findings] == [2, 4]
    assert "missing" in str(found.findings[0])
    assert "altered" in str(found.findings[1])


def test_a_run_under_way_is_not_blamed_for_its_unfinished_end(place: Path) -> None:
    with Journal.create(place, run_line(), redactor=Redactor()) as journal:
        journal.append(begin("a"))
        journal.flush()
        found = audit(place)
        assert found.ok
        assert found.writer is not None
    assert kinds(audit(place)) == ["open", "missing"]


def test_a_journal_full_of_damage_is_counted_in_full_and_shown_in_part(place: Path) -> None:
    found = audited(place, *WHOLE, more=b"rubbish\n" * 1000)
    assert found.counts == {"unparsable": 1000}
    assert len(found.findings) == SHOWN_PER_KIND


def test_the_audit_changes_nothing(place: Path) -> None:
    audited(place, *WHOLE, more=b"\0\0\nrubbish")
    before = place.read_bytes(), place.stat().st_mtime_ns, list(place.parent.iterdir())
    audit(place)
    assert (place.read_bytes(), place.stat().st_mtime_ns, list(place.parent.iterdir())) == before


names = st.builds(Key, st.text(max_size=5), st.integers(0, 3), st.text(max_size=3))


@given(st.lists(names, unique=True, max_size=8), st.randoms())
def test_the_digest_of_keys_does_not_depend_on_their_order_and_tells_sets_apart(
    keys: list[Key], random: object
) -> None:
    shuffled = list(keys)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other, fewer = KeyDigest(), KeyDigest(), KeyDigest()
    for key in keys:
        one.add(key)
    for key in shuffled:
        other.add(key)
    for key in keys[1:]:
        fewer.add(key)
    assert one.hexdigest() == other.hexdigest()
    assert len(one.hexdigest()) == 32
    assert one.keys == len(keys)
    if keys:
        assert one.hexdigest() != fewer.hexdigest()


def test_the_digest_of_keys_is_the_same_in_every_version() -> None:
    digest = KeyDigest()
    digest.add(Key("case-1"))
    digest.add(Key("Fälle \ud800", 2, "big"))
    assert digest.hexdigest() == "de8c5d6d89d41c44b8ca87f440f170f8"
