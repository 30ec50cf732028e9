"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command("compare", "Compare entries of a store, with error bars.", "arena_compare.compare:compare"),
    Command("stats", "Say what a result is worth, in Elo.", "arena_compare.stats:stats"),
]
