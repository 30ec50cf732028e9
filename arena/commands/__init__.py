"""The commands of the core."""

from arena.api.cli import Command

COMMANDS = [
    Command(name, text, f"arena.commands.{module}:{'list_' if name == 'list' else name}")
    for name, module, text in (
        ("docs", "docs", "Show a page of the manual, or without TOPIC the list of its pages."),
        ("export", "stores", "Print every record of STORE, one a line."),
        ("leaderboard", "stores", "Print the leaderboards of STORE, also while it is being filled."),
        ("list", "catalogue", "List what the plugins brought."),
        ("matches", "matches", "List the matches of STORE, one a line: those of an agent, with a result, by what they took."),
        ("matrix", "catalogue", "Show which agent can play which game, or which trait is missing."),
        ("merge", "stores", "Write OUT with the matches of all stores IN."),
        ("plugins", "catalogue", "Show every plugin, what it brought, and what is wrong with it."),
        ("replay", "replay", "Show match ID of STORE position by position, and check that it is what was recorded."),
        ("run", "run", "Play the tournament SPEC, or what is left of it, and print its leaderboards."),
        ("schema", "specs", "Print the JSON Schema of a spec."),
        ("show", "show", "Show what is known of a game, an agent, a heuristic, an encoding or a format."),
        ("validate", "specs", "Check specs without playing: every fault with file, line and column."),
    )
]
