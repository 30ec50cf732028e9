"""Plays one match and trusts nobody: actions are checked, paths replayed, answers tested, faults booked on their seat."""

import random
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from math import isfinite
from time import perf_counter
from typing import Any, NamedTuple

from arena.agent import Agent
from arena.configured import name_of
from arena.counting import Meter, counting_view
from arena.errors import ADDRESS, GameError, Interrupted, OutOfBudget, author_traceback, describe
from arena.game import Action, Game, Puzzle, State
from arena.identity import drawn, position_stream, seat_stream
from arena.match import Match
from arena.outcome import Answer, Path
from arena.record import Decision, Reason, Record
from arena.search import Search, Start

MARGIN = 0.1
"""Seconds that a decision may run over its limit before it is lost on time."""
TOLERANCE = 1e-9
LONGEST_ANSWER = 64 * 1024
"""Bytes of an answer's text that a record keeps; of a longer one it keeps the hash."""


OnTurn = Callable[[int], None]


def nobody(seat: int) -> None:
    """Who is told whose turn it is where nobody wants to know."""


class Ending(NamedTuple):
    """How a match ended, and on whose account."""

    reason: Reason
    seat: int | None = None
    message: str | None = None
    traceback: str | None = None


class Fault(Exception):
    """A seat did what loses the match."""

    def __init__(self, ending: Ending) -> None:
        self.ending = ending


@dataclass(slots=True)
class Log:
    """What has been played so far."""

    actions: list[str]
    decisions: list[tuple[Any, ...]]
    """The fields of each Decision, made into one when the match is over."""
    cost: float = 0
    steps: int | None = None
    answer: str | None = None
    fallbacks: int = 0
    returns: tuple[float, ...] = ()
    solved: bool = False
    streams: list[random.Random] = field(default_factory=list)
    """The random stream of every seat that has been taken."""


class Player:
    """An agent in its seat: its view of the game, its meter, its random stream."""

    __slots__ = ("_budget", "_evaluation", "_limits", "_log", "_meter", "_note", "_rng", "_start", "_view", "agent", "number",
                 "seat")  # fmt: skip

    def __init__(self, match: Match, number: int, start: Start, log: Log) -> None:
        self.number = number
        self.seat = seat = match.seats[number]
        self._limits = seat.limits
        self._budget = seat.limits.budget
        self._evaluation = seat.evaluation
        self._meter = meter = Meter()
        self._view = counting_view(match.game, meter)
        self._rng = seat_stream(match.id, number)
        log.streams.append(self._rng)
        self._start = start
        self._log = log
        self._note = log.decisions.append
        try:
            self.agent: Agent = seat.make()
        except Interrupted:
            raise
        except BaseException as error:
            raise self._raised(error) from error

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it if it is legal; a Fault otherwise."""
        return self.checked(self._decide(self.agent.choose, state, legal), legal)

    def solve(self, state: State) -> Any:
        """Ask for a solution; None where the agent gave up or ran out of its budget with nothing to show."""
        return self._decide(self.agent.solve, state, ())

    def checked(self, choice: Any, legal: Sequence[Action]) -> Action:
        """Return the legal action that equals `choice`: the game's own object, never the agent's. A Fault without one."""
        try:
            return legal[legal.index(choice)]
        except Interrupted:
            raise
        except ValueError:
            expected = "an action" if choice is None else f"one of {_short(list(legal))}"
            message = f"expected {expected}, got {_short(choice)}"
            raise Fault(Ending("illegal-action", self.number, message)) from None
        except BaseException as error:  # a comparison written by the agent's author
            if not isinstance(legal, Sequence):
                raise GameError(f"actions gave {_short(legal)}; expected a sequence") from error
            raise self._raised(error) from error

    def _decide(self, method: Callable[..., Any], state: State, legal: Sequence[Action]) -> Any:
        meter = self._meter
        search = Search(self._view, self._evaluation, self._limits, meter, self._rng, self._start)
        if self._budget:
            meter.begin(self._limits.nodes, self._limits.seconds)
        else:
            meter.nodes = meter.evaluations = 0
        stopped = None
        began = perf_counter()
        try:
            choice = method(self._view, state, search)
        except BaseException as error:  # an agent's SystemExit and KeyboardInterrupt are its own faults
            stopped = error
        seconds = perf_counter() - began
        self._note((self.number, meter.nodes, meter.evaluations, seconds, search.depth, search.value))
        if stopped is not None:
            choice = self._after(stopped, search, legal)
        if self._budget and self._limits.seconds is not None and seconds > self._limits.seconds + MARGIN:
            raise Fault(Ending("timeout", self.number, f"took {seconds:.3f} s of {self._limits.seconds:g} s"))
        return choice

    def _after(self, stopped: BaseException, search: Search, legal: Sequence[Action]) -> Any:
        """What counts after an exception: the last report, or a random action, when the budget ran out; else a Fault."""
        if isinstance(stopped, Interrupted):
            raise stopped
        if not (isinstance(stopped, OutOfBudget) and self._meter.exhausted):
            raise self._raised(stopped) from stopped
        if search.reported:
            return search.best_action
        if not legal:
            return None
        self._log.fallbacks += 1
        return self._rng.choice(legal)

    def _raised(self, error: BaseException) -> Fault:
        kind: Reason = "memory" if isinstance(error, MemoryError) else "exception"
        return Fault(Ending(kind, self.number, describe(error), author_traceback(error)))


def play_match(match: Match, on_turn: OnTurn = nobody) -> Record:
    """Play a match to its end and return its record. Only the user's interrupt is passed on.

    A fault of the game itself makes the match void. `on_turn` is told the seat before an agent is made or asked.
    """
    log = Log([], [])
    try:
        ending = _play(match, log, on_turn)
        "".join(log.actions)  # all of them texts, or the game is at fault
    except Fault as fault:
        ending = fault.ending
        log.returns = lost(len(match.seats), ending.seat)
    except Interrupted:
        raise
    except BaseException as error:
        ending = Ending("void", None, describe(error), author_traceback(error))
        log.returns = (0.0,) * match.game.players
        log.actions = [str(action) for action in log.actions]
    return _record(match, log, ending)


def _play(match: Match, log: Log, on_turn: OnTurn) -> Ending:
    start = Start(match.game, position_stream(match.position.key, "start"))
    players = []
    for number in range(len(match.seats)):
        on_turn(number)
        players.append(Player(match, number, start, log))
    if not isinstance(match.game, Puzzle):
        return _take_turns(match.game, match, players, log, on_turn)
    if players[0].seat.solver:
        ending = _ask_for_solution(match.game, match, players[0], log)
    else:
        ending = _walk(match.game, match, players[0], log)
    log.returns = (1.0,) if log.solved else (0.0,)
    return ending


def _take_turns(game: Game, match: Match, players: list[Player], log: Log, on_turn: OnTurn) -> Ending:
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


def _walk(puzzle: Puzzle, match: Match, player: Player, log: Log) -> Ending:
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


def _ask_for_solution(puzzle: Puzzle, match: Match, player: Player, log: Log) -> Ending:
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
    raise Fault(Ending("illegal-action", player.number, f"expected a Path, an Answer or None, got {_short(found)}"))


def _replay(puzzle: Puzzle, match: Match, player: Player, path: Path, log: Log) -> Ending:
    state = match.position.state
    most = _moves(match)
    for number, choice in enumerate(path.actions):
        if number == most:
            return Ending("move-limit", None, f"a path of {len(path.actions)} actions, {most} are allowed")
        action = player.checked(choice, puzzle.actions(state))
        log.actions.append(puzzle.format_action(state, action))
        successor = puzzle.result(state, action)
        log.cost += puzzle.step_cost(state, action, successor)
        state = successor
    _check_cost(puzzle, log)
    log.solved = bool(puzzle.is_goal(state))
    if not log.solved:
        message = f"the path of {len(path.actions)} actions does not end at a goal"
        raise Fault(Ending("illegal-action", player.number, message))
    return _NORMAL


def _check_cost(puzzle: Puzzle, log: Log) -> None:
    log.cost = float(log.cost)
    if not isfinite(log.cost):
        raise GameError(f"{name_of(puzzle)}: step_cost gave no finite number")


def _test(puzzle: Puzzle, match: Match, player: Player, answer: Answer, log: Log) -> Ending:
    if puzzle.path_matters:
        message = f"expected a Path or None, got an Answer: in {name_of(puzzle)} the path matters"
        raise Fault(Ending("illegal-action", player.number, message))
    try:
        log.solved = bool(puzzle.is_answer(match.position.state, answer.state))
        text = puzzle.format_state(answer.state)
    except Interrupted:
        raise
    except BaseException as error:  # whatever the agent calls a state went through the rules
        message = f"expected a state of {name_of(puzzle)}, got {_short(answer.state)} ({describe(error)})"
        raise Fault(Ending("illegal-action", player.number, message)) from error
    if answer.steps is not None and (type(answer.steps) is not int or answer.steps < 0):
        message = f"expected a whole number of steps or None, got {_short(answer.steps)}"
        raise Fault(Ending("illegal-action", player.number, message))
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


def _record(match: Match, log: Log, ending: Ending) -> Record:
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
        tuple(map(drawn, log.streams)) or (False,) * len(match.seats),
    )


_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 120
_brief.maxlist = _brief.maxtuple = 12


def _short(value: object) -> str:
    try:
        return ADDRESS.sub("0x...", _brief.repr(value))
    except Interrupted:
        raise
    except BaseException:  # written by the agent's author
        return f"an object of type {type(value).__name__}"
