"""The command of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command(
        "exploit",
        "Say how much a best response wins from AGENT in GAME, a game small enough to be searched whole.",
        "arena_solution.exploit:exploit",
    )
]
