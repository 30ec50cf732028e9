"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command("bundle", "Pack a store into one file that others can verify.", "arena_bundle.bundle:bundle"),
    Command("verify", "Verify the results in a bundle.", "arena_bundle.verify:verify"),
]
