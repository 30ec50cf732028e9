"""The matches of a spec, and how each is set up and played."""

import threading
from collections.abc import Iterator
from typing import NamedTuple

from arena.errors import Interrupted, author_traceback, describe
from arena.fingerprint import check_unchanged, fingerprints
from arena.format import Outcomes, Pairing
from arena.game import Puzzle
from arena.isolation.hosts import AgentProcesses, proven
from arena.match import Match, Position, match_id
from arena.record import Reason, Record
from arena.referee import OnTurn, lost, nobody, play_match
from arena.spec import Board, Spec


class Scheduled(NamedTuple):
    """One match of a schedule, as a reference that a worker process understands."""

    number: int
    """Its place in the schedule, from 0."""
    board: int
    pairing: Pairing


class Schedule:
    """The schedule of a spec, board after board, as a pure function of the spec and of the results so far.

    Whoever plays takes matches and tells their results, from any thread. A format that looks at results makes the plan wait
    for those of all matches that were taken.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._outcomes = [Outcomes() for _ in spec.boards]
        self._upcoming = self._all()
        self._untold = 0
        self.status: dict[int, str] = {}
        """How boards stand, by their numbers, where their formats have a word for it."""
        self._waiting = False
        self._lock = threading.Lock()

    def take(self, size: int) -> list[Scheduled] | None:
        """Return up to `size` matches to be played next; none when the plan is over, None while it waits for results."""
        with self._lock:
            return self._taken(size)

    def _taken(self, size: int) -> list[Scheduled] | None:
        batch: list[Scheduled] = []
        while len(batch) < size:
            if self._waiting and self._untold:
                return batch or None
            self._waiting = False
            following = next(self._upcoming, _OVER)
            if following is _OVER:
                break
            if following is None:
                self._waiting = True
            else:
                batch.append(following)
                self._untold += 1
        return batch

    def follows(self, scheduled: Scheduled) -> bool:
        """Whether the schedule of a match's board looks at results."""
        return self._spec.boards[scheduled.board].format.follows_results

    def tell(self, scheduled: Scheduled, returns: tuple[float, ...] | None, course: int | None = None) -> None:
        """Take the result of a match that was taken before; None where it was void.

        `course` tells what was played where no seat drew a random number; see `Outcomes`.
        """
        with self._lock:
            self._untold -= 1
            if self.follows(scheduled):
                self._outcomes[scheduled.board].add(scheduled.pairing, returns, course)

    def _note_status(self, place: int) -> None:
        word = self._spec.boards[place].format.status(self._outcomes[place])
        if word is not None:
            self.status[place] = word

    def _all(self) -> Iterator[Scheduled | None]:
        number = 0
        for place, board in enumerate(self._spec.boards):
            for pairing in board.format.schedule(board.field, self._outcomes[place]):
                if pairing is None:
                    yield None
                    self._note_status(place)
                    continue
                yield Scheduled(number, place, pairing)
                number += 1


_OVER = Scheduled(-1, -1, Pairing(-1, ()))


def identity_of(spec: Spec, scheduled: Scheduled) -> str:
    """Return the id of a match of a spec, whether or not it has been played."""
    board = spec.boards[scheduled.board]
    number = scheduled.pairing.round
    seats = [board.seats[entry] for entry in scheduled.pairing.seats]
    return match_id(board.positions.key(number), seats, seats[0].limits.moves, board.positions.repetition(number))


def isolated(spec: Spec) -> bool:
    """Tell whether any agent of a spec plays in a process of its own."""
    return any(seat.isolation != "none" for board in spec.boards for seat in board.seats)


class MatchRunner:
    """Sets up and plays the matches of one spec. Keeps the position of the round at hand, which many matches share.

    `on_turn` is told, before every decision, which seat is to move. SandboxError where an agent wants a sandbox, and there is
    none that holds; CodeChanged where a process for an agent was started after the source of a plugin had been changed.
    """

    def __init__(self, spec: Spec, on_turn: OnTurn = nobody) -> None:
        self._spec = spec
        self._on_turn = on_turn
        if any(seat.isolation == "sandbox" for board in spec.boards for seat in board.seats):
            proven()
        self._hosts = AgentProcesses()
        self._code = fingerprints(spec) if isolated(spec) else {}
        self._round: tuple[int, int] | None = None
        self._position: Position | BaseException | None = None

    def play(self, scheduled: Scheduled) -> Record:
        """Play one match and return its record; void where the game cannot give a position."""
        board = self._spec.boards[scheduled.board]
        position = self._meet(board, scheduled)
        if isinstance(position, BaseException):
            record = self.unplayed(scheduled, message=f"no position: {describe(position)}")
            return record._replace(traceback=author_traceback(position))
        seats = tuple([board.seats[entry] for entry in scheduled.pairing.seats])
        repetition = board.positions.repetition(scheduled.pairing.round)
        identity = match_id(position.key, seats, seats[0].limits.moves, repetition)
        before = self._hosts.started
        record = play_match(Match(identity, board.game, position, seats, self._spec.seed), self._on_turn, self._hosts)
        if self._hosts.started != before:  # it has loaded what was on the disk then
            check_unchanged(self._code, fingerprints(self._spec))
        return record

    def position(self, scheduled: Scheduled) -> Position:
        """Return where a match begins. What the game raises instead is passed on."""
        position = self._meet(self._spec.boards[scheduled.board], scheduled)
        if isinstance(position, BaseException):
            raise position
        return position

    def close(self) -> None:
        """End the processes of isolated agents."""
        self._hosts.close()

    def identity(self, scheduled: Scheduled) -> str:
        """Return the id of a match, whether or not it has been played."""
        return identity_of(self._spec, scheduled)

    def unplayed(
        self, scheduled: Scheduled, termination: Reason = "void", seat: int | None = None, message: str | None = None
    ) -> Record:
        """The record of a match that was lost before its own record could be made: void, or an agent's fault."""
        board = self._spec.boards[scheduled.board]
        players = len(scheduled.pairing.seats)
        return Record(
            id=self.identity(scheduled),
            game=board.name,
            position="" if seat is None else self._text(board, scheduled),
            labels=tuple([board.seats[entry].label for entry in scheduled.pairing.seats]),
            seed=self._spec.seed,
            actions=(),
            answer=None,
            returns=(0.0,) * players if seat is None else lost(players, seat),
            solved=False if isinstance(board.game, Puzzle) else None,
            termination=termination,
            seat=seat,
            message=message,
            traceback=None,
            moves=0,
            cost=None,
            fallbacks=0,
            decisions=(),
            drew=(False,) * players,
        )

    def _text(self, board: Board, scheduled: Scheduled) -> str:
        position = self._meet(board, scheduled)
        return position.text if isinstance(position, Position) else ""

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
