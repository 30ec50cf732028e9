"""Checks of games and puzzles."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import isfinite

from arena import CHANCE, Action, Game, Puzzle, State, load_plugins, overrides
from arena.api.games import bounds, gives, gives_grid, name_of
from arena.api.processes import user_interrupts
from arena_catalog.grids import GRID, find_cells, find_grid_fault
from arena_check import information_checks
from arena_check.finding import Abandoned, Finding
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
    is_solved,
)
from arena_check.trial import PLAY, CheckLog, Trial, copy_value, position_text, some_action, walk
from arena_check.verdicts import CheckSuite, Verdict

MAX_PLIES = 10_000
"""After this many plies a game counts as endless."""
MAX_WALK_ACTIONS = 200
"""Maximum number of actions in a random walk through a puzzle, which may have no end."""
CHECKS = {
    "play": "initial, to_move, actions, result and is_terminal answer in every state met",
    "positions": "the same seed draws the same position",
    "states": "states hash, compare by value and pickle",
    "actions": "actions hash, compare by value, pickle, and come in a fixed order without duplicates",
    "purity": "methods that look change nothing, and result always says the same",
    "notation": "texts of states and actions are one line and read back",
    "grid": f"grid gives {GRID}",
    "termination": "every match ends",
    "returns": "returns has a number from min_return to max_return for every seat, adding up to 0 if zero-sum",
    "threats": "threats are the actions that win at once",
    "goals": "a goal is terminal, and returns tell whether it is reached",
    "costs": "step_cost is a finite number, 0 or more",
    "local search": "states of the views for local and genetic search are states, and costs are true",
    "pickling": "the game pickles, and plays the same then",
    "randomness": "no random number comes from elsewhere than the generator handed in",
    **information_checks.CHECKS,
}
"""Promises of a game, by the names of their checks."""


@user_interrupts()
def check_game(
    game: Game | type[Game] | str, *, seed: int = 0, matches: int = 20, patience: float = CALL_SECONDS
) -> tuple[str, ...]:
    """Play `matches` random matches and check a game against its contract. Return the names of the checks, from CHECKS.

    The checks are: the same `seed` gives the same position; states and actions hash, compare by value and pickle; seats are in
    range; actions have a fixed order without duplicates; `result` changes nothing and always returns the same, even with
    another match in between; both text notations can be read back; `grid` returns rows of short texts; every match ends;
    returns are in range, and zero-sum if claimed; threats win; for a puzzle the goal, the step costs and the views for local
    search; probabilities of chance; observations hide something, forget nothing, and reveal as much as the legal actions do;
    and the global random generator is not used. No call may take longer than `patience` seconds.

    A broken promise raises Violation, an AssertionError. Its message has the promise, as few preceding actions as possible, and
    a seed that reproduces the fault with one match. Raises ValueError for less than one match.
    """
    if matches < 1:
        raise ValueError(f"matches: expected at least 1, got {matches}")
    return _suite(game, seed, matches, patience).passed()


def game_verdicts(
    game: Game | type[Game] | str, *, seed: int = 0, matches: int = 20, patience: float = CALL_SECONDS
) -> Iterator[Verdict]:
    """Do as `check_game` does, but continue after a fault: yield a verdict for every promise."""
    suite = _suite(game, seed, matches, patience)
    with user_interrupts():
        yield from suite.verdicts()


def _suite(target: Game | type[Game] | str, seed: int, matches: int, patience: float) -> CheckSuite:
    game = load_plugins().game(target) if isinstance(target, str) else target
    kind = game if isinstance(game, type) else type(game)
    inapplicable = information_checks.inapplicable(game) | (set() if gives_grid(kind) else {"grid"})
    if issubclass(kind, Puzzle):
        inapplicable |= {"termination"} | (set() if any(overrides(kind, view) for view in VIEWS) else {"local search"})
    else:
        inapplicable |= {"goals", "costs", "local search"}
    promises = {name: promise for name, promise in CHECKS.items() if name not in inapplicable}

    def reproduce(finding: Finding) -> Reproduction:
        made = game() if isinstance(game, type) else copy_value(game)
        position = made.initial(Trial(finding.subject, finding.seed, 0).rng)
        return Reproduction(made, position, partial(_examine, made))

    return CheckSuite(partial(_play, game), reproduce, promises, seed, matches, patience)


def _play(game: Game | type[Game], seed: int, matches: int, log: CheckLog) -> None:
    made = game
    if isinstance(made, type):
        trial = Trial(name_of(made), seed, 0, log)
        with trial.own_randomness("the game"):
            made = trial.call("the game cannot be made", made)
    trial = Trial(name_of(made), seed, 0, log)
    unplayed = made
    with trial.checking("pickling"):
        unplayed = trial.call("the game must pickle", copy_value, made)
    steps: list[PlayedStep] = []
    for number in range(matches):
        trial = Trial(name_of(made), seed, number, log)
        with suppress(Abandoned), trial.own_randomness("the game"):
            steps += trial.call("a method of the game", _check_match, made, trial)
    if not steps:
        return
    with trial.own_randomness("the game"):
        trial.call("a method of the game", information_checks.check_plays, made, steps)
    with trial.checking("purity"):
        _check_again(made, steps, "after other matches were played", "purity")
    with trial.checking("pickling"):
        _check_again(trial.call("the game must pickle", copy_value, made), steps[:200], "once the game is pickled", "pickling")
    with trial.checking("purity"):
        _check_again(unplayed, steps, "before other matches were played", "purity")


def _examine(game: Game, trial: Trial, state: State) -> None:
    """Check a state and the steps from it."""
    with trial.own_randomness("the game"):
        _check_state(game, trial, state)
        if trial.call("is_terminal", game.is_terminal, state):
            _check_end(game, trial, state)
            return
        legal = trial.legal(game, state)
        some_action(trial, legal)
        for action in legal:
            copy = copy_value(state)
            _check_step(game, trial, state, copy, action, trial.call(f"result of {action!r}", game.result, state, action))


def _check_match(game: Game, trial: Trial) -> list[PlayedStep]:
    first = trial.call("initial", game.initial, trial.rng)
    trial.position = position_text(game, first)
    with trial.checking("positions"):
        drawn_twice(trial, "initial", game.initial)
    trial.legal(game, first)  # even if play is over at once
    steps: list[PlayedStep] = []
    state = first
    puzzle = isinstance(game, Puzzle)
    _check_state(game, trial, first)
    copy = copy_value(first)
    endless = puzzle or "termination" in trial.log.failed
    for before, action, successor in walk(game, trial, MAX_WALK_ACTIONS if endless else MAX_PLIES):
        _check_step(game, trial, before, copy, action, successor)
        steps.append(PlayedStep(trial.now(), before, action, dict(_call_methods(game, trial, before, action))))
        with trial.after(trial.text(game, before, action)):
            _check_state(game, trial, successor)
        state, copy = successor, copy_value(successor)
    over = trial.call("is_terminal", game.is_terminal, state)
    if not puzzle:
        with trial.checking("termination"):
            trial.expect(over, "the match does not end", f"an end within {MAX_PLIES:,} plies", "none")
    if over:
        _check_end(game, trial, state)
    if isinstance(game, Puzzle) and any(overrides(game, view) for view in VIEWS):
        with trial.checking("local search"):
            check_local_search(game, replace(trial, actions=[]), first)
    trial.log.passed.add(PLAY)
    return steps


def _check_state(game: Game, trial: Trial, state: State) -> None:
    copy = state
    with trial.checking("states"):
        copy = check_value(trial, state)
    with trial.checking("notation"):
        check_notation(game, trial, state)
        drawn = trial.call("render", game.render, state)
        trial.expect(isinstance(drawn, str), "render gives text", "text", drawn)
    if gives_grid(type(game)):
        with trial.checking("grid"):
            rows = trial.call("grid", game.grid, state)
            fault = find_grid_fault(rows)
            trial.expect(fault is None, "grid gives rows of short texts", GRID, fault)
            if not game.is_terminal(state) and game.to_move(state) != CHANCE:
                trial.call("cells", find_cells, game, state, game.actions(state), rows)
    seat = trial.call("to_move", game.to_move, state)
    seats = f"0 to {game.players - 1}{', or CHANCE' if gives(game, 'chance_outcomes') else ''}"
    trial.expect(information_checks.is_mover(game, seat), "to_move gives a seat", seats, seat)
    over = trial.call("is_terminal", game.is_terminal, state)
    if isinstance(game, Puzzle):
        with trial.checking("goals"):
            solved = is_solved(game, trial, state)
            trial.expect(over or not solved, "a goal is terminal", True, over)
    legal = [] if over else trial.legal(game, state)
    with trial.checking("actions"):
        check_actions(game, trial, state, legal)
    with trial.checking("notation"):
        check_action_notation(game, trial, state, legal)
    with trial.checking("threats"):
        quiet = trial.call("is_quiet", game.is_quiet, state)
        trial.expect(isinstance(quiet, bool), "is_quiet tells yes or no", "True or False", quiet)
    with trial.checking("purity"):
        trial.expect(copy == state, "a method that only looks changes the state", copy, state)
    if not over:
        information_checks.check_state(game, trial, state, seat, legal)
    if overrides(game, "threats") and not over and seat != CHANCE:
        with trial.checking("threats"):
            _check_threats(game, trial, state, seat, legal)
        with trial.checking("purity"):
            trial.expect(copy == state, "result or threats changes the state it is given", copy, state)


def _check_step(game: Game, trial: Trial, state: State, before: State, action: Action, successor: State) -> None:
    """Check a step. `before` is an earlier copy of `state`."""
    again = trial.call("result", game.result, state, action)
    with trial.checking("purity"):
        trial.expect(state == before, "result changes the state it is given", before, state)
        trial.expect(again == successor, "result says something else the second time", successor, again)
    if isinstance(game, Puzzle):
        with trial.checking("costs"):
            cost = trial.call("step_cost", game.step_cost, state, action, successor)
            fine = isinstance(cost, (int, float)) and isfinite(cost) and cost >= 0
            trial.expect(fine, "step_cost gives a cost", "a finite number, 0 or more", cost)


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
    trial.expect(told == wins and len(threats) == len(wins), "threats are the actions that win at once", wins, threats)


def _check_end(game: Game, trial: Trial, state: State) -> None:
    with trial.checking("returns"):
        returns = _check_returns(game, trial, state)
    if isinstance(game, Puzzle):
        with trial.checking("goals"):
            worth = 1.0 if is_solved(game, trial, state) else 0.0
            trial.expect(returns == [worth], "returns of a puzzle say whether it is solved", worth, returns)


def _check_returns(game: Game, trial: Trial, state: State) -> list[float]:
    before, trial.check = trial.check, "returns"
    returns = trial.list_values("returns", game.returns, state)
    trial.expect(len(returns) == game.players, "returns has a value for every seat", f"{game.players} values", returns)
    low, high = bounds(game)
    for value in returns:
        fine = isinstance(value, (int, float)) and low <= value <= high
        trial.expect(fine, "returns are in range", f"numbers in [{low:g}, {high:g}]", returns)
    if game.zero_sum:
        trial.expect(abs(sum(returns)) < 1e-9, "returns add up to zero", 0, f"{sum(returns)} from {returns}")
    trial.check = before
    return returns


def _call_methods(game: Game, trial: Trial, state: State, action: Action) -> Iterator[tuple[str, object]]:
    """Yield the results of methods for a state and an action, which must be the same at every call."""
    yield "to_move", trial.call("to_move", game.to_move, state)
    yield "actions", trial.legal(game, state)
    yield f"result of {action!r}", trial.call(f"result of {action!r}", game.result, state, action)


def _check_again(game: Game, steps: list[PlayedStep], when: str, check: str) -> None:
    """Call the methods for every step again, in reverse order."""
    for trial, state, action, told in reversed(steps):
        trial.check = check
        for method, again in _call_methods(game, trial, state, action):
            trial.expect(again == told[method], f"{method} says something else {when}", told[method], again)
