"""The command of this extension."""

from arena.api.cli import Command

COMMANDS = [Command("review", "Find the decisions that lost, and better moves.", "arena_review.review:review")]
