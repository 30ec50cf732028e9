"""The commands leaderboard and merge, which read whole stores."""

import click

from arena.console.output import results_alone, room
from arena.errors import suggest
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
