"""The schedule of a spec: which matches come next, their ids, and the matches that have not been handed out."""

import random
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import count, groupby
from typing import ClassVar, NamedTuple

from arena.format import Outcomes, Pairing, ranks
from arena.identity import stream_seed
from arena.match.match import match_id
from arena.schedule.ranking import Ranking, ask_ranking, find_format
from arena.secret import Seed, seed_of_round
from arena.spec import Spec


class Scheduled(NamedTuple):
    """One match of a schedule, described so that a worker process can find it."""

    number: int
    """Its place in the schedule, from 0."""
    board: int
    pairing: Pairing

    def match_id(self, spec: Spec) -> str:
        """Return the id of the match. It does not depend on whether the match has been played."""
        board = spec.boards[self.board]
        number = self.pairing.round
        seats = [board.seats[entry] for entry in self.pairing.seats]
        repetition = board.positions.repetition(number)
        return match_id(board.positions.key(number), seats, seats[0].limits.moves, repetition, board.adjudication)

    def seed(self, spec: Spec) -> Seed:
        """Return the seed of its round."""
        return seed_of_round(spec.seed, self.pairing.round)

    def is_timed(self, spec: Spec) -> bool:
        """Return whether the match has a time limit, so that it may go differently if it is repeated."""
        board = spec.boards[self.board]
        return any(board.seats[entry].limits.timed for entry in self.pairing.seats)

    def asks_outside(self, spec: Spec) -> bool:
        """Return whether an agent of the match waits for something outside, so that the match must not be repeated."""
        board = spec.boards[self.board]
        return any(board.seats[entry].waits for entry in self.pairing.seats)


class Batch(tuple[Scheduled, ...]):
    """The matches to play next. An empty batch is `Batch.WAIT` or `Batch.OVER`; compare it with `is`."""

    __slots__ = ()

    WAIT: ClassVar["Batch"]
    """More matches will follow, but they depend on results that are still missing."""
    OVER: ClassVar["Batch"]
    """No more matches will follow."""


Batch.WAIT = Batch()
Batch.OVER = Batch()
Take = Callable[[int], Batch]
"""A function that hands out at most this many matches."""


class Schedule:
    """The schedule of a spec, board after board. It depends only on the spec and on the results so far.

    Any thread may `take` matches and `tell` their results. If a format uses results, the schedule waits for them.

    If agents play alone, the order in which they attempt a position is drawn from the seed. A decision takes longer just after
    another agent has filled the caches of the processor, so in a fixed order, an agent would always pay for the one before it.
    The order changes neither the numbers of matches nor their results.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._outcomes = [Outcomes() for _ in spec.boards]
        self._told = [board.format.follows_results or ranks(board.format) for board in spec.boards]  # whether results matter
        self._upcoming = self._all()
        self._untold = 0
        self.status: dict[int, str] = {}
        """The states of boards, by board index, if their formats describe them."""
        self.expected: dict[int, int] = {}
        """The expected numbers of matches, by board index, if their formats estimate them."""
        self._waiting = False
        self._lock = threading.Lock()
        for place in range(len(spec.boards)):
            self._foretell(place)

    def take(self, size: int) -> Batch:
        """Return up to `size` matches to play next; `Batch.WAIT` if results are missing, `Batch.OVER` at the end."""
        batch: list[Scheduled] = []
        with self._lock:
            while len(batch) < size:
                if self._waiting and self._untold:
                    return Batch(batch) or Batch.WAIT
                self._waiting = False
                following = next(self._upcoming, _END)
                if following is _END:
                    break
                if following is None:
                    self._waiting = True
                else:
                    batch.append(following)
                    self._untold += 1
        return Batch(batch) or Batch.OVER

    def follows(self, scheduled: Scheduled) -> bool:
        """Return whether the schedule of a match's board depends on results."""
        return self._spec.boards[scheduled.board].format.follows_results

    def rankings(self) -> dict[int, Ranking]:
        """Return the rankings by formats from plugins; the keys are board indices. Readers of a store cannot compute them."""
        return {
            number: ask_ranking(board.format, board.field.entries, self._outcomes[number])
            for number, board in enumerate(self._spec.boards)
            if ranks(board.format) and find_format(board.format.name) is None
        }

    def tell(
        self,
        scheduled: Scheduled,
        returns: tuple[float, ...] | None,
        play_hash: int | None = None,
        adjusted: tuple[float, ...] | None = None,
        loser: int | None = None,
    ) -> None:
        """Record the `returns` of a match that was taken before; None if it was void.

        `play_hash` is a hash of the moves if no seat used random numbers; see `Outcomes`. In games with chance, the hash has no
        effect, because chance is drawn again for each repetition.
        """
        with self._lock:
            self._untold -= 1
            if self._told[scheduled.board]:
                if self._spec.boards[scheduled.board].has_chance:
                    play_hash = None
                self._outcomes[scheduled.board].add(scheduled.pairing, returns, play_hash, adjusted, loser)

    def _foretell(self, place: int) -> None:
        board = self._spec.boards[place]
        size = board.format.expected_size(self._outcomes[place])
        if size is not None:
            self.expected[place] = min(size, board.size)

    def _all(self) -> Iterator[Scheduled | None]:
        numbers = count()
        for place, board in enumerate(self._spec.boards):
            planned = self._plan_board(place, numbers)
            alone = board.field.players == 1 and not board.format.follows_results
            for scheduled in self._draw_order(place, planned) if alone else planned:
                yield scheduled
                if scheduled is None:
                    word = board.format.status(self._outcomes[place])
                    if word is not None:
                        self.status[place] = word
                    self._foretell(place)

    def _plan_board(self, place: int, numbers: Iterator[int]) -> Iterator[Scheduled | None]:
        board = self._spec.boards[place]
        for pairing in board.format.schedule(board.field, self._outcomes[place]):
            yield None if pairing is None else Scheduled(next(numbers), place, pairing)

    def _draw_order(self, place: int, planned: Iterator[Scheduled | None]) -> Iterator[Scheduled | None]:
        """Yield the matches of each round in an order that is drawn from the seed. In a rotation instead, most agents would still
        follow the same one in most rounds.
        """
        for round_, attempts in groupby(planned, key=lambda one: None if one is None else one.pairing.round):
            drawn = list(attempts)
            if round_ is not None:
                seed = seed_of_round(self._spec.seed, round_)
                random.Random(stream_seed(f"{seed}/{place}/{round_}/order")).shuffle(drawn)
            yield from drawn


_END = Scheduled(-1, -1, Pairing(-1, ()))
MIN_BATCHES_LEFT = 2
"""Each player gets at least this many batches of the matches left (guided self-scheduling, Polychronopoulos and Kuck 1987)."""

MAX_LOOKAHEAD = 1000
"""If a player may not play all matches, its matches are looked for among this many."""


class Backlog:
    """Hands out every match of a schedule. Matches that are put back are handed out again.

    `total` is the number of matches in the schedule, or the largest possible number. If it is exact, batches become small towards
    the end, so that no player holds many matches while others are idle.
    """

    def __init__(self, take: Take, total: int | None) -> None:
        self._take = take
        self._total = total
        self._taken = 0
        self._left: deque[Scheduled] = deque()
        self.over = False
        """Whether the schedule has no more matches; matches that must be repeated do not count."""

    def share(self, size: int, players: int, may: Callable[[Scheduled], bool] | None = None) -> list[Scheduled]:
        """Return at most `size` matches for one of `players` players; empty if there is nothing to play now.

        `may` returns whether the player may play a match. Other matches stay where they are.
        """
        if may is None:
            self._fill(self._fair(size, players))
            return [self._left.popleft() for _ in range(min(self._fair(size, players), len(self._left)))]
        self._fill(MAX_LOOKAHEAD)
        most = self._fair(size, players)
        found: list[Scheduled] = []
        others: list[Scheduled] = []
        while self._left and len(found) < most:
            one = self._left.popleft()
            (found if may(one) else others).append(one)
        self.put_back(others)
        return found

    def put_back(self, matches: Iterable[Scheduled]) -> None:
        """Take back matches that have not begun. They are handed out next."""
        self._left.extendleft(reversed(list(matches)))

    def any_left(self) -> bool:
        """Return whether there is a match to play now. If necessary, take one from the schedule to find out."""
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
        self.over = taken is Batch.OVER
        self._taken += len(taken)
        self._left.extend(taken)
