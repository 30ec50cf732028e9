"""The commands of the core."""

from arena.api.cli import Command

COMMANDS = [
    Command(name, text, f"arena.commands.{module}:{name}")
    for name, module, text in (
        ("leaderboard", "leaderboard", "Print the leaderboards of a store."),
        ("run", "run", "Play a tournament and print its leaderboards."),
        ("schema", "specs", "Print the JSON Schema of a spec."),
        ("validate", "specs", "Check specs without playing them."),
    )
]
