"""Games and agents of open_spiel for arena, and arena's games for open_spiel."""

import re
from collections.abc import Mapping
from typing import Any

from arena import ArenaError, Game, Puzzle, hookimpl, load_plugins
from arena.api.games import settings

__all__ = ["arena_agents", "arena_games", "register"]


@hookimpl
def arena_games() -> Mapping[str, str]:
    """Return the game that represents all games of open_spiel."""
    return {"openspiel": "arena_bridges.openspiel.game:OpenSpiel"}


@hookimpl
def arena_agents() -> Mapping[str, str]:
    """Return open_spiel's agents, which play only its games."""
    agents = "arena_bridges.openspiel.agents"
    return {"openspiel-mcts": f"{agents}:OpenSpielMCTS", "openspiel-cfr": f"{agents}:OpenSpielCFR"}


def register(game: Game | str, **parameters: Any) -> Any:
    """Register a game of arena with open_spiel, and return it as open_spiel loads it.

    `game` is an instance, or a name with its `parameters`. From then on, `pyspiel.load_game` in this process also knows the game,
    for example as `arena_kuhn_poker`, or as `arena_pig_target_20` if a parameter differs from its default. In open_spiel, seats
    that act at the same time act in turns. Actions are indices of `action_space`, or if there is none, of the legal actions.
    Outcomes of chance are indices of `chance_outcomes`. Raises ArenaError for puzzles, and MissingExtra if open_spiel is not
    installed.
    """
    from arena_bridges.openspiel.library import pyspiel

    spiel = pyspiel()
    from arena_bridges.openspiel.python_game import register_rules  # needs open_spiel

    rules = load_plugins().game(game)(**parameters) if isinstance(game, str) else game
    if isinstance(rules, Puzzle):
        raise ArenaError(f"{rules.name} is a puzzle, but open_spiel has no puzzles; register a game")
    name = short_name(rules)
    if name not in spiel.registered_names():
        register_rules(rules, name)
    return spiel.load_game(name)


def short_name(game: Game) -> str:
    """Return the name of a game in open_spiel, with the parameters that differ from their defaults."""
    from arena.api.spec import Parameters  # slow to import, and all processes load this plugin

    defaults = {name: parameter.default for name, parameter in Parameters(type(game)).known.items()}
    given = [f"{name}_{value}" for name, value in settings(game).items() if value != defaults[name]]
    return re.sub(r"\W+", "_", "_".join(["arena", game.name, *given]))
