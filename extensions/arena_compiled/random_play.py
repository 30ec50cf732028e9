"""Random play to the end of a game. It is compiled if possible; the results and the random numbers are the same in either
case.
"""

import random
from contextlib import suppress
from itertools import accumulate
from typing import Any

from arena import CHANCE, Game, GameError, State
from arena.api.games import gives, name_of
from arena.api.search import GoPlain
from arena.clock import process_time
from arena.compiled import NotCompilable, rules_of
from arena_compiled.play_loops import Playout
from arena_compiled.seam import find_unmetered_loop, mark_unfit

__all__ = ["Playout", "playouts"]
ENGINE = "random"


def playouts(
    game: Game, state: State, rng: random.Random, matches: int, *, most: int | None = None, actions: bool = False
) -> list[Playout]:
    """Play random matches from a state, each to its end or to `most` plies, and return their results.

    Every action is `rng.choice(game.actions(state))`. Chance takes the first outcome whose cumulative probability is above
    `rng.random()`. The results and the next number of `rng` are the same whether the matches run compiled or not. `matches` is
    the number of matches. They run compiled if numba is installed, the rules can be compiled, and the code is in the cache. If
    the code is not in the cache, another process compiles it after one second of uncompiled play. Set `actions` to get the
    actions, too. Raises GameError if a state of `game` that is not over has no actions.
    """
    found, rules, known, spent = list[Playout](), None, False, 0.0
    while len(found) < matches:
        loop: Any = find_unmetered_loop(game, ENGINE, rng, spent)
        if loop is not None:
            try:
                played = loop(state, rng, matches - len(found), most, keeps=actions)
            except GoPlain:
                mark_unfit(game, ENGINE)
                continue
            if actions:
                played = [one._replace(actions=tuple(loop.edition.path(state, one.actions))) for one in played]
            return [*found, *played] if found else played
        if not known:
            known = True
            with suppress(NotCompilable):
                rules = rules_of(game)
        began = process_time()
        found.append(_play(game, state, rng, rules, most, keeps=actions))
        spent = process_time() - began
    return found


def _play(game: Game, state: State, rng: random.Random, rules: Any, most: int | None, *, keeps: bool) -> Playout:
    """Play one match uncompiled."""
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
