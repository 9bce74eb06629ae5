"""Keeping one call: its bodies go on record, and where they are on record already, it is answered from there.

Only what was answered well and wholly is kept: what went wrong is asked again by whoever asks again.

Knows tapes, and what a kept answer looks like. Knows nothing of how calls are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from paceline.pace.answers import read_answer
from paceline.pace.calls import Bodies, Call, Listener, Usage
from paceline.pace.events import Events
from paceline.pace.prices import Price, price_of
from paceline.pace.refused import unpacked
from paceline.pace.requests import Seen, renamed
from paceline.pace.tape import Tape, Taped

MOST: Final = 16 * 1024 * 1024
"""Bytes of an answer that is kept; a longer one is asked for again, should it come to that."""
REPLAYED: Final = "x-paceline-replayed"
"""The header by which an answer says that it comes from the record."""


class Keeping:
    """What is kept of one call."""

    def __init__(self, tape: Tape, seen: Seen, asked: bytes) -> None:
        self._tape = tape
        self._seen = seen
        self.asked = asked
        self.request = seen.request if tape.normal is None else renamed(seen, tape.normal(asked))
        """The hash of what is asked, without what is new each time."""
        self._pieces: list[bytes] = []
        self._size = 0
        self._response: Any = None

    def on_record(self) -> Taped | None:
        """The answer that is on record; raises `NotOnTape` where it has to be and is not."""
        return self._tape.play(self.request)

    def begin(self, response: Any) -> None:
        """An answer comes; what came before it does not count."""
        self._response, self._pieces, self._size = response, [], 0

    def saw(self, piece: bytes) -> None:
        """More of it, as it came over the wire."""
        self._size += len(piece)
        if self._size <= MOST:
            self._pieces.append(piece)

    def bodies(self) -> Bodies | None:
        """What goes on record of a call that was answered well and wholly."""
        response = self._response
        if response is None or self._size > MOST or not 200 <= response.status_code < 300:
            return None
        return Bodies(
            asked=self.asked,
            answered=unpacked(response, b"".join(self._pieces)),
            path=self._seen.path,
            content_type=response.headers.get("content-type", ""),
        )

    def made(self) -> None:
        """The call is over, and was not answered from the record."""
        self._tape.made()


def keeping_of(listener: Listener | None, seen: Seen, asked: bytes | None) -> Keeping | None:
    """What is kept of a call, where its attempt keeps any and what is asked is at hand."""
    tape: Tape | None = getattr(listener, "tape", None)
    return Keeping(tape, seen, asked) if tape is not None and asked is not None else None


def answer_again(taped: Taped, library: Any) -> Any:
    """An answer that is on record, as the library that the caller uses has it."""
    headers = {"content-type": taped.content_type or "application/json", REPLAYED: "1"}
    # As one that is still to be read: whoever passes an answer on, byte for byte, can read it once.
    return library.Response(taped.status, headers=headers, stream=library.ByteStream(taped.body))


def call_again(taped: Taped, seen: Seen, asked: bytes, at: float, prices: Mapping[str, Price]) -> Call:
    """What is known of a call that was answered from the record. Its price was paid when it was made."""
    usage = _usage(taped, seen)
    pool = seen.pool
    return Call(
        at=at,
        pool=str(pool),
        host=pool.host,
        model=pool.model,
        account=pool.account,
        request=taped.request,
        status=taped.status,
        usage=usage,
        price=price_of(pool.model, seen.provider.name, usage, prices),
        streamed=taped.content_type.startswith("text/event-stream"),
        tries=0,
        simulated=taped.simulated,
        replayed=True,
        bodies=Bodies(asked=asked, answered=taped.body, path=seen.path, content_type=taped.content_type),
    )


def _usage(taped: Taped, seen: Seen) -> Usage | None:
    if taped.content_type.startswith("text/event-stream"):
        looked = Events()
        looked.saw(taped.body)
        return looked.usage
    headers = {"content-type": taped.content_type}
    return read_answer(taped.status, headers, taped.body, provider=seen.provider, now=taped.ended).usage
