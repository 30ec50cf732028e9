"""The command of this extension."""

from arena.api.cli import Command

COMMANDS = [Command("tune", "Find better options for an agent, and confirm them.", "arena_tune.tune:tune")]
