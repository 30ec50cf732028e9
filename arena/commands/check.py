"""The command check: a line for every promise of a game, an agent or a heuristic, and all that its author needs to mend it."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from arena.commands.catalogue import default_games
from arena.commands.check_process import CheckProgress, supervise
from arena.commands.check_program import check_program
from arena.commands.check_run import SHARE, CheckOptions, CheckRun
from arena.commands.file_watch import watch
from arena.commands.options import games_option, plugin_option, seed_option
from arena.commands.store_check import check_store
from arena.console.notices import load, say
from arena.console.output import results_alone
from arena.errors import ArenaError, PluginError
from arena.game import Game
from arena.plugins.contract import HOOKS
from arena.plugins.registry import Key, Registry
from arena.plugins.sources import is_file
from arena.processes.shared_note import SharedNote
from arena.processes.threads import deaths
from arena.spec.document import is_database
from arena.spec.external import command_of
from arena.testing.patience import PATIENCE
from arena.testing.second_process import SecondProcess
from arena.traits import refusal


@click.command()
@click.argument("target", metavar="NAME|FILE|PROGRAM|STORE")
@seed_option("For the random play.")
@click.option("--matches", type=click.IntRange(1, 10**6), default=20, show_default=True, help="How many to play.")
@click.option(
    "--patience",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    default=PATIENCE,
    show_default=True,
    help="How long one call may take.",
)
@click.option("--replay", type=click.FloatRange(0, 1), default=0.0, metavar="SHARE", help="Of a store: play a share of it again.")
@click.option("--watch", "watched", is_flag=True, help="Check again whenever the file is saved; Ctrl-C ends it.")
@games_option("What an agent is checked on, instead of every game that it can play; may be repeated.")
@plugin_option
def check(target: str, watched: bool, replay: float, games: tuple[str, ...], plugins: tuple[str, ...], **asked: Any) -> int:
    """Hold a game, an agent, a heuristic or an encoding, or all that a plugin file brings, to what it declares.

    An agent in another language, a file that can be started or a command in quotes, is held to the protocol; a store to its
    hashes.
    """
    if is_database(target):
        with results_alone() as out:
            return check_store(target, replay, plugins, out)
    how = CheckOptions(**asked)
    words = how.command(target, games, plugins)
    if watched:
        return _check_on_save(target, words, plugins)
    program = command_of(target)
    if program is not None:
        again, matches = shlex.join(["arena", *words]), max(1, how.matches // SHARE)
        return check_program(target, program, plugins, games, again=again, seed=how.seed, matches=matches, patience=how.patience)
    note = SharedNote.inherited()
    if note is None:
        return supervise(words, resume=True)
    progress = CheckProgress(note, sys.stderr)
    with progress.watching():
        return _check(target, how, games, plugins, progress)


def _check(target: str, how: CheckOptions, games: Sequence[str], plugins: tuple[str, ...], progress: CheckProgress) -> int:
    """Check what a plugin file brings, or everything of a name; 1 if a check fails."""
    with results_alone() as out, deaths(last=True):
        registry = load([*plugins, target] if is_file(target) else plugins)
        found = brought(registry, target) if is_file(target) else registry.named(target)
        asked = games_asked(registry, games, found, target)
        with SecondProcess(registry, [*plugins, target] if is_file(target) else plugins) as second:
            run = CheckRun(registry, target, how, plugins, out, progress, second, asked, alone=len(found) == 1)
            failed = sum([not run.passes(key, value) for key, value in found if key not in progress.ended])
    return 1 if failed else 0


def games_asked(registry: Registry, names: Sequence[str], found: Sequence[tuple[Key, Any]], target: str) -> list[Game]:
    """The games of these names; ArenaError if one cannot be made, or if no agent of `target` can play it."""
    agents = [value for key, value in found if key[0] == "agent"]
    if names and not agents:
        raise ArenaError(f"--game says what agents play, and {target} brings none")
    games = default_games(registry, names)
    for game in games:
        reasons = [refusal(agent, game) for agent in agents]
        if all(reasons):
            raise ArenaError(f"--game {game.name}: {reasons[0]}")
    return games


def _check_on_save(target: str, words: Sequence[str], plugins: tuple[str, ...]) -> int:
    """Check, and again whenever a Python file in a folder of `target` or of a plugin is saved; 0 at Ctrl-C."""
    files = [plugin for plugin in (target, *plugins) if is_file(plugin)]
    if not files:
        raise ArenaError(f"--watch {target}: expected a file that can be saved, got a name")
    for file in files:
        if not Path(file).is_file():
            raise PluginError(file, "no such file or module")
    return watch([sys.executable, "-m", "arena", *words], [Path(file).resolve().parent for file in files], say)


def brought(registry: Registry, file: str) -> list[tuple[Key, Any]]:
    """All that a plugin file brings; PluginError if that is nothing."""
    found = [(key, value) for key, value in registry.items() if registry.sources[key].name == file]
    if not found:
        raise PluginError(file, f"brings nothing; expected one of the hooks {', '.join(HOOKS)}, decorated with @hookimpl")
    return found
