"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command(
        "ladder",
        "Host an arena that never closes: agents are handed in, checked, rated, for as long as it runs.",
        "arena_ladder.ladder:ladder",
    ),
    Command(
        "submit",
        "Hand in the agent of FILE to the ladder at URL, and print the id of the submission.",
        "arena_ladder.submit:submit",
    ),
]
