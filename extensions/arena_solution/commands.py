"""The command of this extension."""

from arena.api.cli import Command

COMMANDS = [Command("exploit", "Measure how much a best response wins against an agent.", "arena_solution.exploit:exploit")]
