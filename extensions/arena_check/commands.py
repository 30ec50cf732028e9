"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command(
        "check",
        "Hold a game, an agent, a heuristic or an encoding, or all that a plugin file brings, to what it declares.",
        "arena_check.check:check",
    ),
    Command("new", "Write the first file of an agent, a game, a puzzle or a heuristic.", "arena_check.new:new"),
    Command(
        "try", "Check a plugin file, let what it brings play for a few seconds, and say where it stands.", "arena_check.try_:try_"
    ),
]
