"""Checks of single states and their actions: that they are values, with texts that read back."""

from collections.abc import Callable
from typing import Any, NamedTuple

from arena import Action, Game, Puzzle, State
from arena_check.trial import Trial, copied


class PlayedStep(NamedTuple):
    """One action of a play, and what the game's methods returned before it."""

    trial: Trial
    state: State
    action: Action
    told: dict[str, Any]


def drawn_twice(trial: Trial, what: str, function: Callable[..., State], *arguments: Any) -> State:
    """Draw a state, and check that the same seed draws the same."""
    first = trial.call(what, function, *arguments, trial.rng)
    check_value(trial, first)
    again = trial.call(what, function, *arguments, trial.rng)
    trial.expect(first == again, f"{what} gives two states from one seed", first, again)
    return first


def check_value(trial: Trial, state: State) -> State:
    """Check that a state is a value, and return a copy."""
    trial.call("states must be hashable: hash(state)", hash, state)
    copy = trial.call("states must pickle", copied, state)
    trial.expect(copy == state and hash(copy) == hash(state), "states must compare by value", state, copy)
    return copy


def check_notation(game: Game, trial: Trial, state: State) -> None:
    """Check that a state has a text that reads back."""
    text = trial.call("format_state", game.format_state, state)
    plain = isinstance(text, str) and text != "" and "\n" not in text
    trial.expect(plain, "format_state gives one line", "one line of text", repr(text))
    parsed = trial.call(f"parse_state of {text!r}", game.parse_state, text)
    trial.expect(parsed == state, f"parse_state reads {text!r} back", state, parsed)


def check_actions(game: Game, trial: Trial, state: State, legal: list[Action]) -> None:
    """Check that actions are values, in a fixed order without duplicates."""
    for action in legal:
        trial.call(f"actions must be hashable: hash({action!r})", hash, action)
    copies = trial.call("actions must pickle", copied, legal)
    trial.expect(
        copies == legal and list(map(hash, copies)) == list(map(hash, legal)), "actions must compare by value", legal, copies
    )
    if legal:
        again = trial.legal(game, copied(state))
        trial.expect(legal == again, "actions come in another order the second time", legal, again)
    trial.expect(len(set(legal)) == len(legal), "actions come twice", "no duplicates", legal)


def check_action_notation(game: Game, trial: Trial, state: State, legal: list[Action]) -> None:
    """Check that each action has a text that reads back."""
    texts = [trial.call("format_action", game.format_action, state, action) for action in legal]
    for text in texts:
        plain = isinstance(text, str) and text == text.strip() != "" and "\n" not in text
        trial.expect(plain, "format_action gives one line", "one line of text", repr(text))
    trial.expect(len(set(texts)) == len(texts), "format_action gives two actions one text", "different texts", texts)
    for action, text in zip(legal, texts, strict=True):
        parsed = trial.call(f"parse_action of {text!r}", game.parse_action, state, text)
        trial.expect(parsed == action, f"parse_action reads {text!r} back", action, parsed)


def is_solved(puzzle: Puzzle, trial: Trial, state: State) -> bool:
    """Return what a puzzle says of a state; Violation unless that is yes or no."""
    solved = trial.call("is_goal", puzzle.is_goal, state)
    trial.expect(isinstance(solved, bool), "is_goal tells yes or no", "True or False", solved)
    return solved
