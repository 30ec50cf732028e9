"""The command of this extension."""

from arena.api.cli import Command

COMMANDS = [Command("duel", "Test whether a change made your agent better.", "arena_duel.duel:duel")]
