"""Sets up and plays the matches of a schedule."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from arena.errors import Interrupted, author_traceback, call_foreign, describe
from arena.game import Puzzle
from arena.heuristics import Evaluation, bind
from arena.match.match import IN_PROCESS, Match, Position, match_id
from arena.match.player import Player, local_player
from arena.match.record import Reason, Record
from arena.match.referee import OnTurn, play_match
from arena.match.replay import adjusted_returns
from arena.parts import Isolation, PlayerPool
from arena.returns import returns_of_loss
from arena.schedule.fingerprint import Fingerprint, check_files, check_unchanged, take_fingerprints
from arena.schedule.schedule import Scheduled
from arena.search import SharedStart
from arena.spec import Board, Spec


class CurrentTurn(NamedTuple):
    """A decision in progress."""

    scheduled: Scheduled
    seat: int
    ply: int
    """Its number in the match, from 1."""

    @classmethod
    def of(cls, scheduled: Scheduled, seat: int, turns: int) -> "CurrentTurn":
        """Return the decision after this number of `turns`, which include each seat's making of its agent."""
        return cls(scheduled, seat, max(1, turns - len(scheduled.pairing.seats)))


Turns = Callable[[], Sequence[CurrentTurn]]
"""Returns the decisions in progress; may be called from another thread."""


def is_isolated(spec: Spec) -> bool:
    """Return whether any agent of a spec plays in a process of its own."""
    return any(not seat.in_process for board in spec.boards for seat in board.seats)


def _isolations(spec: Spec) -> list[Isolation]:
    names = {seat.isolation for board in spec.boards for seat in board.seats}
    return [spec.registry.part(Isolation.kind, name) for name in sorted(names - {IN_PROCESS})]


def check_isolations(spec: Spec) -> None:
    """Raise an ArenaError if an isolation that agents of a spec request is not available here."""
    for isolation in _isolations(spec):
        isolation.check(spec)


def isolation_notes(spec: Spec) -> list[str]:
    """Return lines for the user on the isolations in which agents of a spec play."""
    return [note for isolation in _isolations(spec) for note in isolation.notes(spec)]


def may_end_worker(spec: Spec, scheduled: Scheduled, seat: int) -> bool:
    """Return whether the end of a worker was caused by the agent to move: it runs there, and no other agent can interfere.

    It may also be caused by a game whose rules are native.
    """
    board = spec.boards[scheduled.board]
    ways = [board.seats[entry].isolation for entry in scheduled.pairing.seats]
    if board.native or ways[seat] != IN_PROCESS:
        return False
    return all(spec.registry.part(Isolation.kind, way).shields() for way in ways if way != IN_PROCESS)


def make_unplayed(
    spec: Spec, scheduled: Scheduled, termination: Reason = "void", seat: int | None = None, message: str | None = None
) -> Record:
    """Return the record of a match that was lost before its own record could be made: void, or an agent's fault."""
    board = spec.boards[scheduled.board]
    players = len(scheduled.pairing.seats)
    return Record(
        id=scheduled.match_id(spec),
        game=board.name,
        position="" if seat is None else call_foreign(lambda: positions_of(spec)(scheduled).text, lambda _: ""),
        labels=tuple([board.seats[entry].label for entry in scheduled.pairing.seats]),
        seed=spec.record_seed,
        actions=(),
        answer=None,
        returns=(0.0,) * players if seat is None else returns_of_loss(board.game, seat),
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


def positions_of(spec: Spec) -> Callable[[Scheduled], Position]:
    """Return a function from matches to their positions, which keeps the position of the current round, because many matches
    share it.
    """
    kept = lru_cache(1)(lambda board, round_: spec.boards[board].positions[round_])
    return lambda scheduled: kept(scheduled.board, scheduled.pairing.round)


class MatchRunner:
    """Sets up and plays the matches of one spec.

    `on_turn` is called with the seat to move before every decision; a runner that is `watched` records it for `turns`. `code`
    holds the fingerprints, by default of the present code. ArenaError if the isolation of an agent is not available here;
    CodeChanged if a process for an agent was started after the source of a plugin had been changed, or a file of an option was.
    """

    def __init__(
        self,
        spec: Spec,
        on_turn: OnTurn | None = None,
        code: Mapping[str, Fingerprint] | None = None,
        *,
        watched: bool = False,
    ) -> None:
        self.spec = spec
        self._on_turn = self._note_turn if watched else on_turn  # one call for each turn, only for observers
        self._playing: Scheduled | None = None
        self._seat = self._turns = 0
        check_isolations(spec)
        self._pools: dict[Callable[[], PlayerPool], PlayerPool] = {}
        """The player pools, by the functions that open them."""
        apart = is_isolated(spec)
        self._make_player = self._make_apart if apart else local_player
        reads = any(seat.files for board in spec.boards for seat in board.seats)
        self._code = take_fingerprints(spec) if code is None and (apart or reads) else code
        self._position = positions_of(spec)
        self._evaluations: dict[str, Evaluation] = {}
        """The default heuristics of games with chance, by the titles of their boards."""

    def play(self, scheduled: Scheduled) -> Record:
        """Play one match and return its record; void if the game cannot give a position."""
        self._playing, self._seat, self._turns = scheduled, 0, 0
        board = self.spec.boards[scheduled.board]
        try:
            position = self._position(scheduled)
        except Interrupted:
            raise
        except BaseException as error:  # the game's own fault
            record = make_unplayed(self.spec, scheduled, message=f"no position: {describe(error)}")
            return record._replace(traceback=author_traceback(error))
        seats = tuple([board.seats[entry] for entry in scheduled.pairing.seats])
        repetition = board.positions.repetition(scheduled.pairing.round)
        identity = match_id(position.key, seats, seats[0].limits.moves, repetition, board.adjudication)
        before = self._count_started()
        match = Match(identity, board.game, position, seats, self.spec.record_seed, board.adjudication, repetition)
        record = play_match(match, self._on_turn, self._make_player)
        record = self._adjusted(board, record, position)
        if self._count_started() != before:  # it has loaded the code that was on the disk then
            check_unchanged(self._code or {}, take_fingerprints(self.spec))
        if any(seat.files for seat in seats):
            check_files(self._code or {}, seats)
        return record

    def _adjusted(self, board: Board, record: Record, position: Position) -> Record:
        """Return the record with the returns corrected for luck, or unchanged if they cannot be corrected."""
        if not board.has_chance or record.termination == "void":
            return record
        default = board.game.default_heuristic
        heuristic = self.spec.registry.heuristics.get((board.name, default or ""))
        if heuristic is None:
            return record
        evaluation = self._evaluations.setdefault(board.title, bind(heuristic, board.game))
        corrected = call_foreign(lambda: adjusted_returns(board.game, record, evaluation, position.state), lambda _: None)
        return record._replace(adjusted=corrected)

    def _make_apart(self, match: Match, number: int, start: SharedStart, played: Sequence[str]) -> Player:
        name = match.seats[number].isolation
        if name == IN_PROCESS:
            return local_player(match, number, start, played)
        opener = self.spec.registry.part(Isolation.kind, name).open
        if opener not in self._pools:
            self._pools[opener] = opener()
        return self._pools[opener].player(match, number, start, played)

    def _count_started(self) -> int:
        return sum([pool.started for pool in self._pools.values()])

    def turns(self) -> Sequence[CurrentTurn]:
        """Return the decision in progress, or the last one, if the runner is `watched`."""
        playing = self._playing
        return [] if playing is None else [CurrentTurn.of(playing, self._seat, self._turns)]

    def _note_turn(self, seat: int) -> None:
        self._seat = seat
        self._turns += 1

    def close(self) -> None:
        """End the processes of isolated agents."""
        for pool in self._pools.values():
            pool.close()
