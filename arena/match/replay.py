"""Replays a record, position by position."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from arena.errors import abbreviate, describe
from arena.game import CHANCE, Action, Game, Puzzle, State
from arena.match.chance_streams import Chance
from arena.match.record import Decision, Record
from arena.match.stepper import Stepper


class Differs(Exception):
    """A record or a text contradicts the rules. `complaint` is the message of the game about the text, or None."""

    def __init__(self, message: str, complaint: str | None = None) -> None:
        self.complaint = complaint
        super().__init__(message)


def legal_action(game: Game, state: State, text: str) -> Action:
    """Return the legal action of `state` with the notation `text`, as the game's own object. Raises Differs if there is none.

    The text is parsed by `parse_action`. If this fails, it is compared with the texts from `format_action`, because a game may
    write a notation that it cannot parse. Exceptions from the game are passed on, except a ValueError from `parse_action`.
    """
    legal, complaint = game.actions(state), None
    try:
        parsed = game.parse_action(state, text)
        if parsed in legal:
            return legal[legal.index(parsed)]
    except ValueError as error:
        complaint = str(error) or describe(error)
    for action in legal:
        if game.format_action(state, action) == text:
            return action
    raise Differs(f"{text!r} is not legal", complaint)


class Step(NamedTuple):
    """A position of a match and the action that led to it."""

    state: State
    number: int
    """The number of actions played so far; -1 for an answer."""
    action: str | None
    """The last action; None at the start and for an answer."""
    seat: int | None
    """The seat that played it, or CHANCE."""
    decision: Decision | None
    """The amounts for the decision; None if it chose more than this action, as a solver does."""
    cost: float
    """The cost of the actions so far in a puzzle."""
    moves: int = 0
    """The number of decisions among the actions so far, without the outcomes of chance."""

    @staticmethod
    def follow(game: Game, record: Record, start: State | None = None, chance: Chance | None = None) -> Iterator["Step"]:
        """Yield every position of a record, including the first one. Raises Differs if the rules do not allow the record.

        The replay begins at `start`, if given, or else at the position in the record. If `start` is given, an answer is left out
        if the game cannot parse it. If `chance` is given, it must be new, and the outcomes in the record must be the ones that it
        draws. Otherwise, any outcome is accepted.
        """
        state = _parse("position", record.position, lambda: game.parse_state(record.position)) if start is None else start
        stepper = Stepper(game, state, len(record.actions))
        yield Step(state, 0, None, None, None, 0.0)
        puzzle = isinstance(game, Puzzle)
        alone = len(record.decisions) == len(record.actions) or not puzzle
        moves = 0
        for number, text in enumerate(record.actions):
            state = stepper.state
            if not puzzle and game.is_terminal(state):  # a path may pass through the goal
                raise Differs(f"action {number + 1}: {text!r} comes after the end")
            seat = game.to_move(state)
            try:
                action = legal_action(game, state, text)
            except Differs as illegal:
                raise Differs(f"action {number + 1}: {illegal}") from illegal
            stepper.advance(action, text)
            if seat == CHANCE:
                if chance is not None and (drawn := chance.outcome(state)) != action:
                    raise Differs(f"action {number + 1}: recorded {text!r}, but chance gave {game.format_action(state, drawn)!r}")
                yield Step(stepper.state, number + 1, text, seat, None, float(stepper.cost), moves)
                continue
            decision = record.decisions[moves] if alone and moves < len(record.decisions) else None
            moves += 1
            if decision is not None and not puzzle and decision.seat != seat:
                raise Differs(f"action {number + 1}: recorded as a decision of seat {decision.seat}, but seat {seat} was to move")
            yield Step(stepper.state, number + 1, text, seat, decision, float(stepper.cost), moves)
        if record.answer is not None and not record.answer.startswith("blake2b:"):
            answer = record.answer
            if start is None or _can_read(game, record.position, start):
                state = _parse("answer", answer, lambda: game.parse_state(answer))
                yield Step(state, -1, None, None, None, float(stepper.cost), moves)


def _can_read(game: Game, text: str, state: State) -> bool:
    """Return whether a game can parse the states that it formats. A game need not be able to do this."""
    try:
        return bool(game.parse_state(text) == state)
    except ValueError:
        return False


def _parse(what: str, text: str, parse: Any) -> Any:
    try:
        return parse()
    except Exception as error:
        raise Differs(f"{what}: {abbreviate(text)} cannot be read: {describe(error)}") from error
