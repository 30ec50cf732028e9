"""The command plugins: what became of every plugin."""

from collections.abc import Iterator

import click

from arena.commands.catalogue import paragraph, text_width
from arena.commands.options import plugin_option
from arena.console.output import results_alone
from arena.plugins.registry import OWN, Plugin
from arena.plugins.sources import survey

BUILT_IN = f"{OWN}builtin-"
"""The names of the plugins that come first: what every installation has."""


@click.command()
@plugin_option
def plugins(plugins: tuple[str, ...]) -> int:
    """Show every plugin, what it brought, and what is wrong with it."""
    with results_alone() as out:
        found = sorted(survey(plugins).plugins, key=lambda plugin: not plugin.source.name.startswith(BUILT_IN))
        width = text_width(out)
        print("\n\n".join(["\n".join(_lines(plugin, width)) for plugin in found]), file=out)
    return 2 if any(plugin.source.asked and plugin.problem is not None for plugin in found) else 0


def _lines(plugin: Plugin, width: int) -> Iterator[str]:
    yield str(plugin.source)
    yield f"  file: {plugin.file or 'unknown'}"
    if plugin.problem is not None:
        yield f"  left out: {plugin.problem}"
        return
    for kind in ("game", "agent", "heuristic", "encoding", "format"):
        names = [name.removeprefix(f"{kind} ") for name in plugin.names if name.startswith(f"{kind} ")]
        if names:
            yield paragraph(f"{kind}s: {', '.join(names)}", width)
    if not plugin.names:
        yield "  brings nothing"
    yield from [f"  note: {note}" for note in plugin.notes]
