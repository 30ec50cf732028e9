"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command("check", "Test a plugin against what it declares.", "arena_check.check:check"),
    Command("new", "Write the first file of an agent or a game.", "arena_check.new:new"),
    Command("try", "Check a new plugin and see where it stands.", "arena_check.try_:try_"),
]
