"""The calls of one attempt as one sequence of messages, each told once.

Every call to a model repeats what was said before it. So of each call, only what was not told yet is added:
counted, so that a user who says "go on" twice has said it twice. That holds for an agent that shortens its
history too, and for several that speak by turns.

Knows messages. Knows nothing of wires (`reading`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from paceline.models.messages import Assistant, Message, ToolResult
from paceline.models.plain import plain_message
from paceline.trajectory.reading import Exchange
from paceline.trajectory.streams import encoded


class Trajectory:
    """Messages in the order in which they were told, as plain values."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._told: Counter[bytes] = Counter()

    def add(self, exchange: Exchange, *, call: int = 0) -> None:
        """One more call; `call` is its number, by which a message says where it was told."""
        here: Counter[bytes] = Counter()
        for message in exchange.told:
            self._add(message, here)
        if exchange.said is not None:
            number = {"call": call} if call else {}
            model = {"model": exchange.model} if exchange.model else {}
            self._told.update(_atoms(exchange.said))
            self.messages.append({**plain_message(exchange.said), **model, **number})

    def _add(self, message: Message, here: Counter[bytes]) -> None:
        """A message of a request, unless all that it says was told before."""
        atoms = list(_atoms(message))
        here.update(atoms)
        if all(here[atom] <= self._told[atom] for atom in atoms):
            return
        for atom in atoms:
            self._told[atom] = max(self._told[atom], here[atom])
        self.messages.append(plain_message(message))


def trajectory_of(exchanges: Iterable[Exchange]) -> list[dict[str, Any]]:
    """All calls of an attempt, in their order."""
    trajectory = Trajectory()
    for number, exchange in enumerate(exchanges, start=1):
        trajectory.add(exchange, call=number)
    return trajectory.messages


def _atoms(message: Message) -> Iterator[bytes]:
    """What a message says, in parts: SDKs and agents group the parts of a turn differently."""
    match message:
        case Assistant(content, calls):
            if content.strip() or not calls:
                yield b"assistant " + content.strip().encode("utf-8", "surrogatepass")
            for call in calls:
                yield b"call " + encoded([call.id, call.name, call.arguments])
        case ToolResult():
            yield f"result {message.call_id} {message.content}".encode("utf-8", "surrogatepass")
        case other:
            kind = type(other).__name__
            yield f"{kind} {other.content}".encode("utf-8", "surrogatepass")
