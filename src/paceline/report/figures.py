"""Figures: what a run amounts to, every number with the number of cases behind it.

    n_expected = n_scored + n_failed + n_open        every key the run has, begun or not
    n_scored   = n_passed + n_not_passed + n_unasserted
    n          = n_scored + n_failed                 keys that have come to an end

The headline pass rate is passed / (expected − unasserted): what failed, what was cut off and what was never
begun counts as not passed. While keys are not run it has no interval: nothing was observed of them. Beside it
stands the rate of those that were scored, with its coverage. A case without any assertion is counted apart:
it never passes and is in neither rate. Where no case asserts anything there is no pass rate. What is not
known is None; nothing here is ever NaN.

One word, one meaning: *open* is expected and without an outcome; *not run* is open, cancelled, or skipped for
want of budget; *failed* figures count what ended without being scored, whyever.

Values only; `reckoning` makes them.
"""

from __future__ import annotations

from typing import Literal

from paceline.journal.records import JudgeStanding, PoolEnd
from paceline.report.shapes import Bin, Facts, Mean, Proportion, Spread
from paceline.report.spending import Amount, Spending
from paceline.statistics.interval import Interval
from paceline.statistics.repeats import PassAt

Verdict = Literal["empty", "incomplete", "errors", "complete"]
"""No key at all; some without an outcome; some ended without being scored; all scored."""


class AssertionFigures(Facts, frozen=True, kw_only=True):
    """One assertion over all cases."""

    name: str
    by: str
    """Label of the evaluator."""
    n_expected: int
    """Keys that should have it: all of the run, or those that were asked if single cases bring it along."""
    true: Proportion
    """Of those for which it was asserted, true or false."""


class ScoreFigures(Facts, frozen=True, kw_only=True):
    """One score over all cases."""

    name: str
    by: str
    n_expected: int
    values: Spread
    interval: Interval | None
    """Of the mean."""


class LabelFigures(Facts, frozen=True, kw_only=True):
    """One label over all cases."""

    name: str
    by: str
    n: int
    n_expected: int
    counts: dict[str, int]
    """Most frequent first."""


class EvaluatorFigures(Facts, frozen=True, kw_only=True):
    """What evaluators said, and how often they could not."""

    assertions: list[AssertionFigures]
    scores: list[ScoreFigures]
    labels: list[LabelFigures]
    failures: dict[str, int]
    """Cases that an evaluator could not say anything about, by its label."""
    silent: dict[str, int]
    """Evaluators of the run with no result and no failure at all, and the keys they are expected of."""
    spared: list[SparedFigures]
    """Evaluators that did without a model where they could."""


class SparedFigures(Facts, frozen=True, kw_only=True):
    """Calls of models that an evaluator has not made, because it could say something without them."""

    by: str
    """Label of the evaluator."""
    n: int
    """Cases that it has said something about."""
    cases: int
    """Those of them for which calls were saved."""
    calls: int


class CauseFigures(Facts, frozen=True, kw_only=True):
    """Failures that have one cause."""

    outcome: str
    stage: str
    type: str
    message: str
    """Of the first of them."""
    count: int
    examples: list[str]
    """The first few keys."""


class CostFigures(Facts, frozen=True, kw_only=True):
    """What calls of models have cost, by what came of it. Sums of which a part is unknown say so."""

    total: Amount
    per_case: Amount
    """By key that was begun, whatever became of it."""
    per_pass: Amount | None
    """By key that passed; None where none did, or nothing is asserted."""


class PerCaseFigures(Facts, frozen=True, kw_only=True):
    """What single keys have used, as far as they made calls of models. Those of unknown use are left out."""

    n: int
    """Keys that made calls."""
    calls: Spread
    input_tokens: Spread
    output_tokens: Spread
    cost: Spread
    """US dollars."""


class PartFigures(Facts, frozen=True, kw_only=True):
    """Some of the keys of a run: a variant, a slice. What was never begun is not in these."""

    n: int
    """Keys that have come to an end."""
    n_cases: int
    """Different cases."""
    n_scored: int
    n_failed: int
    n_open: int
    n_not_run: int
    passed: Proportion
    """Without interval where the run is incomplete."""
    passed_of_scored: Proportion
    error_rate: float | None
    """Ended without being scored, as a share of those that ended; what is not run is left out."""
    latency: Spread
    scores: dict[str, Mean]
    """By name."""
    cost: CostFigures | None
    """None where no call of a real provider was seen."""


class VariantFigures(PartFigures, frozen=True, kw_only=True):
    """One variant of a run that has several."""

    name: str
    pass_at: list[PassAt]
    pass_hat: list[PassAt]
    """Both empty without repeats, and while the run is not whole."""


class SliceFigures(PartFigures, frozen=True, kw_only=True):
    """The keys whose metadata has one value in a field, under one variant."""

    value: str | None
    """None of those that say nothing in this field."""
    variant: str
    few: bool
    """Whether there are so few different cases that not much can be said of them."""
    p: float | None
    """The chance of a pass rate that differs so much from that of the other keys, if nothing but chance did.

    None where there are few cases, or nothing to hold them against.
    """
    p_adjusted: float | None
    """The same put right for how many slices were looked at (Benjamini and Hochberg)."""


class FieldFigures(Facts, frozen=True, kw_only=True):
    """A run by what its cases say in one field of their metadata."""

    field: str
    slices: list[SliceFigures]
    n_values: int
    """Different values there are."""
    n_left_out: int
    """Keys in slices that are not listed: there were too many values."""


class FlakyFigures(Facts, frozen=True, kw_only=True):
    """A case whose tries do not all come out the same."""

    case: str
    variant: str
    passed: int
    tries: int
    infrastructure: int
    """Further tries that ended for a reason that is not the case's."""


class RepeatFigures(Facts, frozen=True, kw_only=True):
    """What the repeats of cases say of their being stable."""

    n_cases: int
    """Different cases, under each variant."""
    classes: dict[str, int]
    """Cases by `Stability`, 0 included."""
    flip_rate: float | None
    """The chance that two tries of one case come out differently, on average over cases."""
    n_flip: int
    """Cases behind it: those with two tries that count."""
    flaky: list[FlakyFigures]
    """Cases that passed in some of their tries, most evenly split first."""
    n_left_out: int
    """Such cases that are not listed."""


class TimelineFigures(Facts, frozen=True, kw_only=True):
    """How the run went, in equal steps of the time that processes worked on it.

    What lay between two processes is cut out.
    """

    step_s: float
    in_progress: list[float]
    """Keys in progress, on average over each step."""
    waiting: list[float]
    """Of those, waiting for limits or between tries: each key's waiting is spread over its time."""
    ended: list[int]
    """Keys that came to an end."""
    errors: list[int]
    """Of those, not scored."""
    starts: list[float]
    """Seconds on this axis at which each process began."""


class CallFigures(Facts, frozen=True, kw_only=True):
    """Model calls, as far as they could be seen."""

    spending: Spending
    """Of all of them."""
    of_task: Spending
    """Of those that the task has made."""
    judging: dict[str, Spending]
    """Of those that evaluators have made, by their labels."""
    latency: Spread
    """From sending to the end of the answer, of calls that were answered, in the try that decided."""
    first_token: Spread
    """Of streamed answers."""


class PoolFigures(Facts, frozen=True, kw_only=True):
    """One quota that calls share. What processes that were killed knew of it is lost, but for its calls."""

    pool: str
    """`provider:model`."""
    host: str
    account: str
    """A fingerprint of the key."""
    simulated: bool
    """Whether a simulated provider stands behind it."""
    calls: CallFigures | None
    """None where no model call was seen: it is a slot."""
    end: PoolEnd | None
    """As it was left: counts over all processes, window and rates of the last one; None where unknown."""


class ShareFigures(Facts, frozen=True, kw_only=True):
    """How long something limited the run."""

    limit: str
    """A `Limit`; `unknown` is the time of processes that were killed, or say nothing of it."""
    seconds: float
    share: float
    """Of all of them."""


class RehearsalFigures(Facts, frozen=True, kw_only=True):
    """What a rehearsal predicts of the run."""

    scenario: str
    """What the simulated provider played."""
    at_once: int
    """Cases in progress that this is about."""
    seconds: float | None
    """How long it would take."""
    usd: float | None
    """What it would cost, were the answers as long as the simulated ones; None where a price is unknown."""


class LimitFigures(Facts, frozen=True, kw_only=True):
    """What limited the run, over all processes that worked on it."""

    shares: list[ShareFigures]
    """The greatest first."""
    advice: str
    """What would have made it faster, in a sentence."""


class Figures(Facts, frozen=True, kw_only=True):
    """All figures of a run."""

    verdict: Verdict
    stopped: str
    """Why the last process left before the end; empty where it did not, or did not say."""
    n_expected: int
    expected_known: bool
    """False while the source is not exhausted: there may be more keys than have been seen."""
    n_cases: int
    """Different cases seen; fewer than keys where cases repeat or variants are compared."""
    n: int
    n_scored: int
    n_failed: int
    n_open: int
    n_begun: int
    """Of those open: begun, and cut off or still under way."""
    n_not_run: int
    """Open, cancelled, or skipped for want of budget."""
    n_passed: int
    n_not_passed: int
    n_unasserted: int
    n_rerun: int
    """Keys that a resume would run or score again."""
    outcomes: dict[str, int]
    """Every outcome there can be, 0 included."""

    passed: Proportion
    """The headline: failures, open keys and what was never begun count as not passed."""
    passed_of_run: Proportion
    """The same without the keys that are not run; the headline itself where there are none."""
    passed_of_scored: Proportion
    """Of those completed."""
    pass_at: list[PassAt]
    """pass@k, what repeats say: the chance that one of k tries passes.

    Empty without repeats, with variants, and while the run is not whole.
    """
    pass_hat: list[PassAt]
    """pass^k: the chance that all of k tries pass. Empty where that is."""
    repeats: RepeatFigures | None
    """None where no case repeats."""
    coverage: float | None
    """Scored, as a share of those expected."""
    error_rate: float | None
    """Ended without being scored, as a share of those that ended; of both, what is not run is left out."""
    timeout_rate: float | None
    """Of the same."""

    latency: Spread
    """Working time of the attempts that gave an output; waiting for limits is not in it.

    Of a rescored run it is that of its source, as far as that is known.
    """
    waited: float
    """Seconds that keys waited for limits and between tries, summed."""
    latency_bins: list[Bin]
    """The same as a histogram."""
    wall: float | None
    """Seconds that the run took, over all processes that worked on it."""
    timeline: TimelineFigures | None
    """None where nothing has come to an end, and of a rescored run."""
    work: float
    """Seconds that tasks worked, over all attempts."""
    concurrency: float | None
    """Work by wall: how many tasks were at work on average. None of a rescored run, which calls no task."""
    speed_up: float | None
    """Against a plain loop that does the same work, scoring included, one thing after the other.

    None of a rescored run.
    """
    rate_per_s: float | None
    """Keys ended by second of wall."""

    attempts: int
    retries: dict[str, int]
    """Failed attempts that another one followed, by class of error."""
    abandoned: int
    """Threads and coroutines that ignored their deadline and were left behind."""
    processes: int
    """Processes that worked on the run."""
    damaged: int
    """Lines of the journal that cannot be read."""
    unsealed: int
    """Lines of the journal that were edited by hand."""

    evaluators: EvaluatorFigures
    judges: dict[str, JudgeStanding]
    """Evaluators that ask a model, by label: whether they have been shown to agree with people."""
    causes: list[CauseFigures]
    """Most frequent first."""
    causes_left_out: int
    """Failures whose cause is not listed."""
    variants: list[VariantFigures]
    """Empty where there is only one."""
    results_left_out: int
    """Results in no figure: an evaluator made up more names than are told apart."""

    calls: CallFigures | None
    """Of real providers; None where none was seen."""
    simulated: CallFigures | None
    """Of simulated ones: a rehearsal, and no result. None where there was none."""
    cost: CostFigures | None
    """Of the former."""
    per_case: PerCaseFigures | None
    """What single keys have used, of real providers or, where there were none, of simulated ones."""
    is_simulated: bool
    """Whether any of it comes from a simulated provider: calls, outputs that were scored, or all of it."""
    rehearsal: RehearsalFigures | None
    """None where the run was no rehearsal."""
    pools: list[PoolFigures]
    """Those with most calls first."""
    limited: LimitFigures | None
    """None where no process has said."""


__all__ = [
    "AssertionFigures",
    "CallFigures",
    "CauseFigures",
    "CostFigures",
    "EvaluatorFigures",
    "FieldFigures",
    "Figures",
    "FlakyFigures",
    "LabelFigures",
    "LimitFigures",
    "PartFigures",
    "PerCaseFigures",
    "PoolFigures",
    "RehearsalFigures",
    "RepeatFigures",
    "ScoreFigures",
    "ShareFigures",
    "SliceFigures",
    "SparedFigures",
    "TimelineFigures",
    "VariantFigures",
    "Verdict",
]
