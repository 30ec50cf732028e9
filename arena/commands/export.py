"""The command export: the records of a store, or a game as text for programs of game theory."""

from typing import IO

import click

from arena.commands.options import plugin_option
from arena.commands.terminal.match_setup import MatchSetup, match_of, players_of
from arena.commands.terminal.words import values_of
from arena.console.notices import say
from arena.console.output import results_alone
from arena.results.export import FORMATS, lines
from arena.solution import efg_lines
from arena.store import Store

EFG = "efg"


@click.command()
@click.argument("what", metavar="STORE|GAME")
@click.option("--format", "style", type=click.Choice([*FORMATS, EFG]), default="jsonl", show_default=True)
@click.option("--sound", is_flag=True, help="Of a damaged store, leave out what is not as it was written.")
@click.option("--set", "given", multiple=True, metavar="KEY=VALUE", help="With efg: a parameter of the game; may be repeated.")
@plugin_option
def export(what: str, style: str, sound: bool, given: tuple[str, ...], plugins: tuple[str, ...]) -> int:
    """Print every record of STORE, one a line.

    With `--format efg`, print the extensive form of GAME instead, as Gambit and open_spiel read it: every state, with chance and
    with what each seat can tell apart. The game has to be small enough to be written whole.
    """
    if style == EFG and sound:
        raise click.UsageError("--sound goes with a store, and not with --format efg")
    if style != EFG and (given or plugins):
        raise click.UsageError("--set and --plugin go with --format efg")
    with results_alone() as out:
        if style == EFG:
            _print_game(MatchSetup(what, values_of(given, what="--set"), plugins=plugins), out)
        else:
            _print_records(what, style, sound, out)
    return 0


def _print_records(store: str, style: str, sound: bool, out: IO[str]) -> None:
    with Store.open(store, strict=not sound) as opened, opened.snapshot():
        for line in lines(opened, style):
            print(line, file=out)
        if left_out := dict.fromkeys(opened.suspects):
            say(f"note: not as written, and left out: {', '.join(left_out)}")


def _print_game(setup: MatchSetup, out: IO[str]) -> None:
    match = match_of(setup.load(["random"] * players_of(setup)))
    for line in efg_lines(match.game, match.position.state, instead="take smaller parameters with --set"):
        print(line, file=out)
