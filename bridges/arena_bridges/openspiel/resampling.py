"""States that a seat cannot tell apart, in games small enough for a list of all; open_spiel draws them in few games alone."""

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, product
from math import prod
from typing import Any, NamedTuple

from arena_bridges.openspiel.library import load_game
from arena_bridges.openspiel.state import Observation, State, act, movers_of, seen_text, state_of

MAX_LISTED_STATES = 400_000
"""States of a game that is listed, about."""
DESCENTS = 100
"""Random plays from which their number is estimated."""
Key = tuple[int, tuple[int, ...], str]
"""The observer, who acts, and the text of what the observer knows."""


class InformationSet(NamedTuple):
    """States that a seat cannot tell apart, with the sums of their weights so far."""

    states: Sequence[State]
    weights: Sequence[float]


@lru_cache(maxsize=256)
def is_listed(text: str) -> bool:
    """Tell whether a game has few enough states, by an estimate from random descents (D. E. Knuth, 1975)."""
    rng = random.Random(0)
    total = 0
    for _ in range(DESCENTS):
        spiel, width = load_game(text).new_initial_state(), 1
        while not spiel.is_terminal():
            movers = movers_of(spiel)
            choices = [_legal(spiel, mover) for mover in movers]
            width *= prod(map(len, choices))
            total += width
            if total > DESCENTS * MAX_LISTED_STATES:
                return False
            spiel = act(spiel, movers, [rng.choice(legal) for legal in choices])
    return True


def draw_state(text: str, knows: bool, observation: Observation, seat: int, rng: random.Random) -> State:
    """Return a state of a game that `seat` observes like this, drawn by the probability with which it comes if chance is as the
    rules have it and all others act at random; ValueError if there is none. `knows` is that of `seen_text`.

    The first call in a process lists all states.
    """
    found = _information_sets(text, knows).get((seat, observation.movers, observation.seen))
    if found is None:
        raise ValueError(f"seat {seat} of {text} never observes {observation.seen!r}")
    return rng.choices(found.states, cum_weights=found.weights)[0]


@lru_cache(maxsize=2)
def _information_sets(text: str, knows: bool) -> dict[Key, InformationSet]:
    seats = range(load_game(text).num_players())
    met: dict[Key, tuple[list[State], list[float]]] = {}
    for spiel, weight in _states(text):
        movers = movers_of(spiel)
        state = state_of(text, tuple(spiel.history()))
        for seat in seats:
            states, weights = met.setdefault((seat, movers, seen_text(spiel, seat, knows=knows)), ([], []))
            states.append(state)
            weights.append(weight)
    return {key: InformationSet(states, list(accumulate(weights))) for key, (states, weights) in met.items()}


def _states(text: str) -> Iterator[tuple[Any, float]]:
    """Every state in which play goes on, with its probability if all act at random."""
    waiting = [(load_game(text).new_initial_state(), 1.0)]
    while waiting:
        spiel, weight = waiting.pop()
        if spiel.is_terminal():
            continue
        yield spiel, weight
        if spiel.is_chance_node():
            waiting += [(spiel.child(outcome), weight * share) for outcome, share in spiel.chance_outcomes() if share > 0]
        else:
            movers = movers_of(spiel)
            choices = list(product(*[_legal(spiel, mover) for mover in movers]))
            waiting += [(act(spiel, movers, chosen), weight / len(choices)) for chosen in choices]


def _legal(spiel: Any, mover: int) -> Sequence[int]:
    if spiel.is_chance_node():
        return [outcome for outcome, share in spiel.chance_outcomes() if share > 0]
    legal: list[int] = spiel.legal_actions(mover)
    return legal
