"""Templates about structure: two JSON documents, the calls and the steps of an agent."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, Literal

from paceline.errors import UsageError
from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, holds, scored
from paceline.evaluators.templates.kinds import Calls, Json, Steps

Mode = Literal["strict", "unordered", "subset", "superset"]


def json_diff(output: Json, expected: Json) -> Finding:
    """The share of single values that are the same at the same place in both documents."""
    same, all_of_them = _compared(output, expected)
    return scored(same / all_of_them, f"{same} of {all_of_them} values are the same")


def _compared(one: Any, other: Any) -> tuple[int, int]:
    """Values that are the same, of all that either has. An empty list or mapping is a value itself."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = one.keys() | other.keys()
        pairs = [(one.get(key, _NOTHING), other.get(key, _NOTHING)) for key in keys]
    elif isinstance(one, list) and isinstance(other, list):
        longer = max(len(one), len(other))
        pairs = [
            (one[at] if at < len(one) else _NOTHING, other[at] if at < len(other) else _NOTHING)
            for at in range(longer)
        ]
    else:
        same = one == other and isinstance(one, bool) == isinstance(other, bool)
        return int(same), 1 if same else max(_size(one), _size(other))
    if not pairs:
        return 1, 1
    counted = [_compared(*pair) for pair in pairs]
    return sum(same for same, _ in counted), sum(number for _, number in counted)


_NOTHING: Final = object()


def _size(value: Any) -> int:
    """How many single values there are in it."""
    if isinstance(value, dict):
        return max(1, sum(map(_size, value.values())))
    return max(1, sum(map(_size, value))) if isinstance(value, list) else 1


def tool_call_accuracy(output: Calls, expected: Calls) -> Finding:
    """Calls of tools as expected: 1 for each with the same name and arguments, a half for each with only the
    same name, by the larger number of calls.
    """
    if not output and not expected:
        return scored(1.0, "no call is expected, and none was made")
    left, wanted = list(output), list(expected)
    exact = 0
    for call in expected:
        if call in left:
            left.remove(call)
            wanted.remove(call)
            exact += 1
    names = (Counter(name for name, _ in left) & Counter(name for name, _ in wanted)).total()
    told = f"{exact} calls as expected, {names} of the right tool with other arguments"
    return scored(
        (exact + names / 2) / max(len(output), len(expected)),
        f"{told}; {len(output)} made, {len(expected)} expected",
    )


def trajectory_match(output: Steps, expected: Steps, *, mode: Mode = "strict") -> Finding:
    """Steps as expected. `strict`: in this order, up to the first other one; `unordered`: in any order;
    `subset`: all expected ones are among them; `superset`: none is unexpected.
    """
    ours, theirs = Counter(output), Counter(expected)
    common = (ours & theirs).total()
    match mode:
        case "strict":
            common = _leading(output, expected)
            of = max(len(output), len(expected))
        case "unordered":
            of = (ours | theirs).total()
        case "subset":
            of = len(expected)
        case "superset":
            of = len(output)
    told = f"{common} of {of} steps match ({mode})"
    return scored(common / of if of else 1.0, told)


def _leading(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    pairs = zip(one, other, strict=False)  # what one has beyond the other counts below
    return next(
        (place for place, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other))
    )


def step_count(
    output: Steps,
    *,
    min_steps: int | None = None,
    max_steps: int | None = None,
    expected_steps: int | None = None,
) -> Finding:
    """There are from `min_steps` to `max_steps` steps, or exactly `expected_steps`."""
    if expected_steps is not None:
        min_steps = max_steps = expected_steps
    if min_steps is None and max_steps is None:
        raise UsageError(
            "no number of steps is asked for", hint="give min_steps, max_steps, or expected_steps"
        )
    count = len(output)
    fits = (min_steps is None or count >= min_steps) and (max_steps is None or count <= max_steps)
    return holds(fits, f"there are {count} steps")


TEMPLATES: Final = (
    computed(json_diff, "Score"),
    computed(tool_call_accuracy, "Score"),
    computed(trajectory_match, "Score"),
    computed(step_count, "Pass/Fail"),
)
