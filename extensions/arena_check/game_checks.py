"""Checks of games and puzzles."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import isfinite
from typing import Any, TypeVar

from arena import CHANCE, Action, Game, Puzzle, State, load_plugins, overrides
from arena.api.errors import describe, expect
from arena.api.games import Returns, gives, is_finite, move_limit, name_of
from arena.api.match import USABLE_STATES
from arena.api.processes import user_interrupts
from arena.clock import process_time
from arena_catalog.grids import GRID, find_cells, find_grid_fault
from arena_check import information_checks
from arena_check.disguise_checks import PROMISE as DISGUISE_PROMISE, check_disguise
from arena_check.distances import way_to_goal
from arena_check.finding import Abandoned, Finding, Violation
from arena_check.minimal_actions import Reproduction
from arena_check.patience import CALL_SECONDS
from arena_check.state_checks import (
    VIEWS,
    PlayedStep,
    check_action_notation,
    check_actions,
    check_local_search,
    check_notation,
    check_value,
    drawn_twice,
    expect_usable,
    is_own_operation,
    is_solved,
)
from arena_check.trial import A_GAME, PLAY, CheckLog, Trial, copy_value, own_move_limit, position_text, some_action, walk
from arena_check.verdicts import CheckSuite, Verdict

Value = TypeVar("Value")

MIN_RULES_CHARACTERS = 40
MAX_RULES_CHARACTERS = 4000
CODE_WORDS = re.compile(
    r"\b(bitboards?|bitmasks?|tuples?|numpy|ndarrays?|dicts?|dataclass(es)?|booleans?|pickled?|hashable|rng|self|None|True|False|"
    r"Python|docstrings?|subclass(es)?|to_move|is_terminal|format_state|parse_state)\b"
)
"""Words about the implementation, which do not help people to understand a game."""
MAX_PLIES = 10_000
"""The number of plies after which a game counts as endless."""
MAX_CPU_SECONDS = 60.0
"""Processor time after which no further match begins."""
MAX_STATES_TO_A_GOAL = 2000
"""Maximum number of states of a search for a goal, in puzzles whose answers are judged by a method of their own."""
MAX_WALK_ACTIONS = 200
"""Maximum number of actions in a random walk through a puzzle, which may have no end."""
COMPARED = {"states", "actions", "observations", "chance"}
"""The checks that find values that cannot be compared."""
CHECKS = {
    "play": "initial, to_move, actions, result and is_terminal return without error in every state that was visited",
    "positions": "the same seed draws the same position",
    "states": "states can be hashed, compared by value and pickled",
    "actions": "actions can be hashed, compared by value and pickled, and come in a fixed order without duplicates",
    "purity": "methods that only read a state do not change it, and result returns the same value each time",
    "notation": "texts of states and actions have one line each, and parsing them returns the same state or action",
    "grid": f"grid gives {GRID}",
    "rules text": "rules_text describes the game to a reader, in 40 to 4,000 characters without words of the implementation",
    "disguise": DISGUISE_PROMISE,
    "termination": "matches end by themselves",
    "returns": "returns gives each seat a number from min_return to max_return; in a zero-sum game they add up to 0",
    "threats": "threats returns exactly the actions that win at once",
    "goals": "a goal is terminal, and returns is 1 if it is reached, else 0",
    "costs": "step_cost is a finite number, 0 or more",
    "local search": "the views for local and genetic search hold states of the puzzle, with the right costs",
    "pickling": "the game can be pickled, and plays the same afterwards",
    "randomness": "all random numbers come from the given generator",
    **information_checks.CHECKS,
}
"""Promises (properties to be checked) of a game; the keys are the names of their checks."""


@user_interrupts()
def check_game(
    game: Game | type[Game] | str, *, seed: int = 0, matches: int = 20, patience: float = CALL_SECONDS
) -> tuple[str, ...]:
    """Play `matches` random matches and check a game against its contract. Return the names of the checks, from CHECKS.

    The checks are: the same `seed` gives the same position; states and actions can be hashed, compared by value and pickled;
    seats are in range; actions have a fixed order without duplicates; `result` does not change its arguments and always returns
    the same state, even if another match is played in between; both text notations can be parsed; `grid` returns rows of short
    texts; matches end by themselves; returns are in range, and zero-sum if claimed; actions in `threats` win; in a puzzle, the
    goal, the step costs and the methods for local search are consistent; probabilities of chance are valid; observations hide
    something, do not forget anything, and show at least what the legal actions reveal; and the global random generator is not
    used. No call may take longer than `patience` seconds.

    A broken promise raises Violation, an AssertionError. Its message gives the promise, as few preceding actions as
    possible, and a seed that reproduces the fault with one match. Raises ValueError for less than one match.
    """
    return _suite(game, seed, matches, patience).passed()


def game_verdicts(
    game: Game | type[Game] | str, *, seed: int = 0, matches: int = 20, patience: float = CALL_SECONDS
) -> Iterator[Verdict]:
    """Do as `check_game` does, but continue after a fault: yield a verdict for every promise."""
    suite = _suite(game, seed, matches, patience)
    with user_interrupts():
        yield from suite.verdicts()


def _suite(target: Game | type[Game] | str, seed: int, matches: int, patience: float) -> CheckSuite:
    expect("game", target, (Game, type, str), A_GAME)
    game = load_plugins().game(target) if isinstance(target, str) else target
    kind = game if isinstance(game, type) else type(game)
    inapplicable = information_checks.inapplicable(game) | (set() if gives(kind, "grid") else {"grid"})
    inapplicable |= set() if hasattr(kind, "rules_text") else {"rules text"}
    inapplicable |= set() if hasattr(kind, "disguise") else {"disguise"}
    if issubclass(kind, Puzzle):
        inapplicable |= {"termination"} | (set() if any(overrides(kind, view) for view in VIEWS) else {"local search"})
    else:
        inapplicable |= {"goals", "costs", "local search"}
    promises = {name: promise for name, promise in CHECKS.items() if name not in inapplicable}

    def reproduce(finding: Finding) -> Reproduction:
        made = game() if isinstance(game, type) else copy_value(game)
        position = made.initial(Trial(finding.subject, finding.seed, 0).rng)
        return Reproduction(made, position, partial(_examine, made, position))

    return CheckSuite(partial(_play, game), reproduce, promises, seed, matches, patience)


def _play(game: Game | type[Game], seed: int, matches: int, log: CheckLog) -> None:
    made = game
    if isinstance(made, type):
        trial = Trial(name_of(made), seed, 0, log)
        with trial.own_randomness("the game"):
            made = trial.call("making the game", made)
    trial = Trial(name_of(made), seed, 0, log)
    unplayed = made
    with trial.checking("pickling"):
        unplayed = trial.call("pickling the game", copy_value, made)
    if hasattr(type(made), "rules_text"):
        with trial.checking("rules text"):
            _check_rules_text(made, trial)
    steps: list[PlayedStep] = []
    log.ended = log.stopped = 0
    end = process_time() + MAX_CPU_SECONDS
    for number in range(matches):
        if number and process_time() > end:
            log.samples[PLAY] = f"{number} of {matches} matches, which took more than {MAX_CPU_SECONDS:g} s"
            break
        trial = Trial(name_of(made), seed, number, log)
        with suppress(Abandoned), trial.own_randomness("the game"):
            steps += _call_checks(trial, _check_match, made, trial)
    if not steps:
        return
    if log.stopped:
        with trial.checking("termination"):
            _check_move_limit(made, trial)
    if hasattr(type(made), "disguise"):
        with trial.checking("disguise"), trial.own_randomness("the game"):
            trial.call("a method of the disguise", check_disguise, made, trial, steps)
    with trial.own_randomness("the game"):
        _call_checks(trial, information_checks.check_plays, made, steps)
    with trial.checking("purity"):
        _check_again(made, steps, "after other matches were played", "purity")
    with trial.checking("pickling"):
        _check_again(trial.call("pickling the game", copy_value, made), steps[:200], "after the game was pickled", "pickling")
    with trial.checking("purity"):
        _check_again(unplayed, steps, "before other matches were played", "purity")


def _call_checks(trial: Trial, function: Callable[..., Value], *arguments: Any) -> Value:
    """Return the value of a function that checks a game. If one of its own comparisons raises an exception, say this, and do not
    blame a method of the game.
    """

    def check() -> Value:
        try:
            return function(*arguments)
        except (Violation, Abandoned):
            raise
        except Exception as error:
            if not is_own_operation(error):
                raise
            if trial.log.failed & COMPARED:
                raise Abandoned from error
            trial.check = "states"
            raise trial.violation(f"{USABLE_STATES}; so must actions", "no exception", describe(error)) from error

    return trial.call("a method of the game", check)


def _check_rules_text(game: Game, trial: Trial) -> None:
    text = trial.call("rules_text", lambda: game.rules_text)
    length = len(text) if isinstance(text, str) else 0
    what, expected = (
        "rules_text must describe the game to a reader",
        f"a text of {MIN_RULES_CHARACTERS} to {MAX_RULES_CHARACTERS:,} characters",
    )
    got = "a method; write @property above it" if callable(text) else f"{length:,} characters" if length else text
    trial.expect(MIN_RULES_CHARACTERS <= length <= MAX_RULES_CHARACTERS, what, expected, got)
    found = CODE_WORDS.search(text)
    trial.expect(found is None, what, "no word of the implementation", found and found.group())


def _examine(game: Game, position: State, trial: Trial, state: State) -> None:
    """Check a state that was reached from a position, and the steps from it."""
    with trial.own_randomness("the game"):
        _check_state(game, trial, state)
        _check_answer(game, trial, position, state)
        if trial.call("is_terminal", game.is_terminal, state):
            _check_end(game, trial, state)
            return
        legal = trial.legal(game, state)
        some_action(trial, legal)
        for action in legal:
            copy = copy_value(state)
            _check_step(game, trial, state, copy, action, trial.call(f"result of {action!r}", game.result, state, action))


def _check_match(game: Game, trial: Trial) -> list[PlayedStep]:
    rng = trial.rng
    first = trial.call("initial", game.initial, rng)
    trial.position = position_text(game, first)
    trial.check = "states"
    check_value(trial, first)  # no other check can compare such states, so none is made
    trial.check = PLAY
    with trial.checking("positions"):
        drawn_twice(trial, "initial", game.initial)
    trial.legal(game, first)  # checked even if the play is over at once
    steps: list[PlayedStep] = []
    state = first
    puzzle = isinstance(game, Puzzle)
    _check_state(game, trial, first)
    _check_answer(game, trial, first, first)
    copy = copy_value(first)
    endless = puzzle or "termination" in trial.log.failed
    limit, moves = None if puzzle else own_move_limit(game), 0
    longest = MAX_WALK_ACTIONS if endless else MAX_PLIES
    for before, action, successor in walk(game, trial, longest, (first, rng)):  # another draw may be another position
        decides = trial.call("to_move", game.to_move, before) != CHANCE
        if decides and moves == limit:
            break
        moves += decides
        _check_step(game, trial, before, copy, action, successor)
        steps.append(PlayedStep(trial.now(), before, action, dict(_call_methods(game, trial, before, action))))
        with trial.after(trial.text(game, before, action)):
            _check_state(game, trial, successor)
            _check_answer(game, trial, first, successor)
        state, copy = successor, copy_value(successor)
    over = trial.call("is_terminal", game.is_terminal, state)
    if not puzzle:
        with trial.checking("termination"):
            ends = over or limit is not None  # the referee ends a match at the move limit
            expected = f"an end within {MAX_PLIES:,} plies, or a move limit (default_moves)"
            trial.expect(ends, "the match does not end", expected, "none")
        if over and moves <= move_limit(game):
            trial.log.ended += 1
        elif over or moves == limit:
            trial.log.stopped += 1
    if over:
        _check_end(game, trial, state)
    if isinstance(game, Puzzle) and _judges_answers(game):
        texts, goal = trial.call("a method of the game", _find_goal, game, first)
        if texts:
            _check_answer(game, replace(trial, actions=texts), first, goal)
    if isinstance(game, Puzzle) and any(overrides(game, view) for view in VIEWS):
        with trial.checking("local search"):
            check_local_search(game, replace(trial, actions=[]), first)
    trial.log.passed.add(PLAY)
    return steps


def _check_move_limit(game: Game, trial: Trial) -> None:
    """Leave a note if the move limit ends matches. It may end all of them only if the author says what they pay then."""
    log, most = trial.log, f"{move_limit(game):,} moves"
    zero = "" if gives(game, "standing") else f"{Returns(game).standing()[0]:g}; for another result, define "
    pay = f"{zero}`standing`"
    stopped = f"{log.stopped} of {log.ended + log.stopped} matches do not"
    got = f"{stopped}: the move limit (default_moves) stops them after {most}, and each seat gets {pay}"
    expected = f"an end by the rules within {most} in some matches, a larger default_moves, or `standing`"
    trial.expect(log.ended > 0 or not zero, "no match ends by itself", expected, got)
    log.notes["termination"] = got


def _check_state(game: Game, trial: Trial, state: State) -> None:
    copy = state
    with trial.checking("states"):
        copy = check_value(trial, state)
    with trial.checking("notation"):
        check_notation(game, trial, state)
        drawn = trial.call("render", game.render, state)
        trial.expect(isinstance(drawn, str), "render must return text", "text", drawn)
    if gives(game, "grid"):
        with trial.checking("grid"):
            rows = trial.call("grid", game.grid, state)
            fault = find_grid_fault(rows)
            trial.expect(fault is None, "grid must return rows of short texts", GRID, fault)
            if not game.is_terminal(state) and game.to_move(state) != CHANCE:
                trial.call("cells", find_cells, game, state, game.actions(state), rows)
    seat = trial.call("to_move", game.to_move, state)
    seats = f"0 to {game.players - 1}{', or CHANCE' if gives(game, 'chance_outcomes') else ''}"
    trial.expect(information_checks.is_mover(game, seat), "to_move must return a seat", seats, seat)
    over = trial.call("is_terminal", game.is_terminal, state)
    if isinstance(game, Puzzle):
        with trial.checking("goals"):
            solved = is_solved(game, trial, state)
            trial.expect(over or not solved, "a goal must be terminal", True, over)
    legal = [] if over else trial.legal(game, state)
    with trial.checking("actions"):
        check_actions(game, trial, state, legal)
    with trial.checking("notation"):
        check_action_notation(game, trial, state, legal)
    with trial.checking("threats"):
        quiet = trial.call("is_quiet", game.is_quiet, state)
        trial.expect(isinstance(quiet, bool), "is_quiet must return True or False", "True or False", quiet)
    with trial.checking("purity"):
        trial.expect(copy == state, "a method that should only read the state changes it", copy, state)
    if not over and seat != CHANCE and gives(game, "standing"):
        with trial.checking("returns"):
            _check_returns(game, trial, state, "standing")
    if not over:
        information_checks.check_state(game, trial, state, seat, legal)
    if overrides(game, "threats") and not over and seat != CHANCE:
        with trial.checking("threats"):
            _check_threats(game, trial, state, seat, legal)
        with trial.checking("purity"):
            trial.expect(copy == state, "result or threats changes the state it is given", copy, state)


def _judges_answers(game: Game) -> bool:
    return isinstance(game, Puzzle) and not game.path_matters and overrides(game, "is_answer")


def _find_goal(puzzle: Puzzle, position: State) -> tuple[list[str], State]:
    """Return the texts of actions from a position to a goal, and this goal; no texts if a short search finds none."""
    way = [state for state, _ in reversed(way_to_goal(puzzle, position, MAX_STATES_TO_A_GOAL))] or [position]
    texts = []
    for state, successor in pairwise(way):
        action = next(action for action in puzzle.actions(state) if puzzle.result(state, action) == successor)
        texts.append(puzzle.format_action(state, action))
    return texts, way[-1]


def _check_answer(game: Game, trial: Trial, position: State, state: State) -> None:
    """Check that an Answer with a state that actions reach from the position counts as a solution if the state is a goal."""
    if not isinstance(game, Puzzle) or not _judges_answers(game):
        return
    with trial.checking("goals"):
        solved, accepted = is_solved(game, trial, state), trial.call("is_answer", game.is_answer, position, state)
        text = position_text(game, state)
        trial.expect(isinstance(accepted, bool), "is_answer must return True or False", f"True or False for {text}", accepted)
        trial.expect(accepted or not solved, "is_answer must accept a goal that is reached", f"True for the goal {text}", False)
        trial.expect(solved or not accepted, "is_answer must reject a state that is not a goal", f"False for {text}", True)


def _check_step(game: Game, trial: Trial, state: State, before: State, action: Action, successor: State) -> None:
    """Check a step. `before` is an earlier copy of `state`."""
    trial.check, check = "states", trial.check
    expect_usable(trial, successor, successor, "from result")
    trial.check = check
    again = trial.call("result", game.result, state, action)
    with trial.checking("purity"):
        trial.expect(state == before, "result changes the state it is given", before, state)
        trial.expect(again == successor, "result returns a different value the second time", successor, again)
    if isinstance(game, Puzzle):
        with trial.checking("costs"):
            cost = trial.call("step_cost", game.step_cost, state, action, successor)
            fine = isinstance(cost, (int, float)) and is_finite(cost) and cost >= 0
            trial.expect(fine, "step_cost must return a cost", "a finite number, 0 or more", cost)


def _check_threats(game: Game, trial: Trial, state: State, seat: int, legal: list[Action]) -> None:
    wins = []
    for action in legal:
        successor = trial.call(f"result of {action!r}", game.result, state, action)
        if trial.call("is_terminal", game.is_terminal, successor):
            with trial.after(trial.text(game, state, action)):
                if _check_returns(game, trial, successor)[seat] > 0:
                    wins.append(action)
    threats = trial.list_values("threats", game.threats, state, seat)
    told = [action for action in legal if action in threats]
    trial.expect(
        told == wins and len(threats) == len(wins), "threats returns exactly the actions that win at once", wins, threats
    )


def _check_end(game: Game, trial: Trial, state: State) -> None:
    with trial.checking("returns"):
        returns = _check_returns(game, trial, state)
    if isinstance(game, Puzzle):
        with trial.checking("goals"):
            worth = 1.0 if is_solved(game, trial, state) else 0.0
            trial.expect(returns == [worth], "returns of a puzzle must say whether it is solved", worth, returns)


def _check_returns(game: Game, trial: Trial, state: State, method: str = "returns") -> list[float]:
    before, trial.check = trial.check, "returns"
    returns = trial.list_values(method, getattr(game, method), state)
    trial.expect(len(returns) == game.players, f"{method} must give a value for every seat", f"{game.players} values", returns)
    low, high = Returns.find_range(game)
    trial.expect(isfinite(low), "min_return must be finite", Returns.FLOOR, low)
    trial.expect(low <= high, "max_return is below min_return", f"{low:g} or more", high)
    for value in returns:
        fine = isinstance(value, (int, float)) and is_finite(value) and low <= value <= high
        trial.expect(fine, f"{method} must be in range", f"finite numbers in [{low:g}, {high:g}]", returns)
    if game.zero_sum:
        expected = "0, or zero_sum = False in the class"
        trial.expect(abs(sum(returns)) < 1e-9, f"{method} must add up to zero", expected, f"{sum(returns)} from {returns}")
    trial.check = before
    return returns


def _call_methods(game: Game, trial: Trial, state: State, action: Action) -> Iterator[tuple[str, object]]:
    """Yield the results of methods for a state and an action. Every call must give the same results."""
    yield "to_move", trial.call("to_move", game.to_move, state)
    yield "actions", trial.legal(game, state)
    yield f"result of {action!r}", trial.call(f"result of {action!r}", game.result, state, action)


def _check_again(game: Game, steps: list[PlayedStep], when: str, check: str) -> None:
    """Call the methods for every step again, in reverse order."""
    for trial, state, action, told in reversed(steps):
        trial.check = check
        for method, again in _call_methods(game, trial, state, action):
            trial.expect(again == told[method], f"{method} returns a different value {when}", told[method], again)
