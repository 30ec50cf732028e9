"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command("check", "Check that a plugin does what it declares.", "arena_check.check:check"),
    Command("heuristic", "Measure a heuristic without a search.", "arena_check.heuristic_quality:heuristic"),
    Command("new", "Write a file for a new agent, game, puzzle or heuristic.", "arena_check.new:new"),
    Command("try", "Check a plugin file and rate its agents in a few seconds.", "arena_check.try_:try_"),
]
