"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command("play", "Play a game yourself, or watch agents.", "arena_play.play:play"),
    Command("solve", "Let an agent solve a position of a puzzle.", "arena_play.solve:solve"),
    Command(
        "menu",
        "Choose boards and agents from a menu, until `q` or the end of the input.",
        "arena_play.menu:menu",
        hidden=True,
        at_terminal=True,
    ),
]
