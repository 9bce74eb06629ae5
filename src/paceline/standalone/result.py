"""What comes back from a template: a verdict, or why there is none."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NoReturn

from paceline.errors import UsageError
from paceline.evaluators.templates.findings import OutputType
from paceline.pace.calls import Usage

Status = Literal["completed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalResult:
    """What a template says about what it was given."""

    eval_name: str
    score: float | None
    """From 0 to 1, more is better. None where nobody has judged, or where there is no better or worse."""
    passed: bool | None
    """None where nobody has judged, or where nothing says how much is enough."""
    reason: str
    latency_ms: float
    """How long it took, waiting for limits included."""
    status: Status
    """`failed` where there is no verdict: then `error` says why, and score and passed are None."""
    error: str | None
    value: bool | float | str | None
    """What the template's name says: yes or no, a word error rate, a label."""
    output_type: OutputType
    model: str | None = None
    """The model that judged; None where code did."""
    simulated: bool = False
    """Whether a simulated provider answered in place of a model: then nothing is known by it."""
    flags: tuple[str, ...] = ()
    """Attempts to steer the judge that stand in what was judged. They change no verdict."""
    usage: Usage | None = None
    """Tokens of the judge; None where they are not known, or code judged."""
    price: float | None = None
    """US dollars; None where that is not known, 0 where code judged."""

    def __bool__(self) -> NoReturn:
        raise UsageError(
            "an EvalResult is neither true nor false: a failed one would count as true",
            hint="ask `result.passed`, which is True, False or None",
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        told = asdict(self)
        usage = self.usage
        told["usage"] = (
            None if usage is None else {name: getattr(usage, name) for name in usage.__struct_fields__}
        )
        return told
