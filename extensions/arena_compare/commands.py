"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command("compare", "Compare entries of a store, with error bars.", "arena_compare.compare:compare"),
    Command("plan", "Estimate how many rounds show a difference in Elo.", "arena_compare.plan:plan"),
    Command("stats", "Compute Elo and its interval from counts of games.", "arena_compare.stats:stats"),
]
