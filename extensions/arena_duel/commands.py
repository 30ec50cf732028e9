"""The command of this extension."""

from arena.api.cli import Command

COMMANDS = [Command("duel", "Say whether your agent has become better.", "arena_duel.duel:duel")]
