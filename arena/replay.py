"""Goes through a record again: by the rules, position by position, and by having the agents play the match once more."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import isclose
from typing import Any

from arena.errors import Interrupted, describe
from arena.game import Game, Puzzle, State
from arena.record import Decision, Record
from arena.schedule import Scheduled, Stage
from arena.spec import Spec


@dataclass(frozen=True, slots=True)
class Step:
    """A position of a match and what led to it."""

    state: State
    number: int
    """How many actions have been played; -1 for an answer."""
    action: str | None
    """The last of them, None at the start and at an answer."""
    seat: int | None
    """Who played it."""
    decision: Decision | None
    """What the decision used, where there was one for the action alone."""


class Differs(Exception):
    """A record is not what the rules make of it."""


def steps(game: Game, record: Record) -> Iterator[Step]:
    """Yield every position of a record, the first one included; Differs where the rules do not allow what it says."""
    state = _parsed("position", record.position, lambda: game.parse_state(record.position))
    yield Step(state, 0, None, None, None)
    alone = len(record.decisions) == len(record.actions) or not isinstance(game, Puzzle)
    for number, text in enumerate(record.actions):
        if not isinstance(game, Puzzle) and game.is_terminal(state):  # a path may pass through the goal
            raise Differs(f"action {number + 1}: {text!r} comes after the end")
        seat = game.to_move(state)
        action = _parsed(f"action {number + 1}", text, lambda at=state, said=text: game.parse_action(at, said))
        if action not in game.actions(state):
            raise Differs(f"action {number + 1}: {text!r} is not legal")
        state = game.result(state, action)
        decision = record.decisions[number] if alone and number < len(record.decisions) else None
        yield Step(state, number + 1, text, seat, decision)
    if record.answer is not None and not record.answer.startswith("blake2b:"):
        answer = record.answer
        yield Step(_parsed("answer", answer, lambda: game.parse_state(answer)), -1, None, None, None)


def _parsed(what: str, text: str, parse: Any) -> Any:
    try:
        return parse()
    except Interrupted:
        raise
    except Exception as error:
        raise Differs(f"{what}: {text!r} cannot be read: {describe(error)}") from error


def against_rules(game: Game, record: Record, last: State) -> list[str]:
    """What the rules say otherwise of the end of a record; `last` is the state after its last step."""
    if record.termination != "normal":
        return []
    if not isinstance(game, Puzzle):
        if not game.is_terminal(last):
            return ["the game is not over after the last action"]
        return _returns(record, tuple(map(float, game.returns(last))))
    found = _returns(record, (1.0,) if record.solved else (0.0,))
    if record.answer is None and bool(game.is_goal(last)) != record.solved:
        found.append(f"solved: recorded {record.solved}, by the rules {not record.solved}")
    if record.cost is not None and not isclose(cost := _cost(game, record), record.cost):
        found.append(f"cost: recorded {record.cost}, by the rules {cost}")
    return found


def _returns(record: Record, expected: Sequence[float]) -> list[str]:
    return [] if tuple(expected) == record.returns else [f"returns: recorded {record.returns}, by the rules {tuple(expected)}"]


def _cost(game: Puzzle, record: Record) -> float:
    state, cost = game.parse_state(record.position), 0.0
    for text in record.actions:
        action = game.parse_action(state, text)
        successor = game.result(state, action)
        cost += game.step_cost(state, action, successor)
        state = successor
    return cost


def played_again(spec: Spec, scheduled: Scheduled, record: Record) -> list[str]:
    """Where a record differs from what the agents play now: a line for every key that is not the same."""
    with closing(Stage(spec)) as stage:
        again = stage.play(scheduled).timeless()
    before = record.timeless()
    return [f"{key}: recorded {_brief(before[key])}, now {_brief(again[key])}" for key in before if before[key] != again[key]]


def timed(spec: Spec, scheduled: Scheduled) -> bool:
    """Tell whether the clock had a say in a match, so that it need not come out the same again."""
    board = spec.boards[scheduled.board]
    return any(board.seats[entry].limits.seconds is not None for entry in scheduled.pairing.seats)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
