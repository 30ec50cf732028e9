"""An arena for game-playing agents: games, agents and heuristics are plugins, a tournament is a YAML file."""

from typing import TYPE_CHECKING, Any

from arena.agent import Agent, Answer, Hints, Path
from arena.columns import Column
from arena.encoding import encoding
from arena.errors import (
    ArenaError,
    BackendGone,
    GameError,
    OutOfBudget,
    PluginError,
    Refused,
    SpecError,
    SpecFault,
    Unavailable,
    UnknownName,
)
from arena.format import Field, Format, Outcomes, Pairing, Placing
from arena.game import CHANCE, Action, Game, Puzzle, State, overrides, uniform
from arena.heuristic import heuristic
from arena.hookspecs import hookimpl
from arena.limits import Limits
from arena.search import Search
from arena.simultaneous import Simultaneous
from arena.tracking import tell_progress
from arena.version import __version__

if TYPE_CHECKING:
    from arena import testing
    from arena.match.record import Decision, Record
    from arena.plugins.registry import Registry
    from arena.plugins.sources import load_plugins
    from arena.spec import Spec
    from arena.tournament.results import Results
    from arena.tournament.run import run
    from arena.tournament.single import play

__all__ = [
    "CHANCE",
    "Action",
    "Agent",
    "Answer",
    "ArenaError",
    "BackendGone",
    "Column",
    "Decision",
    "Field",
    "Format",
    "Game",
    "GameError",
    "Hints",
    "Limits",
    "OutOfBudget",
    "Outcomes",
    "Pairing",
    "Path",
    "Placing",
    "PluginError",
    "Puzzle",
    "Record",
    "Refused",
    "Registry",
    "Results",
    "Search",
    "Simultaneous",
    "Spec",
    "SpecError",
    "SpecFault",
    "State",
    "Unavailable",
    "UnknownName",
    "__version__",
    "encoding",
    "heuristic",
    "hookimpl",
    "load_plugins",
    "overrides",
    "play",
    "run",
    "tell_progress",
    "testing",
    "uniform",
]

# Looked up on first use, so that a plugin's `from arena import Agent` and `arena --help` do not pay for them.
_LATER = {
    "Decision": "arena.match.record",
    "Record": "arena.match.record",
    "Registry": "arena.plugins.registry",
    "Results": "arena.tournament.results",
    "Spec": "arena.spec",
    "load_plugins": "arena.plugins.sources",
    "play": "arena.tournament.single",
    "run": "arena.tournament.run",
    "testing": "arena",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _LATER:
        raise AttributeError(f"module 'arena' has no attribute {name!r}")
    if name == "testing":
        return import_module("arena.testing")
    return getattr(import_module(_LATER[name]), name)
