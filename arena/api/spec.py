"""A spec, and the plugins that it names."""

from arena.hookspecs import Part
from arena.plugins.contract import NAME, source_line
from arena.plugins.dependencies import PythonFile
from arena.plugins.manager import EVENTS, HOOKS, PluginManager
from arena.plugins.registry import Plugin
from arena.plugins.sources import PluginPlace
from arena.spec import load_spec, make_seat, reload_spec
from arena.spec.board import Board
from arena.spec.boards import SHARED_DEALS
from arena.spec.choices import Choices, Fitted
from arena.spec.document import Document
from arena.spec.games import Rules
from arena.spec.labels import CodeLabel, format_setting
from arena.spec.model import SpecKeys
from arena.spec.named_code import list_named_code
from arena.spec.parameters import Parameters, explain_faults
from arena.spec.reader import Faults, SpecReader, format_path
from arena.spec.source import (
    AgentSource,
    EntryAgent,
    GivenEntry,
    SoundAgent,
    SourceReader,
    list_organisers,
)
from arena.spec.unlimited import (
    describe_unlimited,
    is_large,
    limit_warnings,
)

__all__ = [
    "EVENTS",
    "HOOKS",
    "NAME",
    "SHARED_DEALS",
    "AgentSource",
    "Board",
    "Choices",
    "CodeLabel",
    "Document",
    "EntryAgent",
    "Faults",
    "Fitted",
    "GivenEntry",
    "Parameters",
    "Part",
    "Plugin",
    "PluginManager",
    "PluginPlace",
    "PythonFile",
    "Rules",
    "SoundAgent",
    "SourceReader",
    "SpecKeys",
    "SpecReader",
    "describe_unlimited",
    "explain_faults",
    "format_path",
    "format_setting",
    "is_large",
    "limit_warnings",
    "list_named_code",
    "list_organisers",
    "load_spec",
    "make_seat",
    "reload_spec",
    "source_line",
]
