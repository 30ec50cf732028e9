"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command(
        "ladder",
        "Host a tournament that accepts agents at any time.",
        "arena_ladder.ladder:ladder",
        spec_keys=("submissions", "until", "requests", "marks"),
        spec_check="arena_ladder.spec:check_ladder",
        tables="arena_ladder.tables:TABLES",
    ),
    Command(
        "submit",
        "Submit an agent to a ladder.",
        "arena_ladder.submit:submit",
    ),
]
