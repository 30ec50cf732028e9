"""The schedule of a spec: which match comes next, the identity of each, and the matches that are still to be given out."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from arena.format import Outcomes, Pairing, ranks
from arena.match.match import match_id
from arena.schedule.ranking import Ranking, ask_ranking, find_built_in
from arena.spec import Spec


class Scheduled(NamedTuple):
    """One match of a schedule, as a reference that a worker process understands."""

    number: int
    """Its place in the schedule, from 0."""
    board: int
    pairing: Pairing


class Batch(tuple[Scheduled, ...]):
    """Matches to be played next. An empty one is WAIT or OVER, which are told apart by `is`."""

    __slots__ = ()


WAIT = Batch()
"""There are more matches, which depend on results that are still missing."""
OVER = Batch()
"""There are no more matches."""
Take = Callable[[int], Batch]
"""Gives out at most so many matches."""


class Schedule:
    """The schedule of a spec, board after board, as a pure function of the spec and of the results so far.

    Any thread may `take` matches and `tell` their results. If a format looks at results, the schedule waits for those of all
    matches that were taken.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._outcomes = [Outcomes() for _ in spec.boards]
        self._upcoming = self._all()
        self._untold = 0
        self.status: dict[int, str] = {}
        """How boards stand, by their numbers, if their formats have a word for it."""
        self.expected: dict[int, int] = {}
        """How many matches boards are expected to have, by their numbers, if their formats foretell it."""
        self._waiting = False
        self._lock = threading.Lock()
        for place in range(len(spec.boards)):
            self._foretell(place)

    def take(self, size: int) -> Batch:
        """Return up to `size` matches to be played next; WAIT while it waits for results, OVER at its end."""
        batch: list[Scheduled] = []
        with self._lock:
            while len(batch) < size:
                if self._waiting and self._untold:
                    return Batch(batch) or WAIT
                self._waiting = False
                following = next(self._upcoming, _END)
                if following is _END:
                    break
                if following is None:
                    self._waiting = True
                else:
                    batch.append(following)
                    self._untold += 1
        return Batch(batch) or OVER

    def follows(self, scheduled: Scheduled) -> bool:
        """Whether the schedule of a match's board looks at results."""
        return self._spec.boards[scheduled.board].format.follows_results

    def rankings(self) -> dict[int, Ranking]:
        """The rankings by formats of plugins, which who reads a store cannot ask, by the numbers of their boards."""
        return {
            number: ask_ranking(board.format, board.field.entries, self._outcomes[number])
            for number, board in enumerate(self._spec.boards)
            if ranks(board.format) and find_built_in(board.format.name) is None
        }

    def tell(self, scheduled: Scheduled, returns: tuple[float, ...] | None, play_hash: int | None = None) -> None:
        """Take the result of a match that was taken before; None if it was void.

        `play_hash` is that of what was played if no seat used random numbers; see `Outcomes`.
        """
        with self._lock:
            self._untold -= 1
            if self.follows(scheduled) or ranks(self._spec.boards[scheduled.board].format):
                self._outcomes[scheduled.board].add(scheduled.pairing, returns, play_hash)

    def _foretell(self, place: int) -> None:
        board = self._spec.boards[place]
        size = board.format.expected_size(self._outcomes[place])
        if size is not None:
            self.expected[place] = min(size, board.size)

    def _all(self) -> Iterator[Scheduled | None]:
        number = 0
        for place, board in enumerate(self._spec.boards):
            for pairing in board.format.schedule(board.field, self._outcomes[place]):
                if pairing is None:
                    yield None
                    word = board.format.status(self._outcomes[place])
                    if word is not None:
                        self.status[place] = word
                    self._foretell(place)
                    continue
                yield Scheduled(number, place, pairing)
                number += 1


_END = Scheduled(-1, -1, Pairing(-1, ()))


MIN_BATCHES_LEFT = 2
"""The fewest batches of what is left for each player (guided self-scheduling, Polychronopoulos and Kuck 1987)."""


class Backlog:
    """Gives out every match of a schedule, and again those that came back.

    `total` is how many matches the schedule has, or may have; if it is known, batches become small towards the end, so that
    nobody sits on many while others have nothing to do.
    """

    def __init__(self, take: Take, total: int | None) -> None:
        self._take = take
        self._total = total
        self._taken = 0
        self._left: deque[Scheduled] = deque()
        self.over = False
        """True if the schedule has no more matches, apart from those that are to be played again."""

    def share(self, size: int, players: int) -> list[Scheduled]:
        """At most `size` matches for one of so many players; none if there is nothing to play now."""
        self._fill(self._fair(size, players))
        return [self._left.popleft() for _ in range(min(self._fair(size, players), len(self._left)))]

    def put_back(self, matches: Iterable[Scheduled]) -> None:
        """Take back matches that nobody has begun; they come next."""
        self._left.extendleft(reversed(list(matches)))

    def any_left(self) -> bool:
        """Return whether there is something to play now; if need be, take a match from the schedule to know."""
        self._fill(1)
        return bool(self._left)

    def _fair(self, size: int, players: int) -> int:
        if self._total is None:
            return size
        remaining = self._total - self._taken + len(self._left)
        return max(1, min(size, remaining // (players * MIN_BATCHES_LEFT)))

    def _fill(self, size: int) -> None:
        if self.over or len(self._left) >= size:
            return
        taken = self._take(size - len(self._left))
        self.over = taken is OVER
        self._taken += len(taken)
        self._left.extend(taken)


def identity_of(spec: Spec, scheduled: Scheduled) -> str:
    """Return the id of a match of a spec, whether or not it has been played."""
    board = spec.boards[scheduled.board]
    number = scheduled.pairing.round
    seats = [board.seats[entry] for entry in scheduled.pairing.seats]
    repetition = board.positions.repetition(number)
    return match_id(board.positions.key(number), seats, seats[0].limits.moves, repetition, board.adjudication)


def is_timed(spec: Spec, scheduled: Scheduled) -> bool:
    """Return whether a match has a time limit, so that its agents need not play the same again."""
    board = spec.boards[scheduled.board]
    return any(board.seats[entry].limits.timed for entry in scheduled.pairing.seats)


def asks_outside(spec: Spec, scheduled: Scheduled) -> bool:
    """Return whether an agent of a match waits for something outside, which is not to be asked once more."""
    board = spec.boards[scheduled.board]
    return any(board.seats[entry].waits for entry in scheduled.pairing.seats)
