"""Checks of chance and of observations: the facts that a game must show to its seats, and the facts that it must hide."""

import random
from collections.abc import Hashable, Sequence
from typing import Any

from arena import CHANCE, Action, Game, GameError, Simultaneous, State
from arena.api.errors import call_foreign
from arena.api.games import Chance, gives
from arena_check.state_checks import PlayedStep
from arena_check.trial import Trial, copy_value

CHECKS = {
    "chance": "chance_outcomes gives the outcomes with probabilities that are above 0 and add up to 1",
    "observations": "actions and to_move return the same values for an observation as for its state",
    "secrets": "observations hide something, and states from resample have the same observation",
    "legal actions": "states with the same observation have the same actions",
    "recall": "an observation contains everything that its seat has seen and done before, unless perfect_recall is False",
    "action space": "action_space lists every legal action once",
}
"""The promises (properties to be checked) about chance and observations; the keys are the names of their checks."""
NEEDED = {
    "chance": "chance_outcomes",
    "observations": "observation",
    "secrets": "observation",
    "legal actions": "observation",
    "recall": "observation",
    "action space": "action_space",
}
"""The optional method of a game that each of these checks needs."""
MAX_SUCCESSORS = 12
"""The number of actions in a state for which successors are compared."""
MAX_PLIES = 200
"""Maximum number of plies in a random play that is examined for hidden facts."""
PLAYS = 20
"""Number of random plays that are examined for hidden facts."""
SHOWN_PLIES = 6
"""The number of plies of random play before the state whose observations are shown."""


def inapplicable(game: Game | type[Game]) -> set[str]:
    """Return the checks that do not apply to a game."""
    lacking = {check for check, method in NEEDED.items() if not gives(game, method)}
    return lacking | ({"recall"} if game.perfect_recall is False else set())


def is_mover(game: Game, seat: Any) -> bool:
    """Return True if `to_move` may return this value. It must be a seat of the game or, if the game has chance events, CHANCE."""
    return seat in range(game.players) or (seat == CHANCE and gives(game, "chance_outcomes"))


def check_state(game: Game, trial: Trial, state: State, seat: int, legal: Sequence[Action]) -> None:
    """Check the promises about a single state in which it is the turn of `seat`."""
    if seat == CHANCE:
        with trial.checking("chance"):
            try:
                trial.tell("chance_outcomes")
                Chance.outcomes(game, state)
                trial.call("chance_stream must be hashable: hash(chance_stream)", hash, game.chance_stream(state))
            except GameError as error:
                raise trial.violation(
                    "chance_outcomes must return actions with probabilities", CHECKS["chance"], str(error)
                ) from error
    elif gives(game, "action_space"):
        with trial.checking("action space"):
            space = trial.list_values("action_space", game.action_space)
            trial.expect(len(set(space)) == len(space), "action_space must contain no duplicates", "each action once", space)
            missing = [action for action in legal if action not in set(space)]
            trial.expect(not missing, "action_space must contain every legal action", "all of them", f"no {missing}")
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
                        what = f"in a state from resample, seat {observer} observes something different"
                        trial.expect(same == seen, what, seen, same)


def check_plays(game: Game, steps: Sequence[PlayedStep]) -> None:
    """Check the promises for which the states of many plays are compared with each other."""
    if not gives(game, "observation"):
        return
    trial = steps[0].trial
    with trial.checking("secrets"):
        successors = (
            [game.result(step.state, action) for action in list(game.actions(step.state))[:MAX_SUCCESSORS]] for step in steps
        )
        hidden = any(_alike(game, states) for states in successors) or _positions_hide(game, trial)
        trial.expect(hidden, "an observation hides nothing", "two states that some seat cannot distinguish", "none in any match")
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
            step.trial.expect(told == texts, f"states that look the same to seat {seat} have different actions", told, texts)
        if game.perfect_recall is not False:
            with step.trial.checking("recall"):
                own = last.get(seat)
                past = before.setdefault(seen, own)
                step.trial.expect(
                    past == own, f"an observation of seat {seat} leaves out something that this seat has seen or done", past, own
                )
        last[seat] = (seen, step.action)


def _check_observation(game: Game, trial: Trial, state: State, observer: int, seat: int, legal: Sequence[Action]) -> None:
    """Check the observation of one seat. The observation must be hashable and the same at every call, and the seat to move must
    be able to derive its legal actions from the observation.
    """
    before = copy_value(state)
    seen = trial.call("observation", game.observation, state, observer)
    trial.call("observations must be hashable: hash(observation)", hash, seen)
    again = trial.call("observation", game.observation, before, observer)
    trial.expect(
        seen == again and state == before,
        "observation must return the same value when it is called again, and change nothing",
        seen,
        again,
    )
    text = trial.call("format_state of an observation", game.format_state, seen)
    trial.expect(
        isinstance(text, str) and "\n" not in text, "format_state must return one line of text", "one line of text", repr(text)
    )
    trial.call("render of an observation", game.render, seen)
    if observer == seat:
        moves = trial.call("to_move of an observation", game.to_move, seen)
        trial.expect(moves == seat, "to_move of an observation must return the seat of the state", seat, moves)
        told = trial.legal(game, seen)
        trial.expect(told == list(legal), "the legal actions depend on something that the observation hides", told, list(legal))


def _positions_hide(game: Game, trial: Trial) -> bool:
    """Return True if some seat has equal observations of two different positions.

    The second of these positions may come from `resample`. Without `resample`, an observation that differs from its position is
    enough.
    """
    drawn = [game.initial(random.Random(number)) for number in range(100)]
    if _alike(game, drawn):
        return True
    if not gives(game, "resample"):
        return any(game.observation(state, seat) != state for state in drawn for seat in range(game.players))
    return any(
        state != game.resample(game.observation(state, seat), seat, trial.rng) for state in drawn for seat in range(game.players)
    )


def _alike(game: Game, states: Sequence[State]) -> bool:
    """Return True if some seat has equal observations of two unequal states."""
    distinct = list(dict.fromkeys(states))
    return any(_looks_alike(game, distinct, seat) for seat in range(game.players))


def _looks_alike(game: Game, distinct: Sequence[State], seat: int) -> bool:
    return len({game.observation(state, seat) for state in distinct}) < len(distinct)


def all_seeing(game: Game, seed: int = 0) -> list[int]:
    """Return the seats that see the whole state in random plays of a game that hides something from other seats.

    The list is empty if seats act at once, because a seat that is asked later sees no more than one that is asked earlier.
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
    """Return the observation of each seat in one state of a random play, for the author to review; an empty list if the game has
    no observations.
    """
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
