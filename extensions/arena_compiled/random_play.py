"""Random play to the end, compiled if it can be, with the same results and the same random numbers in any case."""

import random
from contextlib import suppress
from itertools import accumulate
from time import process_time
from typing import Any, NamedTuple

from arena import CHANCE, Game, GameError, State
from arena.api.spec import gives, name_of
from arena.compiled import NotCompilable, Words, rules_of
from arena.counting import GoPlain
from arena_compiled.seam import find_unmetered_loop, mark_unfit

ENGINE = "random"


class Playout(NamedTuple):
    """One match at random."""

    plies: int
    """Actions that were taken, outcomes of chance among them."""
    returns: tuple[float, ...] | None
    """What each seat gets; None if the match was cut off."""
    words: Words | None
    """The last state in the numbers of the game's compiled rules, or as it is if it is whole numbers; else None."""
    actions: tuple[Any, ...] | None
    """The game's own actions, if they were asked for."""


def playouts(
    game: Game, state: State, rng: random.Random, matches: int, *, most: int | None = None, actions: bool = False
) -> list[Playout]:
    """Play matches at random from a state on, each to its end or to `most` plies, and return what came of them.

    Every action is `rng.choice(game.actions(state))`; if chance moves, it is the first outcome whose cumulated probability
    is above `rng.random()`. Compiled or plain, the results and the next number of `rng` are the same: compiled if numba is
    installed, the rules compile, and the code is in the cache or five seconds were spent without it. `actions` are asked
    for by name. GameError if a state that is not over has no actions.
    """
    found, began, rules, known = list[Playout](), process_time(), None, False
    while len(found) < matches:
        loop: Any = find_unmetered_loop(game, ENGINE, rng, process_time() - began)
        if loop is not None:
            try:
                played = loop(state, rng, matches - len(found), most, keeps=actions)
            except GoPlain:
                mark_unfit(game, ENGINE)
                continue
            return found + [
                Playout(one.plies, one.returns, one.words, tuple(loop.edition.path(state, one.actions)) if actions else None)
                for one in played
            ]
        if not known:
            known = True
            with suppress(NotCompilable):
                rules = rules_of(game)
        found.append(_play(game, state, rng, rules, most, keeps=actions))
    return found


def _play(game: Game, state: State, rng: random.Random, rules: Any, most: int | None, *, keeps: bool) -> Playout:
    """One match, plain."""
    chance, taken, plies = gives(game, "chance_outcomes"), list[Any](), 0
    while not (over := game.is_terminal(state)) and plies != most:
        if chance and game.to_move(state) == CHANCE:
            number, outcomes = rng.random(), game.chance_outcomes(state)
            reached = zip(outcomes, accumulate([probability for _, probability in outcomes]), strict=True)
            action = next((outcome for (outcome, _), total in reached if number < total), outcomes[-1][0])
        else:
            legal = game.actions(state)
            if not legal:
                raise GameError(f"{name_of(game)}: no actions in {game.format_state(state)}, which is not over")
            action = rng.choice(legal)
        if keeps:
            taken.append(action)
        state = game.result(state, action)
        plies += 1
    returns = tuple([float(value) for value in game.returns(state)]) if over else None
    if rules is not None:
        words = rules.encode(state)
    else:
        words = state if isinstance(state, tuple) and all(type(word) is int for word in state) else None
    return Playout(plies, returns, words, tuple(taken) if keeps else None)
