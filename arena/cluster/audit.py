"""Has the rules judge what nodes send: whether a match from its position, by its actions, comes to the end that is recorded.

An agent's moves are checked by the referee of its match; a node has that referee in its own hands. So records are played
through again here, without their agents. That takes as long as the rules take, and no more than a share of the coordinator's
time: in a quick tournament on a large cluster some records are judged, in most tournaments all of them.
"""

from collections.abc import Sequence
from math import isclose
from time import perf_counter
from typing import Any

from arena.errors import Interrupted, describe
from arena.game import Action, Game, Puzzle, State
from arena.match import Position
from arena.record import Record
from arena.schedule import Scheduled, Stage
from arena.spec import Spec

SHARE = 0.2
"""Of the time since the start, how much may go into this."""


class Breach(Exception):
    """What a record says is against the rules."""


class Audit:
    """Plays records through by the rules of their games, as many as SHARE allows."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._stage = Stage(spec)
        self._began = perf_counter()
        self._spent = 0.0
        self.judged = 0
        """How many records were played through."""

    def fault(self, played: Sequence[Scheduled], records: Sequence[Record]) -> str | None:
        """What the rules say against the first record that they do not allow; None where they allow all that were judged."""
        for scheduled, record in zip(played, records, strict=True):
            began = perf_counter()
            if self._spent > SHARE * (began - self._began):
                return None
            try:
                self._judge(scheduled, record)
            except Breach as breach:
                return f"match {record.id}: {breach}"
            finally:
                self.judged += 1
                self._spent += perf_counter() - began
        return None

    def _judge(self, scheduled: Scheduled, record: Record) -> None:
        if record.termination == "void":
            return
        board = self._spec.boards[scheduled.board]
        try:
            position = self._stage.position(scheduled)
            if record.position != position.text:
                raise Breach(f"position: expected {position.text!r}, got {record.position!r}")
            _judge(board.game, position, record, board.seats[scheduled.pairing.seats[0]].limits.moves)
        except (Breach, Interrupted):
            raise
        except BaseException as error:
            raise Breach(f"the game has played it there, and fails here: {describe(error)}") from error


def _judge(game: Game, position: Position, record: Record, moves: int) -> None:
    state, cost = _followed(game, position.state, record.actions)
    if record.termination in ("normal", "move-limit", "stuck"):
        if isinstance(game, Puzzle):
            _judge_attempt(game, position, state, record, cost, moves)
        else:
            _judge_game(game, state, record, moves)


def _followed(game: Game, state: State, actions: Sequence[str]) -> tuple[State, float]:
    """The state after all actions, and what they have cost. A path through a goal may go on, a game that is over may not."""
    puzzle = game if isinstance(game, Puzzle) else None
    cost = 0.0
    for number, text in enumerate(actions, 1):
        if puzzle is None and game.is_terminal(state):
            raise Breach(f"action {number}: {text!r} comes after the end")
        action = _legal(game, state, text, number)
        successor = game.result(state, action)
        if puzzle is not None:
            cost += puzzle.step_cost(state, action, successor)
        state = successor
    return state, cost


def _legal(game: Game, state: State, text: str, number: int) -> Action:
    """The legal action that is written so. A notation that only writes is enough."""
    legal = game.actions(state)
    try:
        action: Action = game.parse_action(state, text)
        if action in legal:
            return action
    except ValueError:
        pass
    for action in legal:
        if game.format_action(state, action) == text:
            return action
    raise Breach(f"action {number}: {text!r} is not legal")


def _judge_game(game: Game, state: State, record: Record, moves: int) -> None:
    over = game.is_terminal(state)
    if record.termination == "normal":
        if not over:
            raise Breach("termination: expected another than normal, since the game is not over")
        _expect("returns", tuple(map(float, game.returns(state))), record.returns)
    else:
        _judge_limit(record, moves, over=over)
        _expect("returns", (0.0,) * len(record.returns), record.returns)


def _judge_attempt(puzzle: Puzzle, position: Position, state: State, record: Record, cost: float, moves: int) -> None:
    if record.answer is not None:
        _judge_answer(puzzle, position, record)
        return
    reached = bool(puzzle.is_goal(state))
    if record.termination == "normal" and not reached:
        raise Breach("termination: expected another than normal, since the last state is no goal")
    _expect("solved", record.termination == "normal", record.solved)
    if record.termination == "move-limit":
        _judge_limit(record, moves, over=False)
    elif record.termination == "stuck" and (reached or puzzle.actions(state)):
        raise Breach("termination: expected another than stuck, since the puzzle can go on")
    if record.cost is None or not isclose(record.cost, cost, abs_tol=1e-9):
        raise Breach(f"cost: expected {cost}, got {record.cost}")


def _judge_answer(puzzle: Puzzle, position: Position, record: Record) -> None:
    if puzzle.path_matters:
        raise Breach("answer: expected none, since the path matters")
    text = record.answer or ""
    if text.startswith("blake2b:"):
        return
    try:
        answer = puzzle.parse_state(text)
    except ValueError as error:
        if _reads(puzzle, position):
            raise Breach(f"answer: {text!r} cannot be read: {error}") from error
        return
    _expect("solved", bool(puzzle.is_answer(position.state, answer)), record.solved)


def _reads(game: Game, position: Position) -> bool:
    """Whether the game reads what it writes; the notation is optional."""
    try:
        return bool(game.parse_state(position.text) == position.state)
    except ValueError:
        return False


def _judge_limit(record: Record, moves: int, *, over: bool) -> None:
    if over or record.termination != "move-limit" or len(record.actions) != moves:
        raise Breach(f"termination: expected another than {record.termination} after {len(record.actions)} of {moves} moves")


def _expect(key: str, expected: Any, got: Any) -> None:
    if got != expected:
        raise Breach(f"{key}: expected {expected}, got {got}")
