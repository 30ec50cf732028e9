"""States that a seat cannot tell apart, in games small enough for a list of all; open_spiel draws them in few games alone."""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, product
from math import prod
from typing import Any, NamedTuple

from arena_bridges.openspiel.library import loaded
from arena_bridges.openspiel.state import Observation, State, state_of

MOST_STATES = 400_000
"""States of a game that is listed, about."""
DESCENTS = 100
"""Random plays from which their number is estimated."""
Told = Callable[[Any, int], str]
"""The text of what a seat knows in a state of open_spiel."""
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
        spiel, width = loaded(text).new_initial_state(), 1
        while not spiel.is_terminal():
            choices = [_legal(spiel, mover) for mover in _movers(spiel)]
            width *= prod(map(len, choices))
            total += width
            if total > DESCENTS * MOST_STATES:
                return False
            spiel = _after(spiel, [rng.choice(legal) for legal in choices])
    return True


def drawn(text: str, told: Told, observation: Observation, seat: int, rng: random.Random) -> State:
    """Return a state of a game that `seat` observes like this, drawn by the probability with which it comes if chance is as the
    rules have it and all others act at random; ValueError where there is none.

    The first call in a process lists all states.
    """
    found = _information_sets(text, told).get((seat, observation.movers, observation.seen))
    if found is None:
        raise ValueError(f"seat {seat} of {text} never observes {observation.seen!r}")
    return rng.choices(found.states, cum_weights=found.weights)[0]


@lru_cache(maxsize=2)
def _information_sets(text: str, told: Told) -> dict[Key, InformationSet]:
    seats = range(loaded(text).num_players())
    met: dict[Key, tuple[list[State], list[float]]] = {}
    for spiel, weight in _states(text):
        movers = tuple(_movers(spiel))
        state = state_of(text, tuple(spiel.history()))
        for seat in seats:
            states, weights = met.setdefault((seat, movers, told(spiel, seat)), ([], []))
            states.append(state)
            weights.append(weight)
    return {key: InformationSet(states, list(accumulate(weights))) for key, (states, weights) in met.items()}


def _states(text: str) -> Iterator[tuple[Any, float]]:
    """Every state in which play goes on, with its probability where all act at random."""
    waiting = [(loaded(text).new_initial_state(), 1.0)]
    while waiting:
        spiel, weight = waiting.pop()
        if spiel.is_terminal():
            continue
        yield spiel, weight
        if spiel.is_chance_node():
            waiting += [(spiel.child(outcome), weight * share) for outcome, share in spiel.chance_outcomes() if share > 0]
        else:
            choices = list(product(*[_legal(spiel, mover) for mover in _movers(spiel)]))
            waiting += [(_after(spiel, chosen), weight / len(choices)) for chosen in choices]


def _movers(spiel: Any) -> Sequence[int]:
    """Who acts, as `State.movers` has it."""
    if spiel.is_simultaneous_node():
        return [seat for seat in range(spiel.num_players()) if spiel.legal_actions(seat)]
    return [spiel.current_player()]


def _legal(spiel: Any, mover: int) -> Sequence[int]:
    if spiel.is_chance_node():
        return [outcome for outcome, share in spiel.chance_outcomes() if share > 0]
    legal: list[int] = spiel.legal_actions(mover)
    return legal


def _after(spiel: Any, chosen: Sequence[int]) -> Any:
    """The state after all movers have acted; seats that cannot act count as 0."""
    if not spiel.is_simultaneous_node():
        return spiel.child(chosen[0])
    acts = dict(zip(_movers(spiel), chosen, strict=True))
    successor = spiel.clone()
    successor.apply_actions([acts.get(seat, 0) for seat in range(spiel.num_players())])
    return successor
