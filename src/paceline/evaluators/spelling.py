"""How an evaluator is written: in the short forms of a dataset file, and in the first line of a journal.

A file has to be read back, so what cannot be written truly is refused; a journal only has to tell one set of
arguments from another, so there a value that JSON has no word for stands in words of its own.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from paceline.dataset.spec import EvaluatorSpec, Spec


def spell(evaluator: object) -> Spec:
    """The short form of an evaluator, of plain JSON values; TypeError where it has none."""
    spec: Spec = msgspec.to_builtins(_short_form(evaluator), str_keys=True)
    return spec


def spell_for_record(evaluator: object) -> Spec | None:
    """The short form, with words in place of values that are not JSON; None where there is no form at all."""
    try:
        short = _short_form(evaluator)
        # Sets have another order in every process, too.
        spec: Spec = msgspec.to_builtins(short, str_keys=True, enc_hook=_in_words, order="deterministic")
        msgspec.json.encode(spec)
    except Exception:
        # Someone else's `as_spec` or repr: a run does not depend on how its evaluators are spelt.
        return None
    return spec


def spell_truly(evaluator: object) -> Spec | None:
    """The short form, where the same evaluator can be made of it again; None where it cannot."""
    try:
        spelt = spell(evaluator)
        # A date is text in JSON, and a tuple is a list: made of that, it would say something else.
        same = msgspec.json.decode(msgspec.json.encode(spelt)) == _short_form(evaluator)
    except Exception:
        # Someone else's `as_spec`: a run does not depend on how its evaluators are spelt.
        return None
    return spelt if same else None


def _short_form(evaluator: Any) -> Spec:
    as_spec = getattr(evaluator, "as_spec", None)
    if not callable(as_spec):
        raise TypeError("it has no `as_spec`")
    return _spec_of(as_spec()).written()


def _spec_of(spec: Any) -> EvaluatorSpec:
    """Ours as it is; Pydantic Evals' (a name and `arguments`) by its shape."""
    if isinstance(spec, EvaluatorSpec):
        return spec
    match spec.arguments:
        case None:
            return EvaluatorSpec(name=spec.name, keywords={})
        case (only,):
            return EvaluatorSpec(name=spec.name, positional=(only,), keywords={})
        case keywords:
            return EvaluatorSpec(name=spec.name, keywords=dict(keywords))


def _in_words(value: object) -> str:
    # An address differs from process to process, and would make each run look like another suite.
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))
