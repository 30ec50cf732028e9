"""A spec, the plugins that it names, and what is known of games and agents."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.agent import chooses, claim_of, solves
    from arena.configured import name_of, parameters_of, settings, with_defaults
    from arena.encoding import BoundEncoding, bind_encoding
    from arena.game import gives, overrides
    from arena.heuristic import Evaluation, bind, info_of
    from arena.parts import AgentSource, Part, SearchEngine
    from arena.plugins.board_files import BoardModule, board_module
    from arena.plugins.contract import source_line
    from arena.plugins.members import gives_grid, grid_fault, member
    from arena.plugins.proposals import first_game, proposed, references
    from arena.plugins.registry import Key, Registry, Source
    from arena.plugins.sources import is_file, load_plugins, real_place, whole
    from arena.spec import Board, Document, Spec, load_spec, reload_spec
    from arena.spec.faults import one_line
    from arena.spec.parameters import adapters, validated
    from arena.spec.source import EntryAgent, GivenEntry, SoundAgent, SourceReader
    from arena.traits import refusal, traits

_HOMES = {
    "arena.agent": "chooses claim_of solves",
    "arena.configured": "name_of parameters_of settings with_defaults",
    "arena.encoding": "BoundEncoding bind_encoding",
    "arena.game": "gives overrides",
    "arena.heuristic": "Evaluation bind info_of",
    "arena.parts": "AgentSource Part SearchEngine",
    "arena.plugins.board_files": "BoardModule board_module",
    "arena.plugins.contract": "source_line",
    "arena.plugins.members": "gives_grid grid_fault member",
    "arena.plugins.proposals": "first_game proposed references",
    "arena.plugins.registry": "Key Registry Source",
    "arena.plugins.sources": "is_file load_plugins real_place whole",
    "arena.spec": "Board Document Spec load_spec reload_spec",
    "arena.spec.faults": "one_line",
    "arena.spec.parameters": "adapters validated",
    "arena.spec.source": "EntryAgent GivenEntry SoundAgent SourceReader",
    "arena.traits": "refusal traits",
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
    "adapters",
    "bind",
    "bind_encoding",
    "board_module",
    "chooses",
    "claim_of",
    "first_game",
    "gives",
    "gives_grid",
    "grid_fault",
    "info_of",
    "is_file",
    "load_plugins",
    "load_spec",
    "member",
    "name_of",
    "one_line",
    "overrides",
    "parameters_of",
    "proposed",
    "real_place",
    "references",
    "refusal",
    "reload_spec",
    "settings",
    "solves",
    "source_line",
    "traits",
    "validated",
    "whole",
    "with_defaults",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a plugin that only registers itself imports nothing heavy."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
