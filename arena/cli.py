"""The command line: its group, which imports a command when it is called, and the exit codes.

A result goes to stdout, everything else to stderr.
"""

import os
import sys
import traceback
from collections import UserDict
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import click

from arena import __version__
from arena.errors import ArenaError, ClusterLost, Interrupted, StoreConflict, StoreDamaged, StoreFull
from arena.processes.interrupts import user_interrupts
from arena.processes.threads import abandoned

COMMANDS = {
    "check": "Hold a game, an agent, a heuristic or an encoding, or all that a plugin file brings, to what it declares.",
    "compare": "Say how entries of STORE compare, two by two, with error bars: those that are named, or all.",
    "docs": "Show a page of the manual, or without TOPIC the list of its pages.",
    "duel": "Say whether the agent of FILE is better than it was: its versions play until a sequential test decides.",
    "exploit": "Say how much a best response wins from AGENT in GAME, a game small enough to be searched whole.",
    "export": "Print every record of STORE, one a line.",
    "ladder": "Host an arena that never closes: agents are handed in, checked, rated, for as long as it runs.",
    "leaderboard": "Print the leaderboards of STORE, also while it is being filled.",
    "list": "List what the plugins brought.",
    "matches": "List the matches of STORE, one a line: those of an agent, with a result, by what they took.",
    "matrix": "Show which agent can play which game, or which trait is missing.",
    "merge": "Write OUT with the matches of all stores IN.",
    "new": "Write the first file of an agent, a game, a puzzle or a heuristic.",
    "play": "Play GAME yourself, or watch agents play it.",
    "plugins": "Show every plugin, what it brought, and what is wrong with it.",
    "replay": "Show match ID of STORE position by position, and check that it is what was recorded.",
    "report": "Write what STORE holds as one page to look at, or each of its plots as a file.",
    "run": "Play the tournament SPEC, or what is left of it, and print its leaderboards.",
    "schema": "Print the JSON Schema of a spec.",
    "serve": "Show tournaments, games and puzzles in the browser: a STORE, the stores of a FOLDER, or a SPEC to play.",
    "show": "Show what is known of a game, an agent, a heuristic, an encoding or a format.",
    "solve": "Have an agent solve a position of PUZZLE, and say how, at what price, or why not; 1 where it is not solved.",
    "stats": "Say what a result is worth: Elo with its interval, and the likelihood of superiority.",
    "submit": "Hand in the agent of FILE to the ladder at URL, and print the id of the submission.",
    "try": "Check a plugin file, let what it brings play for a few seconds, and say where it stands.",
    "validate": "Check specs without playing: every fault with file, line and column.",
}
"""The first sentence of every command, so that `arena --help` imports none of them."""
RENAMED = {"list": "list_", "try": "try_"}
"""Modules of commands whose names Python has taken; every other module has the name of its command."""
TRACEBACK = "ARENA_TRACEBACK"


def want_tracebacks(_context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    """Ask for whole tracebacks, here and in the processes that are started."""
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


@cache
def imported(name: str) -> click.Command:
    """A command, from its module: `run` of `arena.commands.run`."""
    module = RENAMED.get(name, name)
    command: click.Command = getattr(import_module(f"arena.commands.{module}"), module)
    return traceback_option(command)


class LazyCommands(UserDict[str, Any]):
    """Commands by name, each imported when it is looked up."""

    def __getitem__(self, name: str) -> click.Command:
        """The command; KeyError for an unknown name."""
        super().__getitem__(name)
        return imported(name)


class LazyGroup(click.Group):
    """Lists its commands from the table, without importing them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the name and the first sentence of every command."""
        click.Group(commands=[click.Command(name, help=line) for name, line in COMMANDS.items()]).format_commands(ctx, formatter)


@click.group(
    cls=LazyGroup,
    commands=LazyCommands(COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="arena")
@traceback_option
@click.pass_context
def cli(context: click.Context) -> int | None:
    """Play agents against each other and against puzzles, and rank them."""
    if context.invoked_subcommand is not None:
        return None
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stdout)):
        raise click.exceptions.NoArgsIsHelpError(context)
    from arena.commands.terminal.menu import menu  # heavy, as commands are

    return menu(lambda words: int(cli.main(words, standalone_mode=False) or 0))


def _is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()


def main() -> None:
    """Run the command line and end the process with its exit code."""
    code = _guarded()
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if abandoned():
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
