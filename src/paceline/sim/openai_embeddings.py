"""Embeddings in the OpenAI wire format: vectors by the words of a text, so that like texts lie together."""

from __future__ import annotations

import base64
import math
import struct
from typing import Any, Final
from zlib import crc32

import msgspec

from paceline.sim.answers import Message, Prompt, Reply, tokens_of
from paceline.sim.wire import Asked, BadRequest, Context, optional_count, required

DIMENSIONS: Final = 32
MOST_DIMENSIONS: Final = 16_384


class Embeddings:
    """`POST /v1/embeddings`."""

    def read(self, body: dict[str, Any]) -> Asked:
        model = required(body, "model", str, "a string")
        given = required(body, "input", (str, list), "a string or an array")
        if not given:
            raise BadRequest("Invalid 'input': it is empty.", param="input")
        if (optional_count(body, "dimensions") or 0) > MOST_DIMENSIONS:
            raise BadRequest(f"Invalid 'dimensions': at most {MOST_DIMENSIONS}.", param="dimensions")
        texts = [given] if isinstance(given, str) or isinstance(given[0], int) else given
        messages = tuple(Message("user", _text(each)) for each in texts)
        prompt = Prompt(model=model, messages=messages)
        tokens = sum(tokens_of(message.text) for message in messages)
        return Asked(prompt=prompt, body=body, stream=False, input_tokens=tokens)

    def whole(self, asked: Asked, reply: Reply, context: Context) -> bytes:  # noqa: ARG002  # a Format's
        encoded = asked.body.get("encoding_format") == "base64"
        size = optional_count(asked.body, "dimensions") or DIMENSIONS
        data = [
            {"object": "embedding", "index": number, "embedding": _written(vector(each.text, size), encoded)}
            for number, each in enumerate(asked.prompt.messages)
        ]
        usage = {"prompt_tokens": asked.input_tokens, "total_tokens": asked.input_tokens}
        return msgspec.json.encode(
            {"object": "list", "data": data, "model": asked.prompt.model, "usage": usage}
        )


def _text(given: Any) -> str:
    """One of the texts, which may also come as the numbers of its tokens."""
    match given:
        case str():
            return given
        case [*tokens] if all(isinstance(token, int) for token in tokens):
            return " ".join(map(str, tokens))
        case _:
            raise BadRequest("Invalid 'input': expected strings, or arrays of tokens.", param="input")


def vector(text: str, size: int) -> list[float]:
    """Of length 1; each word moves it in a direction of its own."""
    values = [0.0] * size
    for word in text.casefold().split() or [""]:
        for turn in range(4):
            drawn = crc32(f"{turn} {word}".encode(errors="replace"))
            values[drawn % size] += 1.0 if drawn & 0x10000 else -1.0
    if not any(values):  # they have cancelled each other, and a vector of length 0 has no direction
        values[crc32(text.encode(errors="replace")) % size] = 1.0
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]


def _written(values: list[float], encoded: bool) -> list[float] | str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode() if encoded else values
