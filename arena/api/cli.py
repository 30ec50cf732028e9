"""How an extension adds commands to `arena`.

An entry point of the group `arena.commands` names a module that lists its commands in `COMMANDS`, or a Click command itself:

    [project.entry-points."arena.commands"]
    web = "arena_web.commands"
    hello = "greetings:hello"

`arena --help` imports the module with the list, so this module should import only `arena.api.cli`.
"""

from typing import TYPE_CHECKING

from arena.commands import Command as Command
from arena.lazy import pass_on

# looked up on first use, so that importing the lists of commands is quick
if TYPE_CHECKING:
    from arena.commands.leaderboard import format_option as format_option
    from arena.commands.options import (
        Number as Number,
        is_given as is_given,
        plugin_option as plugin_option,
        workers_for as workers_for,
    )
    from arena.console.notices import load as load, say as say, say_notes as say_notes, tracebacks_wanted as tracebacks_wanted
    from arena.console.output import LiveLine as LiveLine, Terminal as Terminal, results_alone as results_alone
    from arena.console.output_files import (
        LATEX_FILE as LATEX_FILE,
        PAGE_FILE as PAGE_FILE,
        PLOT_FILES as PLOT_FILES,
        OutputKind as OutputKind,
        check_place as check_place,
        make_folder as make_folder,
        write_output as write_output,
    )
    from arena.console.progress import PercentLine as PercentLine
    from arena.console.project import read_own_file as read_own_file
    from arena.tracking import listening as listening
    from arena.version import (
        distribution as distribution,
        hint_at_distribution as hint_at_distribution,
        install_command as install_command,
    )
else:
    __getattr__, __dir__ = pass_on(
        __name__,
        {
            "arena.commands.leaderboard": "format_option",
            "arena.commands.options": "Number is_given plugin_option workers_for",
            "arena.console.notices": "load say say_notes tracebacks_wanted",
            "arena.console.output": "LiveLine Terminal results_alone",
            "arena.console.output_files": "LATEX_FILE PAGE_FILE PLOT_FILES OutputKind check_place make_folder write_output",
            "arena.console.progress": "PercentLine",
            "arena.console.project": "read_own_file",
            "arena.tracking": "listening",
            "arena.version": "distribution hint_at_distribution install_command",
        },
        "Command",
    )
