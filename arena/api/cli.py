"""How an extension adds commands to `arena`.

An entry point of the group `arena.commands` names a module that lists its commands in `COMMANDS`, or a Click command itself:

    [project.entry-points."arena.commands"]
    web = "arena_web.commands"
    hello = "greetings:hello"

The module with the list is imported for `arena --help`, so it imports nothing but this module. A command is imported when it is
called.
"""

from typing import TYPE_CHECKING, NamedTuple

from arena.lazy import pass_on

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
    from arena.commands.leaderboard import format_option as format_option
    from arena.commands.options import (
        is_given as is_given,
        plugin_option as plugin_option,
        seed_option as seed_option,
        workers_for as workers_for,
    )
    from arena.console.notices import load as load, say as say, say_notes as say_notes, tracebacks_wanted as tracebacks_wanted
    from arena.console.output import (
        LiveLine as LiveLine,
        draws as draws,
        results_alone as results_alone,
        room as room,
        terminal_size as terminal_size,
    )
    from arena.console.progress import PercentLine as PercentLine, duration as duration
    from arena.console.project import read_own_file as read_own_file
    from arena.version import distribution as distribution, install_command as install_command
else:
    __getattr__, __dir__ = pass_on(__name__, "Command")
