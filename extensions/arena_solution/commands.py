"""The command of this extension."""

from arena.api.cli import Command

COMMANDS = [Command("exploit", "Say how much a best response wins.", "arena_solution.exploit:exploit")]
