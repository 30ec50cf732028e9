"""Adds the formats swiss, knockout, head-to-head and best-of."""

from collections.abc import Mapping

from arena import hookimpl


@hookimpl
def arena_formats() -> Mapping[str, str]:
    """Return the formats in which pairings depend on results."""
    return {
        "swiss": "arena_pairings.formats:Swiss",
        "knockout": "arena_pairings.formats:Knockout",
        "head-to-head": "arena_pairings.head_to_head:HeadToHead",
        "best-of": "arena_pairings.best_of:BestOf",
    }
