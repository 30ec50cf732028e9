"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command(
        "ladder",
        "Host an arena that never closes.",
        "arena_ladder.ladder:ladder",
    ),
    Command(
        "submit",
        "Hand in an agent to a ladder.",
        "arena_ladder.submit:submit",
    ),
]
