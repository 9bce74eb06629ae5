"""The ledger: where each key stands after any history, told in little memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import JournalError
from paceline.journal import Journal, Ledger, Recorded, read_at, read_lines
from paceline.journal.encoding import encode_line, seal
from paceline.journal.records import (
    FINAL,
    AttemptLine,
    BeginLine,
    CallLine,
    EndedLine,
    ErrorFacts,
    Key,
    KeyedLine,
    Line,
    ManifestLine,
    OutcomeKind,
    OutcomeLine,
    OutputLine,
    ResumedLine,
    RunLine,
    ScoresLine,
    VerdictLine,
    key_of,
)
from paceline.journal.redaction import Redactor
from paceline.journal.states import Changed, Done, Interrupted, KeyState, New, OpenAgain, ToScore
from tests.journal.lines import (
    attempt,
    begin,
    call,
    ended,
    file_of,
    finished,
    keyed_lines,
    lines,
    manifest,
    outcome,
    output,
    raw,
    resumed,
    run_line,
    scores,
    verdict,
)

A = Key("a")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def ledger_of(place: Path, *history: Line) -> Ledger:
    place.write_bytes(file_of(run_line(), *history))
    return Ledger.read(place)


def state_of(place: Path, *history: Line, **asked: Any) -> KeyState:
    return ledger_of(place, *history).state(A, **asked)


def test_a_key_without_lines_is_new(place: Path) -> None:
    assert state_of(place) == New()


def test_a_key_that_was_begun_is_interrupted(place: Path) -> None:
    assert state_of(place, begin("a")) == Interrupted(1)
    assert state_of(place, begin("a"), attempt("a"), begin("a", attempt=2)) == Interrupted(2)
    assert state_of(place, begin("a", attempt=2), attempt("a", attempt=2)) == Interrupted(2)


@pytest.mark.parametrize(
    ("values", "passed"),
    [
        ([True], "passed"),
        ([True, 0.1, "label"], "passed"),
        ([True, False], "failed"),
        ([0.9, "label"], "unasserted"),
        ([], "unasserted"),
        ([1], "unasserted"),  # a number is not an assertion, whatever it is
    ],
)
def test_a_scored_key_is_done_with_its_verdict(place: Path, values: list[Any], passed: Any) -> None:
    assert state_of(place, begin("a"), outcome("a", "scored", *values)) == Done("scored", passed)


@pytest.mark.parametrize("how", ["task_error", "timeout"])
def test_an_error_is_final_until_errors_are_retried(place: Path, how: Any) -> None:
    history = begin("a", attempt=3), outcome("a", how, attempt=3)
    assert state_of(place, *history) == Done(how)
    assert state_of(place, *history, retry_errors=True) == OpenAgain(how, 3)


@pytest.mark.parametrize("how", ["infra_error", "skipped_budget", "cancelled"])
def test_what_was_stopped_from_outside_runs_again(place: Path, how: Any) -> None:
    assert state_of(place, begin("a"), outcome("a", how)) == OpenAgain(how, 1)
    assert state_of(place, outcome("a", how, attempt=0)) == OpenAgain(how, 0)


def test_a_task_that_has_answered_is_never_asked_again(place: Path) -> None:
    """Whatever came after the output but a final outcome: only scoring is left."""
    state = state_of(place, begin("a"), output("a"))
    assert isinstance(state, ToScore)
    assert state.outcome is None
    assert state.scores == ()
    stored = read_at(place, state.output)
    assert isinstance(stored, Recorded)
    assert stored.line == output("a")
    for how in ("evaluator_error", "cancelled", "skipped_budget", "infra_error"):
        again = state_of(place, begin("a"), output("a"), outcome("a", how))
        assert again == ToScore(1, state.output, (), how)


def test_verdicts_are_found_again_until_the_key_is_done_or_its_task_has_to_answer_anew(place: Path) -> None:
    told = begin("a"), output("a"), verdict("a", "vote 1"), verdict("a", "vote 2", False)

    def kept(*more: Line) -> list[str]:
        state = state_of(place, *told, *more)
        if not isinstance(state, ToScore):
            return []
        lines = [read_at(place, offset) for offset in state.verdicts]
        return [each.line.part for each in lines if isinstance(each, Recorded)]  # type: ignore[union-attr]

    assert kept() == ["vote 1", "vote 2"]
    assert kept(scores("a", True)) == ["vote 1", "vote 2"]
    assert kept(outcome("a", "evaluator_error")) == ["vote 1", "vote 2"]
    assert kept(outcome("a", "scored", True), begin("a")) == []
    assert kept(output("a")) == [], "another answer"


def test_a_verdict_makes_no_key_and_opens_none(place: Path) -> None:
    assert state_of(place, verdict("a")) == New()
    assert state_of(place, begin("a"), outcome("a", "scored", True), verdict("a")) == Done("scored", "passed")
    assert ledger_of(place, verdict("a")).damaged == 0


def test_an_outcome_that_holds_the_output_is_where_scoring_finds_it(place: Path) -> None:
    state = state_of(place, begin("a"), outcome("a", "evaluator_error", True, output=raw("out")))
    assert isinstance(state, ToScore)
    assert state.scores == (state.output,)
    stored = read_at(place, state.output)
    assert isinstance(stored, Recorded)
    assert isinstance(stored.line, OutcomeLine)
    assert bytes(stored.line.output) == b'"out"'


@pytest.mark.parametrize("stage", ["prepare_context", "teardown"])
@pytest.mark.parametrize("how", ["task_error", "timeout"])
def test_a_failure_after_the_answer_leaves_only_scoring_to_be_tried_again(
    place: Path, how: OutcomeKind, stage: str
) -> None:
    error = ErrorFacts(type="OSError", stage=stage)
    at_once = begin("a"), outcome("a", how, True, output=raw("out"), error=error)
    apart = begin("a"), output("a"), outcome("a", how, error=error)
    for history in (at_once, apart):
        assert isinstance(state_of(place, *history), Done)
        state = state_of(place, *history, retry_errors=True)
        assert isinstance(state, ToScore)
        assert state.outcome == how
    asked_again = begin("a"), outcome("a", how, error=ErrorFacts(type="OSError", stage="setup"))
    assert state_of(place, *asked_again, retry_errors=True) == OpenAgain(how, 1)


def test_scores_that_have_landed_are_found_and_count_in_the_verdict(place: Path) -> None:
    history = begin("a"), output("a"), scores("a", True), scores("a", 0.5)
    state = state_of(place, *history)
    assert isinstance(state, ToScore)
    landed = [read_at(place, offset) for offset in state.scores]
    assert [entry.line for entry in landed if isinstance(entry, Recorded)] == [*history[2:]]
    assert state_of(place, *history, outcome("a", "scored", 0.1)) == Done("scored", "passed")
    assert state_of(place, *history, outcome("a", "scored", False)) == Done("scored", "failed")
    failed = begin("a"), output("a"), scores("a", False)
    assert state_of(place, *failed, outcome("a", "scored", True)) == Done("scored", "failed")


def test_a_false_assertion_counts_even_where_the_output_before_it_is_lost(place: Path) -> None:
    history = begin("a"), scores("a", False)
    assert state_of(place, *history) == Interrupted(1)
    assert state_of(place, *history, outcome("a", "scored", True)) == Done("scored", "failed")
    assert state_of(place, *history, outcome("a", "evaluator_error", True)) == OpenAgain("evaluator_error", 1)


def test_scores_of_an_evaluator_error_count_once_the_rest_is_scored(place: Path) -> None:
    history = begin("a"), output("a"), outcome("a", "evaluator_error", True)
    assert state_of(place, *history, outcome("a", "scored", 0.5)) == Done("scored", "passed")
    assert state_of(place, *history, begin("a", attempt=2), outcome("a", "scored", 0.5)) == Done(
        "scored", "unasserted"
    )


def test_a_begin_after_an_outcome_opens_the_key_again(place: Path) -> None:
    history = *finished("a"), begin("a", attempt=2)
    assert state_of(place, *history) == Interrupted(2)
    assert state_of(place, *history, outcome("a", "timeout", attempt=2)) == Done("timeout")


def test_the_last_outcome_wins(place: Path) -> None:
    assert state_of(place, outcome("a", "timeout"), outcome("a", "scored", True)) == Done("scored", "passed")


def test_changed_content_is_seen_whatever_the_state_and_never_guessed(place: Path) -> None:
    assert state_of(place, *finished("a"), content_hash="hash of a") == Done("scored", "passed")
    for history in ([begin("a")], finished("a"), [begin("a"), output("a")]):
        assert state_of(place, *history, content_hash="another") == Changed(1)
    # Its begin is lost: nobody can say that the content is another one, and the answer is paid for.
    assert state_of(place, outcome("a", "scored", True), content_hash="another") == Done("scored", "passed")


def test_many_attempts_are_counted_to_the_end(place: Path) -> None:
    for number in (1, 254, 255, 256, 70_000):
        assert state_of(place, begin("a", attempt=number)) == Interrupted(number)
        done = outcome("a", "timeout", attempt=number)
        assert state_of(place, done, retry_errors=True) == OpenAgain("timeout", number)


def test_seconds_of_attempts_are_summed_until_the_key_is_done(place: Path) -> None:
    history = begin("a"), attempt("a", seconds=2.0), begin("a", attempt=2)
    assert ledger_of(place, *history).spent(A) == 2.0
    cancelled = outcome("a", "cancelled", attempt=2, seconds=3.0)
    assert ledger_of(place, *history, cancelled).spent(A) == 5.0
    assert ledger_of(place, *history, *finished("a")).spent(A) == 0.0


def test_repeats_and_variants_are_keys_of_their_own(place: Path) -> None:
    ledger = ledger_of(place, begin("a", repeat=1), begin("a", variant="big"), *finished("a"))
    assert len(ledger) == 3
    assert ledger.state(Key("a", 0)) == Done("scored", "passed")
    assert ledger.state(Key("a", 1)) == ledger.state(Key("a", 0, "big")) == Interrupted(1)
    assert ledger.state(Key("a", 2)) == New()


def test_the_tally_says_how_the_keys_that_are_done_have_ended(place: Path) -> None:
    ledger = ledger_of(
        place,
        *finished("p", "q"),
        *(outcome("f", "scored", False), outcome("u", "scored", 1.0)),
        *(outcome("t", "timeout"), outcome("e", "task_error")),
        *(outcome("c", "cancelled"), outcome("v", "evaluator_error"), begin("b")),
    )
    tally = ledger.tally()
    assert tally.by_outcome == {"scored": 4, "timeout": 1, "task_error": 1}
    assert (tally.passed, tally.failed, tally.unasserted, tally.done) == (2, 1, 1, 6)


def test_the_run_is_known_by_its_first_line_and_the_latest_fingerprint(place: Path) -> None:
    ledger = ledger_of(place, manifest(3), resumed(), resumed(fingerprint={"task": "other"}), manifest(4))
    assert ledger.run == run_line()
    assert ledger.resumes == 2
    assert ledger.fingerprint == {"task": "other"}
    assert ledger.manifest == manifest(4)
    assert ledger_of(place).fingerprint == {"task": "answer"}
    assert ledger_of(place).manifest is None


def test_wall_time_is_that_of_all_processes_the_killed_ones_included(place: Path) -> None:
    killed = begin("a", at=107.0)
    assert ledger_of(place, killed).wall == pytest.approx(7.0)
    assert ledger_of(place, killed, ended(wall=9.0)).wall == pytest.approx(9.0)
    assert ledger_of(place, ended(wall=9.0), resumed(at=200.0), begin("b", at=203.0)).wall == pytest.approx(
        12.0
    )
    assert ledger_of(place, killed, resumed(at=200.0), ended(wall=2.0)).wall == pytest.approx(9.0)
    assert ledger_of(place, begin("a", at=50.0)).wall == 0.0  # a clock that was set back
    assert ledger_of(place, ended()).ended == ended()
    assert ledger_of(place, ended(), resumed()).ended is None


def test_a_torn_end_is_not_read_and_a_damaged_line_says_nothing(place: Path) -> None:
    content = file_of(run_line(), *finished("a"), *finished("b"))
    place.write_bytes(content[:-1])
    ledger = Ledger.read(place)
    assert ledger.state(Key("b")) == Interrupted(1)
    assert ledger.damaged == 0
    place.write_bytes(content.replace(b'"scored"', b'"Scored"', 1))
    ledger = Ledger.read(place)
    assert ledger.state(A) == Interrupted(1)
    assert ledger.damaged == 1
    assert ledger.state(Key("b")) == Done("scored", "passed")


@given(history=st.lists(keyed_lines, max_size=12), data=st.data())
def test_calls_whole_torn_or_damaged_change_nothing_about_any_key(
    history: list[Line], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.getbasetemp() / "calls.jsonl"
    without = [line for line in history if not isinstance(line, CallLine)]
    torn = file_of(call("a", ordinal=9))[: data.draw(st.integers(0, 60))]
    place.write_bytes(file_of(run_line(), *without))
    plain = Ledger.read(place)
    damaged = [
        file_of(line).replace(b'"call"', b'"Call"') if isinstance(line, CallLine) else file_of(line)
        for line in history
    ]
    for several in ([file_of(*history)], damaged):
        place.write_bytes(file_of(run_line()) + b"".join(several) + torn)
        ledger = Ledger.read(place)
        assert len(ledger) == len(plain)
        assert ledger.tally() == plain.tally()
        for key in KEYS:
            # Where the lines stand moves, and nothing else.
            assert type(ledger.state(key, "h1")) is type(plain.state(key, "h1"))


def test_a_call_counts_for_the_time_of_a_process_that_was_killed(place: Path) -> None:
    assert ledger_of(place, begin("a", at=101.0), call("a", at=131.0)).wall == pytest.approx(31.0)


def test_a_sealed_line_with_a_field_that_cannot_be_is_counted_as_damaged(place: Path) -> None:
    place.write_bytes(file_of(run_line()) + seal(b'{"kind":"begin","case":7,"at":1.0,"hash":"x"}'))
    assert Ledger.read(place).damaged == 1


def test_names_are_found_as_they_had_to_be_written(place: Path) -> None:
    secret = "sk-" + "a1B2" * 10
    odd, hidden = Key("lone \ud800"), Key(f"with {secret}", 0, secret)
    redactor = Redactor()
    with Journal.create(place, run_line(), redactor=redactor) as journal:
        for key in (odd, hidden):
            journal.append(begin(key.case, variant=key.variant, hash="h"))
            journal.append(outcome(key.case, "scored", True, variant=key.variant))
    assert secret.encode() not in place.read_bytes()
    ledger = Ledger.read(place, redactor=redactor)
    assert ledger.state(odd, "h") == ledger.state(hidden, "h") == Done("scored", "passed")
    assert ledger.state(Key("with something else")) == New()


def test_a_run_that_is_not_there_is_an_error_with_a_hint(place: Path) -> None:
    with pytest.raises(JournalError, match="no run") as refused:
        Ledger.read(place)
    assert refused.value.hint


# Against a fold that is written to be read, not to be fast.


class Naive:
    """What the ledger should say of one key, from its lines alone."""

    def __init__(self, history: list[tuple[int, KeyedLine]]) -> None:
        self.seen = any(not isinstance(line, ScoresLine | CallLine | VerdictLine) for _, line in history)
        self.attempts = 0
        self.content: str | None = None
        self.last: OutcomeLine | None = None
        self.output: int | None = None
        self.scores: list[tuple[int, OutcomeLine | ScoresLine]] = []
        self.verdicts: list[int] = []
        for offset, line in history:
            self._take(offset, line)

    def _take(self, offset: int, line: KeyedLine) -> None:
        match line:
            case BeginLine():
                self.content, self.attempts = line.hash, line.attempt
                self.last, self.output, self.scores, self.verdicts = None, None, [], []
            case AttemptLine():
                self.attempts = line.attempt
                self.last, self.output, self.scores, self.verdicts = None, None, [], []
            case OutputLine():
                self.attempts = line.attempt
                self.last, self.output, self.scores, self.verdicts = None, offset, [], []
            case VerdictLine():
                if self.output is not None:
                    self.verdicts.append(offset)
            case ScoresLine():
                self.scores.append((offset, line))
            case CallLine():
                pass  # it says what was spent
            case OutcomeLine():
                self.attempts, self.last = line.attempt, line
                if line.outcome in FINAL:
                    self.landed = [score for _, told in self.scores for score in told.scores]
                    self.output, self.scores, self.verdicts = None, [], []
                    return
                if bytes(line.output):
                    self.output, self.scores, self.verdicts = offset, [], []
                if line.scores:
                    self.scores.append((offset, line))

    def state(self, content_hash: str, *, retry_errors: bool) -> KeyState:
        if not self.seen:
            return New()
        if self.content is not None and self.content != content_hash:
            return Changed(self.attempts)
        last = self.last
        if last is not None and last.outcome in FINAL:
            if last.outcome == "scored":
                return Done("scored", self._verdict(last))
            return OpenAgain(last.outcome, self.attempts) if retry_errors else Done(last.outcome)
        how = last.outcome if last is not None else None
        if self.output is not None:
            landed = tuple(offset for offset, _ in self.scores)
            return ToScore(self.attempts, self.output, landed, how, tuple(self.verdicts))
        return Interrupted(self.attempts) if how is None else OpenAgain(how, self.attempts)

    def _verdict(self, last: OutcomeLine) -> Any:
        assertions = [it.value for it in (*self.landed, *last.scores) if isinstance(it.value, bool)]
        if last.failures or not all(assertions):
            return "failed"
        return "passed" if assertions else "unasserted"


KEYS = [Key(case, repeat, variant) for case in "abc" for repeat in (0, 1) for variant in ("", "big")]


@given(history=st.lists(keyed_lines | lines, max_size=20), retry_errors=st.booleans())
def test_the_ledger_agrees_with_a_plain_reading_of_the_lines(
    history: list[Line], retry_errors: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.getbasetemp() / "history.jsonl"
    ledger = ledger_of(place, *history)
    told: dict[Key, list[tuple[int, KeyedLine]]] = {key: [] for key in KEYS}
    for entry in read_lines(place):
        assert isinstance(entry, Recorded)
        line = entry.line
        if not isinstance(line, RunLine | ResumedLine | ManifestLine | EndedLine):
            told[key_of(line)].append((entry.offset, line))
    naive = {key: Naive(history) for key, history in told.items()}
    for key in KEYS:
        assert ledger.state(key, "h1", retry_errors=retry_errors) == naive[key].state(
            "h1", retry_errors=retry_errors
        )
    done = [it.last for it in naive.values() if it.last is not None and it.last.outcome in FINAL]
    assert ledger.tally().done == len(done)
    assert len(ledger) == sum(1 for it in naive.values() if it.seen)
    assert ledger.damaged == ledger.unsealed == 0
    assert ledger.lines == len(history) + 1


def test_a_line_with_an_output_nested_beyond_measure_is_read_all_the_same(place: Path) -> None:
    deep = msgspec.Raw(b"[" * 190 + b"]" * 190)
    assert state_of(place, begin("a"), outcome("a", "scored", True, output=deep)) == Done("scored", "passed")
    assert encode_line(begin("a"))
