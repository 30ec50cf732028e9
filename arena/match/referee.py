"""Plays one match without trusting the agents: it checks actions, replays paths, tests answers, and assigns faults to seats."""

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from math import inf
from typing import Any

from arena.agent import Answer, Path
from arena.configured import name_of
from arena.errors import Interrupted, IsolationError, Unavailable, author_traceback, describe
from arena.game import Action, Puzzle
from arena.limits import Limits
from arena.match.adjudication import Adjudication, Adjudicator, AgreedEnd
from arena.match.match import Match
from arena.match.player import Ending, Forfeit, Player, Unreadable, check_action, local_player, short
from arena.match.record import CPU_SECONDS, OUT_OF_TIME, Decision, Record
from arena.match.stepper import Stepper
from arena.returns import Returns
from arena.search import SharedStart

MAX_ANSWER_BYTES = 64 * 1024
"""If the text of an answer is longer than this, the record stores its hash instead."""

MIN_LACK_SECONDS = 0.01
"""The shortest wait for a processor, in seconds, that a record mentions."""
OnTurn = Callable[[int], None]
Turn = Callable[[], Sequence[Action] | None]
"""A function that returns the legal actions of the seat to move; empty or None at the end."""
PlayerMaker = Callable[[Match, int, SharedStart, Sequence[str]], Player]
"""A function that creates the player of a seat: an agent in this or another process, or a person. It gets the actions so far."""


def play_match(match: Match, on_turn: OnTurn | None = None, make_player: PlayerMaker = local_player) -> Record:
    """Play a match to its end and return its record. Only an interrupt by the user and an IsolationError are passed on.

    A fault in the game makes the match void. `on_turn` is called with the seat before its agent is created or asked.
    `make_player` creates the player of each seat; by default, every agent plays in this process.
    """
    game, position = match.game, match.position
    state = MatchState(Stepper.of(game, position.state, match.seats[0].limits.moves, position.key, match.repetition))
    try:
        try:
            ending = _play(match, state, on_turn, make_player)
            "".join(state.stepper.actions)  # if an action has no text, this is a fault of the game
        except Forfeit as forfeit:
            ending = forfeit.ending
            state.returns = Returns(game).of_loss(ending.seat, state.stepper.state)
    except (Interrupted, IsolationError):
        raise
    except BaseException as error:
        mark = Unavailable.MARK if isinstance(error, Unavailable) else ""
        ending = Ending("void", None, mark + describe(error, folders=False), author_traceback(error))
        state.returns = (0.0,) * game.players
        state.stepper.actions[:] = [str(action) for action in state.stepper.actions]
    finally:
        for player in state.players:
            player.leave()
    return _record(match, state, ending)


class MatchState:
    """A match in progress: its stepper, its players, and other data that the record needs."""

    answer: str | None = None
    steps: int | None = None
    returns: tuple[float, ...] = ()
    solved: bool = False
    agreed_end: AgreedEnd | None = None
    """The end of the match by adjudication, because of reported values; None if there was none."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper
        self.players: list[Player] = []
        self.decisions: list[tuple[Any, ...]] = []
        """The values of each Decision; the Decision itself is created when the match is over."""


def _play(match: Match, state: MatchState, on_turn: OnTurn | None, make_player: PlayerMaker) -> Ending:
    game, puzzle, adjudication = match.game, state.stepper.puzzle, match.adjudication
    start = SharedStart(game, None if puzzle is None else match.start_stream())
    for number in range(len(match.seats)):
        if on_turn is not None:
            on_turn(number)
        player = make_player(match, number, start, state.stepper.actions)
        state.players.append(player)
        player.make_agent()
    if puzzle is None:
        turn = state.stepper.turn if adjudication is None else _adjudicated_turn(adjudication, state)
        ending = _take_turns(state, on_turn, turn)
        if ending is _NORMAL:
            state.returns = Returns(game).check(game.returns(state.stepper.state))
        else:
            state.returns = Returns(game).standing(state.stepper.state) if state.agreed_end is None else state.agreed_end.returns
        return ending
    if state.players[0].solver:
        ending = _ask_for_solution(puzzle, match, state)
    else:
        ending = _take_turns(state, on_turn, state.stepper.turn)
        state.stepper.cost = float(state.stepper.cost)
        state.solved = ending is _NORMAL
    state.returns = (1.0,) if state.solved else (0.0,)
    return ending


def _take_turns(state: MatchState, on_turn: OnTurn | None, turn: Turn) -> Ending:
    stepper, players, note = state.stepper, state.players, state.decisions.append
    advance = stepper.advance
    while legal := turn():
        seat = stepper.seat
        if on_turn is not None:
            on_turn(seat)
        player = players[seat]
        try:
            action = player.choose(stepper.state, legal)
        except BaseException:
            if player.used:
                note((seat, *player.used))
            raise
        note((seat,) + player.used)  # noqa: RUF005 - `(seat, *player.used)` would first make a list
        advance(action)
    reason = stepper.ending()
    if reason == "normal":
        return _NORMAL
    return Ending(reason) if state.agreed_end is None else Ending("adjudicated", None, state.agreed_end.message)


def _adjudicated_turn(adjudication: Adjudication, state: MatchState) -> Turn:
    """Return a `turn` for the stepper that also returns no actions when the reported values end the game."""
    after, decisions = Adjudicator(adjudication).after, state.decisions

    def turn() -> Sequence[Action] | None:
        legal = state.stepper.turn()
        if legal is None or not decisions:
            return legal
        last = Decision._make(decisions[-1])
        state.agreed_end = after(last.seat, last.value)
        return legal if state.agreed_end is None else None

    return turn


_NORMAL = Ending("normal")


def _ask_for_solution(puzzle: Puzzle, match: Match, state: MatchState) -> Ending:
    player, position = state.players[0], state.stepper.state
    if puzzle.is_goal(position):
        state.solved = True
        return _NORMAL
    try:
        found = player.solve(position)
    finally:
        if player.used:
            state.decisions.append((player.number, *player.used[:-1], False))  # no action is drawn for a solver
    if found is None:
        exhausted = player.used and player.used[-1]
        return Ending("out-of-budget" if exhausted else "gave-up", player.number)
    if type(found) is Path:  # not a subclass, because an agent could have defined its attributes
        return _follow(puzzle, match, player, found, state)
    if type(found) is Answer:
        return _test(puzzle, match, player, found, state)
    raise Forfeit("illegal-action", player.number, f"expected a Path, an Answer or None, got {short(found)}")


def _follow(puzzle: Puzzle, match: Match, player: Player, path: Path, state: MatchState) -> Ending:
    """Play all actions of a path, even after it has passed through a goal, and return how the match ended."""
    stepper, most = state.stepper, match.seats[0].limits.moves
    for number, choice in enumerate(path.actions):
        if number == most:
            return Ending("move-limit", None, f"the path has {len(path.actions)} actions; at most {most} are allowed")
        stepper.advance(check_action(player.number, choice, puzzle.actions(stepper.state)))
    stepper.cost = float(stepper.cost)
    state.solved = bool(puzzle.is_goal(stepper.state))
    if not state.solved:
        message = f"the path of {len(path.actions)} action{'s' * (len(path.actions) != 1)} does not end at a goal"
        raise Forfeit("illegal-action", player.number, message)
    return _NORMAL


def _test(puzzle: Puzzle, match: Match, player: Player, answer: Answer, state: MatchState) -> Ending:
    if puzzle.path_matters:
        message = f"expected a Path or None, got an Answer: in {name_of(puzzle)} the path matters"
        raise Forfeit("illegal-action", player.number, message)
    if type(answer.state) is Unreadable:
        raise Forfeit("illegal-action", player.number, f"expected a state of {name_of(puzzle)}, got {answer.state.text}")
    try:
        state.solved = bool(puzzle.is_answer(match.position.state, answer.state))
        text = puzzle.format_state(answer.state)
    except Interrupted:
        raise
    except BaseException as error:  # the rules were given a state that an agent made
        message = f"expected a state of {name_of(puzzle)}, got {short(answer.state)} ({describe(error, folders=False)})"
        raise Forfeit("illegal-action", player.number, message) from error
    if answer.steps is not None and not Limits.is_count(answer.steps):
        message = f"expected a whole number of steps or None, got {short(answer.steps)}"
        raise Forfeit("illegal-action", player.number, message)
    encoded = text.encode("utf-8", "backslashreplace")
    state.answer = (
        encoded.decode() if len(encoded) <= MAX_ANSWER_BYTES else f"blake2b:{blake2b(encoded, digest_size=16).hexdigest()}"
    )
    state.steps = answer.steps
    return _NORMAL


_decision = partial(tuple.__new__, Decision)  # the same as Decision._make, but without a call in Python


def _record(match: Match, state: MatchState, ending: Ending) -> Record:
    stepper, players = state.stepper, state.players
    puzzle = stepper.puzzle is not None
    answered = state.answer is not None
    solved = state.solved and ending.reason == "normal"
    used_rng = [False] * len(match.seats)
    for number, player in enumerate(players):
        used_rng[number] = player.used_rng
    return Record(
        match.id,
        name_of(match.game),
        match.position.text,
        tuple([seat.label for seat in match.seats]),
        match.seed,
        tuple(stepper.actions),
        state.answer,
        state.returns,
        solved if puzzle else None,
        ending.reason,
        ending.seat,
        ending.message,
        ending.traceback,
        state.steps if answered else stepper.moves,
        stepper.cost if puzzle and not answered else None,
        sum([decision[-1] for decision in state.decisions]),
        tuple(map(_decision, state.decisions)),
        tuple(used_rng),
        _timing(match, state) or None,
        transcript=tuple([(player.number, said) for player in players for said in player.exchanges]),
    )


def _timing(match: Match, state: MatchState) -> dict[str, Any]:
    """Return the timing of a match: all values that depend on the clock, except the seconds of decisions.

    `overrun` contains the seconds beyond a limit. All other values are lists with an entry for each seat: the number and
    seconds of compiled and uncompiled decisions, the number of those of which a cache decided how they ran (`unsettled`), the
    reason why decisions ran uncompiled, the number of decisions that ran out of time, the seconds for the start, the
    processor time that was used or lacking, and the overtime that was allowed because of this lack.
    """
    timing: dict[str, Any] = {}
    players = state.players
    if not _has_timing(players):
        return timing  # the usual case
    if any(late := _count_out_of_time(match, players, state.decisions)):
        timing[OUT_OF_TIME] = late
    for player in players:
        if player.overrun is not None:
            timing["overrun"] = round(player.overrun, 6)
    asked = {player.number: use for player in players if (use := player.engine_use) is not None}
    if asked:
        uses = [asked.get(seat) for seat in range(len(match.seats))]
        for way in ("compiled", "plain"):
            if any(getattr(use, way) for use in asked.values()):
                for name in (way, f"{way}_seconds"):
                    timing[name] = [None if use is None else round(getattr(use, name), 6) for use in uses]
        if any(use.unsettled for use in asked.values()):
            timing["unsettled"] = [None if use is None else use.unsettled for use in uses]
        if any(use.reason for use in asked.values()):
            timing["plain_reason"] = [None if use is None else use.reason for use in uses]
    timed = [one for one in players if one.started is not None or one.lack_of_cpu or one.seat.limits.cpu_seconds is not None]
    seats = range(len(match.seats))
    started = {one.number: round(one.started, 6) for one in timed if one.started is not None}
    lack = {one.number: round(one.lack_of_cpu, 6) for one in timed if one.lack_of_cpu}
    used = {one.number: round(one.cpu, 6) for one in timed if one.seat.limits.cpu_seconds is not None}
    if started:
        timing["start"] = [started.get(seat) for seat in seats]
    if max(lack.values(), default=0.0) >= MIN_LACK_SECONDS:
        timing["lack_of_cpu"] = [lack.get(seat, 0.0) for seat in seats]
    if any(one.forgiven for one in timed):
        timing["forgiven"] = [sum([round(one.forgiven, 6) for one in timed if one.number == seat]) for seat in seats]
    if used:
        timing[CPU_SECONDS] = [used.get(seat) for seat in seats]
    return timing


def _has_timing(players: Sequence[Player]) -> bool:
    for one in players:  # noqa: SIM110 - a generator would take longer
        if one.engine_use or one.started is not None or one.lack_of_cpu or one.seat.limits.timed:
            return True
    return False


def _count_out_of_time(match: Match, players: Sequence[Player], decisions: Sequence[tuple[Any, ...]]) -> list[int]:
    """Return, for each seat, the number of decisions that took as long as a time limit or used up their processor time, so that
    the clock may have ended them.
    """
    limits = [seat.limits.shortest_seconds for seat in match.seats]
    late = [0] * len(limits)
    for player in players:
        late[player.number] = player.out_of_cpu
    if min(limits) < inf:
        for seat, _, _, seconds, *_ in decisions:
            late[seat] += seconds >= limits[seat]
    return late
