"""The matches of a spec, one after the other, and how each is set up and played."""

from collections.abc import Iterator
from typing import NamedTuple

from arena.errors import Interrupted, author_traceback, describe
from arena.format import Pairing
from arena.game import Puzzle
from arena.match import Match, Position, match_id
from arena.record import Record
from arena.referee import play_match
from arena.spec import Board, Spec


class Scheduled(NamedTuple):
    """One match of a schedule, as a reference that a worker process understands."""

    number: int
    board: int
    pairing: Pairing


def schedule(spec: Spec) -> Iterator[Scheduled]:
    """Yield every match of a spec once, always in the same order: board after board."""
    number = 0
    for place, board in enumerate(spec.boards):
        for pairing in board.format.schedule(board.field):
            yield Scheduled(number, place, pairing)
            number += 1


class Stage:
    """Sets up and plays the matches of one spec. Keeps the position of the round at hand, which many matches share."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._round: tuple[int, int] | None = None
        self._position: Position | BaseException | None = None

    def play(self, scheduled: Scheduled) -> Record:
        """Play one match and return its record; void where the game cannot give a position."""
        board = self._spec.boards[scheduled.board]
        position = self._meet(board, scheduled)
        if isinstance(position, BaseException):
            message = f"no position: {describe(position)}"
            return self.unplayed(scheduled)._replace(message=message, traceback=author_traceback(position))
        seats = tuple([board.seats[entry] for entry in scheduled.pairing.seats])
        repetition = board.positions.repetition(scheduled.pairing.round)
        identity = match_id(position.key, seats, seats[0].limits.moves, repetition)
        return play_match(Match(identity, board.game, position, seats, self._spec.seed))

    def unplayed(self, scheduled: Scheduled) -> Record:
        """The void record of a match that could not be played."""
        board = self._spec.boards[scheduled.board]
        number = scheduled.pairing.round
        seats = [board.seats[entry] for entry in scheduled.pairing.seats]
        labels = tuple([seat.label for seat in seats])
        return Record(
            id=match_id(board.positions.key(number), seats, seats[0].limits.moves, board.positions.repetition(number)),
            game=board.name,
            position="",
            labels=labels,
            seed=self._spec.seed,
            actions=(),
            answer=None,
            returns=(0.0,) * len(labels),
            solved=False if isinstance(board.game, Puzzle) else None,
            termination="void",
            seat=None,
            message=None,
            traceback=None,
            moves=0,
            cost=None,
            fallbacks=0,
            decisions=(),
        )

    def _meet(self, board: Board, scheduled: Scheduled) -> Position | BaseException:
        here = (scheduled.board, scheduled.pairing.round)
        if self._position is None or here != self._round:
            self._round = here
            try:
                self._position = board.positions[scheduled.pairing.round]
            except Interrupted:
                raise
            except BaseException as error:  # the game's own fault: the match is void
                self._position = error
        return self._position
