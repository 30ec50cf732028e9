"""Sets up and plays the matches of a schedule."""

from arena.errors import Interrupted, author_traceback, describe
from arena.game import Puzzle
from arena.isolation.agent_process import AgentProcesses, proven
from arena.isolation.remote import player_maker
from arena.match.match import Match, Position, match_id
from arena.match.player import LocalPlayer
from arena.match.record import Reason, Record
from arena.match.referee import OnTurn, lost, play_match
from arena.schedule.fingerprint import check_unchanged, fingerprints
from arena.schedule.schedule import Scheduled, identity_of
from arena.spec import Board, Spec


def isolated(spec: Spec) -> bool:
    """Tell whether any agent of a spec plays in a process of its own."""
    return any(seat.isolation != "none" for board in spec.boards for seat in board.seats)


class MatchRunner:
    """Sets up and plays the matches of one spec. Keeps the position of the round at hand, which many matches share.

    `on_turn` is told, before every decision, which seat is to move. SandboxError where an agent wants a sandbox, and there is
    none that holds; CodeChanged where a process for an agent was started after the source of a plugin had been changed.
    """

    def __init__(self, spec: Spec, on_turn: OnTurn | None = None) -> None:
        self._spec = spec
        self._on_turn = on_turn
        if any(seat.isolation == "sandbox" for board in spec.boards for seat in board.seats):
            proven()
        self._hosts = AgentProcesses()
        apart = isolated(spec)
        self._make_player = player_maker(self._hosts) if apart else LocalPlayer
        self._code = fingerprints(spec) if apart else {}
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
        record = play_match(Match(identity, board.game, position, seats, self._spec.seed), self._on_turn, self._make_player)
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
