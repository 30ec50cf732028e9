"""The command list: tables of what plugins brought."""

import click

from arena.agent import Agent
from arena.commands.catalogue import summary, traits_of
from arena.commands.options import plugin_option
from arena.console.notices import load
from arena.console.output import results_alone, room
from arena.results.layout import table
from arena.traits import listed, made_for

HEADINGS = {
    "games": ["Game", "Traits", "What it is"],
    "agents": ["Agent", "Needs", "What it does"],
    "heuristics": ["Heuristic", "Game", "What it says"],
    "encodings": ["Encoding", "Game", "What it tells"],
    "formats": ["Format", "For", "What it plays"],
}


@click.command("list")
@click.argument("kind", type=click.Choice([*HEADINGS]))
@plugin_option
def list_(kind: str, plugins: tuple[str, ...]) -> int:
    """List what the plugins brought."""
    with results_alone() as out:
        registry = load(plugins)
        rows = {
            "games": lambda: [[name, traits_of(game), summary(game)] for name, game in registry.games.items()],
            "agents": lambda: [[name, _wanted(agent), summary(agent)] for name, agent in registry.agents.items()],
            "heuristics": lambda: [[name, game, summary(found)] for (game, name), found in registry.heuristics.items()],
            "encodings": lambda: [[name, game, summary(found)] for (game, name), found in registry.encodings.items()],
            "formats": lambda: [[name, found.kind, summary(found)] for name, found in registry.formats.items()],
        }[kind]()
        rows.sort(key=lambda row: (row[1], row[0]) if kind in ("heuristics", "encodings") else (row[0],))
        print(table(HEADINGS[kind], rows, width=room(out)), file=out)
    return 0


def _wanted(agent: type[Agent]) -> str:
    """The games that an agent is made for, or the traits that it needs."""
    games = made_for(agent)
    return f"{' and '.join(sorted(games))} alone" if games else listed(agent.needs) or "any"
