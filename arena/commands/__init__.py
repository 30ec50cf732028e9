"""The commands of the core."""

from arena.api.cli import Command

COMMANDS = [
    Command(name, text, f"arena.commands.{module}:{'list_' if name == 'list' else name}")
    for name, module, text in (
        ("docs", "docs", "Show a page of the manual, or the list of pages."),
        ("export", "stores", "Print every record of a store, one a line."),
        ("leaderboard", "stores", "Print the leaderboards of a store."),
        ("list", "catalogue", "List games, agents, heuristics and formats."),
        ("matches", "matches", "List the matches of a store, one a line."),
        ("matrix", "catalogue", "Show which agent can play which game."),
        ("merge", "stores", "Put the matches of several stores into one."),
        ("plugins", "catalogue", "Show every plugin and what it brought."),
        ("replay", "replay", "Show a recorded match, position by position."),
        ("run", "run", "Play a tournament and print its leaderboards."),
        ("schema", "specs", "Print the JSON Schema of a spec."),
        ("show", "show", "Show a game, an agent, a heuristic or a format."),
        ("validate", "specs", "Check specs without playing them."),
    )
]
