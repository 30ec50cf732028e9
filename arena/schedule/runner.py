"""Sets up and plays the matches of a schedule."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import inf
from typing import ClassVar, NamedTuple

from arena.agent import Hints
from arena.errors import Interrupted, author_traceback, call_foreign, describe, listing
from arena.game import Game, Puzzle, gives
from arena.hookspecs import Part
from arena.limits import UNLIKE_SPEEDS
from arena.match.match import IN_PROCESS, Match, Position, Seat
from arena.match.player import Player, PlayerPool, local_player
from arena.match.record import Reason, Record
from arena.match.referee import OnTurn, play_match
from arena.returns import Returns
from arena.schedule.deals import Deals
from arena.schedule.fingerprint import Fingerprint, check_files, check_unchanged
from arena.schedule.schedule import Scheduled
from arena.search import SharedStart
from arena.search_engines import SearchEngine, search_engines
from arena.spec import Spec
from arena.spec.isolation import Isolation
from arena.spec.reader import unbuilt


class CurrentTurn(NamedTuple):
    """A decision in progress."""

    scheduled: Scheduled
    seat: int
    ply: int
    """Its number in the match, counted from 1."""
    starting: bool = False
    """Whether the agent of the seat is being created, so that the match has not begun to move."""

    @classmethod
    def of(cls, scheduled: Scheduled, seat: int, turns: int) -> "CurrentTurn":
        """Return the decision after this number of `turns`. Creating the agent of a seat also counts as a turn."""
        seats = len(scheduled.pairing.seats)
        return cls(scheduled, seat, max(1, turns - seats), 0 < turns <= seats)


Turns = Callable[[], Sequence[CurrentTurn]]
"""A function that returns the decisions in progress. It may be called from another thread."""


@dataclass(frozen=True)
class Correction(Part):
    """A method that removes the luck of chance from the returns of matches. The result is `adjusted` in records.

    `open` gets the spec of a run and returns a function. This function gets a match of a game with chance, its record and its
    position, and returns the corrected return of every seat, or None if it cannot correct the match.

    >>> Correction("none", open=lambda spec: lambda scheduled, record, position: record.returns).name
    'none'
    """

    kind: ClassVar[str] = "correction"
    open: Callable[[Spec], Callable[[Scheduled, Record, Position], Sequence[float] | None]]


def is_isolated(spec: Spec) -> bool:
    """Return whether any agent of a spec runs in its own process."""
    return any(not seat.in_process for board in spec.boards for seat in board.seats)


def _isolations(spec: Spec) -> list[Isolation]:
    names = {seat.isolation for board in spec.boards for seat in board.seats}
    return [spec.registry.part(Isolation.kind, name) for name in sorted(names - {IN_PROCESS})]


def check_isolations(spec: Spec) -> None:
    """Raise ArenaError if agents of a spec request an isolation that is not available on this machine."""
    for isolation in _isolations(spec):
        isolation.check(spec)


def isolation_notes(spec: Spec) -> list[str]:
    """Return lines for the user about the isolations in which agents of a spec play."""
    return list(dict.fromkeys([note for isolation in _isolations(spec) for note in isolation.notes(spec)]))


def speed_notes(spec: Spec) -> Iterator[str]:
    """Yield a sentence for each board on which some searches with a time limit can run compiled, and others cannot."""
    boards = [board for board in spec.boards if len([seat for seat in board.seats if seat.limits.timed]) > 1]
    engines = [engine for engine in (search_engines() if boards else ()) if engine.can_load()]
    for board in boards if engines else ():
        labels: dict[bool, list[str]] = {True: [], False: []}
        for seat in [seat for seat in board.seats if seat.limits.timed]:
            if (compiles := _can_compile(seat, board.game, engines)) is not None:
                labels[compiles].append(seat.label)
        if all(labels.values()):
            yield f"{board.title}: {listing(labels[True])} can run compiled, {listing(labels[False])} cannot. {UNLIKE_SPEEDS}"


def _can_compile(seat: Seat, game: Game, engines: Sequence[SearchEngine]) -> bool | None:
    """Return whether the search of a seat can run compiled; None if it does not search, or if this is not known before play."""
    if seat.version is not None or (seat.program is not None and seat.program.command is not None):
        return None
    agent = call_foreign(seat.make, lambda _: None)
    if agent is None:
        return None
    uses = agent.wants_heuristic or Hints.of(type(agent)).uses_heuristic
    evaluation = seat.evaluation if uses else None
    if evaluation is unbuilt:
        return None
    loops = [(engine, loop) for engine in engines if (loop := engine.loop_of(agent, game)) is not None]
    if not loops:
        return False if gives(agent, "needs_limit") else None
    return any(loop in engine.loops_for(game) and engine.why_plain(game, evaluation) is None for engine, loop in loops)


def may_end_worker(spec: Spec, scheduled: Scheduled, seat: int) -> bool:
    """Return whether the agent to move must have ended the worker: it runs there, and no other agent could have done so.

    False if the rules of the game are native code, which may be the cause.
    """
    board = spec.boards[scheduled.board]
    ways = [board.seats[entry].isolation for entry in scheduled.pairing.seats]
    if board.native or ways[seat] != IN_PROCESS:
        return False
    return all(spec.registry.part(Isolation.kind, way).shields() for way in ways if way != IN_PROCESS)


def make_unplayed(
    spec: Spec, scheduled: Scheduled, termination: Reason = "void", seat: int | None = None, message: str | None = None
) -> Record:
    """Return the record of a match that ended without a record of its own. The match is void, or an agent is at fault."""
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
        returns=(0.0,) * players if seat is None else Returns(board.game).of_loss(seat),
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
    """Return a function from matches to positions. It caches the position of the last round, because many matches share it."""
    kept = lru_cache(1)(lambda board, round_: spec.boards[board].positions[round_])
    return lambda scheduled: kept(scheduled.board, scheduled.pairing.round)


class MatchRunner:
    """Sets up and plays the matches of one spec.

    `on_turn` is called with the seat to move before every decision. If the runner is `watched`, it records decisions for `turns`.
    `code` holds the fingerprints; if it is None, they are taken from the current code. Raises ArenaError if the isolation for an
    agent is not available. Raises CodeChanged if the code of a plugin changed before the process of an agent was started, or if a
    file that an option names has changed.
    """

    check_isolations, make_unplayed = staticmethod(check_isolations), staticmethod(make_unplayed)

    def __init__(
        self, spec: Spec, on_turn: OnTurn | None = None, code: Mapping[str, Fingerprint] | None = None, *, watched: bool = False
    ) -> None:
        self.spec = spec
        self.start_seconds: Mapping[str, float] = {}
        """The seconds in which agents must answer at their start, by label, if these are fewer than their limits allow."""
        self._on_turn = self._note_turn if watched else on_turn  # only observers need a call for each turn
        self._playing: Scheduled | None = None
        self._seat = self._turns = self._started = 0
        check_isolations(spec)
        self._pools: dict[Callable[[], PlayerPool], PlayerPool] = {}
        """The pools of players; the keys are the functions that open them."""
        apart = is_isolated(spec)
        self._make_player = self._make_apart if apart else local_player
        self._keeps_deals = bool(Deals(spec))
        self._reads = any(seat.files for board in spec.boards for seat in board.seats)
        self._code = Fingerprint.take_all(spec) if code is None and (apart or self._reads) else code
        self._position = positions_of(spec)
        corrections = spec.registry.parts[Correction.kind].values() if any(board.has_chance for board in spec.boards) else ()
        self._corrections = [part.open(spec) for part in corrections]

    def play(self, scheduled: Scheduled) -> Record:
        """Play one match and return its record, which is void if the game cannot provide a position."""
        self._playing, self._seat, self._turns = scheduled, 0, 0
        board = self.spec.boards[scheduled.board]
        try:
            position = self._position(scheduled)
        except Interrupted:
            raise
        except BaseException as error:  # a fault of the game
            record = make_unplayed(self.spec, scheduled, message=f"no position: {describe(error, folders=False)}")
            return record._replace(traceback=author_traceback(error))
        seats = tuple([board.seats[entry] for entry in scheduled.pairing.seats])
        if self.start_seconds:  # the ids of matches, which contain the limits of the spec, stay the same
            seats = tuple(map(self._shorten_start, seats))
        repetition = board.positions.repetition(scheduled.pairing.round)
        seed, deals = self.spec.record_seed, self._keeps_deals
        match = Match.of(board.game, position, seats, seed, board.adjudication, repetition, keeps_deals=deals)
        record = play_match(match, self._on_turn, self._make_player)
        if board.has_chance and record.termination != "void":
            found = [call_foreign(partial(correct, scheduled, record, position), lambda _: None) for correct in self._corrections]
            record = record._replace(adjusted=next((tuple(returns) for returns in found if returns is not None), None))
        if self._pools and (started := sum([pool.started for pool in self._pools.values()])) != self._started:
            self._started = started  # a new process has loaded the current code
            check_unchanged(self._code or {}, Fingerprint.take_all(self.spec))
        if self._reads:
            check_files(self._code or {}, seats)
        return record

    def _shorten_start(self, seat: Seat) -> Seat:
        seconds = self.start_seconds.get(seat.label, inf)
        return replace(seat, limits=replace(seat.limits, start_seconds=min(seat.limits.start_seconds, seconds)))

    def _make_apart(self, match: Match, number: int, start: SharedStart, played: Sequence[str]) -> Player:
        name = match.seats[number].isolation
        if name == IN_PROCESS:
            return local_player(match, number, start, played)
        opener = self.spec.registry.part(Isolation.kind, name).open
        if opener not in self._pools:
            self._pools[opener] = opener()
        return self._pools[opener].player(match, number, start, played)

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
