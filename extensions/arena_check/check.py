"""The command check: a line for every promise of a game, an agent or a heuristic, and all that its author needs to mend it."""

import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import sleep
from typing import IO, Any

import click

from arena import ArenaError, Game, PluginError
from arena.api.cli import describe, load, plugin_option, results_alone, say, seed_option
from arena.api.match import Differs, Record, steps
from arena.api.spec import Key, Registry, find_refusal, is_file
from arena.api.store import Store, StoreError
from arena.commands.catalogue import default_games
from arena.commands.options import games_option
from arena.console.words import command_of
from arena.errors import Interrupted
from arena.match.contradictions import find_contradiction
from arena.match.replay import compare_with_rules
from arena.plugins.contract import HOOKS
from arena.processes.threads import collect_deaths
from arena.schedule.board_info import make_known_game
from arena.spec.document import is_database
from arena_check.check_process import CheckProgress, SharedNote, supervise
from arena_check.check_program import check_program
from arena_check.check_run import GAME_MATCHES_PER_AGENT_MATCH, CheckOptions, CheckRun
from arena_check.patience import CALL_SECONDS
from arena_check.second_process import SecondProcess


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
        found = contents_of(registry, target) if is_file(target) else registry.named(target)
        asked = find_games(registry, games, found, target)
        with SecondProcess(registry, [*plugins, target] if is_file(target) else plugins) as second:
            run = CheckRun(registry, target, how, plugins, out, progress, second, asked, alone=len(found) == 1)
            failed = sum([not run.passes(key, value) for key, value in found if key not in progress.ended])
    return 1 if failed else 0


def find_games(registry: Registry, names: Sequence[str], found: Sequence[tuple[Key, Any]], target: str) -> list[Game]:
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


def contents_of(registry: Registry, file: str) -> list[tuple[Key, Any]]:
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


def check_store(path: str, share: float, plugins: tuple[str, ...], out: IO[str]) -> int:
    """Write a line for everything that is wrong in a store and one that counts; return 1 if anything is, else 0.

    `share` is that of the records whose moves are played again through the rules, the same ones every time. Games come from
    installed plugins and from `plugins`: code that the store names is not loaded. StoreError if the file is no store.
    """
    with Store.open(path, strict=False) as store, store.snapshot():
        registry = load(plugins)
        games = {board.title: make_known_game(board, registry) for board in store.last().boards}
        faults = 0
        for fault in _faults(store, games, share):
            print(fault, file=out)
            faults += 1
        count = len(store)
        again = f"; {100 * share:g} % of those whose games are known were played again by the rules" if share else ""
        unknown = sorted({name for name, game in games.items() if game is None})
        print(
            f"{path}: {count:,} {'match' if count == 1 else 'matches'}, "
            f"{f'{faults:,} faults' if faults != 1 else '1 fault'}{again}",
            file=out,
        )
        if unknown:
            print(
                f"not held against the rules, since their games are not known here: {', '.join(unknown)} (--plugin FILE)",
                file=out,
            )
    return 1 if faults else 0


def _faults(store: Store, games: Mapping[str, Game | None], share: float) -> Iterator[str]:
    """Describe each fault; `games` are those of the boards by title, None for one that is not known here."""
    boards = store.last().boards
    for record, place in store.records():
        if place is not None and place.board >= len(boards):
            yield f"match {record.id}: on board {place.board + 1} of {len(boards)}"
            continue
        game = None if place is None else games[boards[place.board].title]
        if f"match {record.id}" in store.suspects:
            continue  # reported below
        if fault := find_contradiction(record, game):
            yield f"match {record.id}: {fault}"
        if game is not None and int(record.id[:8], 16) < share * 2**32:
            for difference in _compare_with_rules(game, record):
                yield f"match {record.id}: {difference}"
    for damaged in dict.fromkeys([*store.suspects, *store.damaged()]):
        yield f"{damaged}: not as it was written"


def _compare_with_rules(game: Game, record: Record) -> list[str]:
    try:
        *_, last = passed = list(steps(game, record))
    except Differs as differs:
        return [str(differs)]
    except Exception as error:  # rules of a plugin, and texts from anywhere
        raise StoreError(f"match {record.id} cannot be played again: {describe(error)}") from error
    return compare_with_rules(game, record, passed[0], last)
