"""Finds values of a record that contradict each other or its game, without using the rules."""

from collections.abc import Collection
from math import inf, isfinite

from arena import Game, Puzzle, Record
from arena.api.errors import abbreviate
from arena.api.games import Returns, gives
from arena.api.match import FAULTS, is_timing

MAX_TEXT_CHARACTERS = 1 << 20
"""The maximum number of characters of one text. Messages are truncated far below this length, and no notation needs so many."""


def find_contradiction(record: Record, game: Game | None) -> str | None:
    """Return a description of the first value in a record that contradicts another value or the game; None if there is none.

    A match has as many seats as the record has labels. If the game is not known, a record with `solved` counts as the record of a
    puzzle.
    """
    seats = len(record.labels)
    puzzle = record.solved is not None if game is None else isinstance(game, Puzzle)
    answers = puzzle and not (isinstance(game, Puzzle) and game.path_matters)
    return (
        _check_returns(record, seats, game)
        or _check_result(record, game, puzzle=puzzle)
        or _check_ending(record, seats, puzzle=puzzle, answers=answers)
        or _check_payoffs(record, game)
        or _check_decisions(record, seats, puzzle=puzzle)
        or _check_lengths(record)
        or _check_timing(record)
    )


def find_impossible_ending(record: Record, timed: Collection[str], apart: Collection[str]) -> str | None:
    """Return why a match cannot have ended by the fault in its record; None if it can.

    `timed` are the labels with a time limit for their decisions, and `apart` those with processes of their own. Any process can
    end, and it must start and answer in time.
    """
    reason, seat = record.termination, record.seat
    if reason not in ("timeout", "crash", "memory") or seat is None or seat >= len(record.labels) or record.labels[seat] in apart:
        return None
    if reason == "timeout" and record.labels[seat] not in timed:
        return f"termination: timeout is impossible, because seat {seat} has neither a time limit nor a process of its own"
    if reason == "memory" and "memory" not in (record.message or "").lower():
        return f"termination: memory is impossible, because seat {seat} has no process of its own and raised no MemoryError"
    if reason == "crash" and record.decisions:  # a worker that ends takes all decisions of the match with it
        return f"termination: crash is impossible after a decision, because seat {seat} has no process of its own"
    return None


def _check_returns(record: Record, seats: int, game: Game | None) -> str | None:
    """Check that the returns are in the range of the game. If the match did not end normally, 0 is also allowed."""
    returns = record.returns
    low, high = (-inf, inf) if game is None else Returns(game).range
    unfinished = record.termination != "normal"
    sound = [isfinite(value) and (low <= value <= high or (unfinished and value == 0.0)) for value in returns]
    if len(returns) != seats or not all(sound):
        span = "" if game is None else f" from {low:g} to {high:g}"
        return f"returns: expected {seats} numbers{span}, got {abbreviate(returns)}"
    if game is not None and game.zero_sum and abs(sum(returns)) > Returns.ZERO_SUM_TOLERANCE:
        return f"returns: {abbreviate(returns)} do not add up to 0, but the game is zero-sum"
    return None


def _check_result(record: Record, game: Game | None, *, puzzle: bool) -> str | None:
    returns = record.returns
    if puzzle is (record.solved is None):
        return f"solved: expected {'true or false' if puzzle else 'null'}, got {abbreviate(record.solved)}"
    if puzzle and list(returns) != [float(bool(record.solved))]:
        return f"returns: expected {float(bool(record.solved))} because solved is {record.solved}, got {abbreviate(returns)}"
    if record.solved and record.termination != "normal":
        return f"solved: expected false with {record.termination}, got true"
    if record.answer is not None:
        return None
    chance = not puzzle and (game is None or gives(game, "chance_outcomes"))  # outcomes of chance are actions, but not moves
    if record.moves != len(record.actions) and not (chance and record.moves in range(len(record.actions))):
        return f"moves: expected {len(record.actions)}, the number of actions, got {abbreviate(record.moves)}"
    return None


def _check_ending(record: Record, seats: int, *, puzzle: bool, answers: bool) -> str | None:
    reason, seat = record.termination, record.seat
    blamed = reason in FAULTS or reason in ("gave-up", "out-of-budget")
    if blamed and (seat is None or seat >= seats):
        return f"seat: expected the seat that caused {reason}, a number below {seats}, got {seat}"
    if not blamed and seat is not None:
        return f"seat: expected null with {reason}, got {seat}"
    if not puzzle and reason in ("gave-up", "out-of-budget", "stuck"):
        return f"termination: expected a reason that applies to games, got {reason}"
    if record.answer is not None and (not answers or reason != "normal"):
        return f"answer: expected null, got {abbreviate(record.answer)}"
    return None


def _check_payoffs(record: Record, game: Game | None) -> str | None:
    """Check the returns that do not depend on the rules: 0 in a void match, the same for all seats at the move limit, and the
    minimum for a seat at fault.

    If seats get returns during play, or the game is not known, only a replay by the rules can check them.
    """
    reason, returns = record.termination, record.returns
    if reason == "void" and any(returns):
        return f"returns: expected zeros with {reason}, got {abbreviate(returns)}"
    if reason == "move-limit" and game is not None and not isinstance(game, Puzzle) and not gives(game, "standing"):
        expected = Returns(game).standing()
        if tuple(returns) != expected:
            return f"returns: expected {expected} with {reason}, got {abbreviate(returns)}"
    if reason not in FAULTS or game is None or record.seat is None or game.players == 1:
        return None
    expected = Returns(game).of_loss(record.seat)
    if tuple(returns) != expected if game.zero_sum else returns[record.seat] != expected[record.seat]:
        return f"returns: expected a loss of seat {record.seat} by {reason}, got {abbreviate(returns)}"
    return None


def _check_decisions(record: Record, seats: int, *, puzzle: bool) -> str | None:
    """Check the number of decisions. In a game, every action has a decision, and a match that ended by a fault may have one
    decision more. A solver has a single decision for all its actions.
    """
    if len(record.drew) != seats:
        return f"drew: expected {seats} values, got {len(record.drew)}"
    for number, decision in enumerate(record.decisions):
        if decision[0] >= seats:
            return f"decisions[{number}]: expected a seat less than {seats}, got {abbreviate(decision[0])}"
    drawn = sum([decision[-1] for decision in record.decisions])
    if drawn and drawn != record.fallbacks:  # records of earlier versions have no marks
        return f"fallbacks: expected {drawn}, one for each decision with this mark, got {record.fallbacks}"
    if record.termination == "void":
        return None
    actions = len(record.actions) if puzzle else record.moves or 0
    decisions = len(record.decisions)
    if puzzle and not decisions and (actions or record.answer is not None):
        return "decisions: expected at least one, got none"
    if not puzzle and decisions - actions not in ((0, 1) if record.termination in FAULTS else (0,)):
        return f"decisions: expected {actions}, one for each action, got {decisions}"
    return None


def _check_lengths(record: Record) -> str | None:
    texts = (record.position, record.answer, record.message, record.traceback, *record.actions)
    longest = max([len(text) for text in texts if text is not None], default=0)
    return (
        None
        if longest <= MAX_TEXT_CHARACTERS
        else f"expected strings of at most {MAX_TEXT_CHARACTERS:,} characters, got one of {longest:,}"
    )


def _check_timing(record: Record) -> str | None:
    if record.timing is None or is_timing(record.timing, len(record.labels)):
        return None
    return f"timing: expected a number for each seat under each name, got {abbreviate(record.timing)}"
