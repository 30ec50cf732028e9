"""Checks of single states and their actions: it must be possible to hash, pickle and compare them by value, and to parse their
texts.

The methods of a puzzle for local and genetic search are checked here too: random states, neighbours, and views (objects that
change a state in place).
"""

from collections.abc import Callable
from pathlib import Path
from traceback import walk_tb
from typing import Any, NamedTuple

from arena import Action, Game, Puzzle, State, overrides
from arena.api.games import is_finite
from arena.api.match import USABLE_STATES, describe_type, find_state_fault
from arena_check.finding import Violation
from arena_check.trial import Trial, copy_value

NOTATION = "a tuple or another Python literal as a state, or a game that defines `format_state` and `parse_state`"
"""What makes a position readable."""

MAX_PARSED_ACTIONS = 100
"""Of the actions of a state, at most this many texts are parsed. `parse_action` may compare a text with those of all actions, so
parsing all texts would take quadratic time.
"""
VIEWS = ("random_state", "neighbors", "local", "mutate", "crossover")
"""Optional methods of a puzzle for local and genetic search."""
LOCAL_VIEW = ("cost", "propose", "delta", "apply", "state")
"""The required members of a view for local search."""


class PlayedStep(NamedTuple):
    """One action of a play, and the results that the methods of the game returned at that time."""

    trial: Trial
    state: State
    action: Action
    told: dict[str, Any]


def drawn_twice(trial: Trial, what: str, function: Callable[..., State], *arguments: Any) -> State:
    """Draw a state, and check that the same seed draws the same state."""
    first = trial.call(what, function, *arguments, trial.rng)
    check_value(trial, first)
    again = trial.call(what, function, *arguments, trial.rng)
    trial.expect(first == again, f"{what} returns two different states for the same seed", first, again)
    return first


def check_value(trial: Trial, state: State) -> State:
    """Check that a state can be hashed, pickled and compared by value. Return a copy of it."""
    origin = f"after {trial.actions[-1]!r}" if trial.actions else "from initial"
    expect_usable(trial, state, state, origin)
    copy = trial.call("pickling a state", copy_value, state)
    expect_usable(trial, state, copy, origin)
    trial.expect(copy == state and hash(copy) == hash(state), "states must compare by value", state, copy)
    return copy


def expect_usable(trial: Trial, state: State, copy: State, origin: str) -> None:
    """Check that a state can be hashed, and compared with a copy. `origin` says where it comes from."""
    fault = find_state_fault(state, copy)
    trial.expect(
        fault is None,
        USABLE_STATES,
        "a value such as a tuple or a frozen dataclass",
        f"{describe_type(state)} {origin} ({fault})",
    )


def is_own_operation(error: BaseException) -> bool:
    """Return whether an exception comes from a hash or a comparison in these checks, and not from code of the author."""
    frames = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
    raised_in = [file for file in frames if file != "<string>"]  # the methods that dataclasses generate
    return isinstance(error, (TypeError, ValueError, RuntimeError)) and Path(raised_in[-1]).parent == Path(__file__).parent


def check_notation(game: Game, trial: Trial, state: State) -> None:
    """Check that a state has a text, and that parsing this text returns the state."""
    text = trial.call("format_state", game.format_state, state)
    plain = isinstance(text, str) and text != "" and "\n" not in text
    trial.expect(plain, "format_state must return one line of text", "one line of text", repr(text))
    try:
        parsed = trial.call(f"parse_state of {text!r}", game.parse_state, text)
    except Violation as violation:
        if text != repr(state) or "a Python literal" not in violation.finding.got:
            raise
        raise trial.violation("the game has no notation for its states", NOTATION, repr(text)) from violation.__cause__
    trial.expect(parsed == state, f"parse_state must read {text!r} back", state, parsed)


def check_actions(game: Game, trial: Trial, state: State, legal: list[Action]) -> None:
    """Check that actions can be hashed, pickled and compared by value, and have a fixed order without duplicates."""
    for action in legal:
        trial.call(f"actions must be hashable: hash({action!r})", hash, action)
    copies = trial.call("pickling the actions", copy_value, legal)
    trial.expect(
        copies == legal and list(map(hash, copies)) == list(map(hash, legal)), "actions must compare by value", legal, copies
    )
    if legal:
        again = trial.legal(game, copy_value(state))
        trial.expect(legal == again, "actions come in a different order the second time", legal, again)
    trial.expect(len(set(legal)) == len(legal), "actions lists an action twice", "no duplicates", legal)


def check_action_notation(game: Game, trial: Trial, state: State, legal: list[Action]) -> None:
    """Check that each action has its own text, and that parsing this text returns the action. Of more than MAX_PARSED_ACTIONS
    texts, this many are parsed, evenly chosen from the first to the last.
    """
    texts = [trial.call("format_action", game.format_action, state, action) for action in legal]
    for text in texts:
        plain = isinstance(text, str) and text == text.strip() != "" and "\n" not in text
        trial.expect(plain, "format_action must return one line of text", "one line of text", repr(text))
    trial.expect(len(set(texts)) == len(texts), "format_action returns the same text for two actions", "different texts", texts)
    chosen = min(len(legal), MAX_PARSED_ACTIONS)
    if chosen < len(legal):
        trial.log.samples["notation"] = f"the texts of at most {chosen} actions in each state"
    for place in [number * (len(legal) - 1) // max(1, chosen - 1) for number in range(chosen)]:
        action, text = legal[place], texts[place]
        parsed = trial.call(f"parse_action of {text!r}", game.parse_action, state, text)
        trial.expect(parsed == action, f"parse_action must read {text!r} back", action, parsed)


def is_solved(puzzle: Puzzle, trial: Trial, state: State) -> bool:
    """Return True if a state is solved according to `is_goal`. Raises Violation if `is_goal` does not return a boolean."""
    solved = trial.call("is_goal", puzzle.is_goal, state)
    trial.expect(isinstance(solved, bool), "is_goal must return True or False", "True or False", solved)
    return solved


def check_local_search(puzzle: Puzzle, trial: Trial, position: State) -> None:
    """Check every method for local search that a puzzle has, in some of its states."""
    states = [position] if any(overrides(puzzle, view) for view in VIEWS) else []
    if overrides(puzzle, "random_state"):
        states = [drawn_twice(trial, "random_state", puzzle.random_state)]
        rng = trial.rng
        for _ in range(2):
            another = trial.call("random_state", puzzle.random_state, rng)
        states.append(another)
    for state in states:
        copy = _check_complete(puzzle, trial, state)
        if overrides(puzzle, "neighbors"):
            for neighbor in trial.list_values("neighbors", puzzle.neighbors, state)[:50]:
                _check_complete(puzzle, trial, neighbor)
                trial.expect(neighbor != state, "a state must not be its own neighbor", "another state", neighbor)
        if overrides(puzzle, "local"):
            _check_view(puzzle, trial, state)
        if overrides(puzzle, "mutate"):
            _check_complete(puzzle, trial, drawn_twice(trial, "mutate", puzzle.mutate, state))
        if overrides(puzzle, "crossover"):
            _check_complete(puzzle, trial, drawn_twice(trial, "crossover", puzzle.crossover, state, states[0]))
        trial.expect(copy == state, "a view for local search changes the state it is given", copy, state)


def _check_complete(puzzle: Puzzle, trial: Trial, state: State) -> State:
    is_solved(puzzle, trial, state)
    copy = check_value(trial, state)
    check_notation(puzzle, trial, state)
    return copy


def _check_view(puzzle: Puzzle, trial: Trial, state: State) -> None:
    rng = trial.rng
    view = trial.call("local", puzzle.local, state)
    lacking = trial.list_values("local", lambda: [name for name in LOCAL_VIEW if not hasattr(view, name)])
    trial.expect(not lacking, f"a local view must have {', '.join(LOCAL_VIEW)}", "all of them", f"no {', '.join(lacking)}")
    place = _place(trial, view)
    trial.expect(place == state, "a new view from local must start in the state that local was given", state, place)
    for _ in range(20):
        move = trial.call("propose", view.propose, rng)
        before, place = _cost(trial, view), _place(trial, view)
        change = _finite(trial, "delta", trial.call("delta", view.delta, move))
        looked = _cost(trial, view), _place(trial, view)
        trial.expect(looked == (before, place), "delta must not change the view", (before, place), looked)
        trial.call("apply", view.apply, move)
        after = _cost(trial, view)
        trial.expect(
            abs(after - before - change) < 1e-9, "apply must change the cost by the value of delta", before + change, after
        )
        fresh = _cost(trial, trial.call("local", puzzle.local, _place(trial, view)))
        trial.expect(abs(fresh - after) < 1e-9, "a new view of the same state must have the same cost", fresh, after)


def _place(trial: Trial, view: Any) -> State:
    return trial.call("state of a local view", view.state)


def _cost(trial: Trial, view: Any) -> float:
    return _finite(trial, "cost of a local view", trial.call("cost of a local view", getattr, view, "cost"))


def _finite(trial: Trial, what: str, value: Any) -> float:
    trial.expect(isinstance(value, (int, float)) and is_finite(value), f"{what} must be a number", "a finite number", value)
    return float(value)
