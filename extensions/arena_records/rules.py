"""Compares the end of a record with the rules of the game."""

from math import isclose

from arena import Game, Puzzle, Record
from arena.api.games import Returns, gives
from arena.api.match import FAULTS, Adjudication, Step


def compare_with_rules(
    game: Game, record: Record, first: Step, last: Step, moves: int | None = None, adjudication: Adjudication | None = None
) -> list[str]:
    """Return the differences between the rules and the end of a record, given its first and last step.

    `moves` is the move limit of the match, and `adjudication` contains the rules by which its board ends matches early. If
    `moves` is None, neither of them is known. For a record of a fault, the only possible difference is that the match was
    already over.
    """
    found: list[str] = []
    concerned = adjudication is not None or record.termination == "adjudicated"
    if concerned and moves is not None and record.termination != "void":
        continues = last.moves < moves and not game.is_terminal(last.state)
        found += _compare_with_values(record, last.moves, adjudication, continues=continues)
    if record.termination == "move-limit" and moves is not None and last.moves != moves:
        found.append(f"termination: recorded move-limit after {last.moves} of {moves} moves")
    if gives(game, "chance_outcomes") and record.moves != last.moves:
        found.append(f"moves: recorded {record.moves}, but the rules give {last.moves}")
    expected = (
        _check_attempt(game, record, first, last, found) if isinstance(game, Puzzle) else _check_game(game, record, last, found)
    )
    if expected is not None and expected != record.returns:
        found.append(f"returns: recorded {record.returns}, but the rules give {expected}")
    return found


def _compare_with_values(record: Record, actions: int, adjudication: Adjudication | None, *, continues: bool) -> list[str]:
    """Return the differences between the reported values and the end of the match after `actions` actions of seats.

    `continues` is true if the game could continue after the last action.
    """
    reported = [(decision.seat, decision.value) for decision in record.decisions]
    after, agreed_end = (adjudication and adjudication.first(reported)) or (None, None)
    due = after is not None and (after < actions or (after == actions and continues))
    if record.termination != "adjudicated":
        return (
            [
                (
                    f"termination: recorded {record.termination}, but the reported values end the game after {after} moves "
                    "(adjudicated)"
                )
            ]
            if due
            else []
        )
    if not due or after != actions or agreed_end is None:
        when = f"due after {after} moves" if due else "never due"
        return [f"termination: recorded as adjudicated after {actions} moves; by the reported values, this is {when}"]
    if agreed_end.returns != record.returns:
        return [f"returns: recorded {record.returns}, but the reported values give {agreed_end.returns}"]
    return []


def _check_game(game: Game, record: Record, last: Step, found: list[str]) -> tuple[float, ...] | None:
    over = game.is_terminal(last.state)
    if record.seat is not None and record.decisions and not over and game.to_move(last.state) != record.seat:
        found.append(f"seat: recorded a fault of seat {record.seat}, but seat {game.to_move(last.state)} was to move")
    if record.termination == "normal" and over:
        return tuple(map(float, game.returns(last.state)))
    if record.termination == "normal":
        found.append("the game is not over after the last action")
    elif record.termination in ("move-limit", "adjudicated"):
        if over:
            found.append("the game is over after the last action")
        return Returns(game).standing(last.state) if record.termination == "move-limit" else None
    elif record.termination in FAULTS and gives(game, "standing"):
        return Returns(game).of_loss(record.seat, last.state)
    return None


def _check_attempt(puzzle: Puzzle, record: Record, first: Step, last: Step, found: list[str]) -> tuple[float, ...] | None:
    if record.termination not in ("normal", "move-limit", "stuck"):
        return None
    if record.answer is not None:
        if puzzle.path_matters:
            found.append("an answer was recorded, although the path matters")
        unknown = last.number >= 0  # the answer is a hash, or it cannot be read
        solved = bool(record.solved) if unknown else bool(puzzle.is_answer(first.state, last.state))
    else:
        solved = bool(puzzle.is_goal(last.state))
        if not solved and record.termination == "normal":
            found.append("the last state is not a goal")
        if record.termination == "stuck" and (solved or puzzle.actions(last.state)):
            found.append("the puzzle is not stuck after the last action")
        if record.cost is None or not isclose(last.cost, record.cost, abs_tol=1e-9):
            found.append(f"cost: recorded {record.cost}, but the rules give {last.cost}")
    solved = solved and record.termination == "normal"
    if solved != record.solved:
        found.append(f"solved: recorded {record.solved}, but the rules give {solved}")
    return (1.0,) if solved else (0.0,)
