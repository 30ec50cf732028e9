"""Says how to stop an agent that takes long for a decision."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from arena.api.match import Seat

SLOW_DECISION_SECONDS = 10.0
"""After this time, a line says how to stop an agent or to limit its decisions."""


class SlowDecision:
    """Says once in a match that an agent takes long. `say` gets the line."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._told = False

    @contextmanager
    def watch(self, seat: Seat) -> Iterator[None]:
        """Say so if the agent of a seat has no time limit, and decides for longer than SLOW_DECISION_SECONDS in the block."""

        def remind() -> None:
            self._told = True
            self._say(
                f"{seat.label} has been searching for {SLOW_DECISION_SECONDS:g} s; Ctrl-C stops it, and --limits seconds=S or "
                "--limits nodes=N limits each decision"
            )

        timer = Timer(SLOW_DECISION_SECONDS, remind)
        timer.daemon = True
        if seat.limits.seconds is None and not self._told:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()
