"""The calls of one attempt as one sequence of messages, each told once.

Every call to a model repeats what was said before it. So of each call, only what was not told yet is added:
counted, so that a user who says "go on" twice has said it twice. That holds for an agent that shortens its
history too, and for several that speak by turns.

A request may quote a model that has said no such thing here: examples in a prompt, the beginning of a
conversation that a case brings along. Such messages are marked `given`. They are those of a request that goes
on with nothing that was said in this attempt; what is new in one that does go on was said where nobody could
hear it. An answer that could not be read is marked `unread`, until a later request quotes it.

Clients that are given no ids for tool calls, as by Gemini, make some up: a quoted call of an id that was
never heard is the one that was said with the same name and arguments.

Knows messages. Knows nothing of wires (`reading`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from paceline.models.messages import Assistant, Message, ToolCall, ToolResult
from paceline.models.plain import plain_message
from paceline.trajectory.reading import Exchange
from paceline.trajectory.streams import encoded


class Trajectory:
    """Messages in the order in which they were told, as plain values."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._told: Counter[bytes] = Counter()
        self._said: set[bytes] = set()
        """What was said in this attempt, as far as it was heard."""
        self._unread = 0
        self._ids: set[str] = set()
        """Of tool calls that were said."""
        self._said_calls: defaultdict[bytes, list[str]] = defaultdict(list)
        """The same ids by name and arguments, less those that have another name by now."""
        self._renamed: dict[str, str] = {}
        """Ids of a client's making, and those that the calls were said with."""

    def add(self, exchange: Exchange, *, call: int = 0) -> None:
        """One more call; `call` is its number, by which a message says where it was told."""
        here: Counter[bytes] = Counter()
        quoted = map(self._as_said, exchange.told)
        told = [(message, list(_atoms(message))) for message in quoted]
        goes_on = self._goes_on(told)
        for message, atoms in told:
            self._add(message, atoms, here, given=not goes_on)
        if exchange.said is None:
            self.unread(call=call, model=exchange.model)
            return
        atoms = list(_atoms(exchange.said))
        self._told.update(atoms)
        self._said.update(atoms)
        for asked in exchange.said.tool_calls:
            self._ids.add(asked.id)
            self._said_calls[_content(asked)].append(asked.id)
        self.messages.append({**plain_message(exchange.said), **_facts(exchange.model, call)})

    def unread(self, *, call: int = 0, model: str = "") -> None:
        """The call was answered, and what was said is not known."""
        self._unread += 1
        unread = {"role": "assistant", "content": "", "unread": True}
        self.messages.append({**unread, **_facts(model, call)})

    def _as_said(self, message: Message) -> Message:
        """A message of a request, with the ids that its tool calls were said with."""
        match message:
            case Assistant(tool_calls=calls) if any(call.id not in self._ids for call in calls):
                return msgspec.structs.replace(message, tool_calls=tuple(map(self._call_as_said, calls)))
            case ToolResult(call_id=called) if called in self._renamed:
                return msgspec.structs.replace(message, call_id=self._renamed[called])
        return message

    def _call_as_said(self, call: ToolCall) -> ToolCall:
        if call.id in self._ids or not call.id or _call_atom(call) in self._told:
            return call
        if call.id not in self._renamed:
            said = self._said_calls.get(_content(call))
            if not said:
                return call
            self._renamed[call.id] = said.pop(0)
        return msgspec.structs.replace(call, id=self._renamed[call.id])

    def _goes_on(self, told: Iterable[tuple[Message, list[bytes]]]) -> bool:
        """Whether a request goes on with something that was said in this attempt, or may do so."""
        return self._unread > 0 or any(
            not self._said.isdisjoint(atoms) for message, atoms in told if isinstance(message, Assistant)
        )

    def _add(self, message: Message, atoms: list[bytes], here: Counter[bytes], *, given: bool) -> None:
        """A message of a request, unless all that it says was told before."""
        here.update(atoms)
        if all(here[atom] <= self._told[atom] for atom in atoms):
            return
        for atom in atoms:
            self._told[atom] = max(self._told[atom], here[atom])
        heard: dict[str, Any] = {}
        if isinstance(message, Assistant) and not given:
            self._said.update(atoms)
            if self._unread:
                heard = self._read_after_all()
        self.messages.append({**heard, **plain_message(message, given=given)})

    def _read_after_all(self) -> dict[str, Any]:
        """Take out the first answer that was not read; what is known of it."""
        self._unread -= 1
        place = next(place for place, each in enumerate(self.messages) if "unread" in each)
        known = self.messages.pop(place)
        del known["unread"]
        return known


def trajectory_of(exchanges: Iterable[Exchange]) -> list[dict[str, Any]]:
    """All calls of an attempt, in their order."""
    trajectory = Trajectory()
    for number, exchange in enumerate(exchanges, start=1):
        trajectory.add(exchange, call=number)
    return trajectory.messages


def _content(call: ToolCall) -> bytes:
    """What is asked of which tool, whatever its id."""
    return encoded([call.name, call.arguments])


def _call_atom(call: ToolCall) -> bytes:
    return b"call " + encoded([call.id, call.name, call.arguments])


def _facts(model: str, call: int) -> dict[str, Any]:
    return {**({"model": model} if model else {}), **({"call": call} if call else {})}


def _atoms(message: Message) -> Iterator[bytes]:
    """What a message says, in parts: SDKs and agents group the parts of a turn differently."""
    match message:
        case Assistant(content, calls):
            if content.strip() or not calls:
                yield b"assistant " + content.strip().encode("utf-8", "surrogatepass")
            yield from map(_call_atom, calls)
        case ToolResult():
            yield f"result {message.call_id} {message.content}".encode("utf-8", "surrogatepass")
        case other:
            kind = type(other).__name__
            yield f"{kind} {other.content}".encode("utf-8", "surrogatepass")
