"""The commands of this extension."""

from arena.api.cli import Command

COMMANDS = [
    Command("export", "Print every record of a store, one per line.", "arena_records.export:export"),
    Command("matches", "List the matches of a store, one per line.", "arena_records.matches:matches"),
    Command("merge", "Merge the matches of several stores into one.", "arena_records.merger:merge"),
    Command("replay", "Show a recorded match, position by position.", "arena_records.replay:replay"),
]
