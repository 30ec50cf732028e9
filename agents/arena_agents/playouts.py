"""Random play from a state to the end of the game, or to a cutoff."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from random import Random
from typing import Any

from arena import CHANCE, Game, Puzzle, Search, State
from arena.api.games import Returns, gives
from arena_agents.deepening import scaled_returns

MAX_PLIES = 1_000
"""The number of plies after which random play is cut off and evaluated. A smaller `limits.depth` takes precedence."""
MAX_PUZZLE_PLIES = 100
"""The same limit for puzzles, in which random play may never end."""

Values = Sequence[float]
"""A value for every seat."""
Playout = Callable[[State, int], Values]
"""(state, ply) -> the returns of random play from this state."""


def longest_playout(game: Game, search: Search) -> int:
    """Return the number of plies after which play is cut off."""
    return search.limits.depth or (MAX_PUZZLE_PLIES if isinstance(game, Puzzle) else MAX_PLIES)


def draw(odds: Sequence[float], number: float) -> int:
    """Return the index of an outcome, selected by a random number from 0 to 1 and the probabilities."""
    return next((place for place, reached in enumerate(accumulate(odds)) if number < reached), len(odds) - 1)


def playout(game: Game, random: Callable[[], float], longest: int, cut_off: Callable[[State], Values]) -> Playout:
    """Return a function that plays at random to the end or to `longest` plies, and draws chance by its probabilities."""
    is_terminal, actions, result, returns = game.is_terminal, game.actions, game.result, scaled_returns(game)

    def play_on(state: State, ply: int) -> Values:
        while not is_terminal(state):
            if ply >= longest:
                return cut_off(state)
            legal = actions(state)
            state = result(state, legal[int(random() * len(legal))])
            ply += 1
        return returns(state)

    def play_on_with_chance(state: State, ply: int) -> Values:
        while not is_terminal(state):
            if game.to_move(state) == CHANCE:
                outcomes = game.chance_outcomes(state)
                state = result(state, outcomes[draw([odds for _, odds in outcomes], random())][0])
                continue
            if ply >= longest:
                return cut_off(state)
            legal = actions(state)
            state = result(state, legal[int(random() * len(legal))])
            ply += 1
        return returns(state)

    return play_on_with_chance if gives(game, "chance_outcomes") else play_on


def compiled_playout(loop: Any, game: Game, rng: Random, longest: int, plain: Playout) -> Playout:
    """Return a function that plays like `plain`, but with the compiled loop `rollouts`; near the cutoff, it calls `plain`."""
    scale = Returns(game).scale

    def play_on(state: State, ply: int) -> Values:
        returns: Sequence[float] | None = loop(state, rng, ply, longest)
        return plain(state, ply) if returns is None else [scale(value) for value in returns]

    return play_on


def evaluation(game: Game, search: Search) -> Callable[[State], Values]:
    """Return a function that estimates the value of an unfinished state for every seat with the heuristic.

    In a puzzle, the value is at least 0 (a dead end) and below 1 (a goal); higher costs give lower values.
    """
    if isinstance(game, Puzzle):
        return lambda state: (1.0 / (2.0 - search.evaluate(state)),)
    seats = range(game.players)
    return lambda state: [search.evaluate(state, seat) for seat in seats]
