"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command("report", "Write a store as one page to look at.", "arena_web.report.command:report"),
    Command("serve", "Show tournaments and games in the browser.", "arena_web.serve:serve"),
]
