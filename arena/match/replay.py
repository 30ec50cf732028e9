"""Goes through a record again, position by position: to check it by the rules, and to take the luck of chance off its returns."""

from collections.abc import Iterator, Sequence
from math import isclose
from typing import Any, NamedTuple

from arena.errors import describe
from arena.game import CHANCE, Action, Game, Puzzle, State, gives
from arena.heuristic import Evaluation
from arena.match.adjudication import Adjudication
from arena.match.chance_streams import Chance, chance_outcomes, has_chance
from arena.match.record import FAULTS, Decision, Record
from arena.match.stepper import Stepper
from arena.returns import returns_of_loss, standing, unscale_value


class IllegalAction(Exception):
    """A text stands for no legal action. `complaint` is what the game's parser objected to, None if it could read the text."""

    def __init__(self, text: str, complaint: str | None) -> None:
        self.complaint = complaint
        super().__init__(f"{text!r} is not legal")


def legal_action(game: Game, state: State, text: str) -> Action:
    """Return the legal action of `state` that `text` stands for, as the game's own object; IllegalAction if there is none.

    A text is read by `parse_action`; failing that, compared with what `format_action` writes, since a game may write a notation
    that it does not read. Whatever the game raises, except a ValueError of its parser, is passed on.
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
    """A position of a match and what led to it."""

    state: State
    number: int
    """How many actions have been played; -1 for an answer."""
    action: str | None
    """The last of them, None at the start and at an answer."""
    seat: int | None
    """The seat that played it; CHANCE if chance moved."""
    decision: Decision | None
    """What the decision used, if there was one for the action alone."""
    cost: float
    """What the actions so far have cost, of a puzzle."""
    moves: int = 0
    """How many of the actions so far were decisions, and not outcomes of chance."""


class Differs(Exception):
    """A record is not what the rules make of it."""


def steps(game: Game, record: Record, start: State | None = None, chance: Chance | None = None) -> Iterator[Step]:
    """Yield every position of a record, the first one included; Differs if the rules do not allow what it says.

    It begins at `start` if that is given, else where the notation of the record's position says. With a `start`, an answer
    that a game without a notation for states cannot read is left out. With `chance`, made anew, outcomes must be those that
    it draws; without, any that can come.
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
    """Whether a game reads the states that it writes; the notation is optional."""
    try:
        return bool(game.parse_state(text) == state)
    except ValueError:
        return False


def _parse(what: str, text: str, parse: Any) -> Any:
    try:
        return parse()
    except Exception as error:
        raise Differs(f"{what}: {text!r} cannot be read: {describe(error)}") from error


def compare_with_rules(
    game: Game, record: Record, first: Step, last: Step, moves: int | None = None, adjudication: Adjudication | None = None
) -> list[str]:
    """What the rules say otherwise of the end of a record, from its first and last step.

    `moves` is the limit of the match and `adjudication` the rules of its board; without `moves` neither is known. A record of a
    fault has nothing that the rules could know, but that the match was over before.
    """
    found: list[str] = []
    concerned = adjudication is not None or record.termination == "adjudicated"
    if concerned and moves is not None and record.termination != "void":
        continues = last.moves < moves and not game.is_terminal(last.state)
        found += _compare_with_values(record, last.moves, adjudication, continues=continues)
    if record.termination == "move-limit" and moves is not None and last.moves != moves:
        found.append(f"termination: recorded move-limit after {last.moves} of {moves} moves")
    if has_chance(game) and record.moves != last.moves:
        found.append(f"moves: recorded {record.moves}, by the rules {last.moves}")
    expected = (
        _check_attempt(game, record, first, last, found) if isinstance(game, Puzzle) else _check_game(game, record, last, found)
    )
    if expected is not None and expected != record.returns:
        found.append(f"returns: recorded {record.returns}, by the rules {expected}")
    return found


def _compare_with_values(record: Record, actions: int, adjudication: Adjudication | None, *, continues: bool) -> list[str]:
    """What the reported values say otherwise of the end after so many `actions` of seats.

    `continues` tells whether the game could go on after the last one.
    """
    reported = [(decision.seat, decision.value) for decision in record.decisions]
    after, agreed_end = (adjudication and adjudication.first(reported)) or (None, None)
    due = after is not None and (after < actions or (after == actions and continues))
    if record.termination != "adjudicated":
        return [f"termination: recorded {record.termination}, by the values adjudicated after {after} moves"] if due else []
    if not due or after != actions or agreed_end is None:
        when = f"after {after} moves" if due else "not at all"
        return [f"termination: recorded adjudicated after {actions} moves, by the values {when}"]
    if agreed_end.returns != record.returns:
        return [f"returns: recorded {record.returns}, by the values {agreed_end.returns}"]
    return []


def _check_game(game: Game, record: Record, last: Step, found: list[str]) -> tuple[float, ...] | None:
    over = game.is_terminal(last.state)
    if record.seat is not None and record.decisions and not over and game.to_move(last.state) != record.seat:
        found.append(f"seat: recorded a fault of seat {record.seat}, and seat {game.to_move(last.state)} was to move")
    if record.termination == "normal" and over:
        return tuple(map(float, game.returns(last.state)))
    if record.termination == "normal":
        found.append("the game is not over after the last action")
    elif record.termination in ("move-limit", "adjudicated"):
        if over:
            found.append("the game is over after the last action")
        return standing(game, last.state) if record.termination == "move-limit" else None
    elif record.termination in FAULTS and gives(game, "standing"):
        return returns_of_loss(game, record.seat, last.state)
    return None


def _check_attempt(puzzle: Puzzle, record: Record, first: Step, last: Step, found: list[str]) -> tuple[float, ...] | None:
    if record.termination not in ("normal", "move-limit", "stuck"):
        return None
    if record.answer is not None:
        if puzzle.path_matters:
            found.append("an answer was recorded, although the path matters")
        unknown = last.number >= 0  # the answer is a hash, or cannot be read
        solved = bool(record.solved) if unknown else bool(puzzle.is_answer(first.state, last.state))
    else:
        solved = bool(puzzle.is_goal(last.state))
        if not solved and record.termination == "normal":
            found.append("the last state is no goal")
        if record.termination == "stuck" and (solved or puzzle.actions(last.state)):
            found.append("the puzzle is not stuck after the last action")
        if record.cost is None or not isclose(last.cost, record.cost, abs_tol=1e-9):
            found.append(f"cost: recorded {record.cost}, by the rules {last.cost}")
    solved = solved and record.termination == "normal"
    if solved != record.solved:
        found.append(f"solved: recorded {record.solved}, by the rules {solved}")
    return (1.0,) if solved else (0.0,)


def adjusted_returns(
    game: Game, record: Record, evaluation: Evaluation | None = None, start: State | None = None
) -> tuple[float, ...] | None:
    """Return `returns - sum over chance nodes of (V(after) - E V(after))` of every seat; None for a void match.

    It is an unbiased estimate of what a seat is worth, with less variance than the returns: at every chance node the value of
    what came is compared with the mean of what could have come, and the sum of these differences has the mean 0 whatever V is
    (a control variate; for games White and Bowling 2009 call such an
    estimate MIVAT, and Zinkevich and others 2006 the advantage sum).

    V is the return of a terminal state, elsewhere what `evaluation` says, as a rule the default heuristic of the game, mapped
    back to the scale of returns; 0 without one. A game without chance has its returns. The match begins at `start`, by default
    where its position says. Differs if the rules do not allow what the record says.
    """
    if record.termination == "void":
        return None
    if not has_chance(game):
        return record.returns
    adjusted = list(record.returns)
    before: State = None
    for step in steps(game, record, start):
        if step.seat == CHANCE:
            means = [0.0] * game.players
            for action, probability in chance_outcomes(game, before):
                values = _estimate_returns(game, game.result(before, action), evaluation)
                means = [mean + probability * value for mean, value in zip(means, values, strict=True)]
            came = _estimate_returns(game, step.state, evaluation)
            adjusted = [value - (own - mean) for value, own, mean in zip(adjusted, came, means, strict=True)]
        before = step.state
    return tuple(adjusted)


def _estimate_returns(game: Game, state: State, evaluation: Evaluation | None) -> Sequence[float]:
    if game.is_terminal(state):
        return game.returns(state)
    if evaluation is None:
        return [0.0] * game.players
    return [unscale_value(game, evaluation(state, seat)) for seat in range(game.players)]
