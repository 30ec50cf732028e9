"""The commands leaderboard, merge and export, which read whole stores."""

from collections.abc import Generator, Iterable, Iterator
from typing import IO

import click

from arena.commands.options import plugin_option
from arena.console.match_setup import MatchSetup, match_of, players_of
from arena.console.notices import load, say
from arena.console.output import results_alone, room
from arena.console.words import values_of
from arena.errors import UnknownName, suggest
from arena.parts import Export
from arena.results.export import FORMATS as EXPORT_FORMATS
from arena.results.export import lines
from arena.results.leaderboard import stored
from arena.results.tables import FORMATS, render
from arena.store import Store
from arena.store import merge as merge_stores


def check_format(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Return the name of a format of tabulate, json or csv; BadParameter for any other."""
    if value not in FORMATS:
        raise click.BadParameter(f"unknown format {value!r}; {suggest(value, FORMATS)}")
    return value


format_option = click.option(
    "--format",
    "style",
    metavar="FMT",
    callback=check_format,
    default="simple",
    show_default=True,
    help="Of tabulate, or json, csv.",
)
"""The option `--format` of every command that prints leaderboards or comparisons."""


@click.command()
@click.argument("store")
@format_option
def leaderboard(store: str, style: str) -> int:
    """Print the leaderboards of STORE, also while it is being filled."""
    with results_alone() as out:
        boards = stored(store)
        with Store.open(store) as opened:
            run = opened.last()
        print(render(run, boards, style, room(out)), file=out)
    return 1 if any(board.void for board in boards) else 0


@click.command()
@click.argument("out")
@click.argument("stores", nargs=-1, required=True, metavar="IN...")
@click.option("--accept-changed-plugins", "accept", is_flag=True, help="Merge though a plugin was not the same one everywhere.")
def merge(out: str, stores: tuple[str, ...], *, accept: bool) -> int:
    """Write OUT with the matches of all stores IN."""
    with results_alone() as shown:
        print(f"{out}: {merge_stores(out, stores, accept=accept):,} matches", file=shown)
    return 0


@click.command()
@click.argument("what", metavar="STORE|GAME")
@click.option(
    "--format",
    "style",
    metavar="NAME",
    default="jsonl",
    show_default=True,
    help=f"{', '.join(EXPORT_FORMATS)}, or efg.",
)
@click.option("--sound", is_flag=True, help="Of a damaged store, leave out what is not as it was written.")
@click.option("--set", "given", multiple=True, metavar="KEY=VALUE", help="Of a game: a parameter; may be repeated.")
@plugin_option
def export(what: str, style: str, sound: bool, given: tuple[str, ...], plugins: tuple[str, ...]) -> int:
    """Print every record of STORE, one a line.

    With `--format efg`, print the extensive form of GAME instead, as Gambit and open_spiel read it: every state, with chance and
    with what each seat can tell apart. The game has to be small enough to be written whole.
    """
    brought = None if style in EXPORT_FORMATS else _find_export(style, plugins)
    if brought is not None and brought.of == "game":
        if sound:
            raise click.UsageError(f"--sound goes with a store, and not with --format {style}")
        with results_alone() as out:
            setup = MatchSetup(what, values_of(given, what="--set"), plugins=plugins)
            match = match_of(setup.load(["random"] * players_of(setup)))
            _print(brought.write(match.game, match.position.state), out)
        return 0
    if given or (plugins and brought is None):
        raise click.UsageError("--set and --plugin go with --format efg")
    with results_alone() as out, Store.open(what, strict=not sound) as opened, opened.snapshot():
        _print(lines(opened, style) if brought is None else brought.write(opened), out)
        if left_out := dict.fromkeys(opened.suspects):
            say(f"note: not as written, and left out: {', '.join(left_out)}")
    return 0


def _find_export(name: str, plugins: Iterable[str]) -> Export:
    known = {export.name: export for export in load(tuple(plugins)).parts["export"].values() if export.of != "comparison"}
    if name not in known:
        raise UnknownName("format", name, [*EXPORT_FORMATS, *known])
    found: Export = known[name]
    found.needs()
    return found


def _print(pieces: Iterator[str], out: IO[str]) -> None:
    try:
        for line in pieces:
            print(line, file=out)
    finally:
        if isinstance(pieces, Generator):
            pieces.close()  # before the store, if nobody reads on
