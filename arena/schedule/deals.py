"""Keeps matches with the same deal apart, so that no agent can tell another process of its entry what it knows about the deal.

A deal is what chance gives in a round: hidden cards, or dice. All matches of a round share it, and in a match with swapped seats,
an agent sees the cards that its opponent had before. A sandbox keeps its processes from exchanging messages in most ways, but not
in all. So in games with deals, the matches of one deal are played one after the other by the same worker, which ends processes
that know the deal before the next of these matches. So that few processes have to be ended, the worker first plays many deals in
the same order of seats.
"""

from collections.abc import Iterable

from arena.match.match import Seat
from arena.schedule.schedule import Scheduled
from arena.spec import Spec
from arena.spec.isolation import Isolation


class Deals:
    """The boards of a spec on which processes could tell each other about a deal, and the worker that plays each deal.

    Only boards with agents in a closed isolation are concerned, whose code the organiser has not chosen. An agent in an isolation
    that is not closed can exchange messages in any case.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._boards = {
            number
            for number, board in enumerate(spec.boards)
            if board.has_deals and any(self._is_confined(seat) for seat in board.seats)
        }
        self._workers: dict[str, object] = {}

    def __bool__(self) -> bool:
        """Return whether any board is concerned."""
        return bool(self._boards)

    def order(self, matches: Iterable[Scheduled]) -> list[Scheduled]:
        """Return the matches in an order in which matches with the same seats follow each other."""
        first: dict[tuple[int, tuple[int, ...]], int] = {}

        def place(one: Scheduled) -> int:
            return first.setdefault((one.board, one.pairing.seats if one.board in self._boards else ()), len(first))

        return sorted(matches, key=place)

    def may_play(self, scheduled: Scheduled, worker: object) -> bool:
        """Return whether a worker may play a match. From then on, no other worker may play matches with the same deal."""
        if scheduled.board not in self._boards:
            return True
        positions, number = self._spec.boards[scheduled.board].positions, scheduled.pairing.round
        deal = f"{positions.key(number)}/{positions.repetition(number)}"
        return self._workers.setdefault(deal, worker) is worker

    def release(self, worker: object) -> None:
        """Forget a worker that has ended with all its processes."""
        self._workers = {deal: one for deal, one in self._workers.items() if one is not worker}

    def _is_confined(self, seat: Seat) -> bool:
        if seat.in_process or seat.program is None or (seat.program.command is None and seat.program.version is None):
            return False
        isolation: Isolation = self._spec.registry.part(Isolation.kind, seat.isolation)
        return isolation.closed
