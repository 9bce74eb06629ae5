"""Values: any Python value as one JSON value, and back as what it was.

Plain JSON data stands for itself. Everything else is wrapped, once, at the top:

    {"$paceline": {"types": {"": "suite:Visit", "/on": "date"}}, "value": {"who": "Ann", "on": "2026-11-18"}}

`value` is plain JSON that people and other tools can read. `types` says by JSON pointer what stood where: a
word for what Python comes with, `module:QualName` for a class, a list of them, outermost first, where one
holds another at the same place. A name with `~` before it could not be kept: a description stands there, and
the header has `"lossy": true`.

Promises: `encode` never raises (Ctrl-C excepted), comes to an end on cycles, and writes a value the same way
in every process: sets sorted, addresses left out of descriptions, dicts in their order. `decode` imports
nothing: classes are looked up among modules that are loaded. Where one is gone or has changed, its content
comes back as `Opaque`.

Not kept: the factory of a defaultdict, and the tzinfo object of an aware time that is neither an offset nor a
ZoneInfo (its offset stays). Knows nothing of journals but this: a header may name a blob, which the journal
resolves first.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from hashlib import blake2b
from math import isfinite
from typing import Any, Final

import msgspec

from paceline.errors import ValueLost
from paceline.value_kinds import LEAF_OF, READERS, Incomplete, Leaf, family_of

MARK: Final = "$paceline"
"""The key that makes an envelope of an object."""
MAX_DEPTH: Final = 200
"""Containers within containers; what lies deeper is described. JSON readers give up not far beyond."""
MAX_SHARED: Final = 1_000_000
"""How often, in one value, a container may come up again: thirty lists can spell a billion."""
MAX_DESCRIPTION: Final = 1_000


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value whose type cannot be had back: its class is gone or changed, or was never recordable."""

    type_name: str
    value: Any
    """Its content as far as it was kept; a description of it where `lossy`."""
    lossy: bool = False


def encode(value: object) -> bytes:
    """Write a value as one JSON value. Never raises."""
    kind = type(value)
    try:
        if kind in _ATOMS or (_is_plain(value, 0, set()) and not _looks_wrapped(value)):
            return _to_json(value)
    except Exception:
        pass  # a lone surrogate, an integer beyond measure, a dict that changes meanwhile: the long way copes
    return _wrap(value)


def decode(raw: bytes | msgspec.Raw, *, strict: bool = False) -> Any:
    """Read what `encode` has written. With `strict`, refuse where an `Opaque` would be part of the answer."""
    try:
        read = _from_json(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _damaged(str(error)) from error
    if not _looks_wrapped(read) or _ENVELOPE.match(raw) is None:
        return read
    header = read[MARK]
    if type(header) is not dict:
        raise _damaged("its header is not an object")
    if "blob" in header:
        raise ValueLost(
            f"the value is kept in the blob {header['blob']}, which has not been read",
            hint="open the record through its journal, with the blobs beside it",
        )
    return _rebuild(header.get("types", {}), read.get("value"), strict=strict)


def first_opaque(value: Any) -> Opaque | None:
    """The first part of a decoded value that is no longer the object that was encoded, if there is one."""
    match value:
        case Opaque():
            return value
        case dict():
            parts: Iterable[Any] = (*value.keys(), *value.values())
        case list() | tuple() | set() | frozenset():
            parts = value
        case _ if is_dataclass(value) and not isinstance(value, type):
            parts = (getattr(value, field.name, None) for field in fields(value))
        case _:
            return None
    return next((found for part in parts if (found := first_opaque(part)) is not None), None)


def is_lossy(raw: bytes | msgspec.Raw) -> bool:
    """Whether some part of the value could only be described when it was written."""
    if _ENVELOPE.match(raw) is None:
        return False
    try:
        return msgspec.json.decode(raw, type=_Envelope).header.lossy
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _damaged(str(error)) from error


def content_hash(*raws: bytes | msgspec.Raw) -> str:
    """Sixteen hex digits that name encoded values. The order of the keys in an object makes no difference."""
    joined = b"\0".join(raws)  # JSON has no such byte, so ("a", "bc") is not ("ab", "c")
    if b"{" in joined:
        joined = b"\0".join(
            [_to_sorted_json(_from_json(raw)) if b"{" in raw else raw for raw in joined.split(b"\0")]
        )
    hashed = _EMPTY.copy()  # cheaper than a new one
    hashed.update(joined)
    return hashed.hexdigest()


# --- plain data ---------------------------------------------------------------------------------------------

_EMPTY = blake2b(digest_size=8)
_to_json = msgspec.json.Encoder().encode
_to_sorted_json = msgspec.json.Encoder(order="deterministic").encode
_from_json = msgspec.json.Decoder().decode
_ATOMS = frozenset({str, int, bool, type(None)})
_ENVELOPE = re.compile(rb'\s*\{\s*"\$paceline"\s*:')
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Header(msgspec.Struct):
    lossy: bool = False


class _Envelope(msgspec.Struct):
    header: _Header = msgspec.field(name=MARK)


def _looks_wrapped(plain: object) -> bool:
    return type(plain) is dict and MARK in plain


def _is_plain(value: Any, depth: int, seen: set[int]) -> bool:
    """Whether JSON reads back as this value: exact types, finite numbers, a tree and not too deep a one."""
    kind = type(value)
    if kind is dict:
        inner = value.values()
        for key in value:  # not `all(...)`: a generator would be a third of the cost of a small dict
            if type(key) is not str:
                return False
    elif kind is list:
        inner = value
    else:
        return kind in _ATOMS or (kind is float and isfinite(value))
    if depth == MAX_DEPTH or id(value) in seen:
        return False
    seen.add(id(value))
    for item in inner:
        kind = type(item)
        if kind in _ATOMS:
            continue
        if not (isfinite(item) if kind is float else _is_plain(item, depth + 1, seen)):
            return False
    return True


# --- writing everything else --------------------------------------------------------------------------------


def _wrap(value: object) -> bytes:
    try:
        walk = _Walk()
        plain = walk.plain(value, "", 0)
        return _envelope(walk.types, plain, lossy=walk.lossy)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # No room left on the stack or in memory: the record says so, and the run goes on.
        name = _type_name(value)
        return _envelope({"": f"~{name}"}, f"<{name}: not recorded, {_type_name(error)}>", lossy=True)


def _envelope(types: dict[str, str | list[str]], plain: object, *, lossy: bool) -> bytes:
    if not types and not _looks_wrapped(plain):
        return _to_json(plain)
    header: dict[str, object] = {"types": types}
    if lossy:
        header["lossy"] = True
    return _to_json({MARK: header, "value": plain})


class _Walk:
    """One pass over a value: answers with plain JSON and gathers what stood where."""

    def __init__(self) -> None:
        self.types: dict[str, str | list[str]] = {}
        self.lossy = False
        self._open: set[int] = set()
        self._seen: set[int] = set()
        self._shared = 0

    def plain(self, value: Any, at: str, depth: int) -> object:
        """The value as plain JSON; `at` is the pointer to where it stands."""
        kind = type(value)
        if kind is str:
            return self._text(value, at)
        if value is None or kind is bool:
            return value
        if leaf := LEAF_OF.get(kind):
            return self._leaf(leaf, value, at)
        if objection := self._objection(value, depth):
            return self._describe(value, at, objection)
        before, outer = len(self.types), self.types.get(at)
        self._open.add(id(value))
        try:
            return self._container(value, at, depth + 1)
        except RecursionError:
            self._forget(before, at, outer)
            return self._describe(value, at, "too deep for what is left of the stack")
        finally:
            self._open.discard(id(value))

    def _forget(self, before: int, at: str, outer: str | list[str] | None) -> None:
        """Take back what was noted since: of a value that was given up half-way, nothing stands there."""
        while len(self.types) > before:
            self.types.popitem()
        if outer is not None:
            self.types[at] = outer

    def _text(self, text: str, at: str) -> str:
        if text.isascii() or _SURROGATE.search(text) is None:
            return text
        self._note(at, "str")
        return text.encode("unicode_escape").decode("ascii")

    def _leaf(self, leaf: Leaf, value: object, at: str) -> object:
        if leaf.is_plain is not None and leaf.is_plain(value):
            return value
        try:
            written = leaf.write(value)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a tzinfo may be someone's own code
            return self._describe(value, at)
        if type(written) is str and _SURROGATE.search(written):  # a path whose name is not text
            return self._describe(value, at)
        self._note(at, leaf.name)
        return written

    def _objection(self, value: object, depth: int) -> str:
        if id(value) in self._open:
            return "contains itself"
        if depth >= MAX_DEPTH:
            return f"more than {MAX_DEPTH} levels deep"
        if id(value) in self._seen:
            self._shared += 1
            if self._shared > MAX_SHARED:
                return "shared in too many places"
        self._seen.add(id(value))
        return ""

    def _container(self, value: Any, at: str, depth: int) -> object:
        kind = type(value)
        if kind is dict:
            return self._mapping(value, at, depth)
        if kind is list:
            return self._items(value, at, depth)
        if kind is tuple:
            self._note(at, "tuple")
            return self._items(value, at, depth)
        if kind is set or kind is frozenset:
            self._note(at, kind.__name__)
            return self._members(value, at, depth)
        return self._object(value, at, depth)

    def _items(self, items: Iterable[object], at: str, depth: int) -> list[object]:
        return [self.plain(item, f"{at}/{index}", depth) for index, item in enumerate(items)]

    def _mapping(self, mapping: dict[Any, object], at: str, depth: int) -> object:
        if all(type(key) is str and not _SURROGATE.search(key) for key in mapping):
            return {key: self.plain(item, f"{at}/{_token(key)}", depth) for key, item in mapping.items()}
        self._note(at, "dict")
        return [
            [self.plain(key, f"{at}/{index}/0", depth), self.plain(item, f"{at}/{index}/1", depth)]
            for index, (key, item) in enumerate(mapping.items())
        ]

    def _members(self, members: Iterable[object], at: str, depth: int) -> list[object]:
        """A set in the order of its members' encodings: Python's own differs from process to process."""
        walked: list[tuple[bytes, object, _Walk]] = []
        for member in members:
            walk = _Walk()
            plain = walk.plain(member, "", depth)
            walked.append((_to_json([plain, walk.types]), plain, walk))
        walked.sort(key=lambda entry: entry[0])
        for index, (_, _, walk) in enumerate(walked):
            self.lossy |= walk.lossy
            self.types.update({f"{at}/{index}{pointer}": names for pointer, names in walk.types.items()})
        return [plain for _, plain, _ in walked]

    def _object(self, value: Any, at: str, depth: int) -> object:
        if type(value) is Opaque:
            self.lossy |= value.lossy
            self._note(at, f"~{value.type_name}" if value.lossy else value.type_name)
            return self._content(value.value, at, depth)
        try:
            family = family_of(type(value))
            if family is None:
                return self._describe(value, at)
            content = family.apart(value)
            self._note(at, _type_name(value))
        except Incomplete as partly:
            content = partly.content
            self.lossy = True
            self._note(at, f"~{_type_name(value)}")
        except KeyboardInterrupt:
            raise
        except BaseException:  # whatever the attributes of a foreign object raise
            return self._describe(value, at)
        return self._content(content, at, depth)

    def _content(self, content: object, at: str, depth: int) -> object:
        if type(content) in _CONTAINERS:
            # Not through `plain`: this was made a moment ago and is gone in another, and must not be
            # mistaken, by its id, for something seen before.
            return self._container(content, at, depth)
        return self.plain(content, at, depth)

    def _describe(self, value: object, at: str, why: str = "") -> str:
        self.lossy = True
        name = _type_name(value)
        self._note(at, f"~{name}")
        return f"<{name}: {why}>" if why else _description(value, name)

    def _note(self, at: str, name: str) -> None:
        outer = self.types.get(at)
        if outer is None:
            self.types[at] = name
        else:
            self.types[at] = [*([outer] if isinstance(outer, str) else outer), name]


_CONTAINERS = frozenset({dict, list, tuple, set, frozenset})
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def _token(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _description(value: object, name: str) -> str:
    try:
        text = str.__str__(repr(value))[: 2 * MAX_DESCRIPTION]
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return f"<{name}: its repr raises {_type_name(error)}>"
    return _writable(_ADDRESS.sub("", text)[:MAX_DESCRIPTION])


def _type_name(value: object) -> str:
    kind = type(value)
    try:
        # Through `type` itself: a metaclass may answer anything.
        module = type.__dict__["__module__"].__get__(kind)
        qualname = type.__dict__["__qualname__"].__get__(kind)
        return _writable(qualname if module == "builtins" else f"{str.__str__(module)}:{qualname}")
    except Exception:
        return "object"


def _writable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


# --- reading ------------------------------------------------------------------------------------------------


def _rebuild(types: dict[str, str | list[str]], value: object, *, strict: bool) -> Any:
    root = [value]
    try:
        for pointer in sorted(types, key=_level, reverse=True):  # parts before what is made of them
            holder, key = _place(root, pointer)
            names = types[pointer]
            for name in [names] if isinstance(names, str) else reversed(names):
                holder[key] = _restored(name, holder[key], strict=strict)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(str(error)) from error
    return root[0]


def _level(pointer: str) -> int:
    return pointer.count("/")


def _place(root: list[Any], pointer: str) -> tuple[Any, Any]:
    holder: Any = root
    key: Any = 0
    for token in pointer.split("/")[1:]:
        holder = holder[key]
        key = int(token) if type(holder) is list else token.replace("~1", "/").replace("~0", "~")
    return holder, key


def _restored(name: str, content: Any, *, strict: bool) -> Any:
    try:
        if read := READERS.get(name):
            return read(content)
        if (kind := _loaded_class(name)) and (family := family_of(kind)):
            return family.together(kind, content)
    except KeyboardInterrupt:
        raise
    except BaseException:
        pass  # whatever a class that has changed raises, it says that the content does not fit
    lossy, bare = name.startswith("~"), name.removeprefix("~")
    if strict:
        raise ValueLost(
            f"a recorded value cannot be had back as the {bare} that it was",
            hint="return plain data, a dataclass or a model, and run the case again"
            if lossy
            else "import the module that defines the class, as it was, before reading the record",
        )
    return Opaque(bare, content, lossy)


def _loaded_class(name: str) -> type | None:
    module, colon, qualname = name.partition(":")
    found: Any = sys.modules.get(module) if colon else None
    for part in qualname.split("."):
        # Not getattr: modules may answer that by importing something.
        found = None if found is None else vars(found).get(part)
    return found if isinstance(found, type) else None


def _damaged(how: str) -> ValueLost:
    return ValueLost(
        f"a recorded value cannot be read: {how}",
        hint="the record was edited or damaged; `paceline verify` finds the line",
    )
