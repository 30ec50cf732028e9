"""The command export: the records of a store."""

import click

from arena.console.notices import say
from arena.console.output import results_alone
from arena.results.export import FORMATS, lines
from arena.store import Store


@click.command()
@click.argument("store")
@click.option("--format", "style", type=click.Choice(FORMATS), default="jsonl", show_default=True)
@click.option("--sound", is_flag=True, help="Of a damaged store, leave out what is not as it was written.")
def export(store: str, style: str, sound: bool) -> int:
    """Print every record of STORE, one a line."""
    with results_alone() as out, Store.open(store, strict=not sound) as opened, opened.snapshot():
        for line in lines(opened, style):
            print(line, file=out)
        if left_out := dict.fromkeys(opened.suspects):
            say(f"note: not as written, and left out: {', '.join(left_out)}")
    return 0
