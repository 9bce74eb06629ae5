"""What is heard of one call at the gateway: all of it goes to the ticket, and one thing stays here.

That is whether there is something of the call to go on record: then its answer is held until it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.gateway.tickets import Ticket
from paceline.pace.calls import Call

if TYPE_CHECKING:
    from paceline.pace.tape import Tape


class Hearing:
    """Listens to one call on behalf of its ticket."""

    def __init__(self, ticket: Ticket) -> None:
        self._ticket = ticket
        self.is_kept = False
        """Whether the call is over, and its bodies are on their way to the record."""

    @property
    def tape(self) -> Tape | None:
        """What keeps the calls of the attempt."""
        return self._ticket.tape

    def begun(self) -> None:
        """The call was let through."""
        self._ticket.begun()

    def waiting(self) -> None:
        """It waits."""
        self._ticket.waiting()

    def going(self) -> None:
        """It waits no more."""
        self._ticket.going()

    def ended(self, call: Call | None) -> None:
        """It is over."""
        self._ticket.ended(call)
        self.is_kept = call is not None and call.bodies is not None and not call.replayed
