"""Games and agents of open_spiel, and arena's games for open_spiel."""

import re
from typing import Any

from arena import Agent, ArenaError, Game, Puzzle, hookimpl, load_plugins
from arena.api.games import parameters_of, settings
from arena_bridges.openspiel.agents import OpenSpielCFR, OpenSpielMCTS
from arena_bridges.openspiel.game import OpenSpiel
from arena_bridges.openspiel.library import pyspiel

__all__ = ["OpenSpiel", "OpenSpielCFR", "OpenSpielMCTS", "arena_agents", "arena_games", "register"]


@hookimpl
def arena_games() -> list[type[Game]]:
    """Return the game that represents all games of open_spiel."""
    return [OpenSpiel]


@hookimpl
def arena_agents() -> list[type[Agent]]:
    """Return open_spiel's own agents for it."""
    return [OpenSpielMCTS, OpenSpielCFR]


def register(game: Game | str, **parameters: Any) -> Any:
    """Register a game of ours with open_spiel, and return it as open_spiel loads it.

    `game` is an instance, or a name with its `parameters`. From then on `pyspiel.load_game` knows it too, in this process, as
    `arena_kuhn_poker`, or with parameters that are not the default ones `arena_pig_target_20`. Seats that act at once act in
    turns there. Actions are indices of `action_space`, else of the legal actions; outcomes of chance are indices of
    `chance_outcomes`. Raises ArenaError for puzzles, and MissingExtra if open_spiel is not installed.
    """
    spiel = pyspiel()
    from arena_bridges.openspiel.python_game import register_rules

    rules = load_plugins().game(game)(**parameters) if isinstance(game, str) else game
    if isinstance(rules, Puzzle):
        raise ArenaError(f"{rules.name} is a puzzle, and open_spiel has no goals; register a game")
    name = short_name(rules)
    if name not in spiel.registered_names():
        register_rules(rules, name)
    return spiel.load_game(name)


def short_name(game: Game) -> str:
    """Return the name of a game in open_spiel, with its parameters that are not the default ones."""
    defaults = {name: parameter.default for name, parameter in parameters_of(type(game)).items()}
    given = [f"{name}_{value}" for name, value in settings(game).items() if value != defaults[name]]
    return re.sub(r"\W+", "_", "_".join(["arena", game.name, *given]))
