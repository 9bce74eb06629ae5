"""The desk of a sweep, and the doors to it: nobody else's calls are in it, and nothing adapts.

Other runs have pools of their own, which they share among each other. A sweep shares with its own child
processes only: they meet in a directory that is gone when it ends.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from paceline.conduct.pacing import Pacing
from paceline.conduct.rehearsal import rehearsal
from paceline.pace.desk import Desk
from paceline.pace.learned import state_directory
from paceline.pace.meeting import Meeting
from paceline.pace.messages import PoolId
from paceline.pace.pool import Closed
from paceline.pace.sharing import SharedDesk

KNOCK_S: Final = 0.2

AnyDesk = Desk | SharedDesk
OnClosed = Callable[[PoolId, Closed], None]


@contextmanager
def open_ramp(
    pacing: Pacing, *, rehearse: bool | str, isolated: bool, on_closed: OnClosed
) -> Iterator[AnyDesk]:
    """The desk, with its doors open. `isolated`: attempts are made in child processes, which share it."""
    with ExitStack() as stack:
        opening = pacing.opening
        if rehearse:
            opening = opening.redirected(stack.enter_context(rehearsal(rehearse)))
        make = partial(Desk, limits=opening.limits, per_pool=opening.per_pool, adaptive=False)
        desk: AnyDesk
        if isolated:
            meet = Path(stack.enter_context(TemporaryDirectory(prefix="paceline-ramp-")))
            desk = SharedDesk(Meeting(meet), make, limits=opening.limits, per_pool=dict(opening.per_pool))
            # What a child shares is as its holder has it, whatever it says itself.
            pacing.opening = replace(opening, adaptive=True, share=True, learn=False, state=meet)
        else:
            desk = make()
        stack.callback(desk.close)
        desk.on_closed = on_closed
        stack.enter_context(opening.at(desk))
        yield desk


def others_are_at_work() -> bool:
    """Whether other runs of this user share pools on this machine now: what they use is missing here."""
    try:
        sock = Meeting(state_directory(os.environ)).connect(timeout_s=KNOCK_S)
    except OSError:
        return False
    if sock is not None:
        sock.close()
    return sock is not None
