"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command(
        "report",
        "Write what STORE holds as one page to look at, or each of its plots as a file.",
        "arena_web.report.command:report",
    ),
    Command(
        "serve",
        "Show tournaments, games and puzzles in the browser: a STORE, the stores of a FOLDER, or a SPEC to play.",
        "arena_web.serve:serve",
    ),
]
