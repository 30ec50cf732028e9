"""The command `leaderboard`, and the option for the format of tables."""

import click

from arena.console.output import Terminal, results_alone
from arena.errors import suggest
from arena.results.leaderboard import Leaderboard
from arena.results.tables import FORMATS, render
from arena.store import Store
from arena.store.run import Run


def check_format(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Return the name of a table format: json, csv, or a format of tabulate. Raises BadParameter for any other name."""
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
    help="Output format: json, csv, or a table format of tabulate. Use latex_raw and unsafehtml only for your own stores: "
    "they do not escape labels.",
)
"""The option `--format` of every command that prints leaderboards or comparisons."""
explain_option = click.option("--explain", is_flag=True, help="Also explain how ratings and intervals were computed.")


@click.command()
@click.argument("store")
@format_option
@explain_option
def leaderboard(store: str, style: str, explain: bool) -> int:
    """Print the leaderboards of STORE, even while a run adds matches to it."""
    with results_alone() as out:
        boards = [board.explained() if explain else board for board in Leaderboard.load(store)]
        with Store.open(store) as opened:
            runs = opened.runs()
        print(render(runs[-1], boards, style, Terminal(out).room, Run.list_environments(runs)), file=out)
    return 1 if any(board.void for board in boards) else 0
