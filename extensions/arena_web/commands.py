"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command("dataset", "Write a store as a data set for Hugging Face.", "arena_web.dataset:dataset"),
    Command("report", "Write a report of a store as one HTML page.", "arena_web.report.command:report"),
    Command("serve", "Show tournaments and games in the browser.", "arena_web.serve:serve"),
]
