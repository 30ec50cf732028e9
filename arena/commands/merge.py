"""The command merge: several stores into one."""

import click

from arena.console.output import results_alone
from arena.store import merge as merged


@click.command()
@click.argument("out")
@click.argument("stores", nargs=-1, required=True, metavar="IN...")
@click.option("--accept-changed-plugins", "accept", is_flag=True, help="Merge though a plugin was not the same one everywhere.")
def merge(out: str, stores: tuple[str, ...], *, accept: bool) -> int:
    """Write OUT with the matches of all stores IN."""
    with results_alone() as shown:
        print(f"{out}: {merged(out, stores, accept=accept):,} matches", file=shown)
    return 0
