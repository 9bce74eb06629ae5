"""Answers in JSON: which schemas a provider can enforce to the letter, and reading what came back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from paceline.models.messages import Answer, AnswerNotJson

SHOWN = 200
"""Characters of an unreadable answer that its error shows."""


def can_be_strict(schema: object) -> bool:
    """Whether OpenAI can hold a model to this schema: every object is closed, and all of its fields required.

    A schema that is not of this kind is sent along all the same, and the model is only asked to heed it.
    """
    match schema:
        case list():
            return all(can_be_strict(each) for each in schema)
        case Mapping():
            if "$dynamicRef" in schema or "patternProperties" in schema:
                return False
            if (schema.get("type") == "object" or "properties" in schema) and not _is_closed(schema):
                return False
            # What stands in `properties` are names of the user's, one of which may be `properties`.
            named = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
            inner = [schema[key] for key in ("items", "anyOf", "oneOf", "allOf", "not") if key in schema]
            return all(can_be_strict(each) for each in (*named, *inner))
    return not isinstance(schema, bool)  # `items: true` is anything at all


def _is_closed(schema: Mapping[str, Any]) -> bool:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    return (
        isinstance(properties, Mapping)
        and schema.get("additionalProperties") is False
        and set(properties) == set(required)
    )


def name_of_schema(schema: Mapping[str, Any]) -> str:
    """A name as OpenAI wants one: letters, digits, `_` and `-`, at most 64 of them."""
    title = schema.get("title")
    return (re.sub(r"[^A-Za-z0-9_-]+", "_", title).strip("_") if isinstance(title, str) else "")[
        :64
    ] or "answer"


def read_json(answer: Answer) -> Answer:
    """The answer with its text read as JSON. Where the model wants tools called first, there is none yet."""
    if answer.tool_calls and not answer.text.strip():
        return answer
    try:
        parsed = msgspec.json.decode(answer.text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        if answer.tool_calls:
            return answer  # a word or two beside the calls
        raise AnswerNotJson(_why(answer, error), answer) from None
    return msgspec.structs.replace(answer, parsed=parsed)


def _why(answer: Answer, error: Exception) -> str:
    shown = answer.text if len(answer.text) <= SHOWN else f"{answer.text[:SHOWN]} …"
    told = {
        "length": "the model was cut off in the middle of its JSON (raise max_tokens)",
        "refusal": "the model refused to answer",
        "content_filter": "the provider's content filter cut the answer off",
    }.get(answer.stop, f"the model did not answer in JSON ({error})")
    return f"{told}: {shown!r}" if answer.text else f"{told}, and said nothing"
