"""Checks of what a puzzle gives local and genetic search: states at random, neighbours, views that change in place."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from arena import Puzzle, State
from arena.api.spec import overrides
from arena_check.state_checks import check_notation, check_value, drawn_twice, is_solved
from arena_check.trial import Trial

VIEWS = ("random_state", "neighbors", "local", "mutate", "crossover")
"""The optional methods of a puzzle for local and genetic search."""
LOCAL_VIEW = ("cost", "propose", "delta", "apply", "state")
"""The members that a local view must have."""


def check_local_search(puzzle: Puzzle, trial: Trial, position: State) -> None:
    """Check every view that a puzzle has, in some of its states."""
    states = list(_complete_states(puzzle, trial, position))
    for state in states:
        copy = _check_complete(puzzle, trial, state)
        if overrides(puzzle, "neighbors"):
            for neighbor in trial.listed("neighbors", puzzle.neighbors, state)[:50]:
                _check_complete(puzzle, trial, neighbor)
                trial.expect(neighbor != state, "a state is not its own neighbor", "another state", neighbor)
        if overrides(puzzle, "local"):
            _check_view(puzzle, trial, state)
        if overrides(puzzle, "mutate"):
            _check_complete(puzzle, trial, drawn_twice(trial, "mutate", puzzle.mutate, state))
        if overrides(puzzle, "crossover"):
            _check_complete(puzzle, trial, drawn_twice(trial, "crossover", puzzle.crossover, state, states[0]))
        trial.expect(copy == state, "a view for local search changes the state it is given", copy, state)


def _complete_states(puzzle: Puzzle, trial: Trial, position: State) -> Iterator[State]:
    if overrides(puzzle, "random_state"):
        yield drawn_twice(trial, "random_state", puzzle.random_state)
        rng = trial.rng
        for _ in range(2):
            another = trial.call("random_state", puzzle.random_state, rng)
        yield another
    elif any(overrides(puzzle, view) for view in VIEWS):
        yield position


def _check_complete(puzzle: Puzzle, trial: Trial, state: State) -> State:
    is_solved(puzzle, trial, state)
    copy = check_value(trial, state)
    check_notation(puzzle, trial, state)
    return copy


def _check_view(puzzle: Puzzle, trial: Trial, state: State) -> None:
    rng = trial.rng
    view = trial.call("local", puzzle.local, state)
    lacking = trial.listed("local", lambda: [name for name in LOCAL_VIEW if not hasattr(view, name)])
    trial.expect(not lacking, f"a local view has {', '.join(LOCAL_VIEW)}", "all of them", f"no {', '.join(lacking)}")
    place = _place(trial, view)
    trial.expect(place == state, "a fresh local view is at its state", state, place)
    for _ in range(20):
        move = trial.call("propose", view.propose, rng)
        before, place = _cost(trial, view), _place(trial, view)
        change = _finite(trial, "delta", trial.call("delta", view.delta, move))
        looked = _cost(trial, view), _place(trial, view)
        trial.expect(looked == (before, place), "delta only looks", (before, place), looked)
        trial.call("apply", view.apply, move)
        after = _cost(trial, view)
        trial.expect(abs(after - before - change) < 1e-9, "apply changes the cost by delta", before + change, after)
        fresh = _cost(trial, trial.call("local", puzzle.local, _place(trial, view)))
        trial.expect(abs(fresh - after) < 1e-9, "the cost of a view is that of its state", fresh, after)


def _place(trial: Trial, view: Any) -> State:
    return trial.call("state of a local view", view.state)


def _cost(trial: Trial, view: Any) -> float:
    return _finite(trial, "cost of a local view", trial.call("cost of a local view", getattr, view, "cost"))


def _finite(trial: Trial, what: str, value: Any) -> float:
    trial.expect(isinstance(value, (int, float)) and isfinite(value), f"{what} is a number", "a finite number", value)
    return float(value)
