"""The command check: a line for every promise of a game, an agent or a heuristic, and all that its author needs to mend it."""

import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import sleep
from typing import Any

import click

from arena import ArenaError, Game, PluginError
from arena.api.cli import load, plugin_option, results_alone, say, seed_option
from arena.api.spec import Key, Registry, find_refusal, is_file
from arena.commands.catalogue import default_games
from arena.commands.options import games_option
from arena.console.words import command_of
from arena.errors import Interrupted
from arena.plugins.contract import HOOKS
from arena.processes.threads import collect_deaths
from arena.spec.document import is_database
from arena_check.check_process import CheckProgress, SharedNote, supervise
from arena_check.check_program import check_program
from arena_check.check_run import GAME_MATCHES_PER_AGENT_MATCH, CheckOptions, CheckRun
from arena_check.patience import CALL_SECONDS
from arena_check.second_process import SecondProcess
from arena_check.store_check import check_store


@click.command()
@click.argument("target", metavar="NAME|FILE|PROGRAM|STORE")
@seed_option("For the random play.")
@click.option("--matches", type=click.IntRange(1, 10**6), default=20, show_default=True, help="How many to play.")
@click.option(
    "--patience",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    default=CALL_SECONDS,
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
        again, matches = shlex.join(["arena", *words]), max(1, how.matches // GAME_MATCHES_PER_AGENT_MATCH)
        return check_program(target, program, plugins, games, again=again, seed=how.seed, matches=matches, patience=how.patience)
    note = SharedNote.inherited()
    if note is None:
        return supervise(words, resume=True)
    progress = CheckProgress(note, sys.stderr)
    with progress.watching():
        return _check(target, how, games, plugins, progress)


def _check(target: str, how: CheckOptions, games: Sequence[str], plugins: tuple[str, ...], progress: CheckProgress) -> int:
    """Check what a plugin file brings, or everything of a name; 1 if a check fails."""
    with results_alone() as out, collect_deaths(last=True):
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
        reasons = [find_refusal(agent, game) for agent in agents]
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


POLL_SECONDS = 0.2
"""Seconds between two looks at the files if watchfiles is not installed."""

Snapshot = dict[Path, tuple[int, int, int]]
"""Modification time, size and inode of files: these change when a file is saved, the inode if an editor writes a new file."""


def watch(command: Sequence[str], folders: Iterable[Path], say: Callable[[str], None]) -> int:
    """Run `command` in a process of its own, and again whenever a Python file in one of `folders` is saved; 0 at Ctrl-C.

    A save while the command runs counts. With the package watchfiles the system reports saves; without it, the files are
    looked at five times a second.
    """
    watched = sorted({folder.resolve() for folder in folders})
    try:
        while True:
            before = snapshot(watched)
            subprocess.run(command, check=False)  # noqa: S603 - the user's own command line
            say(f"watching {', '.join(map(str, watched))}; Ctrl-C ends it")
            _wait_for_save(watched, before)
    except (Interrupted, KeyboardInterrupt):
        return 0


def snapshot(folders: Iterable[Path]) -> Snapshot:
    """The state of every Python file in the folders, without subfolders."""
    found: Snapshot = {}
    for file in [file for folder in folders for file in folder.glob("*.py")]:
        try:
            status = file.stat()
        except OSError:  # it is being replaced
            continue
        found[file] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def _wait_for_save(folders: Sequence[Path], before: Snapshot) -> None:
    if find_spec("watchfiles") is None:
        while snapshot(folders) == before:
            sleep(POLL_SECONDS)
        return
    import watchfiles  # an extra

    events = watchfiles.watch(*folders, recursive=False, yield_on_timeout=True, rust_timeout=500, step=20)
    for _ in events:
        if snapshot(folders) != before:
            return
