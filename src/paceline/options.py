"""What `evaluate` takes, once: as a typed dictionary for callers and checkers, and as a frozen value for
us."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeGuard,
    get_args,
    runtime_checkable,
)

from paceline.errors import UsageError
from paceline.settings import Durability, Isolation, Order, Replay

if TYPE_CHECKING:
    from paceline.engine.budget import Budget
    from paceline.engine.events import AnyEvent, Gauge
    from paceline.engine.lifecycle import Lifecycle
    from paceline.engine.retry import RetryPolicy

Concurrency = int | Literal["auto"] | None
Task = Callable[[Any], Any]
RetryOption: TypeAlias = "int | Mapping[str, Any] | RetryPolicy | None"


@runtime_checkable
class Progress(Protocol):
    """Something that shows how a run goes: a listener that may read the gauge whenever it draws."""

    def start(self, gauge: Gauge) -> None:
        """The run begins."""
        ...

    def __call__(self, event: AnyEvent) -> None:
        """Something happened."""
        ...

    def stop(self) -> None:
        """The run is over; nothing is drawn any more."""
        ...


class EvaluateOptions(TypedDict, total=False):
    """Keyword arguments of `evaluate` and `evaluate_sync`; `Options` says what each means."""

    name: str | None
    max_concurrency: Concurrency
    limits: Mapping[str, Any] | None
    prices: Mapping[str, Mapping[str, float]] | None
    pace_http: bool
    share_pools: bool
    adaptive: bool
    rehearse: bool | str
    replay: Replay
    recording: str | os.PathLike[str] | None
    replay_ignore: Sequence[str]
    progress: bool | Progress
    retry_task: RetryOption
    retry_evaluators: RetryOption
    task_name: str | None
    metadata: Mapping[str, Any] | None
    repeat: int
    lifecycle: Lifecycle | None
    journal: str | os.PathLike[str] | Literal[False] | None
    timeout: float | None
    case_timeout: float | None
    evaluator_timeout: float | None
    hook_timeout: float | None
    drain_timeout: float
    evaluator_concurrency: int | None
    judge_model: str | None
    judge_aliases: Mapping[str, str] | None
    budget: Budget | Mapping[str, Any] | None
    order: Order
    variants: Mapping[str, Task] | None
    on_event: Callable[[AnyEvent], None] | None
    retry_errors: bool
    isolation: Isolation
    durability: Durability
    fail_fast: bool
    seed: int
    accept_changes: bool
    redact: Sequence[str]
    runs: str | os.PathLike[str] | None
    debug: bool


class RampOptions(EvaluateOptions, total=False):
    """Keyword arguments of `Dataset.ramp` and `ramp_sync`: these, and those of `evaluate` but
    `max_concurrency`."""

    levels: Sequence[int] | None
    """Cases at a time, rising; None is 1, 2, 4, ..., as high as the cases reach."""
    per_level: int
    """Cases at each level at least; 20 by default. A level takes three times as many as it has places."""
    variant: str | None
    """Which of several variants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run is wanted. Everything has a sensible default."""

    name: str | None = None
    """What this run is called in its report; the dataset's name by default. A resumed run keeps the name that
    it was started with."""
    max_concurrency: Concurrency = "auto"
    """Cases in progress; None is all at once, 1 is one wholly after the other in dataset order."""
    limits: Mapping[str, Any] | None = None
    """What calls of models are held to: `window`, `rps`, `rpm`, `tpm` for all of them, and mappings of these
    for single ones, `{"rpm": 600, "openai:gpt-5": {"window": 8}}`."""
    prices: Mapping[str, Mapping[str, float]] | None = None
    """What models cost, in US dollars for a million tokens, where other lists do not know or are wrong:
    `{"my-model": {"input": 0.5, "output": 1.5, "cached": 0.1}}`."""
    pace_http: bool = True
    """Pace, count and price the calls of models that tasks make over `httpx2` and `httpx`."""
    share_pools: bool = True
    """Share pools with other runs of the same user on this machine."""
    adaptive: bool = True
    """Find out what the provider bears. False: nothing but `limits` bounds the calls."""
    rehearse: bool | str = False
    """Send all calls of models to a simulated provider; a text names its scenario."""
    replay: Replay = "resume"
    """What is done with the calls of models: `resume` keeps their bodies, and answers from them the calls of
    an attempt that was cut off; `record` only keeps them; `always` answers all calls from `recording`, and
    asks no provider; `off` neither keeps nor answers."""
    recording: str | os.PathLike[str] | None = None
    """The run whose calls are answered again with `replay="always"`; None is the latest of this suite."""
    replay_ignore: Sequence[str] = ()
    """Regular expressions for what is new in a request each time and means nothing: times, random ids."""
    progress: bool | Progress = True
    """Show progress, where there is a terminal; or an object that shows it."""
    retry_task: RetryOption = None
    """How failed attempts are tried again: None by class of error, a number of attempts, or a mapping."""
    retry_evaluators: RetryOption = None
    task_name: str | None = None
    metadata: Mapping[str, Any] | None = None
    """Kept with the run and shown in the report."""
    repeat: int = 1
    lifecycle: Lifecycle | None = None
    """What is made ready before each case and cleared away after it."""
    journal: str | os.PathLike[str] | Literal[False] | None = None
    """Where the run is recorded: a directory, a `.jsonl` file, None for a new directory, False for memory
    only."""
    timeout: float | None = 1800.0
    """Seconds for one attempt of the task."""
    case_timeout: float | None = None
    """Seconds from a case's setup to its output, retries included."""
    evaluator_timeout: float | None = 600.0
    hook_timeout: float | None = 300.0
    drain_timeout: float = 60.0
    evaluator_concurrency: int | None = None
    judge_aliases: Mapping[str, str] | None = None
    """Other names of models that judge, such as turing_small; None is the setting of this name."""
    judge_model: str | None = None
    """The model that judges where neither the judge nor `set_default_judge_model` names one; None is the
    setting of this name."""
    budget: Budget | Mapping[str, Any] | None = None
    """What the run may spend: any of `usd`, `tokens`, `wall_s`, `failures`."""
    order: Order = "auto"
    variants: Mapping[str, Task] | None = None
    """Several tasks on the same cases, by name; `task` is then None."""
    on_event: Callable[[AnyEvent], None] | None = None
    retry_errors: bool = False
    """On a resume, run those again that ended in `task_error` or `timeout`."""
    isolation: Isolation = "thread"
    durability: Durability = "disk"
    fail_fast: bool = False
    seed: int = 0
    accept_changes: bool = False
    """Resume although the suite is no longer the one that the run was started with."""
    redact: Sequence[str] = ()
    """Names whose values never enter the record."""
    runs: str | os.PathLike[str] | None = None
    debug: bool = False
    """Sync tasks run in place and tracebacks are printed, so that a debugger can be let in."""

    def __post_init__(self) -> None:
        for name, wish in _WISHES.items():
            if not wish.is_met(given := getattr(self, name)):
                raise UsageError(f"{name} is {_shown(given)}, and wants {wish.wants}", hint=wish.hint)

    @classmethod
    def of(cls, given: EvaluateOptions) -> Options:
        """From keyword arguments; an unknown one is named."""
        if unknown := sorted(set(given) - {each.name for each in fields(cls)}):
            raise TypeError(f"evaluate() got unexpected keyword arguments: {', '.join(unknown)}")
        return cls(**given)


# What each of them may be -------------------------------------------------------------------------


class _Wish(NamedTuple):
    """What an option wants: how that is found out, how it is said, and what to write."""

    is_met: Callable[[Any], bool]
    wants: str
    hint: str


def _is_number(given: object) -> TypeGuard[float]:
    if isinstance(given, bool) or not isinstance(given, int | float | Real):
        return False
    return not math.isnan(given)


def _is_positive(given: object) -> bool:
    return _is_number(given) and 0 < given < math.inf


def _is_count(given: object) -> bool:
    return type(given) is int and given >= 1


def _is_path(given: object) -> bool:
    return isinstance(given, str | os.PathLike) and os.fspath(given) not in ("", b"")


def _is_retry(given: object) -> bool:
    """Numbers, mappings of them, and policies; what a mapping means is for `retry_policy` to judge."""
    if isinstance(given, Mapping):
        numbers = ("attempts", "base", "cap", "longest_asked")
        return all(_is_number(given[name]) for name in numbers if name in given)
    return isinstance(given, bool) or (type(given) is int and given >= 0) or callable(_of(given, "wait"))


def _is_aliases(given: object) -> bool:
    from paceline.setting_kinds import aliases

    try:
        aliases(given)
    except (ValueError, TypeError):
        return False
    return isinstance(given, Mapping)


def _is_limits(given: object) -> bool:
    from paceline.setting_kinds import limits

    try:
        limits(given)
    except (ValueError, TypeError, OverflowError):
        return False
    return isinstance(given, Mapping)


def _is_prices(given: object) -> bool:
    from paceline.setting_kinds import prices

    try:
        prices(given)
    except (ValueError, TypeError):
        return False
    return isinstance(given, Mapping)


def _is_budget(given: object) -> bool:
    if isinstance(given, Mapping):
        return all(ceiling is None or _is_positive(ceiling) for ceiling in given.values())
    from paceline.engine.budget import Budget

    return isinstance(given, Budget)


def _is_pattern(given: object) -> bool:
    import re

    try:
        return isinstance(given, str) and bool(re.compile(given.encode()))
    except re.error:
        return False


def _is_listener(given: object) -> bool:
    """Whether calling it does what it is for: calling something async would only make a coroutine."""
    calls = (given, _of(given, "__call__"))
    return callable(given) and not any(map(inspect.iscoroutinefunction, calls))


def _of(given: object, name: str) -> Any:
    return getattr(given, name, None)


def _optional(is_met: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda given: given is None or is_met(given)


def _one_of(words: Any) -> _Wish:
    told = ", ".join(get_args(words))
    return _Wish(lambda given: given in get_args(words), f"one of {told}", f"one of {told}")


def _deadline(name: str) -> _Wish:
    return _Wish(
        _optional(_is_positive), "seconds above 0, or None for no deadline", f"{name}=30 is half a minute"
    )


def _retry(name: str) -> _Wish:
    return _Wish(
        _optional(_is_retry), "a number of attempts, or a mapping", f"{name}=3, or {name}={{'attempts': 3}}"
    )


def _flag(name: str) -> _Wish:
    return _Wish(
        lambda given: isinstance(given, bool), "True or False", f"leave it out, or write {name}=True"
    )


def _text(name: str, example: str) -> _Wish:
    return _Wish(_optional(lambda given: isinstance(given, str)), "text", f"{name}={example!r}")


_WISHES: Final[dict[str, _Wish]] = {
    "name": _text("name", "with the new prompt"),
    "max_concurrency": _Wish(
        lambda given: given is None or given == "auto" or _is_count(given),
        "a whole number from 1 up, None or 'auto'",
        "max_concurrency=20; None is all cases at once",
    ),
    "limits": _Wish(
        _optional(_is_limits),
        "a mapping of window, rps, rpm and tpm, and of pools to such mappings",
        "limits={'rpm': 600, 'openai:gpt-5': {'window': 8}}",
    ),
    "prices": _Wish(
        _optional(_is_prices),
        "a mapping of models to what a million tokens cost",
        "prices={'my-model': {'input': 0.5, 'output': 1.5}}; also cached, cache_write",
    ),
    "pace_http": _flag("pace_http"),
    "share_pools": _flag("share_pools"),
    "adaptive": _flag("adaptive"),
    "rehearse": _Wish(
        lambda given: isinstance(given, bool | str) and given != "",
        "True, False or the name of a scenario",
        "rehearse=True, or rehearse='openai-tier1'; `paceline sim --list` names them",
    ),
    "replay": _one_of(Replay),
    "recording": _Wish(_optional(_is_path), "the path of a run", "recording='runs/first'"),
    "replay_ignore": _Wish(
        lambda given: isinstance(given, tuple | list) and all(map(_is_pattern, given)),
        "a tuple of regular expressions",
        r"replay_ignore=(r'\d{4}-\d\d-\d\dT[\d:.]+',)",
    ),
    "progress": _Wish(
        lambda given: isinstance(given, bool | Progress),
        "True, False or an object that shows it",
        "such an object has `start(gauge)`, `stop()` and `__call__(event)`",
    ),
    "retry_task": _retry("retry_task"),
    "retry_evaluators": _retry("retry_evaluators"),
    "task_name": _text("task_name", "support bot"),
    "metadata": _Wish(
        _optional(lambda given: isinstance(given, Mapping)), "a mapping", "metadata={'model': 'small'}"
    ),
    "repeat": _Wish(_is_count, "a whole number from 1 up", "repeat=3 runs each case 3 times"),
    "lifecycle": _Wish(
        _optional(callable),
        "a class",
        "lifecycle=Workspace, after `class Workspace(CaseLifecycle)`: the class, called for each case",
    ),
    "journal": _Wish(
        lambda given: given is None or given is False or _is_path(given),
        "a path, None or False",
        "journal='runs/first'; None makes a new directory, False keeps the run in memory",
    ),
    "timeout": _deadline("timeout"),
    "case_timeout": _deadline("case_timeout"),
    "evaluator_timeout": _deadline("evaluator_timeout"),
    "hook_timeout": _deadline("hook_timeout"),
    "drain_timeout": _Wish(
        lambda given: _is_number(given) and 0 <= given < math.inf,
        "seconds",
        "drain_timeout=60 gives what is in flight a minute; 0 gives it none",
    ),
    "evaluator_concurrency": _Wish(
        _optional(_is_count), "a whole number from 1 up, or None", "None is as many as cases"
    ),
    "judge_model": _text("judge_model", "openai:gpt-5.4-mini"),
    "judge_aliases": _Wish(
        _optional(_is_aliases),
        "a mapping of names to models",
        "judge_aliases={'turing_small': 'openai:gpt-5.4-mini'}",
    ),
    "budget": _Wish(
        _optional(_is_budget),
        "a mapping of numbers above 0",
        "budget={'usd': 5}; also tokens, wall_s, failures",
    ),
    "order": _one_of(Order),
    "variants": _Wish(
        _optional(
            lambda given: (
                isinstance(given, Mapping)
                and all(isinstance(name, str) and callable(task) for name, task in given.items())
            )
        ),
        "a mapping of names to tasks",
        "variants={'small': ask_small, 'large': ask_large}",
    ),
    "on_event": _Wish(
        _optional(_is_listener),
        "a plain function of one argument",
        "it is called on the event loop and not awaited: hand what is slow to a queue",
    ),
    "retry_errors": _flag("retry_errors"),
    "isolation": _one_of(Isolation),
    "durability": _one_of(Durability),
    "fail_fast": _flag("fail_fast"),
    "seed": _Wish(lambda given: type(given) is int, "a whole number", "seed=0"),
    "accept_changes": _flag("accept_changes"),
    "redact": _Wish(
        lambda given: isinstance(given, tuple | list) and all(isinstance(name, str) for name in given),
        "a tuple of names",
        "redact=('ssn',): a single text would be taken letter by letter",
    ),
    "runs": _Wish(_optional(_is_path), "a path", "runs='runs'"),
    "debug": _flag("debug"),
}


def _shown(given: object) -> str:
    try:
        text = repr(given)
    except Exception:  # a foreign object
        text = f"a {type(given).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
