"""Adds the formats swiss, knockout, head-to-head and best-of."""

from collections.abc import Sequence

from arena import Format, hookimpl
from arena_pairings.best_of import BestOf
from arena_pairings.formats import Knockout, Swiss
from arena_pairings.head_to_head import HeadToHead


@hookimpl
def arena_formats() -> Sequence[type[Format]]:
    """Return the formats in which pairings depend on results."""
    return [Swiss, Knockout, HeadToHead, BestOf]
