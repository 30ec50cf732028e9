"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command(
        "compare",
        "Say how entries of STORE compare, two by two, with error bars: those that are named, or all.",
        "arena_compare.compare:compare",
    ),
    Command(
        "stats",
        "Say what a result is worth: Elo with its interval, and the likelihood of superiority.",
        "arena_compare.stats:stats",
    ),
]
