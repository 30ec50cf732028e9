"""How an extension adds commands to `arena`.

An entry point of the group `arena.commands` names a module that lists its commands in `COMMANDS`, or a Click command itself:

    [project.entry-points."arena.commands"]
    web = "arena_web.commands"
    hello = "greetings:hello"

The module with the list is imported for `arena --help`, so it imports nothing but this module. A command is imported when it is
called.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

GROUP = "arena.commands"
"""The group of entry points."""


class Command(NamedTuple):
    """A command of `arena` that is imported when it is called.

    >>> Command("serve", "Show tournaments in the browser.", "arena_web.serve:serve").name
    'serve'
    """

    name: str
    help: str
    """The first sentence of its help. `arena --help` shows it."""
    target: str
    """The Click command, as `package.module:function`."""
    hidden: bool = False
    """Whether `arena --help` leaves it out."""
    at_terminal: bool = False
    """Whether it runs if `arena` is called at a terminal without a command."""


# Looked up on first use, so that the lists of commands stay light.
if TYPE_CHECKING:
    from arena.commands.options import board_options, match_options, plugin_option, seed_option, workers_for
    from arena.commands.stores import format_option
    from arena.console.match_setup import MatchSetup, match_of, setup_of
    from arena.console.notices import load, say, say_notes, tracebacks_wanted
    from arena.console.output import results_alone, room
    from arena.console.progress import PercentLine
    from arena.console.words import values_of
    from arena.errors import ExtensionMissing, abbreviate, call_foreign, cut, describe, suggest

_HOMES = {
    "arena.commands.options": "board_options match_options plugin_option seed_option workers_for",
    "arena.commands.stores": "format_option",
    "arena.console.match_setup": "MatchSetup match_of setup_of",
    "arena.console.notices": "load say say_notes tracebacks_wanted",
    "arena.console.output": "results_alone room",
    "arena.console.progress": "PercentLine",
    "arena.console.words": "values_of",
    "arena.errors": "ExtensionMissing cut describe call_foreign abbreviate suggest",
}
_PLACES = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = [
    "GROUP",
    "Command",
    "ExtensionMissing",
    "MatchSetup",
    "PercentLine",
    "abbreviate",
    "board_options",
    "call_foreign",
    "cut",
    "describe",
    "format_option",
    "load",
    "match_of",
    "match_options",
    "plugin_option",
    "results_alone",
    "room",
    "say",
    "say_notes",
    "seed_option",
    "setup_of",
    "suggest",
    "tracebacks_wanted",
    "values_of",
    "workers_for",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a plugin that only registers itself imports nothing heavy."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
