"""How one line of a journal becomes bytes, and bytes a line again.

    {"kind":"outcome", ... ,"crc":"1a2b3c4d"}\n

The last key is the CRC-32 of the bytes before `,"crc"`. A person who edits a line deletes its `crc`: a
line without one is accepted and counted as *unsealed*. A line whose checksum does not match is damage.

`encode_line` runs on the event loop, before the task can change the value; `seal` runs for a whole batch
on the writer's thread. Knows single lines only; files are `reading`'s business.
"""

from __future__ import annotations

import math
from typing import Any, Literal
from zlib import crc32

import msgspec

from paceline.journal.records import Line, Score

DamageReason = Literal["checksum", "unparsable", "zeros", "torn", "unknown kind"]
"""What can be wrong with the bytes of a line; `unknown kind` is whole, and not ours."""

SEAL_LENGTH = len(b',"crc":"01234567"}')
_SEAL_FRAME = [place for place, byte in enumerate(b',"crc":"01234567"}') if not chr(byte).isdigit()]


class LineDamaged(ValueError):
    """These bytes are not a line of a journal."""

    def __init__(self, reason: DamageReason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason: DamageReason = reason
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


def _foreign_value(value: object) -> str:
    """What stands for an object that nobody encoded: only settings and the like can hold one."""
    return f"<{type(value).__module__}.{type(value).__qualname__}>"


_encode = msgspec.json.Encoder(enc_hook=_foreign_value).encode
decode_sealed = msgspec.json.Decoder(Line).decode
"""The line in bytes whose checksum was looked at; `parse` says what is the matter where it cannot."""


def encode_line(line: Line) -> bytes:
    """One JSON object, without checksum and newline."""
    try:
        body = _encode(line)
    except (UnicodeEncodeError, TypeError, RecursionError):
        return _encode(_mended(line))
    # JSON has no NaN: it would be written as null, and a null where a number belongs cannot be read back.
    if b":null" in body and _holds_unreal(line):
        return _encode(_mended(line))
    return body


def seal(body: bytes) -> bytes:
    """The line as it stands in the file, checksum and newline added."""
    head = body[:-1]
    return b'%b,"crc":"%08x"}\n' % (head, crc32(head))


def seal_all(bodies: list[bytes]) -> bytes:
    """Many lines as they stand in the file, in one piece."""
    return b"".join([b'%b,"crc":"%08x"}\n' % (head, crc32(head)) for head in [body[:-1] for body in bodies]])


def is_sealed(raw: bytes) -> bool:
    """Whether the line carries its checksum; False where it has none. A wrong one raises `LineDamaged`.

    `raw` comes without its newline. That an unsealed line is JSON has been looked at, and no more.
    """
    head = raw[:-SEAL_LENGTH]
    tail = raw[-SEAL_LENGTH:]
    right = b',"crc":"%08x"}' % crc32(head)
    if tail == right:
        return True
    if raw.endswith(b"\r"):  # an editor that ends lines as Windows does; what precedes it is whole
        return is_sealed(raw.rstrip(b"\r"))
    if raw.count(0) and not raw.strip(b"\0"):
        raise LineDamaged("zeros", f"{len(raw)} NUL bytes")
    try:
        crc = _decode_seal(raw).crc
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise LineDamaged("unparsable", str(error)) from None
    if crc is not None or _is_scarred(tail, right):
        raise LineDamaged("checksum", "the bytes are not those that were written")
    return False


def _is_scarred(tail: bytes, right: bytes) -> bool:
    """Whether this is what damage has left of a seal, rather than the end of a line that has none."""
    if len(tail) < SEAL_LENGTH:
        return False
    wrong = [place for place in range(SEAL_LENGTH) if tail[place] != right[place]]
    return len(wrong) <= 4 or sum(place in _SEAL_FRAME for place in wrong) <= 2


def without_right_seal(lines: list[bytes]) -> set[int]:
    """Positions of the lines that do not end in the right checksum; `is_sealed` tells what is the matter."""
    return {
        position
        for position, raw in enumerate(lines)
        if raw[-SEAL_LENGTH:] != b',"crc":"%08x"}' % crc32(raw[:-SEAL_LENGTH])
    }


def unseal(raw: bytes) -> Line:
    """The line in these bytes (newline left out), or `LineDamaged`."""
    return parse(raw) if is_sealed(raw) else parse_edited(raw)


def parse_edited(raw: bytes) -> Line:
    """A line without checksum. It may only have fields that are known: damage is not taken for an edit."""
    try:
        raw.decode()  # what is passed over or kept as it stands was not looked at yet
    except UnicodeDecodeError as error:
        raise LineDamaged("unparsable", str(error)) from None
    line = parse(raw)
    strange = _decode_fields(raw).keys() - {"kind", *line.__struct_fields__}
    if strange:
        raise LineDamaged("unparsable", f"has no checksum, and a field that is not known: {min(strange)!r}")
    return line


def parse(raw: bytes) -> Line:
    """The line in bytes that carry their checksum; fields that a later version has added are passed over."""
    try:
        line: Line = decode_sealed(raw)
    except msgspec.ValidationError as error:
        kind = _kind_of(raw)
        if kind in KINDS:
            raise LineDamaged("unparsable", str(error)) from None
        raise LineDamaged("unknown kind", kind) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise LineDamaged("unparsable", str(error)) from None
    return line


class _Seal(msgspec.Struct):
    crc: Any = None


class _Kind(msgspec.Struct):
    kind: str = ""


_decode_seal = msgspec.json.Decoder(_Seal).decode
_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_kind = msgspec.json.Decoder(_Kind).decode
KINDS = frozenset(
    {
        *("run", "begin", "call", "attempt", "output", "verdict", "scores", "outcome"),
        *("manifest", "resumed", "ended"),
    }
)


def _kind_of(raw: bytes) -> str:
    try:
        return _decode_kind(raw).kind
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""


_UNKNOWN_IS_NONE = frozenset({"price", "first_token", "window", "rate", "token_rate"})
"""Fields of lines that may be None."""


def writable(text: str) -> str:
    """The text with lone surrogates escaped: JSON in UTF-8 cannot hold them."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _mended(value: Any) -> Any:
    """The same with what JSON cannot hold replaced: surrogates escaped, NaN and infinity left out."""
    match value:
        case str():
            return writable(value)
        case Score() if _is_unreal(value.value):
            return _mended(msgspec.structs.replace(value, value=str(value.value)))  # a label; never a number
        case msgspec.Struct():
            # A price that is no number is not known, which is not 0.
            return msgspec.structs.replace(
                value,
                **{
                    name: None
                    if name in _UNKNOWN_IS_NONE and _is_unreal(getattr(value, name))
                    else _mended(getattr(value, name))
                    for name in value.__struct_fields__
                },
            )
        case dict():
            kept = {key: item for key, item in value.items() if not _is_unreal(item)}
            return {
                key if isinstance(key, int | float) else writable(str(key)): _mended(kept[key])
                for key in kept
            }
        case list() | tuple() | set() | frozenset():
            return [_mended(item) for item in value]
        case float():
            return 0.0 if _is_unreal(value) else value
        case _:
            return value


def _holds_unreal(value: Any) -> bool:
    match value:
        case float():
            return _is_unreal(value)
        case msgspec.Struct():
            return any(_holds_unreal(getattr(value, name)) for name in value.__struct_fields__)
        case dict():
            return any(map(_holds_unreal, value.values()))
        case list() | tuple():
            return any(map(_holds_unreal, value))
        case _:
            return False


def _is_unreal(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
