"""The command leaderboard, and the option for the format of tables."""

import click

from arena.console.output import results_alone, room
from arena.errors import suggest
from arena.results.leaderboard import stored
from arena.results.tables import FORMATS, render
from arena.store import Store
from arena.store.run import list_environments


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
            runs = opened.runs()
        print(render(runs[-1], boards, style, room(out), list_environments(runs)), file=out)
    return 1 if any(board.void for board in boards) else 0
