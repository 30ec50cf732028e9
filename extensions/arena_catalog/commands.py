"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command("docs", "Show a page of the manual, or list all pages.", "arena_catalog.docs:docs"),
    Command("list", "List games, agents, heuristics and formats.", "arena_catalog.catalogue:list_"),
    Command("matrix", "Show which agent can play which game.", "arena_catalog.catalogue:matrix"),
    Command("plugins", "Show every plugin and the parts that it adds.", "arena_catalog.catalogue:plugins"),
    Command("show", "Show a game, an agent, a heuristic or a format.", "arena_catalog.show:show"),
]
