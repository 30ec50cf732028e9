"""The command of this extension."""

from arena.api.cli import Command

COMMANDS = [Command("review", "Find losing decisions and better moves.", "arena_review.review:review")]
