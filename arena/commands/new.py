"""The command new: the first file of a plugin."""

from pathlib import Path

import click

from arena.commands.options import plugin_option
from arena.console.notices import load
from arena.console.output import results_alone
from arena.scaffold import KINDS, write


@click.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option("--game", metavar="GAME", help="The game that an agent tries first, or that a heuristic is for.")
@click.option("--package", is_flag=True, help="A folder with tests that pip can install, instead of a file.")
@click.option("--chance", "features", flag_value="chance", multiple=True, help="A game with dice.")
@click.option("--hidden", "features", flag_value="hidden", multiple=True, help="A game with hidden cards, which chance deals.")
@click.option("--simultaneous", "features", flag_value="simultaneous", multiple=True, help="A game in which seats act at once.")
@plugin_option
def new(kind: str, name: str, game: str | None, package: bool, features: tuple[str, ...], plugins: tuple[str, ...]) -> int:
    """Write the first file of an agent, a game, a puzzle or a heuristic. It runs at once."""
    with results_alone() as out:
        registry = load(plugins)
        written = write(kind, name, Path(), registry, game=game, package=package, features=frozenset(features))
        print(*[f"wrote {file}" for file in written], sep="\n", file=out)
        print(f"next: arena try {written[0]}", file=out)
        if package:
            print(f"then: pip install --editable {name}", file=out)
    return 0
