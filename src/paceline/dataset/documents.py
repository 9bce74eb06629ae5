"""Documents: YAML and JSON text as plain data, with the line on which each part of it stands.

A `Document` answers `where(path)` for any path into its data, such as `("cases", 3, "inputs")`: errors say
file and line. Most parts of a document never have one, so lines are worked out when they are asked for.

Refuses what a person did not mean or a machine should not follow: keys that stand twice, aliases that expand
without measure or into themselves, nesting beyond reason. Knows nothing of cases.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from paceline.errors import DatasetError
from paceline.settings import at

if TYPE_CHECKING:
    import yaml

MAX_DEPTH: Final = 100
MAX_EXPANSION: Final = 1_000_000
"""How many nodes aliases may stand for, beyond those that are written."""
MAX_NOTES: Final = 20

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """Data, and where its parts stand."""

    data: Any
    name: str
    """The file, as errors name it; empty where there is none."""
    line_of: Callable[[Path], int]
    """The line of a part, or of its key in a mapping; 0 where it has none."""
    notes: tuple[str, ...] = ()
    """What was read as something other than it looks like."""

    def where(self, path: Path) -> str:
        """File and line of a part, or its path where there are no lines."""
        return _where(self.name, self.line_of(path)) or as_written(path)


def document_of_data(data: object) -> Document:
    """A document that has no text."""
    return Document(data, "", _nowhere)


def read_text(raw: bytes, name: str) -> str:
    """The text of a file, which is UTF-8 with or without a byte order mark."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _refusal(name, line, "not UTF-8", f"save the file as UTF-8{encoding_of(raw)}")


def encoding_of(raw: bytes) -> str:
    """What a byte order mark says that the bytes are instead of UTF-8, as part of a sentence."""
    return "; it seems to be UTF-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ""


def as_written(path: Path) -> str:
    """A path as one would write it in Python: `cases[3].inputs`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def _nowhere(_: Path) -> int:
    return 0


def _where(name: str, line: int) -> str:
    return at(name, line) if name else (f"line {line}" if line else "")


def _refusal(name: str, line: int, what: str, hint: str) -> DatasetError:
    return DatasetError(f"{_where(name, line)}: {what}".removeprefix(": "), hint=hint)


def _unreadable(name: str, line: int, said: str, form: str = "YAML") -> DatasetError:
    hint = f"mend the {form}; an editor that knows {form} underlines the place"
    return _refusal(name, line, f"not readable as {form}: {said}", hint)


def _too_deep(name: str, line: int) -> DatasetError:
    hint = "is a bracket left open? Otherwise put deep data into a string"
    return _refusal(name, line, f"nested more than {MAX_DEPTH} levels deep", hint)


def _twice(name: str, line: int, key: str, first: int) -> DatasetError:
    return _refusal(
        name, line, f"the key {key!r} stands twice, first on line {first}", "remove one of the two"
    )


# --- YAML ---------------------------------------------------------------------------------------------------


def read_yaml(text: str, name: str = "") -> Document:
    """Read one YAML document, by the rules of YAML 1.1 as PyYAML and Pydantic Evals have them."""
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_depth(yaml.parse(text, base), name)
        loader = base(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return Document(None, name, _nowhere)
            notes: list[str] = []
            _check_nodes(root, name, notes)
            data = _constructed(loader, root, name)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(part for part in (error.context, error.problem) if part)
        # An end that came too soon is marked on the line after the last.
        raise _unreadable(name, min(mark.line, text.rstrip().count("\n")) + 1 if mark else 0, said)
    except yaml.reader.ReaderError as error:
        raise _unreadable(
            name, text.count("\n", 0, error.position) + 1, f"it has {_character(error)!r} in it"
        )
    except UnicodeEncodeError as error:
        raise _unreadable(name, text.count("\n", 0, error.start) + 1, "it has half of a surrogate pair in it")
    return Document(data, name, lambda path: _line_in(root, path), tuple(notes[:MAX_NOTES]))


def _character(error: yaml.reader.ReaderError) -> str:
    return chr(error.character) if isinstance(error.character, int) else str(error.character)


def _check_depth(events: Iterator[Any], name: str) -> None:
    # Before anything is composed: the C loader recurses on its stack, and would take the process with it.
    import yaml

    depth = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise _too_deep(name, event.start_mark.line + 1)


def _check_nodes(root: yaml.Node, name: str, notes: list[str]) -> None:
    """Refuse keys that stand twice and aliases that never end; note words read as something else."""
    import yaml

    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size(node: yaml.Node) -> int:
        if (known := sizes.get(id(node))) is not None:
            return known
        line = node.start_mark.line + 1
        if id(node) in open_nodes:
            raise _refusal(name, line, "an alias inside of what it stands for", "write it out instead")
        open_nodes.add(id(node))
        total = 1
        if isinstance(node, yaml.MappingNode):
            _check_keys(node, name)
            total += sum(size(key) + size(value) for key, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            total += sum(map(size, node.value))
        elif note := _surprise(node):
            notes.append(f"{_where(name, line)}: {note}")
        open_nodes.discard(id(node))
        sizes[id(node)] = total
        return total

    if size(root) - len(sizes) > MAX_EXPANSION:
        what = f"its aliases (`*name`) stand for more than {MAX_EXPANSION:,} parts"
        raise _refusal(name, 0, what, "write out what is meant, or put it into a JSONL file")


def _check_keys(node: yaml.MappingNode, name: str) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        if not isinstance(key.value, str) or key.tag.endswith(":merge"):
            continue
        line = key.start_mark.line + 1
        if (first := lines.get((key.tag, key.value))) is not None:
            raise _twice(name, line, key.value, first)
        lines[key.tag, key.value] = line


_SEXAGESIMAL = re.compile(r"[-+]?\d[\d_]*(:[0-5]?\d)+(\.\d*)?")
_BOOLEAN_WORDS: Final = {"yes": "true", "on": "true", "no": "false", "off": "false"}


def _surprise(node: yaml.Node) -> str:
    """What YAML 1.1 makes of a bare word or number that hardly anyone means by it."""
    if getattr(node, "style", None):
        return ""  # quoted: taken as it is written
    if node.tag.endswith(":bool") and (meaning := _BOOLEAN_WORDS.get(node.value.lower())):
        return f"`{node.value}` is read as {meaning}; put it in quotes if the word is meant"
    if node.tag.endswith((":int", ":float")) and _SEXAGESIMAL.fullmatch(node.value):
        return f"`{node.value}` is read as a number to the base of 60; put it in quotes if the text is meant"
    return ""


def _constructed(loader: Any, root: yaml.Node, name: str) -> Any:
    import yaml

    try:
        return loader.construct_document(root)
    except yaml.YAMLError:
        raise
    except Exception as error:
        # Dates in a thirteenth month, numbers without end: PyYAML lets those through without a place.
        line, text = _first_unreadable(loader, root)
        raise _unreadable(name, line, f"{text!r:.60}: {error}")


def _first_unreadable(loader: Any, node: yaml.Node) -> tuple[int, str]:
    import yaml

    if isinstance(node, yaml.ScalarNode):
        try:
            loader.construct_object(node)
        except Exception:
            return node.start_mark.line + 1, node.value
        return 0, ""
    parts = (
        node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
    )
    return next((found for part in parts if (found := _first_unreadable(loader, part))[0]), (0, ""))


def _line_in(root: yaml.Node, path: Path) -> int:
    import yaml

    node, line = root, root.start_mark.line + 1
    for part in path:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        elif isinstance(node, yaml.MappingNode):
            # From the end: of keys that a merge (`<<`) has brought in, one's own come last, and win.
            pairs = ((key, value) for key, value in reversed(node.value) if key.value == str(part))
            if (found := next(pairs, None)) is None:
                return line
            line = found[0].start_mark.line + 1
            node = found[1]
        else:
            return line
    return line


# --- JSON ---------------------------------------------------------------------------------------------------


def read_json(text: str, name: str = "") -> Document:
    """Read one JSON document; NaN and Infinity are accepted, as Python and Pydantic write them."""
    lines = _JsonLines(text, name)
    try:
        data = json.loads(text, object_pairs_hook=_without_twins)
    except json.JSONDecodeError as error:
        raise _unreadable(name, error.lineno, f"{error.msg}, column {error.colno}", "JSON")
    except _Twins as twins:
        lines.refuse_twins()
        raise AssertionError("a key that stood twice stands there no more") from twins
    except RecursionError:
        raise _too_deep(name, 0)
    except ValueError as error:  # a number of more digits than Python reads
        raise _unreadable(name, 0, str(error), "JSON")
    return Document(data, name, lines.line_of)


class _Twins(Exception):
    """Two keys of one object are the same."""


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Twins
    return made


class _JsonLines:
    """Finds the line of any part of a JSON text that is known to be well-formed."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        self._parts: dict[int, dict[str | int, tuple[int, int]]] = {}

    def line_of(self, path: Path) -> int:
        """The line of a part, or of the last on the way to it that is there."""
        start = marker = self._skip(0)
        try:
            for part in path:
                if (found := self._parts_of(start).get(part)) is None:
                    break
                marker, start = found
        except RecursionError:
            return 0  # nested to the very edge of what Python reads, and by now there is less room
        return self._line(marker)

    def refuse_twins(self) -> None:
        """Name the first key that stands twice."""
        waiting = [self._skip(0)]
        while waiting:
            waiting.extend(start for _, start in self._parts_of(waiting.pop()).values())

    def _line(self, offset: int) -> int:
        return bisect_left(self._newlines, offset) + 1

    @cached_property
    def _newlines(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self._text)]

    def _skip(self, offset: int) -> int:
        found = _BLANK.match(self._text, offset)
        assert found is not None  # it matches nothing, too
        return found.end()

    def _parts_of(self, start: int) -> dict[str | int, tuple[int, int]]:
        """The parts of what begins at `start`: where each is announced, and where its value begins."""
        if start not in self._parts:
            within = {"[": self._elements, "{": self._members}.get(self._text[start : start + 1])
            self._parts[start] = dict(within(start)) if within else {}
        return self._parts[start]

    def _elements(self, start: int) -> Iterator[tuple[str | int, tuple[int, int]]]:
        index, offset = 0, self._skip(start + 1)
        while self._text[offset] != "]":
            yield index, (offset, offset)
            index, offset = index + 1, self._after(offset)

    def _members(self, start: int) -> Iterator[tuple[str | int, tuple[int, int]]]:
        seen: dict[str, int] = {}
        offset = self._skip(start + 1)
        while self._text[offset] != "}":
            key, end = _DECODER.raw_decode(self._text, offset)
            if key in seen:
                raise _twice(self._name, self._line(offset), key, self._line(seen[key]))
            seen[key] = offset
            value = self._skip(self._skip(end) + 1)
            yield key, (offset, value)
            offset = self._after(value)

    def _after(self, offset: int) -> int:
        """Where the next part begins, or the closing bracket stands."""
        end = self._skip(_DECODER.raw_decode(self._text, offset)[1])
        return self._skip(end + 1) if self._text[end] == "," else end


_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
