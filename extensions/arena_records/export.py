"""The command `export`: writes a store line by line, or the extensive form of a game."""

from collections.abc import Generator, Iterable, Iterator
from typing import IO

import click

from arena import UnknownName
from arena.api.cli import is_given, load, plugin_option, results_alone
from arena.api.results import Export
from arena.api.store import Store
from arena_records.lines import FORMATS, lines
from arena_records.merger import say_losses
from arena_setup.match_setup import MatchSetup, match_of
from arena_setup.words import values_of


@click.command()
@click.argument("what", metavar="STORE|GAME")
@click.option(
    "--format",
    "style",
    metavar="NAME",
    default="jsonl",
    show_default=True,
    help=f"{', '.join(FORMATS)}, or efg.",
)
@click.option("--sound", is_flag=True, help="For a damaged store: exit with code 0 if all damaged records are listed.")
@click.option("--set", "given", multiple=True, metavar="KEY=VALUE", help="For a game: a parameter; may be repeated.")
@plugin_option
def export(what: str, style: str, sound: bool, given: tuple[str, ...], plugins: tuple[str, ...]) -> int:
    """Print every record of STORE, one per line.

    With `--format efg`, print the extensive form of GAME instead, which Gambit and open_spiel can read: all states, the chance
    events, and the states that each seat cannot distinguish. The game must be small enough to be written completely.
    """
    brought = None if style in FORMATS else _find_export(style, plugins)
    if brought is not None and brought.of == "game":
        if sound:
            raise click.UsageError(f"--sound works only with a store, and not with --format {style}")
        with results_alone() as out:
            setup = MatchSetup(what, values_of(given, what="--set"), plugins=plugins)
            match = match_of(setup.load_alike("random"))
            _print(brought.write(match.game, match.position.state), out)
        return 0
    if given or (is_given("plugins") and brought is None):
        raise click.UsageError("--set and --plugin need --format efg")
    with results_alone() as out, Store.open_sound(what, foreign=sound) as opened, opened.snapshot(verified=True):
        say_losses(opened)
        _print(lines(opened, style) if brought is None else brought.write(opened), out)
        if not sound:
            opened.refuse_losses()
    return 0


def _find_export(name: str, plugins: Iterable[str]) -> Export:
    known = {export.name: export for export in load(tuple(plugins)).parts["export"].values() if export.of != "comparison"}
    if name not in known:
        raise UnknownName("format", name, [*FORMATS, *known])
    found: Export = known[name]
    found.needs()
    return found


def _print(pieces: Iterator[str], out: IO[str]) -> None:
    try:
        for line in pieces:
            print(line, file=out)
    finally:
        if isinstance(pieces, Generator):
            pieces.close()  # before the store is closed, in case the reader stops early
