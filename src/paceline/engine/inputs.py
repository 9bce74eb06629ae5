"""What an attempt is given: inputs of its own, so that whatever it does to them ends with it.

Tasks append to the messages that they were given. The next try would then ask something else, so would the
next repeat, evaluators would see another question than the record has, and a resume would take the case for
changed and pay for it again.
"""

from __future__ import annotations

from typing import Any


def own_copy(inputs: Any) -> Any:
    """Plain lists, dicts and tuples anew, all the way down; every other object is handed on as it is."""
    if type(inputs) not in _CONTAINERS:
        return inputs
    try:
        return _copied(inputs)
    except RecursionError:  # it holds itself, or has no end that matters
        return inputs


_CONTAINERS = frozenset({dict, list, tuple})


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {key: _copied(inner) for key, inner in value.items()}
    if kind is list:
        return [_copied(inner) for inner in value]
    return tuple(map(_copied, value)) if kind is tuple else value
