"""An arena for game-playing agents: games, agents and heuristics are plugins, a tournament is a YAML file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arena.lazy import pass_on
from arena.version import __version__ as __version__

if TYPE_CHECKING:
    __all__: list[str]

    from arena.agent import Agent as Agent
    from arena.agent import Answer as Answer
    from arena.agent import Hints as Hints
    from arena.agent import Path as Path
    from arena.columns import Column as Column
    from arena.encodings import encoding as encoding
    from arena.errors import ArenaError as ArenaError
    from arena.errors import BackendGone as BackendGone
    from arena.errors import GameError as GameError
    from arena.errors import OutOfBudget as OutOfBudget
    from arena.errors import PluginError as PluginError
    from arena.errors import Refused as Refused
    from arena.errors import SpecError as SpecError
    from arena.errors import SpecFault as SpecFault
    from arena.errors import Unavailable as Unavailable
    from arena.errors import UnknownName as UnknownName
    from arena.format import Field as Field
    from arena.format import Format as Format
    from arena.format import Outcomes as Outcomes
    from arena.format import Pairing as Pairing
    from arena.format import Placing as Placing
    from arena.game import CHANCE as CHANCE
    from arena.game import Action as Action
    from arena.game import Game as Game
    from arena.game import Puzzle as Puzzle
    from arena.game import State as State
    from arena.game import overrides as overrides
    from arena.game import uniform as uniform
    from arena.heuristics import heuristic as heuristic
    from arena.hookspecs import hookimpl as hookimpl
    from arena.limits import Limits as Limits
    from arena.match.record import Decision as Decision
    from arena.match.record import Record as Record
    from arena.plugins.registry import Registry as Registry
    from arena.plugins.sources import load_plugins as load_plugins
    from arena.search import Search as Search
    from arena.simultaneous import Simultaneous as Simultaneous
    from arena.spec import Spec as Spec
    from arena.tournament.results import Results as Results
    from arena.tournament.run import run as run
    from arena.tracking import tell_progress as tell_progress
    from arena_records.analysis import open_store as open_store
    from arena_setup.single import play as play
else:
    _find, __dir__ = pass_on(__name__, "__version__", "testing")

    def __getattr__(name: str) -> Any:
        if name == "testing":
            return import_module("arena.testing")
        if name in ("open_store", "play"):
            from arena.errors import import_extension

            home = "arena_setup.single" if name == "play" else "arena_records.analysis"
            return getattr(import_extension(home, f"arena.{name}"), name)
        return _find(name)
