"""Checks of chance and of observations: the facts that a game must show to its seats, and the facts that it must hide."""

import random
from collections.abc import Hashable, Sequence
from typing import Any

from arena import CHANCE, Action, Game, GameError, Simultaneous, State
from arena.api.errors import call_foreign
from arena.api.games import chance_outcomes, gives
from arena_check.state_checks import PlayedStep
from arena_check.trial import Trial, copy_value

CHECKS = {
    "chance": "chance_outcomes gives the actions of chance with probabilities above 0 that add up to 1",
    "observations": "an observation is a value of which actions and to_move say what they say of the state",
    "secrets": "a seat cannot tell everything from what it observes, and what is resampled it observes alike",
    "legal actions": "states that a seat observes alike have the same actions",
    "recall": "an observation tells all that its seat has seen and done before, unless perfect_recall is False",
    "action space": "action_space has every action that is legal, once",
}
"""Promises of chance and observations, by the names of their checks."""
NEEDED = {
    "chance": "chance_outcomes",
    "observations": "observation",
    "secrets": "observation",
    "legal actions": "observation",
    "recall": "observation",
    "action space": "action_space",
}
"""The optional method behind each of them."""
MAX_SUCCESSORS = 12
"""Number of actions of a state whose successors are compared."""
MAX_PLIES = 200
"""Maximum number of plies in a random play that is examined for hidden facts."""
PLAYS = 20
"""Number of random plays that are examined for hidden facts."""
SHOWN_PLIES = 6
"""Plies of random play before the state whose observations are shown."""


def inapplicable(game: Game | type[Game]) -> set[str]:
    """Return the checks that do not apply to a game."""
    lacking = {check for check, method in NEEDED.items() if not gives(game, method)}
    return lacking | ({"recall"} if game.perfect_recall is False else set())


def is_mover(game: Game, seat: Any) -> bool:
    """Return whether `to_move` may return a seat: one of the game, or CHANCE if it has outcomes of chance."""
    return seat in range(game.players) or (seat == CHANCE and gives(game, "chance_outcomes"))


def check_state(game: Game, trial: Trial, state: State, seat: int, legal: Sequence[Action]) -> None:
    """Check the promises about a single state in which `seat` moves."""
    if seat == CHANCE:
        with trial.checking("chance"):
            try:
                trial.tell("chance_outcomes")
                chance_outcomes(game, state)
                trial.call("chance_stream must be hashable: hash(chance_stream)", hash, game.chance_stream(state))
            except GameError as error:
                raise trial.violation("chance_outcomes gives actions with probabilities", CHECKS["chance"], str(error)) from error
    elif gives(game, "action_space"):
        with trial.checking("action space"):
            space = trial.list_values("action_space", game.action_space)
            trial.expect(len(set(space)) == len(space), "action_space has no duplicates", "each action once", space)
            missing = [action for action in legal if action not in set(space)]
            trial.expect(not missing, "action_space has every legal action", "all of them", f"no {missing}")
    if gives(game, "observation"):
        for observer in range(game.players):
            with trial.checking("observations"):
                _check_observation(game, trial, state, observer, seat, legal)
            if gives(game, "resample"):
                with trial.checking("secrets"):
                    seen = game.observation(state, observer)
                    for number in range(3):
                        drawn = trial.call("resample", game.resample, seen, observer, random.Random(number))
                        same = trial.call("observation", game.observation, drawn, observer)
                        what = f"seat {observer} can tell what is resampled from what it observes"
                        trial.expect(same == seen, what, seen, same)


def check_plays(game: Game, steps: Sequence[PlayedStep]) -> None:
    """Check the promises about the states of many plays together."""
    if not gives(game, "observation"):
        return
    trial = steps[0].trial
    with trial.checking("secrets"):
        successors = (
            [game.result(step.state, action) for action in list(game.actions(step.state))[:MAX_SUCCESSORS]] for step in steps
        )
        hidden = any(_alike(game, states) for states in successors) or _positions_hide(game, trial)
        trial.expect(hidden, "an observation hides nothing", "two states that some seat cannot tell apart", "none in all plays")
    known: dict[Hashable, list[str]] = {}
    before: dict[Hashable, Hashable] = {}
    last: dict[int, Hashable] = {}
    for step in steps:
        if not step.trial.actions[: step.trial.plies]:
            last = {}
        seat = game.to_move(step.state)
        if seat == CHANCE:
            continue
        seen = (seat, game.observation(step.state, seat))
        with step.trial.checking("legal actions"):
            texts = [game.format_action(step.state, action) for action in game.actions(step.state)]
            told = known.setdefault(seen, texts)
            step.trial.expect(told == texts, f"states that seat {seat} observes alike have other actions", told, texts)
        if game.perfect_recall is not False:
            with step.trial.checking("recall"):
                own = last.get(seat)
                past = before.setdefault(seen, own)
                step.trial.expect(past == own, f"an observation of seat {seat} forgets what it has seen or done", past, own)
        last[seat] = (seen, step.action)


def _check_observation(game: Game, trial: Trial, state: State, observer: int, seat: int, legal: Sequence[Action]) -> None:
    """Check the observation of one seat: it is a value, and the seat to move can derive the state's actions from it."""
    before = copy_value(state)
    seen = trial.call("observation", game.observation, state, observer)
    trial.call("observations must be hashable: hash(observation)", hash, seen)
    again = trial.call("observation", game.observation, before, observer)
    trial.expect(seen == again and state == before, "observation says the same again, and changes nothing", seen, again)
    text = trial.call("format_state of an observation", game.format_state, seen)
    trial.expect(isinstance(text, str) and "\n" not in text, "format_state gives one line", "one line of text", repr(text))
    trial.call("render of an observation", game.render, seen)
    if observer == seat:
        moves = trial.call("to_move of an observation", game.to_move, seen)
        trial.expect(moves == seat, "to_move of an observation gives the seat of the state", seat, moves)
        told = trial.legal(game, seen)
        trial.expect(told == list(legal), "the legal actions tell what the observation does not", told, list(legal))


def _positions_hide(game: Game, trial: Trial) -> bool:
    """Return whether some seat has equal observations of two drawn positions, or of one and its resampled version."""
    drawn = [game.initial(random.Random(number)) for number in range(100)]
    if _alike(game, drawn):
        return True
    if not gives(game, "resample"):
        return any(game.observation(state, seat) != state for state in drawn for seat in range(game.players))
    return any(
        state != game.resample(game.observation(state, seat), seat, trial.rng) for state in drawn for seat in range(game.players)
    )


def _alike(game: Game, states: Sequence[State]) -> bool:
    """Return whether some seat has equal observations of two unequal states."""
    distinct = list(dict.fromkeys(states))
    return any(_looks_alike(game, distinct, seat) for seat in range(game.players))


def _looks_alike(game: Game, distinct: Sequence[State], seat: int) -> bool:
    return len({game.observation(state, seat) for state in distinct}) < len(distinct)


def all_seeing(game: Game, seed: int = 0) -> list[int]:
    """Return the seats from which random plays hide nothing although they hide something from others.

    None if seats act at once, because the seat that is asked first sees no more than the one that is asked last.
    """
    if not gives(game, "observation") or isinstance(game, Simultaneous):
        return []
    found = set(range(game.players))

    def look() -> list[int]:
        for number in range(PLAYS):
            rng = random.Random(f"{seed}/{number}")
            state = game.initial(rng)
            for _ in range(MAX_PLIES):
                if not found or game.is_terminal(state):
                    break
                legal = list(game.actions(state))
                distinct = list(dict.fromkeys([game.result(state, action) for action in legal[:MAX_SUCCESSORS]]))
                found.difference_update([seat for seat in found if _looks_alike(game, distinct, seat)])
                state = game.result(state, rng.choice(legal))
        return sorted(found) if len(found) < game.players else []

    return call_foreign(look, lambda _: [])


def observations_of(game: Game, seed: int = 0) -> list[str]:
    """Return each seat's view of one state of random play, drawn, for an author's review; none without observations."""
    if not gives(game, "observation"):
        return []
    rng = random.Random(seed)

    def shown() -> list[str]:
        state = game.initial(rng)
        for _ in range(SHOWN_PLIES):
            successor = None if game.is_terminal(state) else game.result(state, rng.choice(list(game.actions(state))))
            if successor is None or game.is_terminal(successor):
                break
            state = successor
        return [str(game.render(game.observation(state, seat))) for seat in range(game.players)]

    return call_foreign(shown, lambda _: [])
