"""The command `check`: it prints a line for every promise of a game, an agent or a heuristic, with the details that help to fix a
broken one.
"""

import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import click

from arena import ArenaError, Game, PluginError, Registry
from arena.api.cli import Number, load, plugin_option, results_alone, say
from arena.api.errors import Interrupted, StoreError, describe, escape_line
from arena.api.games import Abilities, move_limit
from arena.api.match import Differs, Step
from arena.api.results import figures
from arena.api.spec import HOOKS, Document, Parameters, PluginPlace
from arena.api.store import ForeignCode, Run, Store
from arena.clock import sleep
from arena_catalog.catalogue import default_games, make_game
from arena_check.check_process import CheckProgress, SharedNote, supervise
from arena_check.check_program import check_program
from arena_check.check_run import GAME_MATCHES_PER_AGENT_MATCH, CheckOptions, CheckRun
from arena_check.patience import CALL_SECONDS
from arena_check.positions import agents_of, positions_option, read_positions, report_positions
from arena_check.printed_lines import few_printed_lines
from arena_check.report_lines import format_option
from arena_check.second_process import SecondProcess
from arena_check.threads import collect_deaths
from arena_records.contradictions import find_contradiction, find_impossible_ending
from arena_records.rules import compare_with_rules
from arena_setup.options import seed_option, set_option
from arena_setup.words import command_of, values_of


@click.command()
@click.argument("target", metavar="NAME|FILE|PROGRAM|STORE")
@click.argument("more", metavar="[STORE]...", nargs=-1)
@seed_option("Seed for the random games.")
@click.option("--matches", type=click.IntRange(1, 10**6), default=20, show_default=True, help="Number of matches to play.")
@click.option(
    "--patience",
    type=Number(0.1, 86_400),
    metavar="SECONDS",
    default=CALL_SECONDS,
    show_default=True,
    help="Maximum time that one call may take.",
)
@click.option(
    "--replay",
    type=Number(0, 1),
    default=0.0,
    metavar="SHARE",
    help="For a store: replay this share of its matches, from 0 to 1.",
)
@click.option("--watch", "watched", is_flag=True, help="Repeat the check whenever the file is saved, until Ctrl-C.")
@click.option(
    "--game",
    "games",
    multiple=True,
    metavar="NAME",
    help="Check agents on this game only, and from the file only this game, with its heuristics and encodings; may be repeated.",
)
@set_option("A parameter of the game, such as rows=4; may be repeated. Other parameters keep their defaults.")
@format_option
@positions_option
@plugin_option
def check(
    target: str,
    more: tuple[str, ...],
    watched: bool,
    replay: float,
    games: tuple[str, ...],
    given: tuple[str, ...],
    positions: str | None,
    plugins: tuple[str, ...],
    style: str,
    **asked: Any,
) -> int:
    """Test a game, an agent, a heuristic, an encoding or a whole plugin file against what it declares.

    For a program in another language (an executable file, or a command in quotes), test whether it follows the protocol. For a
    store, or for several, test whether the records have changed.
    """
    as_json = style == "json"
    is_store = _is_store(target)
    if more and not all(map(_is_store, [target, *more])):
        raise click.UsageError("expected one name, file or program, or several stores")
    if as_json and (is_store or watched or positions is not None):
        raise click.UsageError("--format json is for plugins and programs, and cannot be used with --watch or --positions")
    if given and (is_store or command_of(target) is not None):
        raise click.UsageError("--set can only be used with the games of plugins")
    if is_store:
        with results_alone() as out:
            codes = []
            for store in (target, *more):
                try:
                    codes.append(check_store(store, replay, plugins, out))
                except StoreError as error:
                    if not more:
                        raise
                    say(str(error))
                    codes.append(error.EXIT_CODE)
            return max(codes)
    how = CheckOptions(**asked)
    words = [*how.command(target, games, plugins, given), *([] if positions is None else ["--positions", positions])]
    if watched:
        files = [plugin for plugin in (target, *plugins) if PluginPlace(plugin).is_file]
        if not files:
            raise ArenaError(f"--watch {target}: expected the path of a file, got a name")
        for file in files:
            if not Path(file).is_file():
                raise PluginError(file, "no such file or module")
        return watch([sys.executable, "-m", "arena", *words], [Path(file).resolve().parent for file in files], say)
    program = command_of(target)
    if program is not None:
        again, matches = shlex.join(["arena", *words]), max(1, how.matches // GAME_MATCHES_PER_AGENT_MATCH)
        limits: dict[str, Any] = {"seed": how.seed, "matches": matches, "patience": how.patience, "as_json": as_json}
        return check_program(target, program, plugins, games, again=again, **limits)
    exercises = None if positions is None else read_positions(positions)
    note = SharedNote.inherited()
    if note is None:
        return supervise([*words, *(["--format", style] if as_json else [])], resume=True, as_json=as_json)
    progress = CheckProgress(note, sys.stderr)
    with progress.watching(), results_alone() as out, few_printed_lines(), collect_deaths(last=True):
        broken: list[PluginError] = []
        loaded = [*plugins, target] if PluginPlace(target).is_file else plugins
        registry = load(loaded, broken)
        found = choose_parts(
            contents_of(registry, target, broken) if PluginPlace(target).is_file else registry.named(target), games, target
        )
        set_games = configure_games(registry, given, found, games)
        named = [set_games.get(game.name, game) for game in find_games(registry, games, found, target, loaded)]
        with SecondProcess(registry, loaded) as second:
            run = CheckRun(registry, target, how, plugins, out, progress, second, named, alone=len(found) == 1, as_json=as_json)
            run = replace(run, given=given, set_games=set_games)
            failed = sum([not run.passes(key, value) for key, value in found if key not in progress.ended])
        if exercises is not None:
            failed += not report_positions(exercises, agents_of(found), registry, loaded, out)
        run.sum_up([key for key, _ in found])
        report_broken(broken)
    return PluginError.EXIT_CODE if broken else 1 if failed else 0


def _is_store(target: str) -> bool:
    return Document.is_database(target) or (target.endswith(Document.DATABASE_SUFFIXES) and not Path(target).exists())


Parts = list[tuple[tuple[str, ...], Any]]
"""Classes and functions that plugins define, by their kinds and names."""


def choose_parts(found: Parts, names: Sequence[str], target: str) -> Parts:
    """Return the parts to check at the games `names`: without the games with other names, and without their heuristics and
    encodings. Raises ArenaError if there is no agent, which could play any game, and a game has no other part.
    """
    kinds = ("game", "heuristic", "encoding")
    for name in names:
        if not any(key[0] == "agent" or (key[0] in kinds and key[1] == name) for key, _ in found):
            raise ArenaError(f"--game {name}: {target} has no agent, and no heuristic or encoding of {name}")
    return [(key, value) for key, value in found if not names or key[0] not in kinds or key[1] in names]


def find_games(registry: Registry, names: Sequence[str], found: Parts, target: str, plugins: Sequence[str] = ()) -> list[Game]:
    """Return the games with these names, and say how the rules of games from other `plugins` are checked.

    Raises ArenaError if a game cannot be created, or if no agent of `target` can play it.
    """
    agents = [value for key, value in found if key[0] == "agent"]
    games = default_games(registry, names)
    for game in games:
        reasons = [Abilities(agent).find_refusal(game) for agent in agents]
        if agents and all(reasons):
            raise ArenaError(f"--game {game.name}: {reasons[0]}")
        if plugins and not registry.sources["game", game.name].own and ("game", game.name) not in [key for key, _ in found]:
            words = ["arena", "check", game.name, *[word for plugin in plugins for word in ("--plugin", plugin)]]
            say(f"note: the rules of {game.name} are not checked here; `{shlex.join(words)}` checks them")
    return games


def configure_games(
    registry: Registry, words: Sequence[str], found: Sequence[tuple[tuple[str, ...], Any]], names: Sequence[str]
) -> dict[str, Game]:
    """Return the games with the parameters `words`, by name: of the games in `found`, of its heuristics and encodings, and of
    `names`, all that have these parameters. Raises ArenaError if there is none, or if the values do not fit.
    """
    if not words:
        return {}
    values = values_of(words, what="--set")
    known = [*[key[1] for key, _ in found if key[0] in ("game", "heuristic", "encoding")], *names]
    if not known:
        raise ArenaError("--set sets parameters of a game; name the game with --game NAME")
    fitting = [name for name in dict.fromkeys(known) if values.keys() <= Parameters(registry.game(name)).known.keys()]
    return {name: make_game(registry, name, values) for name in fitting or known[:1]}


def _has_shebang(file: str) -> bool:
    with suppress(OSError), Path(file).open("rb") as stream:
        return stream.read(2) == b"#!"
    return False


def contents_of(registry: Registry, file: str, broken: Sequence[PluginError] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Return everything that a plugin file defines, apart from what is `broken`. Raises PluginError if nothing is left."""
    found = [(key, value) for key, value in registry.items() if registry.sources[key].name == file]
    if not found and broken:
        raise broken[0]
    if not found:
        program = (
            f"; if it is a program that speaks the protocol, write its command: {shlex.quote(shlex.join(['python3', file]))}"
        )
        hooks = f"expected one of the hooks {', '.join(HOOKS)}, decorated with @hookimpl"
        raise PluginError(file, f"defines nothing for arena; {hooks}{program if _has_shebang(file) else ''}")
    return found


def report_broken(broken: Sequence[PluginError]) -> None:
    """Write the faults of classes and functions that were not checked to stderr, because they cannot be loaded."""
    for fault in broken:
        say(f"{fault}; it was not checked")


POLL_SECONDS = 0.2
"""Seconds between two polls of the files if watchfiles is not installed."""

Snapshot = dict[Path, tuple[int, int, int]]
"""The modification time, size and inode of each file. They change when the file is saved; the inode changes if an editor writes a
new file.
"""


def watch(command: Sequence[str], folders: Iterable[Path], say: Callable[[str], None]) -> int:
    """Run `command` in a separate process, and again whenever a Python file in one of `folders` is saved. Return 0 at Ctrl-C.

    If a file is saved while the command is running, the command runs once more afterwards. With the package watchfiles the
    operating system reports saves; without it, the files are polled five times a second. `say` prints messages.
    """
    watched = sorted({folder.resolve() for folder in folders})
    try:
        while True:
            before = snapshot(watched)
            subprocess.run(command, check=False)  # noqa: S603 - the user's own command line
            say(f"watching {', '.join(map(str, watched))}; press Ctrl-C to stop")
            if find_spec("watchfiles") is None:
                while snapshot(watched) == before:
                    sleep(POLL_SECONDS)
                continue
            import watchfiles  # an optional dependency

            for _ in watchfiles.watch(*watched, recursive=False, yield_on_timeout=True, rust_timeout=500, step=20):
                if snapshot(watched) != before:
                    break
    except (Interrupted, KeyboardInterrupt):
        return 0


def snapshot(folders: Iterable[Path]) -> Snapshot:
    """Return the state of every Python file in the folders, without subfolders."""
    found: Snapshot = {}
    for file in [file for folder in folders for file in folder.glob("*.py")]:
        try:
            status = file.stat()
        except OSError:  # the file is being replaced
            continue
        found[file] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def check_store(path: str, share: float, plugins: tuple[str, ...], out: IO[str]) -> int:
    """Write a line for every fault in a store, and a line with counts. Return 1 if there is any fault, else 0.

    `share` is the fraction of the records whose moves are replayed by the rules. Every call replays the same records. Games come
    from installed plugins and from `plugins`; code that only the store names is not loaded. Raises StoreError if the file is not
    a store.
    """
    with Store.open_sound(path) as store, store.snapshot(verified=True):
        registry = load(plugins)
        boards = [(board, run.document.folder) for run in store.runs()[-1:] for board in run.boards]
        games = {board.title: board.make_game(registry, folder) for board, folder in boards}
        faults = 0
        for fault in _faults(store, games, share):
            print(escape_line(fault), file=out)
            faults += 1
        count = len(store) + len(store.lost_matches)
        again = f"; {100 * share:g} % of the matches with known games were replayed" if share else ""
        unknown = sorted({name for name, game in games.items() if game is None})
        print(
            f"{escape_line(str(path))}: {figures.amount(count, 'match')}"
            f"{f' ({len(store):,} of them sound)' if store.lost_matches else ''}, "
            f"{figures.amount(faults, 'fault')}{again}",
            file=out,
        )
        if unknown:
            words = ["arena", "check", path, *(["--replay", f"{share:g}"] if share else [])]
            with_plugins = f"`{shlex.join([*words, *_name_plugins(store.last(), plugins)])}` checks them, too"
            print(
                f"the matches of {', '.join(unknown)} were not replayed, because their games are unknown; "
                f"{escape_line(with_plugins)}",
                file=out,
            )
    return 1 if faults else 0


def _name_plugins(run: Run, plugins: Sequence[str]) -> list[str]:
    """Return the options that name the plugins of a run. Options in `plugins` come first."""
    missing: list[str] = []
    try:
        run.load([PluginPlace(plugin).real for plugin in plugins])
    except ForeignCode as error:
        missing = [plugin for plugin in error.missing.values() if plugin is not None]
    except ArenaError:  # a plugin that was named has changed
        pass
    return [word for plugin in [*plugins, *(missing or ["FILE"])] for word in ("--plugin", plugin)]


def _faults(store: Store, games: Mapping[str, Game | None], share: float) -> Iterator[str]:
    """Describe each fault. `games` maps the titles of the boards to games, or to None for an unknown game."""
    runs = store.runs()
    boards = [board for run in runs[-1:] for board in run.boards]
    limits = runs[-1].spec.get("values", {}).get("limits") if runs else None
    everywhere = [board for run in runs for board in run.boards]  # an entry may have had another isolation before
    timed = {label for board in everywhere for label in board.timed}
    apart = {label for board in everywhere for label in (*board.apart, *(board.left or ()))}
    for record, place in store.records():
        if place is not None and boards and place.board >= len(boards):
            yield f"match {record.id}: on board {place.board + 1} of {len(boards)}"
            continue
        game = None if place is None or not boards else games[boards[place.board].title]
        if fault := find_contradiction(record, game):
            yield f"match {record.id}: {fault}"
        if game is not None and (fault := find_impossible_ending(record, timed, apart)):
            yield f"match {record.id}: {fault}"
        if game is not None and int(record.id[:8], 16) < share * 2**32:
            try:
                *_, last = passed = list(Step.follow(game, record))
            except Differs as differs:
                differences = [str(differs)]
            except Exception as error:  # the rules of a plugin may raise anything
                raise StoreError(f"match {record.id} cannot be replayed: {describe(error)}") from error
            else:
                differences = compare_with_rules(game, record, passed[0], last)
                moves = limits["moves"] if isinstance(limits, dict) and "moves" in limits else move_limit(game)
                if record.termination == "move-limit" and last.moves != moves:
                    differences.append(f"termination: recorded move-limit after {last.moves} of {moves} moves")
            for difference in differences:
                yield f"match {record.id}: {difference}"
    for damaged in [*store.lost_matches, *store.lost_parts]:
        yield f"{damaged}: damaged since it was written"
