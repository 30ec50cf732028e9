"""Plays one match and trusts nobody: actions are checked, paths replayed, answers tested, faults booked on their seat."""

from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from math import isfinite

from arena.configured import name_of
from arena.errors import GameError, Interrupted, IsolationError, author_traceback, describe
from arena.game import Game, Puzzle
from arena.identity import position_stream
from arena.limits import is_count
from arena.match.match import Match
from arena.match.player import Ending, Forfeit, LocalPlayer, MatchState, Player, Unreadable, checked, short
from arena.match.record import Decision, Record
from arena.outcome import Answer, Path
from arena.search import SharedStart

TOLERANCE = 1e-9
LONGEST_ANSWER = 64 * 1024
"""Bytes of an answer's text that a record keeps; of a longer one it keeps the hash."""

OnTurn = Callable[[int], None]
PlayerMaker = Callable[[Match, int, SharedStart, MatchState], Player]
"""Makes the player of a seat: an agent in this process, one in another, a person."""


def nobody(seat: int) -> None:
    """Who is told whose turn it is where nobody wants to know."""


def play_match(match: Match, on_turn: OnTurn = nobody, make_player: PlayerMaker = LocalPlayer) -> Record:
    """Play a match to its end and return its record. Only the user's interrupt and an IsolationError are passed on.

    A fault of the game itself makes the match void. `on_turn` is told the seat before an agent is made or asked.
    `make_player` makes the player of each seat; by default every agent plays in this process.
    """
    log = MatchState([], [])
    try:
        ending = _play(match, log, on_turn, make_player)
        "".join(log.actions)  # all of them texts, or the game is at fault
    except Forfeit as fault:
        ending = fault.ending
        log.returns = lost(len(match.seats), ending.seat)
    except (Interrupted, IsolationError):
        raise
    except BaseException as error:
        ending = Ending("void", None, describe(error), author_traceback(error))
        log.returns = (0.0,) * match.game.players
        log.actions = [str(action) for action in log.actions]
    finally:
        for player in log.players:
            player.leave()
    record = _record(match, log, ending)
    log.players.clear()  # they know the log: now all that the match used goes at once, and not when garbage is collected
    return record


def _play(match: Match, log: MatchState, on_turn: OnTurn, make_player: PlayerMaker) -> Ending:
    start = SharedStart(match.game, position_stream(match.position.key, "start"))
    players: list[Player] = []
    for number in range(len(match.seats)):
        on_turn(number)
        players.append(make_player(match, number, start, log))
    if not isinstance(match.game, Puzzle):
        return _take_turns(match.game, match, players, log, on_turn)
    if players[0].solver:
        ending = _ask_for_solution(match.game, match, players[0], log)
    else:
        ending = _walk(match.game, match, players[0], log)
    log.returns = (1.0,) if log.solved else (0.0,)
    return ending


def _take_turns(game: Game, match: Match, players: list[Player], log: MatchState, on_turn: OnTurn) -> Ending:
    is_terminal, to_move, legal_actions = game.is_terminal, game.to_move, game.actions
    result, text, write = game.result, game.format_action, log.actions.append
    state = match.position.state
    for _ in range(_moves(match)):
        if is_terminal(state):
            break
        seat = to_move(state)
        if not 0 <= seat < len(players):
            raise GameError(f"{name_of(game)}: to_move gave seat {seat!r} of {len(players)}")
        legal = legal_actions(state)
        if not legal:
            raise GameError(f"{name_of(game)}: no actions in a state that is not terminal, {game.format_state(state)}")
        on_turn(seat)
        action = players[seat].choose(state, legal)
        write(text(state, action))
        state = result(state, action)
    if not is_terminal(state):
        log.returns = (0.0,) * len(players)
        return Ending("move-limit")
    log.returns = _checked_returns(game, tuple(map(float, game.returns(state))))
    return _NORMAL


def _checked_returns(game: Game, returns: tuple[float, ...]) -> tuple[float, ...]:
    if len(returns) != game.players:
        raise GameError(f"{name_of(game)}: returns gave {len(returns)} values for {game.players} seats")
    for value in returns:
        if not -1.0 <= value <= 1.0:
            raise GameError(f"{name_of(game)}: returns gave {returns}; expected values in [-1, 1]")
    if game.zero_sum and abs(sum(returns)) > TOLERANCE:
        raise GameError(f"{name_of(game)}: returns gave {returns}, which do not add up to 0 as zero_sum promises")
    return returns


_NORMAL = Ending("normal")


def _walk(puzzle: Puzzle, match: Match, player: Player, log: MatchState) -> Ending:
    is_goal, legal_actions, result = puzzle.is_goal, puzzle.actions, puzzle.result
    step_cost, text, write = puzzle.step_cost, puzzle.format_action, log.actions.append
    state = match.position.state
    for _ in range(_moves(match)):
        if is_goal(state):
            break
        legal = legal_actions(state)
        if not legal:
            return Ending("stuck")
        action = player.choose(state, legal)
        write(text(state, action))
        successor = result(state, action)
        log.cost += step_cost(state, action, successor)
        state = successor
    _check_cost(puzzle, log)
    log.solved = bool(is_goal(state))
    if log.solved:
        return _NORMAL
    return Ending("move-limit") if legal_actions(state) else Ending("stuck")


def _ask_for_solution(puzzle: Puzzle, match: Match, player: Player, log: MatchState) -> Ending:
    state = match.position.state
    if puzzle.is_goal(state):
        log.solved = True
        return _NORMAL
    found = player.solve(state)
    if found is None:
        return Ending("gave-up", player.number)
    if type(found) is Path:  # no subclass, whose attributes an agent could have written
        return _replay(puzzle, match, player, found, log)
    if type(found) is Answer:
        return _test(puzzle, match, player, found, log)
    raise Forfeit(Ending("illegal-action", player.number, f"expected a Path, an Answer or None, got {short(found)}"))


def _replay(puzzle: Puzzle, match: Match, player: Player, path: Path, log: MatchState) -> Ending:
    state = match.position.state
    most = _moves(match)
    for number, choice in enumerate(path.actions):
        if number == most:
            return Ending("move-limit", None, f"a path of {len(path.actions)} actions, {most} are allowed")
        action = checked(player.number, choice, puzzle.actions(state))
        log.actions.append(puzzle.format_action(state, action))
        successor = puzzle.result(state, action)
        log.cost += puzzle.step_cost(state, action, successor)
        state = successor
    _check_cost(puzzle, log)
    log.solved = bool(puzzle.is_goal(state))
    if not log.solved:
        message = f"the path of {len(path.actions)} actions does not end at a goal"
        raise Forfeit(Ending("illegal-action", player.number, message))
    return _NORMAL


def _check_cost(puzzle: Puzzle, log: MatchState) -> None:
    log.cost = float(log.cost)
    if not isfinite(log.cost):
        raise GameError(f"{name_of(puzzle)}: step_cost gave no finite number")


def _test(puzzle: Puzzle, match: Match, player: Player, answer: Answer, log: MatchState) -> Ending:
    if puzzle.path_matters:
        message = f"expected a Path or None, got an Answer: in {name_of(puzzle)} the path matters"
        raise Forfeit(Ending("illegal-action", player.number, message))
    if type(answer.state) is Unreadable:
        raise Forfeit(Ending("illegal-action", player.number, f"expected a state of {name_of(puzzle)}, got {answer.state.text}"))
    try:
        log.solved = bool(puzzle.is_answer(match.position.state, answer.state))
        text = puzzle.format_state(answer.state)
    except Interrupted:
        raise
    except BaseException as error:  # whatever the agent calls a state went through the rules
        message = f"expected a state of {name_of(puzzle)}, got {short(answer.state)} ({describe(error)})"
        raise Forfeit(Ending("illegal-action", player.number, message)) from error
    if answer.steps is not None and not is_count(answer.steps):
        message = f"expected a whole number of steps or None, got {short(answer.steps)}"
        raise Forfeit(Ending("illegal-action", player.number, message))
    encoded = text.encode("utf-8", "backslashreplace")
    log.answer = encoded.decode() if len(encoded) <= LONGEST_ANSWER else f"blake2b:{blake2b(encoded, digest_size=16).hexdigest()}"
    log.steps = answer.steps
    return _NORMAL


def _moves(match: Match) -> int:
    return match.seats[0].limits.moves


def lost(players: int, seat: int | None) -> tuple[float, ...]:
    """What everyone gets when one seat loses by a fault."""
    if players == 1:
        return (0.0,)
    return tuple([-1.0 if number == seat else 1.0 / (players - 1) for number in range(players)])


_decision = partial(tuple.__new__, Decision)  # what Decision._make does, without a call in Python


def _record(match: Match, log: MatchState, ending: Ending) -> Record:
    puzzle = isinstance(match.game, Puzzle)
    answered = log.answer is not None
    solved = log.solved and ending.reason == "normal"
    return Record(
        match.id,
        name_of(match.game),
        match.position.text,
        tuple([seat.label for seat in match.seats]),
        match.seed,
        tuple(log.actions),
        log.answer,
        log.returns,
        solved if puzzle else None,
        ending.reason,
        ending.seat,
        ending.message,
        ending.traceback,
        log.steps if answered else len(log.actions),
        log.cost if puzzle and not answered else None,
        log.fallbacks,
        tuple(map(_decision, log.decisions)),
        _used_rng(match, log),
        log.timing,
    )


def _used_rng(match: Match, log: MatchState) -> tuple[bool, ...]:
    used = [player.used_rng for player in log.players]
    return tuple(used) if len(used) == len(match.seats) else (*used, *[False] * (len(match.seats) - len(used)))
