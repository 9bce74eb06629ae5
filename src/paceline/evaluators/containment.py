"""Containment: text in text, an item in a collection, keys and values in something with named fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator
from paceline.evaluators.equality import equal
from paceline.evaluators.plain import named_fields, plain
from paceline.evaluators.wording import brief, kind_of


@dataclass
class Contains(Evaluator[object, object, object]):
    """The output contains `value`.

    Text contains text; a collection an item; a mapping a key, or all entries of `value` where that is a
    mapping. Dataclasses, Pydantic models and msgspec structs count as mappings of their fields. `as_strings`
    compares the text of both, whatever they are; `case_sensitive` matters where text is compared with text.
    """

    value: Any
    case_sensitive: bool = True
    as_strings: bool = False
    evaluation_name: str | None = None

    instant = True

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        lacking = self._lacking(ctx.output)
        return EvaluationReason(lacking is None, lacking)

    def _lacking(self, output: Any) -> str | None:
        """What the output lacks, in words; None where it contains all."""
        if self.as_strings or (isinstance(self.value, str) and isinstance(output, str)):
            return self._lacking_text(str(output), str(self.value))
        fields = named_fields(output)
        entries = output if isinstance(output, Mapping) else fields
        if entries is not None and isinstance(self.value, Mapping):
            return _lacking_entries(entries, self.value, as_plain=fields is not None)
        try:
            if self.value in (output if entries is None else entries):
                return None
        except TypeError as error:
            # Not a collection, or not one that could hold such a thing: so it does not.
            return f"the output is {kind_of(output)}, in which {brief(self.value)} cannot be: {error}"
        where = "in" if entries is None else "a key of"
        return f"{brief(self.value)} is not {where} the output {brief(output)}"

    def _lacking_text(self, output: str, value: str) -> str | None:
        if not self.case_sensitive:
            output, value = output.lower(), value.lower()
        return None if value in output else f"{brief(value)} is not in {brief(output)}"


def _lacking_entries(entries: Mapping[Any, Any], wanted: Mapping[Any, Any], *, as_plain: bool) -> str | None:
    """`as_plain`: fields of fields may be given as a dict, as a file gives them."""
    for key, value in wanted.items():
        if key not in entries:
            return f"the output has no {brief(key)}"
        found = entries[key]
        if not (equal(found, value) or (as_plain and equal(plain(found), value))):
            return f"{brief(key)} is {brief(found)}, not {brief(value)}"
    return None
