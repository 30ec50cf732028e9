"""An arena for game-playing agents. Games, agents and heuristics are plugins, and a YAML file (a spec) describes a tournament.

This module imports nothing until a name is needed, because `arena.__main__` must handle Ctrl-C before anything slow is imported.
"""

TYPE_CHECKING = False  # type checkers take it as true, as they do with the name in `typing`
if TYPE_CHECKING:
    __all__: list[str]

    from arena.agent import Agent as Agent, Answer as Answer, Hints as Hints, Path as Path
    from arena.columns import Column as Column
    from arena.encodings import encoding as encoding
    from arena.errors import (
        ArenaError as ArenaError,
        BackendGone as BackendGone,
        GameError as GameError,
        OutOfBudget as OutOfBudget,
        PluginError as PluginError,
        Refused as Refused,
        SpecError as SpecError,
        SpecFault as SpecFault,
        Unavailable as Unavailable,
        UnknownName as UnknownName,
    )
    from arena.format import Field as Field, Format as Format, Outcomes as Outcomes, Pairing as Pairing, Placing as Placing
    from arena.game import (
        CHANCE as CHANCE,
        Action as Action,
        Disguise as Disguise,
        Game as Game,
        Puzzle as Puzzle,
        State as State,
        overrides as overrides,
        uniform as uniform,
    )
    from arena.heuristics import heuristic as heuristic
    from arena.hookspecs import hookimpl as hookimpl
    from arena.limits import Limits as Limits
    from arena.match.record import Decision as Decision, Record as Record
    from arena.plugins.registry import Registry as Registry
    from arena.plugins.sources import load_plugins as load_plugins
    from arena.search import Search as Search
    from arena.simultaneous import Simultaneous as Simultaneous
    from arena.spec import Spec as Spec
    from arena.tournament.results import Results as Results, open_store as open_store
    from arena.tournament.run import run as run
    from arena.tournament.single import play as play
    from arena.tracking import tell_progress as tell_progress
    from arena.version import __version__ as __version__
else:
    _HOMES = {
        "arena.agent": "Agent Answer Hints Path",
        "arena.columns": "Column",
        "arena.encodings": "encoding",
        "arena.errors": "ArenaError BackendGone GameError OutOfBudget PluginError Refused SpecError SpecFault Unavailable "
        "UnknownName",
        "arena.format": "Field Format Outcomes Pairing Placing",
        "arena.game": "CHANCE Action Disguise Game Puzzle State overrides uniform",
        "arena.heuristics": "heuristic",
        "arena.hookspecs": "hookimpl",
        "arena.limits": "Limits",
        "arena.match.record": "Decision Record",
        "arena.plugins.registry": "Registry",
        "arena.plugins.sources": "load_plugins",
        "arena.search": "Search",
        "arena.simultaneous": "Simultaneous",
        "arena.spec": "Spec",
        "arena.tournament.results": "Results open_store",
        "arena.tournament.run": "run",
        "arena.tournament.single": "play",
        "arena.tracking": "tell_progress",
        "arena.version": "__version__",
    }
    _functions = []

    def __getattr__(name: str) -> object:
        if name == "testing":
            from importlib import import_module

            return import_module("arena.testing")
        return _pass_on()[0](name)

    def __dir__() -> list[str]:
        return _pass_on()[1]()

    def _pass_on() -> list:
        if not _functions:
            from arena.lazy import pass_on

            _functions.extend(pass_on(__name__, _HOMES, "testing"))
        return _functions
