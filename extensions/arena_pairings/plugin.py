"""Brings the formats swiss, knockout and head-to-head."""

from collections.abc import Sequence

from arena import Format, hookimpl
from arena_pairings.formats import Knockout, Swiss
from arena_pairings.head_to_head import HeadToHead


@hookimpl
def arena_formats() -> Sequence[type[Format]]:
    """The formats that follow results."""
    return [Swiss, Knockout, HeadToHead]
