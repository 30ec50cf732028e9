"""A spec, and the plugins that it names."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

# looked up on first use, because a process that only plays matches or holds an agent needs few of these names
if TYPE_CHECKING:
    from arena.hookspecs import Part as Part
    from arena.plugins.contract import NAME as NAME, source_line as source_line
    from arena.plugins.dependencies import PythonFile as PythonFile
    from arena.plugins.manager import EVENTS as EVENTS, HOOKS as HOOKS, PluginManager as PluginManager
    from arena.plugins.registry import Plugin as Plugin
    from arena.plugins.sources import PluginPlace as PluginPlace
    from arena.spec import load_spec as load_spec, make_seat as make_seat, reload_spec as reload_spec
    from arena.spec.board import Board as Board
    from arena.spec.boards import SHARED_DEALS as SHARED_DEALS
    from arena.spec.choices import Choices as Choices, Fitted as Fitted
    from arena.spec.document import Document as Document
    from arena.spec.entries import MAX_ENTRIES as MAX_ENTRIES
    from arena.spec.games import Rules as Rules
    from arena.spec.labels import CodeLabel as CodeLabel, format_setting as format_setting
    from arena.spec.model import SpecKeys as SpecKeys
    from arena.spec.named_code import list_named_code as list_named_code
    from arena.spec.parameters import (
        Parameters as Parameters,
        explain_faults as explain_faults,
        stop_at_fault as stop_at_fault,
    )
    from arena.spec.reader import Faults as Faults, SpecReader as SpecReader, format_path as format_path
    from arena.spec.source import (
        AgentSource as AgentSource,
        EntryAgent as EntryAgent,
        GivenEntry as GivenEntry,
        SoundAgent as SoundAgent,
        SourceReader as SourceReader,
        list_organisers as list_organisers,
    )
    from arena.spec.unlimited import (
        describe_unlimited as describe_unlimited,
        is_large as is_large,
        limit_warnings as limit_warnings,
    )
else:
    __getattr__, __dir__ = pass_on(
        __name__,
        {
            "arena.hookspecs": "Part",
            "arena.plugins.contract": "NAME source_line",
            "arena.plugins.dependencies": "PythonFile",
            "arena.plugins.manager": "EVENTS HOOKS PluginManager",
            "arena.plugins.registry": "Plugin",
            "arena.plugins.sources": "PluginPlace",
            "arena.spec": "load_spec make_seat reload_spec",
            "arena.spec.board": "Board",
            "arena.spec.boards": "SHARED_DEALS",
            "arena.spec.choices": "Choices Fitted",
            "arena.spec.document": "Document",
            "arena.spec.entries": "MAX_ENTRIES",
            "arena.spec.games": "Rules",
            "arena.spec.labels": "CodeLabel format_setting",
            "arena.spec.model": "SpecKeys",
            "arena.spec.named_code": "list_named_code",
            "arena.spec.parameters": "Parameters explain_faults stop_at_fault",
            "arena.spec.reader": "Faults SpecReader format_path",
            "arena.spec.source": "AgentSource EntryAgent GivenEntry SoundAgent SourceReader list_organisers",
            "arena.spec.unlimited": "describe_unlimited is_large limit_warnings",
        },
    )
