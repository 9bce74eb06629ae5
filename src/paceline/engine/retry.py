"""Whether, and when, a failed attempt is tried again. One authority for tasks and for evaluators.

By default: only what another try can help (rate limits, transient faults), three attempts, full jitter. A bug
in user code is not retried unless asked. Waiting uses up no try, and every try is on record.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

import msgspec

from paceline.engine.failures import describe
from paceline.engine.ports import Attempted
from paceline.errors import UsageError
from paceline.evaluators.wording import brief
from paceline.journal.records import ErrorClass

HELPED_BY_RETRY: Final = frozenset({"rate_limited", "transient", "infrastructure"})
ERROR_CLASSES: Final[tuple[str, ...]] = get_args(ErrorClass)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """A retry policy in plain values."""

    attempts: int = 3
    """Tries in all, the first included."""
    base: float = 1.0
    """Seconds: the first wait is drawn from 0 to `base`, and the range doubles with each try."""
    cap: float = 60.0
    """Seconds: no drawn wait is longer. What a provider asks for may be, up to `longest_asked`."""
    longest_asked: float = 300.0
    on: frozenset[str] | None = HELPED_BY_RETRY
    """Error classes that are tried again; None means any."""

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.base < 0 or self.cap < 0:
            raise UsageError(
                f"a retry policy needs attempts >= 1 and waits >= 0, not {self}",
                hint="attempts=1 means that nothing is tried again",
            )
        if unknown := sorted((self.on or frozenset()) - set(ERROR_CLASSES)):
            raise UsageError(
                f"retry policy: no error is ever {', '.join(unknown)}",
                hint=f"`on` names some of {', '.join(ERROR_CLASSES)}, or is 'any'",
            )

    def wait(
        self,
        attempted: Attempted,
        tries: int,
        *,
        elapsed: float,  # noqa: ARG002  # for policies that end after a time
        dice: random.Random,
    ) -> float | None:
        """Seconds to wait before the next try after `tries` so far, or None to give up."""
        if tries >= self.attempts or (
            # One authority: what was tried again below, call by call, is not tried again here.
            self.on is not None and (attempted.exhausted or attempted.error_class not in self.on)
        ):
            return None
        drawn = dice.uniform(0, min(self.cap, self.base * 2.0 ** min(tries - 1, 62)))
        asked = attempted.retry_after
        return drawn if asked is None else max(drawn, min(asked, self.longest_asked))


NO_RETRY: Final = Retry(attempts=1)
LONGEST_WAIT: Final = 7 * 86_400.0


class TurnedDown(Exception):
    """An answer that the retry policy has turned down."""

    def __init__(self, answer: object) -> None:
        super().__init__(answer)
        self.answer = answer

    def __str__(self) -> str:
        return f"the retry policy has turned down the answer {brief(self.answer)}"


_RULES: Final = ("retry", "stop", "wait")
_CALLED: Final = ("after", "before_sleep")
_WITHOUT_EFFECT: Final = ("before", "reraise", "retry_error_cls", "sleep")
"""An attempt ends with its own error here, and the engine does the waiting."""


class TenacityRetry:
    """A policy written as tenacity's keyword arguments, as Pydantic Evals users have them.

    Asks tenacity's own `retry`, `stop` and `wait` objects, about answers too, and calls `after` and
    `before_sleep`; the waiting is done by the engine, so a waiting case holds no place. A dictionary without
    `stop` would go on for ever; here it ends after `longest`.
    """

    longest: Final = 50

    def __init__(self, options: Mapping[str, Any]) -> None:
        try:
            import tenacity
        except ImportError:
            raise UsageError(
                "a retry policy in tenacity's terms needs tenacity, which is not installed",
                hint="pip install 'paceline[retry]', or use plain values: retry_task=3",
            ) from None
        if "retry_error_callback" in options:
            raise UsageError(
                "retry policy: `retry_error_callback` puts an answer in the place of a failure, which then "
                "would count as one",
                hint="leave it out; what failed is a failure in the report",
            )
        if unknown := sorted(set(options) - {*_RULES, *_CALLED, *_WITHOUT_EFFECT}):
            raise UsageError(
                f"retry policy: unknown keys {', '.join(unknown)}",
                hint="plain keys are attempts, base, cap, on; tenacity's are stop, wait, retry, reraise",
            )
        for name in (*_RULES, *_CALLED):
            rule = options.get(name)
            if inspect.iscoroutinefunction(rule) or inspect.iscoroutinefunction(type(rule).__call__):
                raise UsageError(
                    f"retry policy: `{name}` is async, and the engine asks it between two awaits",
                    hint="make it a plain function",
                )
        self._tenacity = tenacity
        self._retry = options.get("retry") or tenacity.retry_if_exception_type(Exception)
        self._stop = options.get("stop") or tenacity.stop_after_attempt(self.longest)
        self._wait = options.get("wait") or tenacity.wait_none()
        self._after = options.get("after")
        self._before_sleep = options.get("before_sleep")

    def accepts(self, answer: object, tries: int) -> bool:
        """Whether an answer will do. A rule that cannot say is no reason to throw away what was paid for."""
        try:
            return not self._retry(self._state(TurnedDown(answer), tries, elapsed=0.0))
        except Exception:
            return True

    def wait(
        self,
        attempted: Attempted,
        tries: int,
        *,
        elapsed: float,
        dice: random.Random,  # noqa: ARG002  # tenacity rolls its own
    ) -> float | None:
        """Seconds to wait before the next try, or None to give up."""
        state = self._state(attempted.exception or _stand_in(attempted), tries, elapsed=elapsed)
        if tries >= self.longest or not self._retry(state):
            return None
        if self._after is not None:
            self._after(state)
        state.upcoming_sleep = seconds = float(self._wait(state))
        if self._stop(state):
            return None
        if self._before_sleep is not None:
            self._before_sleep(state)
        return max(0.0, min(seconds, LONGEST_WAIT))  # a NaN is no wait at all

    def _state(self, error: BaseException, tries: int, *, elapsed: float) -> Any:
        """What tenacity's rules look at. The controller in it is there to satisfy its shape."""
        controller = self._tenacity.Retrying()
        state = self._tenacity.RetryCallState(retry_object=controller, fn=None, args=(), kwargs={})
        state.attempt_number = tries
        if isinstance(error, TurnedDown):
            state.set_result(error.answer)
        else:
            state.set_exception((type(error), error, error.__traceback__))
        state.start_time = (state.outcome_timestamp or 0.0) - elapsed
        return state


def _stand_in(attempted: Attempted) -> Exception:
    """For an attempt without an exception that could be looked at: one that was late, or made elsewhere."""
    message = attempted.error.message if attempted.error is not None else ""
    return TimeoutError(message) if attempted.error_class == "timeout" else RuntimeError(message)


RetryPolicy = Retry | TenacityRetry


def turned_down(policy: RetryPolicy, answer: object, tries: int) -> TurnedDown | None:
    """Why an answer will not do, where the policy looks at answers and says so."""
    if isinstance(policy, Retry) or policy.accepts(answer, tries):
        return None
    return TurnedDown(answer)


def next_wait(
    policy: RetryPolicy, attempted: Attempted, tries: int, *, elapsed: float, dice: random.Random
) -> float | None:
    """What a policy says. Where a rule of the user's raises, that is told with the error, and that was it."""
    try:
        return policy.wait(attempted, tries, elapsed=elapsed, dice=dice)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as broken:
        if (error := attempted.error) is not None:
            facts = describe(broken)
            told = (
                f"{error.message}\n(not tried again: the retry policy raised {facts.type}: {facts.message})"
            )
            attempted.error = msgspec.structs.replace(error, message=told)
        return None


def retry_policy(given: object, *, default: Retry) -> RetryPolicy:
    """What `retry_task=` and `retry_evaluators=` accept, as a policy.

    None is the default policy; False or 1 means no retry; a number is how many attempts are made whatever the
    error; a mapping holds fields of `Retry`, or tenacity's arguments.
    """
    match given:
        case None | True:
            return default
        case False | 0:
            return NO_RETRY
        case int(attempts):
            return Retry(attempts=attempts, on=None)
        case Retry() | TenacityRetry():
            return given
        case Mapping() if set(given) <= {"attempts", "base", "cap", "longest_asked", "on"}:
            fields = dict(given)
            if "on" in fields:
                fields["on"] = _classes(fields["on"])
            return Retry(**fields)
        case Mapping():
            return TenacityRetry(given)
        case _:
            raise UsageError(
                f"a retry policy is a number or a mapping, not {type(given).__name__}",
                hint="retry_task=3, retry_task={'attempts': 3, 'base': 1.0}, or tenacity's arguments",
            )


def _classes(on: Any) -> frozenset[str] | None:
    """What `on` accepts: one class, several, or any."""
    if on is None or on == "any":
        return None
    return frozenset([on] if isinstance(on, str) else on)
