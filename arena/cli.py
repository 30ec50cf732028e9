"""The command line: the group of all commands, which imports a command when it is called, and the exit codes.

Results are written to stdout, everything else to stderr.
"""

import gc
import io
import os
import sys
import traceback
from collections import UserDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

import click

from arena import __version__
from arena.commands import COMMANDS as OWN, GROUP, OTHER_COMMANDS, Command
from arena.console.project import no_project_option
from arena.errors import ArenaError, Interrupted, describe, escape_controls
from arena.lazy import BLOCKED, EntryPoint, find_entry_points, list_blocked
from arena.processes.interrupts import abandoned, end_at_signals, user_interrupts
from arena.version import hint_at_distribution

TRACEBACK = "ARENA_TRACEBACK"


def want_tracebacks(_context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    """Show full tracebacks, in this process and in the processes that it starts."""
    if wanted:
        os.environ[TRACEBACK] = "1"


traceback_option = click.option(
    "--traceback",
    is_flag=True,
    expose_value=False,
    callback=want_tracebacks,
    help="Show full tracebacks of errors, as ARENA_TRACEBACK=1 does.",
)
"""The option `--traceback`, which the group and every command have."""


def block_plugins(_context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]) -> None:
    """Block installed plugins, in this process and in the processes that it starts."""
    if not words:
        return
    from arena.plugins.sources import find_installed  # imported here, because most calls block nothing

    blocked = set(list_blocked())
    for word in words:
        lead, _, name = word.partition(":")
        if lead != "no" or not name:
            raise click.BadParameter(
                f"expected no:NAME, as in no:cluster, got {word!r}; to load a plugin, use the option --plugin of a command"
            )
        try:
            blocked.add(find_installed(name))
        except ArenaError as error:
            raise click.BadParameter(str(error)) from error
    os.environ[BLOCKED] = ",".join(sorted(blocked))


class Commands(UserDict[str, click.Command]):
    """All commands by name. A command is imported when it is looked up.

    The core's commands are known from the start. Extensions are searched only for other names, or to list all commands.
    """

    def __init__(self) -> None:
        super().__init__()
        self._listed: dict[str, Command] = {command.name: command for command in OWN}
        self._complete = False

    def __getitem__(self, name: str) -> click.Command:
        """Return the command. Raises KeyError for an unknown name."""
        if name not in self.data:
            if name not in self._listed:
                self.listed()
            if name not in self.data:
                module, _, attribute = self._listed[name].target.partition(":")
                self.data[name] = traceback_option(getattr(import_module(module), attribute))
        return self.data[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names that the help lists, in order."""
        return iter([command.name for command in self.listed() if not command.hidden])

    def __len__(self) -> int:
        """Return the number of names that the help lists."""
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        """Return whether a command with this name exists, including hidden ones."""
        return name in self._listed or name in {command.name for command in self.listed()}

    def listed(self) -> list[Command]:
        """Return all commands sorted by name, including the entry points in the group `arena.commands`."""
        if not self._complete:
            self._complete = True
            for point in find_entry_points(GROUP):
                try:
                    self._add(point)
                except (Exception, SystemExit) as error:  # a broken extension only costs a line; other commands still work
                    text = f"extension {point.name} ({point.value}) was not loaded: {describe(error)}"
                    click.echo(escape_controls(text), err=True)
        return sorted(self._listed.values())

    def _add(self, point: EntryPoint) -> None:
        loaded = point.load()
        if isinstance(loaded, click.Command):
            first = Command(point.name, loaded.get_short_help_str(1000), point.value, loaded.hidden)
            brought: Sequence[Command] = [first]
        elif isinstance(loaded, ModuleType):
            brought = loaded.COMMANDS
        else:
            raise TypeError(f"expected a Click command or a module with COMMANDS, got {type(loaded).__name__}")
        for command in brought:
            known = self._listed.setdefault(command.name, command)
            if known != command:  # an editable install can be listed twice, with equal commands
                click.echo(f"extension {point.name}: the command {command.name!r} already exists ({known.target})", err=True)


class CommandGroup(click.Group):
    """Lists its commands without importing them."""

    commands: Commands

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; None for an unknown name. For a command of another distribution, the error says how to install it."""
        if cmd_name in OTHER_COMMANDS and cmd_name not in self.commands:
            ctx.fail(f"No such command {cmd_name!r}; {hint_at_distribution(OTHER_COMMANDS[cmd_name])}")
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the name of every command, and the first sentence of its help."""
        shown = [click.Command(one.name, help=one.help) for one in self.commands.listed() if not one.hidden]
        click.Group(commands=shown).format_commands(ctx, formatter)


@click.group(
    cls=CommandGroup, commands=Commands(), context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True
)
@click.version_option(__version__, prog_name="arena")
@click.option(
    "-p",
    "blocked",
    multiple=True,
    metavar="no:NAME",
    expose_value=False,
    callback=block_plugins,
    help="Do not load the installed plugin NAME; see `arena plugins`. May be repeated.",
)
@traceback_option
@no_project_option
@click.pass_context
def cli(context: click.Context) -> int | None:
    """Play agents against each other and against puzzles, and rank them."""
    if context.invoked_subcommand is not None:
        return None
    default = None
    if _is_terminal(sys.stdin) and _is_terminal(sys.stdout):
        group = context.command
        assert isinstance(group, CommandGroup)
        default = next((command for command in group.commands.listed() if command.at_terminal), None)
    if default is None:
        raise click.exceptions.NoArgsIsHelpError(context)
    return int(cli.main([default.name], standalone_mode=False) or 0)


def _is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()


def run_process() -> NoReturn:
    """Run the command line of this process, and end the process with its exit code."""
    end_at_signals()
    gc.set_threshold(100_000)  # otherwise, the garbage collector would often examine modules that are never freed
    code = main()
    gc.freeze()  # the process ends now, so collections at exit would be wasted time
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if any(thread.is_alive() and not thread.daemon for thread in abandoned):
        with suppress(OSError):
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code, even if a command raises an exception.

    `words` are the words after `arena`. If they are None, those of this process are used.

    >>> main(["--version"])
    arena, version 0.1.0
    0
    """
    try:
        if sys.platform == "win32":  # it has neither the file locks nor the process groups of POSIX
            raise ArenaError(
                "arena needs Linux or macOS; on Windows, install and run it in WSL 2 (the Windows Subsystem for Linux)"
            )
        with user_interrupts(at_once=True):  # Ctrl-C also works while a spec or a plugin is loaded
            return cli.main(words, "arena", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show(shown := io.StringIO())
        click.echo(escape_controls(shown.getvalue()), nl=False, err=True)
        return 2
    except ArenaError as error:
        if error.EXIT_CODE == ArenaError.EXIT_CODE and os.environ.get(TRACEBACK, "") not in ("", "0"):
            click.echo(escape_controls("".join(traceback.format_exception(error)).rstrip("\n")), err=True)
        else:
            click.echo(escape_controls(str(error)), err=True)
        return error.EXIT_CODE
    except (Interrupted, KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except OSError as error:
        told = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        click.echo(escape_controls(f"cannot continue: {told}"), err=True)
        return 1
    except Exception:
        click.echo(f"arena {__version__}: an internal error; please report it with the text below", err=True)
        click.echo(escape_controls(traceback.format_exc()), nl=False, err=True)
        return 1
