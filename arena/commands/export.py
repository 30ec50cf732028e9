"""The command export: the records of a store."""

import click

from arena.console.output import results_alone
from arena.results.export import FORMATS, lines
from arena.store import Store


@click.command()
@click.argument("store")
@click.option("--format", "style", type=click.Choice(FORMATS), default="jsonl", show_default=True)
def export(store: str, style: str) -> int:
    """Print every record of STORE, one a line."""
    with results_alone() as out, Store.open(store) as opened:
        for line in lines(opened, style):
            print(line, file=out)
    return 0
