"""The command line: its group, which imports a command when it is called, and the exit codes.

Results go to stdout, everything else to stderr.
"""

import os
import sys
import traceback
from collections import UserDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

import click

from arena import __version__
from arena.api.cli import GROUP, Command
from arena.commands import COMMANDS as OWN
from arena.console.project import no_project_option
from arena.errors import ArenaError, ClusterLost, Interrupted, StoreConflict, StoreDamaged, StoreFull, describe
from arena.processes.interrupts import abandoned, user_interrupts

TRACEBACK = "ARENA_TRACEBACK"


def want_tracebacks(_context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    """Show whole tracebacks, in this process and in the processes that it starts."""
    if wanted:
        os.environ[TRACEBACK] = "1"


traceback_option = click.option(
    "--traceback",
    is_flag=True,
    expose_value=False,
    callback=want_tracebacks,
    help="Show whole tracebacks of errors; so does ARENA_TRACEBACK=1.",
)
"""The option that the group and every command have."""


class Commands(UserDict[str, click.Command]):
    """Every command by its name; it is imported when it is looked up.

    The core's commands are known at once. Extensions are searched only for another name, or for the list of all commands.
    """

    def __init__(self) -> None:
        super().__init__()
        self._listed: dict[str, Command] = {}
        self._complete = False
        for command in OWN:
            self._listed[command.name] = command

    def __getitem__(self, name: str) -> click.Command:
        """Return the command; KeyError for an unknown name."""
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
        """Return whether there is such a command, listed or hidden."""
        return name in self._listed or name in {command.name for command in self.listed()}

    def listed(self) -> list[Command]:
        """Return all commands sorted by name, including the entry points of the group `arena.commands`."""
        if not self._complete:
            self._complete = True
            for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
                try:
                    self._add(point)
                except (Exception, SystemExit) as error:  # a broken extension costs one line; the others still work
                    click.echo(f"extension {point.name} ({point.value}) is left out: {describe(error)}", err=True)
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
                click.echo(f"extension {point.name}: there is a command {command.name!r} already ({known.target})", err=True)


class CommandGroup(click.Group):
    """Lists its commands without importing them."""

    commands: Commands

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of a call; UsageError names the extension that brings it, if it is known and missing."""
        from arena.parts import explain_missing

        missing = explain_missing(f"arena {args[0]}")
        if missing is not None and args[0] not in self.commands:
            ctx.fail(missing)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the name and the first sentence of every command."""
        shown = [click.Command(one.name, help=one.help) for one in self.commands.listed() if not one.hidden]
        click.Group(commands=shown).format_commands(ctx, formatter)


@click.group(
    cls=CommandGroup,
    commands=Commands(),
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="arena")
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


def main() -> None:
    """Run the command line and end the process with its exit code."""
    code = _guarded()
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if any(thread.is_alive() and not thread.daemon for thread in abandoned):
        with suppress(OSError):
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _guarded() -> int:
    """The exit code of the command line, whatever it raises."""
    try:
        with user_interrupts(at_once=True):  # also while a spec or a plugin is loading
            return cli.main(standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return 2
    except (StoreFull, StoreConflict, StoreDamaged, ClusterLost) as error:
        click.echo(str(error), err=True)
        return 1
    except ArenaError as error:
        if os.environ.get(TRACEBACK, "") not in ("", "0"):
            click.echo("".join(traceback.format_exception(error)).rstrip("\n"), err=True)
        else:
            click.echo(str(error), err=True)
        return 2
    except (Interrupted, KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except OSError as error:
        click.echo(f"cannot go on: {error}", err=True)
        return 1
    except Exception:
        click.echo(f"arena {__version__}: an error of its own; please report it with what follows", err=True)
        traceback.print_exc()
        return 1
