"""The command of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command(
        "duel",
        "Say whether the agent of FILE is better than it was: its versions play until a sequential test decides.",
        "arena_duel.duel:duel",
    )
]
