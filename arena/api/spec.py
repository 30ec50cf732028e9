"""A spec, the plugins that it names, and what is known of games and agents."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.agent import chooses, claim_of, solves
    from arena.configured import make_default, name_of, parameters_of, settings
    from arena.encoding import BoundEncoding, bind_encoding
    from arena.errors import escape_line
    from arena.game import gives, overrides
    from arena.heuristic import Evaluation, bind, info_of
    from arena.parts import AgentSource, Part, SearchEngine
    from arena.plugins.board_files import BoardModule, load_board_module
    from arena.plugins.contract import source_line
    from arena.plugins.members import find_grid_fault, gives_grid, read_member
    from arena.plugins.registry import Key, Registry, Source, find_first_game, list_references, propose_agents
    from arena.plugins.sources import is_file, load_plugins, make_absolute, resolve_place
    from arena.spec import Board, Document, Spec, load_spec, reload_spec
    from arena.spec.parameters import make_adapters, validate_parameters
    from arena.spec.reader import SpecReader
    from arena.spec.source import EntryAgent, GivenEntry, SoundAgent, SourceReader
    from arena.traits import find_refusal, find_traits

_HOMES = {
    "arena.agent": "chooses claim_of solves",
    "arena.configured": "name_of parameters_of settings make_default",
    "arena.encoding": "BoundEncoding bind_encoding",
    "arena.errors": "escape_line",
    "arena.game": "gives overrides",
    "arena.heuristic": "Evaluation bind info_of",
    "arena.parts": "AgentSource Part SearchEngine",
    "arena.plugins.board_files": "BoardModule load_board_module",
    "arena.plugins.contract": "source_line",
    "arena.plugins.members": "gives_grid find_grid_fault read_member",
    "arena.plugins.registry": "Key Registry Source find_first_game propose_agents list_references",
    "arena.plugins.sources": "is_file load_plugins resolve_place make_absolute",
    "arena.spec": "Board Document Spec load_spec reload_spec",
    "arena.spec.parameters": "make_adapters validate_parameters",
    "arena.spec.reader": "SpecReader",
    "arena.spec.source": "EntryAgent GivenEntry SoundAgent SourceReader",
    "arena.traits": "find_refusal find_traits",
}
_PLACES = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = [
    "AgentSource",
    "Board",
    "BoardModule",
    "BoundEncoding",
    "Document",
    "EntryAgent",
    "Evaluation",
    "GivenEntry",
    "Key",
    "Part",
    "Registry",
    "SearchEngine",
    "SoundAgent",
    "Source",
    "SourceReader",
    "Spec",
    "SpecReader",
    "bind",
    "bind_encoding",
    "chooses",
    "claim_of",
    "escape_line",
    "find_first_game",
    "find_grid_fault",
    "find_refusal",
    "find_traits",
    "gives",
    "gives_grid",
    "info_of",
    "is_file",
    "list_references",
    "load_board_module",
    "load_plugins",
    "load_spec",
    "make_absolute",
    "make_adapters",
    "make_default",
    "name_of",
    "overrides",
    "parameters_of",
    "propose_agents",
    "read_member",
    "reload_spec",
    "resolve_place",
    "settings",
    "solves",
    "source_line",
    "validate_parameters",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a plugin that only registers itself imports nothing heavy."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
