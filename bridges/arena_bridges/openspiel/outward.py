"""Registers our games with open_spiel, so that its algorithms run over them."""

import re
from typing import Any

from arena import ArenaError, Game, Puzzle
from arena.api.spec import load_plugins, parameters_of, settings
from arena_bridges.openspiel.library import pyspiel


def register(game: Game | str, **parameters: Any) -> Any:
    """Register a game of ours with open_spiel, and return it as open_spiel loads it.

    `game` is an instance, or a name with its `parameters`. From then on `pyspiel.load_game` knows it too, in this process, as
    `arena_kuhn_poker`, or with parameters that are not the default ones `arena_pig_target_20`. Seats that act at once act in
    turns there. Actions are places in `action_space`, else among the legal actions; outcomes of chance are places in
    `chance_outcomes`. ArenaError for puzzles, MissingExtra if open_spiel is not installed.
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
