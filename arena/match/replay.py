"""Goes through a record again, position by position, and takes the luck of chance off its returns."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from arena.errors import describe
from arena.game import CHANCE, Action, Game, Puzzle, State
from arena.heuristics import Evaluation
from arena.match.chance_streams import Chance, chance_outcomes, has_chance
from arena.match.record import Decision, Record
from arena.match.stepper import Stepper
from arena.returns import unscale_value


class IllegalAction(Exception):
    """A text stands for no legal action. `complaint` is the objection of the game's parser, None if it could read the text."""

    def __init__(self, text: str, complaint: str | None) -> None:
        self.complaint = complaint
        super().__init__(f"{text!r} is not legal")


def legal_action(game: Game, state: State, text: str) -> Action:
    """Return the legal action of `state` that `text` stands for, as the game's own object; IllegalAction if there is none.

    A text is read by `parse_action`; failing that, compared with what `format_action` writes, since a game may write a notation
    that it cannot read. All exceptions of the game pass through, except a ValueError of its parser.
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
    raise IllegalAction(text, complaint)


class Step(NamedTuple):
    """A position of a match and the action before it."""

    state: State
    number: int
    """The number of actions played so far; -1 for an answer."""
    action: str | None
    """The last action, None at the start and at an answer."""
    seat: int | None
    """The seat that played it; CHANCE if chance moved."""
    decision: Decision | None
    """The amounts of the decision, if there was one for this action alone."""
    cost: float
    """The cost of the actions so far, in a puzzle."""
    moves: int = 0
    """The number of decisions among the actions so far, without the outcomes of chance."""


class Differs(Exception):
    """A record contradicts the rules."""


def steps(game: Game, record: Record, start: State | None = None, chance: Chance | None = None) -> Iterator[Step]:
    """Yield every position of a record, including the first; Differs if the rules do not allow the record.

    It begins at `start` if given, otherwise at the position that the record names. With a `start`, an answer is left out if the
    game has no notation to read it. With `chance`, newly made, the outcomes must be the same as its draws; without it, any
    possible outcome is accepted.
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
        except IllegalAction as illegal:
            raise Differs(f"action {number + 1}: {illegal}") from illegal
        stepper.advance(action, text)
        if seat == CHANCE:
            if chance is not None and (drawn := chance.outcome(state)) != action:
                raise Differs(f"action {number + 1}: recorded {text!r}, and chance gave {game.format_action(state, drawn)!r}")
            yield Step(stepper.state, number + 1, text, seat, None, float(stepper.cost), moves)
            continue
        decision = record.decisions[moves] if alone and moves < len(record.decisions) else None
        moves += 1
        if decision is not None and not puzzle and decision.seat != seat:
            raise Differs(f"action {number + 1}: recorded as a decision of seat {decision.seat}, and seat {seat} was to move")
        yield Step(stepper.state, number + 1, text, seat, decision, float(stepper.cost), moves)
    if record.answer is not None and not record.answer.startswith("blake2b:"):
        answer = record.answer
        if start is None or _can_read(game, record.position, start):
            state = _parse("answer", answer, lambda: game.parse_state(answer))
            yield Step(state, -1, None, None, None, float(stepper.cost), moves)


def _can_read(game: Game, text: str, state: State) -> bool:
    """Return whether a game reads the states that it writes; the notation is optional."""
    try:
        return bool(game.parse_state(text) == state)
    except ValueError:
        return False


def _parse(what: str, text: str, parse: Any) -> Any:
    try:
        return parse()
    except Exception as error:
        raise Differs(f"{what}: {text!r} cannot be read: {describe(error)}") from error


MAX_BLIND_NODES = 3
"""The number of chance nodes at the start of a match that may leave the value unchanged before values are taken one ply later."""
MIN_NODES_PER_OUTCOME = 500
"""The nodes of a decision, for each outcome of chance, from which on values one ply later are worth their time."""


def adjusted_returns(
    game: Game, record: Record, evaluation: Evaluation | None = None, start: State | None = None
) -> tuple[float, ...] | None:
    """Return `returns - sum over chance nodes of (V(after) - E V(after))` of every seat; None for a void match.

    It is an unbiased estimate of the strength of a seat, with less variance than the returns. At every chance node the value of
    the actual outcome is compared with the mean over all outcomes, and the sum of these differences has the mean 0 for any V (a
    control variate; for games White and Bowling 2009 call such an estimate MIVAT, and Zinkevich and others 2006 the advantage
    sum).

    V is the return of a terminal state. In other states it is `evaluation`, usually the default heuristic of the game, mapped
    back to the scale of returns; 0 without one. If at the first MAX_BLIND_NODES chance nodes all outcomes have the same value,
    `evaluation` does not see chance. From then on V is the value after the best reply to the outcome. This takes many states, so
    if the agents' decisions took fewer than MIN_NODES_PER_OUTCOME nodes for each outcome so far, nothing is subtracted, and no
    time is spent. (Only earlier events decide this, so it brings no bias.)

    A game without chance has its returns. The match begins at `start`, by default at the position of the record. Differs if the
    rules do not allow the record.
    """
    if record.termination == "void":
        return None
    if not has_chance(game):
        return record.returns
    adjusted = list(record.returns)
    blind = 0  # the chance nodes so far, as long as none has changed the value; then -1
    ahead, nodes = False, 0
    before: State = None
    for step in steps(game, record, start):
        nodes += step.decision.nodes if step.decision else 0
        if step.seat == CHANCE:
            outcomes = chance_outcomes(game, before)
            if blind == MAX_BLIND_NODES and not ahead:
                ahead = nodes >= MIN_NODES_PER_OUTCOME * len(outcomes) * max(1, step.moves)
                if not ahead:
                    return record.returns
            means = [0.0] * game.players
            seen = set()
            for action, probability in outcomes:
                values = _estimate_returns(game, game.result(before, action), evaluation, ahead=ahead)
                means = [mean + probability * value for mean, value in zip(means, values, strict=True)]
                seen.add(tuple(values))
            if not ahead:
                blind = blind + 1 if blind >= 0 and len(seen) == 1 else -1
            came = _estimate_returns(game, step.state, evaluation, ahead=ahead)
            adjusted = [value - (own - mean) for value, own, mean in zip(adjusted, came, means, strict=True)]
        before = step.state
    return tuple(adjusted)


def _estimate_returns(game: Game, state: State, evaluation: Evaluation | None, *, ahead: bool) -> Sequence[float]:
    """The value of a state for every seat; with `ahead` that of the state after the best reply of the seat to move."""
    if game.is_terminal(state):
        return game.returns(state)
    if evaluation is None:
        return [0.0] * game.players
    if ahead and (seat := game.to_move(state)) != CHANCE:

        def value(after: State) -> float:
            return game.returns(after)[seat] if game.is_terminal(after) else unscale_value(game, evaluation(after, seat))

        best = max([game.result(state, action) for action in game.actions(state)], key=value)
        return _estimate_returns(game, best, evaluation, ahead=False)
    return [unscale_value(game, evaluation(state, seat)) for seat in range(game.players)]
